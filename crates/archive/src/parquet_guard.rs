//! Opening a Parquet file from outside: every size in it that its reader would allocate by is looked
//! at first, so that a small file cannot ask for a large part of memory.

use std::fs::File;
use std::os::unix::fs::FileExt;

use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::thrift::{I32, LIST, STRUCT, Thrift};

/// The largest footer; ours are a few kilobytes.
const MAX_FOOTER: u64 = 16 << 20;
/// The largest page, uncompressed; ours are 1 MiB at most.
const MAX_PAGE: i64 = 16 << 20;
/// The most bytes that the head of a page may take.
const MAX_PAGE_HEAD: usize = 16 << 10;
/// The most columns.
const MAX_COLUMNS: u64 = 256;

fn wrong(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

/// Opens a file after looking at its footer and the heads of all its pages.
pub(crate) fn open(file: File) -> Result<SerializedFileReader<File>> {
    let length = file.metadata()?.len();
    check_footer(&file, length)?;
    let pages = file.try_clone()?;
    let reader = SerializedFileReader::new(file)?;
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

/// FileMetaData: field 2 is the schema, a list of structures whose field 5 is a number of children.
fn footer_is_sane(bytes: &[u8]) -> Option<()> {
    let mut thrift = Thrift::new(bytes);
    let mut last = 0;
    loop {
        match thrift.field(&mut last)? {
            (_, 0) => return Some(()),
            (2, LIST) => {
                let (count, of) = thrift.list()?;
                if count > MAX_COLUMNS || of != STRUCT {
                    return None;
                }
                for _ in 0..count {
                    let mut element = 0;
                    loop {
                        match thrift.field(&mut element)? {
                            (_, 0) => break,
                            (5, I32) if !(0..count as i64).contains(&thrift.integer()?) => {
                                return None;
                            }
                            (5, I32) => {}
                            (_, kind) => thrift.skip(kind)?,
                        }
                    }
                }
            }
            (_, kind) => thrift.skip(kind)?,
        }
    }
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
    while at < end {
        let window = usize::try_from(end - at).unwrap_or(usize::MAX).min(buffer.len());
        file.read_exact_at(&mut buffer[..window], at)?;
        let (head, body) =
            page_size(&buffer[..window]).ok_or_else(|| wrong("the head of a page is damaged"))?;
        at = at.saturating_add(head).saturating_add(body);
    }
    if at == end { Ok(()) } else { Err(wrong("a page ends outside its column chunk")) }
}

/// PageHeader: field 2 is the uncompressed size, 3 the compressed size, 7 the dictionary's header with
/// its number of values in field 1. Returns the bytes of the head and of the page.
fn page_size(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut thrift = Thrift::new(bytes);
    let (mut last, mut plain, mut packed, mut entries) = (0, None, None, 0);
    loop {
        match thrift.field(&mut last)? {
            (_, 0) => break,
            (2, I32) => plain = Some(thrift.integer()?),
            (3, I32) => packed = Some(thrift.integer()?),
            (7, STRUCT) => {
                let mut inner = 0;
                loop {
                    match thrift.field(&mut inner)? {
                        (_, 0) => break,
                        (1, I32) => entries = thrift.integer()?,
                        (_, kind) => thrift.skip(kind)?,
                    }
                }
            }
            (_, kind) => thrift.skip(kind)?,
        }
    }
    let (plain, packed) = (plain?, packed?);
    // Every entry of a dictionary of texts or numbers takes four bytes or more.
    let sane = (0..=MAX_PAGE).contains(&plain) && packed >= 0 && (0..=plain / 4).contains(&entries);
    sane.then_some((thrift.position() as u64, packed as u64))
}
