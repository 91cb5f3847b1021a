//! Decodes the pages of a column, some rows at a time, into one number per row: the value, or a
//! number that represents a text. Each text of a dictionary is converted once, however many rows
//! refer to it. Supports the encodings that assay writes: plain and dictionary pages of version 1
//! or 2.

use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::RowGroupReader;
use parquet::file::statistics::Statistics;

use crate::block_io::names::NameCache;
use crate::block_io::source::parquet_runs::Runs;

/// Returns an error about the contents of a file.
pub(super) fn wrong(what: impl Into<String>) -> ParquetError {
    ParquetError::General(what.into())
}

/// Type of a column, and the conversion of its values to numbers.
#[derive(Clone, Copy)]
pub(super) enum ColumnType {
    /// Integers, which are kept as they are.
    Numbers,
    /// Booleans, as 1 and 0.
    Flags,
    /// Arbitrary texts, as ids of names.
    Names,
    /// Texts from a fixed set, converted by this function.
    Words(fn(&[u8]) -> u64),
}

impl ColumnType {
    fn physical(self) -> Type {
        match self {
            ColumnType::Numbers => Type::INT64,
            ColumnType::Flags => Type::BOOLEAN,
            ColumnType::Names | ColumnType::Words(_) => Type::BYTE_ARRAY,
        }
    }

    fn text(self, text: &[u8], names: &mut NameCache<'_>) -> u64 {
        match self {
            ColumnType::Words(number) => number(text),
            _ => u64::from(names.id(text)),
        }
    }
}

/// Decoder of one column of a row group.
pub(super) struct ColumnDecoder {
    /// `None` if, according to the file, all values of the row group are null.
    pages: Option<Box<dyn PageReader>>,
    holds: ColumnType,
    optional: bool,
    dictionary: Vec<u64>,
    page: Option<OpenPage>,
    /// Values of the rows decoded last. If `there` is empty, none of them is null.
    values: Vec<u64>,
    there: Vec<bool>,
    /// Buffers for the data of a page before it is assigned to rows.
    levels: Vec<u32>,
    places: Vec<u32>,
    some: Vec<u64>,
}

/// A page with rows left to decode.
struct OpenPage {
    page: Page,
    rows: usize,
    /// Definition levels, which are 1 for rows with a value; `None` if all rows have one.
    levels: Option<Runs>,
    values: Values,
}

/// Position of the values that have not been decoded yet.
enum Values {
    /// Plain values from this byte on; for flags, from this bit on.
    Plain(usize),
    Dictionary(Runs),
}

impl ColumnDecoder {
    /// Opens the column called `name`.
    pub(super) fn new(group: &dyn RowGroupReader, name: &str, holds: ColumnType) -> Result<Self> {
        let unexpected = |what: &str| wrong(format!("column `{name}`: {what}"));
        let schema = group.metadata().schema_descr_ptr();
        let at = (0..schema.num_columns()).find(|i| schema.column(*i).path().parts() == [name]);
        let at = at.ok_or_else(|| unexpected("it is missing"))?;
        let column = schema.column(at);
        if column.physical_type() != holds.physical() {
            return Err(unexpected("it has another type"));
        }
        if column.max_rep_level() != 0 || column.max_def_level() > 1 {
            return Err(unexpected("it is nested"));
        }
        let optional = column.max_def_level() == 1;
        let nulls = group.metadata().column(at).statistics().and_then(Statistics::null_count_opt);
        let rows = u64::try_from(group.metadata().num_rows()).ok();
        let all_null = optional && nulls.is_some() && nulls == rows;
        let pages = if all_null { None } else { Some(group.get_column_page_reader(at)?) };
        Ok(ColumnDecoder {
            pages,
            holds,
            optional,
            dictionary: Vec::new(),
            page: None,
            values: Vec::new(),
            there: Vec::new(),
            levels: Vec::new(),
            places: Vec::new(),
            some: Vec::new(),
        })
    }

    /// Decodes the next rows and returns their number.
    pub(super) fn fill(&mut self, rows: usize, names: &mut NameCache<'_>) -> Result<usize> {
        self.values.clear();
        self.there.clear();
        if self.pages.is_none() {
            return Ok(rows);
        }
        while self.values.len() < rows {
            if self.page.as_ref().is_none_or(|page| page.rows == 0) && !self.turn(names)? {
                break;
            }
            self.decode(rows - self.values.len(), names)?;
        }
        Ok(self.values.len())
    }

    /// True if any of the rows decoded last has a value.
    pub(super) fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Returns the value of a row among those decoded last, or `None` if it is null.
    #[inline]
    pub(super) fn at(&self, row: usize) -> Option<u64> {
        match self.there.get(row) {
            Some(false) => None,
            _ => self.values.get(row).copied(),
        }
    }

    /// Opens the next page of values. Returns false at the end.
    fn turn(&mut self, names: &mut NameCache<'_>) -> Result<bool> {
        let Some(pages) = &mut self.pages else { return Ok(false) };
        while let Some(page) = pages.get_next_page()? {
            if let Page::DictionaryPage { buf, num_values, .. } = &page {
                self.dictionary.clear();
                let (holds, count) = (self.holds, *num_values as usize);
                plain(holds, buf, &mut 0, count, names, &mut self.dictionary)?;
                continue;
            }
            self.page = Some(OpenPage::new(page, self.optional, self.holds)?);
            return Ok(true);
        }
        Ok(false)
    }

    /// Decodes up to `rows` rows of the open page.
    fn decode(&mut self, rows: usize, names: &mut NameCache<'_>) -> Result<()> {
        let Some(open) = &mut self.page else { return Ok(()) };
        let rows = rows.min(open.rows);
        open.rows -= rows;
        let bytes = open.page.buffer();
        let mut present = rows;
        if let Some(levels) = &mut open.levels {
            self.levels.resize(rows, 0);
            levels.decode(bytes, &mut self.levels)?;
            present = self.levels.iter().filter(|level| **level == 1).count();
        }
        let before = self.values.len();
        let scattered = present < rows;
        let into = if scattered { &mut self.some } else { &mut self.values };
        if scattered {
            into.clear();
        }
        match &mut open.values {
            Values::Plain(at) => plain(self.holds, bytes, at, present, names, into)?,
            Values::Dictionary(places) => {
                self.places.resize(present, 0);
                places.decode(bytes, &mut self.places)?;
                let entries = self.dictionary.as_slice();
                if self.places.iter().any(|place| *place as usize >= entries.len()) {
                    return Err(wrong("a page refers to a value that its dictionary lacks"));
                }
                into.extend(self.places.iter().map(|place| entries[*place as usize]));
            }
        }
        if scattered {
            self.there.resize(before, true);
            let mut next = self.some.iter();
            for level in &self.levels {
                let value = if *level == 1 { next.next() } else { None };
                self.there.push(value.is_some());
                self.values.push(value.copied().unwrap_or(0));
            }
        } else if !self.there.is_empty() {
            self.there.resize(before + rows, true);
        }
        Ok(())
    }
}

impl OpenPage {
    fn new(page: Page, optional: bool, holds: ColumnType) -> Result<Self> {
        let cut = || wrong("a page is shorter than its header states");
        let bytes = page.buffer();
        let (levels, values) = match &page {
            Page::DataPageV2 { rep_levels_byte_len, def_levels_byte_len, .. } => {
                let from = *rep_levels_byte_len as usize;
                let to = from.checked_add(*def_levels_byte_len as usize).ok_or_else(cut)?;
                (from..to, to)
            }
            Page::DataPage { def_level_encoding: Encoding::RLE, .. } if optional => {
                let (length, _) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
                let to = (u32::from_le_bytes(*length) as usize).checked_add(4).ok_or_else(cut)?;
                (4..to, to)
            }
            Page::DataPage { .. } if optional => {
                return Err(wrong("a page has levels that assay does not write"));
            }
            _ => (0..0, 0),
        };
        if values > bytes.len() {
            return Err(cut());
        }
        let values = match page.encoding() {
            Encoding::PLAIN if matches!(holds, ColumnType::Flags) => Values::Plain(values * 8),
            Encoding::PLAIN => Values::Plain(values),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                // A page without values may also lack the bit width of the dictionary indices.
                let width = bytes.get(values).copied().unwrap_or(0);
                let places =
                    Runs::new(u32::from(width), (values + 1).min(bytes.len())..bytes.len());
                Values::Dictionary(places.ok_or_else(|| wrong("a page has too wide indexes"))?)
            }
            _ => return Err(wrong("a page is encoded in a way that assay does not write")),
        };
        let rows = page.num_values() as usize;
        let levels = if optional { Runs::new(1, levels) } else { None };
        // If all rows have a value, the levels are one run and need no decoding.
        let levels = levels.filter(|levels| !levels.clone().begins_with(1, rows, bytes));
        Ok(OpenPage { page, rows, levels, values })
    }
}

/// Decodes plain values from byte `at` on; for flags, from bit `at` on.
fn plain(
    holds: ColumnType,
    bytes: &[u8],
    at: &mut usize,
    count: usize,
    names: &mut NameCache<'_>,
    into: &mut Vec<u64>,
) -> Result<()> {
    let cut = || wrong("a page is shorter than its header states");
    match holds {
        ColumnType::Numbers => {
            let length = count.checked_mul(8).ok_or_else(cut)?;
            let taken = bytes.get(*at..).and_then(|rest| rest.get(..length)).ok_or_else(cut)?;
            *at += length;
            into.extend(taken.as_chunks::<8>().0.iter().map(|value| u64::from_le_bytes(*value)));
        }
        ColumnType::Flags => {
            let bits = *at..at.checked_add(count).ok_or_else(cut)?;
            if bits.end > bytes.len() * 8 {
                return Err(cut());
            }
            *at = bits.end;
            into.extend(bits.map(|bit| u64::from(bytes[bit / 8] >> (bit % 8) & 1)));
        }
        ColumnType::Names | ColumnType::Words(_) => {
            for _ in 0..count {
                let rest = bytes.get(*at..).ok_or_else(cut)?;
                let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
                let length = u32::from_le_bytes(*length) as usize;
                into.push(holds.text(rest.get(..length).ok_or_else(cut)?, names));
                *at += 4 + length;
            }
        }
    }
    Ok(())
}
