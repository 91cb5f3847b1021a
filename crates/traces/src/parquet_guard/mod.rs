//! Opens Parquet files from untrusted sources. All sizes in a file by which its reader would
//! allocate are checked first, so that a small damaged file cannot make the reader allocate a large
//! part of memory.

mod heads;
mod positioned;
mod thrift;

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;

use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedRowGroupWriter;

use crate::parquet_guard::heads::{footer, page_head};
pub use crate::parquet_guard::positioned::Positioned;

/// Maximum footer size in bytes; assay's own are a few kilobytes.
const MAX_FOOTER: u64 = 16 << 20;
/// Maximum uncompressed page size in bytes; assay's own are at most 1 MiB.
const MAX_PAGE: i64 = 16 << 20;
/// Maximum size of a page header in bytes.
const MAX_PAGE_HEAD: usize = 16 << 10;
/// Maximum number of schema elements, which include the columns.
const MAX_COLUMNS: i64 = 256;

/// Writes the next column of a row group; `present` tells which rows have a value, where some may
/// have none.
pub fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<()> {
    let column = group.next_column()?;
    let mut column = column.ok_or_else(|| wrong("the schema has fewer columns"))?;
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}

/// Writes the next column of a row group, whose rows may have no value.
pub fn write_optional<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let (mut some, mut present) = (Vec::new(), Vec::new());
    for value in values {
        present.push(i16::from(value.is_some()));
        some.extend(value);
    }
    write_column::<T>(group, &some, Some(&present))
}

fn wrong(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

/// Reader of a checked file; threads may share it.
pub type CheckedReader = SerializedFileReader<Positioned>;

/// Opens a file after checking its footer and all page headers.
pub fn open(file: File) -> Result<CheckedReader> {
    let length = file.metadata()?.len();
    check_footer(&file, length)?;
    let pages = file.try_clone()?;
    let reader = SerializedFileReader::new(Positioned::new(file, length))?;
    for group in reader.metadata().row_groups() {
        for chunk in group.columns() {
            check_chunk(&pages, chunk, length)?;
        }
    }
    Ok(reader)
}

fn check_footer(file: &File, length: u64) -> Result<()> {
    let mut tail = [0; 8];
    let end = length.checked_sub(8).ok_or_else(|| wrong("it is too short to be Parquet"))?;
    file.read_exact_at(&mut tail, end)?;
    let [a, b, c, d, magic @ ..] = tail;
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    if magic != *b"PAR1" || footer > end {
        return Err(wrong("it does not end as Parquet does"));
    }
    if footer > MAX_FOOTER {
        return Err(wrong("its footer is larger than is read"));
    }
    let mut bytes = vec![0; footer as usize];
    file.read_exact_at(&mut bytes, end - footer)?;
    footer_is_sane(&bytes).ok_or_else(|| wrong("its footer is damaged"))
}

/// Checks a footer (FileMetaData). Field 2 is the schema, a list of structures whose field 5 is a
/// number of children.
fn footer_is_sane(bytes: &[u8]) -> Option<()> {
    let mut columns = 0;
    footer(bytes, &mut |path, value| {
        let sane = match path {
            [2] => {
                columns = value;
                value <= MAX_COLUMNS
            }
            [2, 5] => (0..columns).contains(&value),
            _ => true,
        };
        sane.then_some(())
    })
}

fn check_chunk(file: &File, chunk: &ColumnChunkMetaData, length: u64) -> Result<()> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let end = start.checked_add(chunk.compressed_size());
    let (Ok(mut at), Some(Ok(end))) = (u64::try_from(start), end.map(u64::try_from)) else {
        return Err(wrong("a column chunk lies outside the file"));
    };
    if chunk.compressed_size() < 0 || chunk.num_values() < 0 || end > length {
        return Err(wrong("a column chunk lies outside the file"));
    }
    let mut buffer = vec![0; MAX_PAGE_HEAD];
    let mut has_dictionary = false;
    while at < end {
        // A header takes a few dozen bytes; the maximum is read only if the first part was not
        // enough.
        let mut page = None;
        for most in [positioned::HEAD, MAX_PAGE_HEAD] {
            let window = usize::try_from(end - at).unwrap_or(usize::MAX).min(most);
            file.read_exact_at(&mut buffer[..window], at)?;
            page = PageHeader::read(&buffer[..window]).filter(PageHeader::is_sane);
            if page.is_some() {
                break;
            }
        }
        let page = page.ok_or_else(|| wrong("the head of a page is damaged"))?;
        has_dictionary |= page.entries.is_some();
        if page.wants_dictionary() && !has_dictionary {
            return Err(wrong("a page refers to a dictionary that is not there"));
        }
        if !matches!(page.encoding, None | Some(0)) && !page.wants_dictionary() {
            return Err(wrong("a page is encoded in a way that assay does not write"));
        }
        at = at.saturating_add(page.head).saturating_add(page.packed as u64);
    }
    if at == end { Ok(()) } else { Err(wrong("a page ends outside its column chunk")) }
}

/// The checked fields of a page header (PageHeader in parquet.thrift).
#[derive(Debug, Default)]
struct PageHeader {
    /// Size of the header itself, in bytes.
    head: u64,
    /// Uncompressed size of the page, in bytes: field 2.
    plain: i64,
    /// Size of the page in the file, in bytes: field 3.
    packed: i64,
    /// Number of values of a dictionary: field 7, its field 1.
    entries: Option<i64>,
    /// Encoding of the values of a page: field 5, its field 2; for pages of version 2, field 8, its
    /// field 4.
    encoding: Option<i64>,
}

impl PageHeader {
    fn read(bytes: &[u8]) -> Option<PageHeader> {
        let mut page = PageHeader { plain: -1, packed: -1, ..PageHeader::default() };
        let head = page_head(bytes, &mut |path, value| {
            match path {
                [2] => page.plain = value,
                [3] => page.packed = value,
                [5, 2] | [8, 4] => page.encoding = Some(value),
                [7, 1] => page.entries = Some(value),
                _ => {}
            }
            Some(())
        })?;
        Some(PageHeader { head: head as u64, ..page })
    }

    fn is_sane(&self) -> bool {
        // Every entry of a dictionary of texts or numbers takes four bytes or more.
        let entries = self.entries.unwrap_or(0);
        (0..=MAX_PAGE).contains(&self.plain)
            && self.packed >= 0
            && (0..=self.plain / 4).contains(&entries)
    }

    /// True for `PLAIN_DICTIONARY` and `RLE_DICTIONARY`.
    fn wants_dictionary(&self) -> bool {
        matches!(self.encoding, Some(2 | 8))
    }
}
