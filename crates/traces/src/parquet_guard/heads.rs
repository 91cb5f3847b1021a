//! Tables of the structures in a Parquet file's footer and page headers (parquet.thrift of the
//! Parquet format). The `parquet` crate decodes a field as the type that the format prescribes,
//! whatever type the file states. In a damaged file it would therefore continue at another position
//! than the stated types lead to, and a list of two billion booleans, which occupy no bytes, may
//! begin there.

use crate::parquet_guard::thrift::{LIST, STRUCT, Thrift};

/// Type that the format prescribes for a field.
#[derive(Debug, Clone, Copy)]
enum Holds {
    /// The field's type code is the value.
    Boolean,
    /// A plain type, given by its code.
    Plain(u8),
    Struct(Fields),
    List(&'static Holds),
}

/// Fields of a structure with their ids.
type Fields = &'static [(i64, Holds)];

const I8: Holds = Holds::Plain(3);
const I16: Holds = Holds::Plain(4);
const I32: Holds = Holds::Plain(5);
const I64: Holds = Holds::Plain(6);
const BYTES: Holds = Holds::Plain(8);
const EMPTY: Holds = Holds::Struct(&[]);

const TIME: Holds = Holds::Struct(&[
    (1, Holds::Boolean),
    (2, Holds::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)])),
]);
const LOGICAL_TYPE: Fields = &[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Holds::Struct(&[(1, I32), (2, I32)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Holds::Struct(&[(1, I8), (2, Holds::Boolean)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
];
const SCHEMA_ELEMENT: Holds = Holds::Struct(&[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, BYTES),
    (5, I32),
    (6, I32),
    (7, I32),
    (8, I32),
    (9, I32),
    (10, Holds::Struct(LOGICAL_TYPE)),
]);
const STATISTICS: Holds = Holds::Struct(&[
    (1, BYTES),
    (2, BYTES),
    (3, I64),
    (4, I64),
    (5, BYTES),
    (6, BYTES),
    (7, Holds::Boolean),
    (8, Holds::Boolean),
    (9, I64),
]);
const KEY_VALUE: Holds = Holds::Struct(&[(1, BYTES), (2, BYTES)]);
const PAGE_ENCODING: Holds = Holds::Struct(&[(1, I32), (2, I32), (3, I32)]);
const SIZES: Holds = Holds::Struct(&[(1, I64), (2, Holds::List(&I64)), (3, Holds::List(&I64))]);
const COLUMN: Holds = Holds::Struct(&[
    (1, I32),
    (2, Holds::List(&I32)),
    (3, Holds::List(&BYTES)),
    (4, I32),
    (5, I64),
    (6, I64),
    (7, I64),
    (8, Holds::List(&KEY_VALUE)),
    (9, I64),
    (10, I64),
    (11, I64),
    (12, STATISTICS),
    (13, Holds::List(&PAGE_ENCODING)),
    (14, I64),
    (15, I32),
    (16, SIZES),
]);
const CHUNK: Holds =
    Holds::Struct(&[(1, BYTES), (2, I64), (3, COLUMN), (4, I64), (5, I32), (6, I64), (7, I32)]);
const SORTING: Holds = Holds::Struct(&[(1, I32), (2, Holds::Boolean), (3, Holds::Boolean)]);
const ROW_GROUP: Holds = Holds::Struct(&[
    (1, Holds::List(&CHUNK)),
    (2, I64),
    (3, I64),
    (4, Holds::List(&SORTING)),
    (5, I64),
    (6, I64),
    (7, I16),
]);
const COLUMN_ORDER: Holds = Holds::Struct(&[(1, EMPTY), (2, EMPTY)]);

/// Fields of the structure FileMetaData, without encryption.
const FOOTER: Fields = &[
    (1, I32),
    (2, Holds::List(&SCHEMA_ELEMENT)),
    (3, I64),
    (4, Holds::List(&ROW_GROUP)),
    (5, Holds::List(&KEY_VALUE)),
    (6, BYTES),
    (7, Holds::List(&COLUMN_ORDER)),
];

/// Fields of the structure PageHeader.
const PAGE: Fields = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, I32),
    (5, Holds::Struct(&[(1, I32), (2, I32), (3, I32), (4, I32), (5, STATISTICS)])),
    (6, EMPTY),
    (7, Holds::Struct(&[(1, I32), (2, I32), (3, Holds::Boolean)])),
    (
        8,
        Holds::Struct(&[
            (1, I32),
            (2, I32),
            (3, I32),
            (4, I32),
            (5, I32),
            (6, I32),
            (7, Holds::Boolean),
            (8, STATISTICS),
        ]),
    ),
];

/// Callback for every integer and for the length of every list, with the ids of the fields that
/// lead to it. It returns `None` to stop reading.
pub(crate) type Hear<'a> = &'a mut dyn FnMut(&[i64], i64) -> Option<()>;

/// Parses a footer field by field. Returns `None` if it does not follow the format.
pub(crate) fn footer(bytes: &[u8], hear: Hear<'_>) -> Option<()> {
    fields(&mut Thrift::new(bytes), FOOTER, &mut Vec::new(), hear)
}

/// Parses the page header at the start of `bytes` and returns its length. Returns `None` if it does
/// not follow the format.
pub(crate) fn page_head(bytes: &[u8], hear: Hear<'_>) -> Option<usize> {
    let mut thrift = Thrift::new(bytes);
    fields(&mut thrift, PAGE, &mut Vec::new(), hear)?;
    Some(thrift.position())
}

/// Parses a structure whose fields must be known and in order, as all writers write them.
fn fields(
    thrift: &mut Thrift<'_>,
    known: Fields,
    path: &mut Vec<i64>,
    hear: Hear<'_>,
) -> Option<()> {
    let mut last = 0;
    loop {
        let before = last;
        let (id, kind) = thrift.field(&mut last)?;
        if kind == 0 {
            return Some(());
        }
        let (_, holds) = known.iter().find(|(known, _)| *known == id && id > before)?;
        path.push(id);
        value(thrift, *holds, kind, path, hear)?;
        path.pop();
    }
}

fn value(
    thrift: &mut Thrift<'_>,
    holds: Holds,
    kind: u8,
    path: &mut Vec<i64>,
    hear: Hear<'_>,
) -> Option<()> {
    match (holds, kind) {
        (Holds::Boolean, 1 | 2) => Some(()),
        (Holds::Plain(3), 3) => thrift.advance(1),
        (Holds::Plain(8), 8) => thrift.bytes(),
        (Holds::Plain(code @ 4..=6), _) if code == kind => hear(path, thrift.integer()?),
        (Holds::Struct(known), STRUCT) => fields(thrift, known, path, hear),
        (Holds::List(each), LIST) => {
            let (count, kind) = thrift.list()?;
            hear(path, i64::try_from(count).ok()?)?;
            (0..count).try_for_each(|_| value(thrift, *each, kind, path, hear))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_footer(bytes: &[u8]) -> bool {
        footer(bytes, &mut |_, _| Some(())).is_some()
    }

    #[test]
    fn a_field_of_another_type_than_the_formats_is_refused() {
        // Field 3, the number of rows, is 40: as an integer, and as a boolean without bytes before
        // other fields.
        assert!(is_footer(&[0x36, 0x50, 0]));
        assert!(!is_footer(&[0x32, 0x50, 0]), "found by fuzzing");
        // A list of schema elements, and a list of integers.
        assert!(is_footer(&[0x29, 0x1c, 0x15, 2, 0, 0]));
        assert!(!is_footer(&[0x29, 0x15, 2, 0]));
        // Fields out of order, an unknown field, a missing end.
        assert!(!is_footer(&[0x36, 0x50, 0x05, 2, 2, 0]));
        assert!(!is_footer(&[0xe5, 2, 0]));
        assert!(!is_footer(&[0x36, 0x50]));
        // A list of booleans, which have no bytes, and a map from an integer to one.
        assert!(!is_footer(&[0x29, 0x21, 2, 2, 0]), "found by fuzzing");
        assert!(!is_footer(&[0x2b, 1, 0x51, 2, 1, 0]));
    }

    #[test]
    fn a_list_of_numbers_is_passed_over_and_one_of_booleans_refused() {
        let list = |kind: u8| {
            let bytes = [0x20 | kind, 2, 2];
            let numbers = Holds::List(&I32);
            value(&mut Thrift::new(&bytes), numbers, LIST, &mut Vec::new(), &mut |_, _| Some(()))
        };
        assert!(list(5).is_some());
        assert!(list(1).is_none());
    }
}
