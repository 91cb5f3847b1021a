//! Tables of the structures in a Parquet file's footer and page headers (parquet.thrift of the
//! Parquet format). The `parquet` crate decodes a field as the type that the format prescribes,
//! whatever type the file states. In a damaged file it would therefore continue at another position
//! than the stated types lead to, and a list of two billion booleans, which occupy no bytes, may
//! begin there.

use crate::parquet_guard::thrift::{LIST, STRUCT, Thrift};

/// Type that the format prescribes for a field.
#[derive(Debug, Clone, Copy)]
enum FieldType {
    /// The field's type code is the value.
    Boolean,
    /// A plain type, given by its code.
    Plain(u8),
    Struct(StructFields),
    List(&'static FieldType),
}

/// Fields of a structure with their ids.
type StructFields = &'static [(i64, FieldType)];

const I8: FieldType = FieldType::Plain(3);
const I16: FieldType = FieldType::Plain(4);
const I32: FieldType = FieldType::Plain(5);
const I64: FieldType = FieldType::Plain(6);
const BYTES: FieldType = FieldType::Plain(8);
const EMPTY: FieldType = FieldType::Struct(&[]);

const TIME: FieldType = FieldType::Struct(&[
    (1, FieldType::Boolean),
    (2, FieldType::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)])),
]);
const LOGICAL_TYPE: StructFields = &[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, FieldType::Struct(&[(1, I32), (2, I32)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, FieldType::Struct(&[(1, I8), (2, FieldType::Boolean)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
];
const SCHEMA_ELEMENT: FieldType = FieldType::Struct(&[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, BYTES),
    (5, I32),
    (6, I32),
    (7, I32),
    (8, I32),
    (9, I32),
    (10, FieldType::Struct(LOGICAL_TYPE)),
]);
const STATISTICS: FieldType = FieldType::Struct(&[
    (1, BYTES),
    (2, BYTES),
    (3, I64),
    (4, I64),
    (5, BYTES),
    (6, BYTES),
    (7, FieldType::Boolean),
    (8, FieldType::Boolean),
    (9, I64),
]);
const KEY_VALUE: FieldType = FieldType::Struct(&[(1, BYTES), (2, BYTES)]);
const PAGE_ENCODING: FieldType = FieldType::Struct(&[(1, I32), (2, I32), (3, I32)]);
const SIZES: FieldType =
    FieldType::Struct(&[(1, I64), (2, FieldType::List(&I64)), (3, FieldType::List(&I64))]);
const COLUMN: FieldType = FieldType::Struct(&[
    (1, I32),
    (2, FieldType::List(&I32)),
    (3, FieldType::List(&BYTES)),
    (4, I32),
    (5, I64),
    (6, I64),
    (7, I64),
    (8, FieldType::List(&KEY_VALUE)),
    (9, I64),
    (10, I64),
    (11, I64),
    (12, STATISTICS),
    (13, FieldType::List(&PAGE_ENCODING)),
    (14, I64),
    (15, I32),
    (16, SIZES),
]);
const CHUNK: FieldType =
    FieldType::Struct(&[(1, BYTES), (2, I64), (3, COLUMN), (4, I64), (5, I32), (6, I64), (7, I32)]);
const SORTING: FieldType =
    FieldType::Struct(&[(1, I32), (2, FieldType::Boolean), (3, FieldType::Boolean)]);
const ROW_GROUP: FieldType = FieldType::Struct(&[
    (1, FieldType::List(&CHUNK)),
    (2, I64),
    (3, I64),
    (4, FieldType::List(&SORTING)),
    (5, I64),
    (6, I64),
    (7, I16),
]);
const COLUMN_ORDER: FieldType = FieldType::Struct(&[(1, EMPTY), (2, EMPTY)]);

/// Fields of the structure FileMetaData, without encryption.
const FOOTER: StructFields = &[
    (1, I32),
    (2, FieldType::List(&SCHEMA_ELEMENT)),
    (3, I64),
    (4, FieldType::List(&ROW_GROUP)),
    (5, FieldType::List(&KEY_VALUE)),
    (6, BYTES),
    (7, FieldType::List(&COLUMN_ORDER)),
];

/// Fields of the structure PageHeader.
const PAGE: StructFields = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, I32),
    (5, FieldType::Struct(&[(1, I32), (2, I32), (3, I32), (4, I32), (5, STATISTICS)])),
    (6, EMPTY),
    (7, FieldType::Struct(&[(1, I32), (2, I32), (3, FieldType::Boolean)])),
    (
        8,
        FieldType::Struct(&[
            (1, I32),
            (2, I32),
            (3, I32),
            (4, I32),
            (5, I32),
            (6, I32),
            (7, FieldType::Boolean),
            (8, STATISTICS),
        ]),
    ),
];

/// Callback for every integer and for the length of every list, with the ids of the fields that
/// lead to it. It returns `None` to stop reading.
pub(crate) type ValueCallback<'a> = &'a mut dyn FnMut(&[i64], i64) -> Option<()>;

/// Parses a footer field by field. Returns `None` if it does not follow the format.
pub(crate) fn footer(bytes: &[u8], hear: ValueCallback<'_>) -> Option<()> {
    fields(&mut Thrift::new(bytes), FOOTER, &mut Vec::new(), hear)
}

/// Parses the page header at the start of `bytes` and returns its length. Returns `None` if it does
/// not follow the format.
pub(crate) fn page_head(bytes: &[u8], hear: ValueCallback<'_>) -> Option<usize> {
    let mut thrift = Thrift::new(bytes);
    fields(&mut thrift, PAGE, &mut Vec::new(), hear)?;
    Some(thrift.position())
}

/// Parses a structure whose fields must be known and in order, as all writers write them.
fn fields(
    thrift: &mut Thrift<'_>,
    known: StructFields,
    path: &mut Vec<i64>,
    hear: ValueCallback<'_>,
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
    holds: FieldType,
    kind: u8,
    path: &mut Vec<i64>,
    hear: ValueCallback<'_>,
) -> Option<()> {
    match (holds, kind) {
        (FieldType::Boolean, 1 | 2) => Some(()),
        (FieldType::Plain(3), 3) => thrift.advance(1),
        (FieldType::Plain(8), 8) => thrift.bytes(),
        (FieldType::Plain(code @ 4..=6), _) if code == kind => hear(path, thrift.integer()?),
        (FieldType::Struct(known), STRUCT) => fields(thrift, known, path, hear),
        (FieldType::List(each), LIST) => {
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
            let numbers = FieldType::List(&I32);
            value(&mut Thrift::new(&bytes), numbers, LIST, &mut Vec::new(), &mut |_, _| Some(()))
        };
        assert!(list(5).is_some());
        assert!(list(1).is_none());
    }
}
