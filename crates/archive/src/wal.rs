//! The write-ahead file of a run: one flush makes a trial durable, whatever files it has.
//!
//! A small record, its logs and its ledger lines go as one framed entry into a file that was filled
//! with zeros beforehand, so that flushing it moves data only. The trial's own files follow without
//! a flush of their own; every so often they are all flushed and the write-ahead file begins again
//! from its start with a new generation. After a crash the entries are played into place.
//!
//! An entry: magic, generation, sequence number, length of the body (8 bytes each, little-endian),
//! SHA-256 of these and the body, then the body: length of a table (4 bytes), the table (JSON), the
//! ledger's bytes, the files' bytes.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::disk;
use crate::layout::{WAL, is_run_file};
use crate::{Error, Result};

/// The size of the file: about 500 small trials.
const CAPACITY: u64 = 1 << 20;
/// Trials whose files are larger than this are flushed as they are, so an entry always fits.
pub(crate) const INLINE_MAX: usize = 128 << 10;

const MAGIC: u64 = u64::from_le_bytes(*b"assayWA1");
const HEADER: usize = 4 * 8 + 32;

/// A file inside a run, by its path there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunFile {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// What one entry puts into the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Entry {
    /// Where in the ledger its lines begin.
    pub ledger_offset: u64,
    /// The ledger's lines since the entry before.
    pub ledger: Vec<u8>,
    /// Whole files.
    pub files: Vec<RunFile>,
}

#[derive(Serialize, Deserialize)]
struct Table {
    ledger_offset: u64,
    ledger_bytes: usize,
    files: Vec<(String, usize)>,
}

/// The write-ahead file, open for writing.
#[derive(Debug)]
pub(crate) struct Wal {
    file: File,
    path: PathBuf,
    generation: u64,
    sequence: u64,
    end: u64,
}

impl Wal {
    /// Makes the file in `folder`, in place of one that is there.
    pub(crate) fn create(folder: &Path) -> Result<Self> {
        let path = folder.join(WAL);
        disk::remove(&path)?;
        let make = || {
            let file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path)?;
            file.write_all_at(&vec![0; CAPACITY as usize], 0)?;
            file.sync_all()?;
            Ok(file)
        };
        let file = make().map_err(|e| {
            let _ = disk::remove(&path);
            Error::io("write", &path, e)
        })?;
        disk::sync(folder)?;
        Ok(Wal { file, path, generation: 1, sequence: 0, end: 0 })
    }

    /// Whether an entry with `bytes` of ledger and files fits before the next [`Wal::restart`].
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        // The table is a line for each file; 4 KiB covers it and the header.
        self.end + bytes as u64 + 4096 <= CAPACITY
    }

    /// Adds an entry; it survives a loss of power once this returns.
    pub(crate) fn append(&mut self, offset: u64, ledger: &[u8], files: &[RunFile]) -> Result<()> {
        let bytes = encode(offset, ledger, files, (self.generation, self.sequence));
        self.file
            .write_all_at(&bytes, self.end)
            .and_then(|()| self.file.sync_data())
            .map_err(|e| Error::io("write", &self.path, e))?;
        self.sequence += 1;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Begins again from the start. Everything that the entries hold must have been flushed in its
    /// place before. Old entries need no erasing: the next one is of another generation, and playing
    /// them once more changes nothing.
    pub(crate) fn restart(&mut self) {
        self.generation += 1;
        self.sequence = 0;
        self.end = 0;
    }
}

fn encode(offset: u64, ledger: &[u8], files: &[RunFile], place: (u64, u64)) -> Vec<u8> {
    let name = |f: &RunFile| (f.path.to_string_lossy().into_owned(), f.bytes.len());
    let table = Table {
        ledger_offset: offset,
        ledger_bytes: ledger.len(),
        files: files.iter().map(name).collect(),
    };
    let table = serde_json::to_vec(&table).expect("a table of texts and numbers is always JSON");
    let content: usize = files.iter().map(|f| f.bytes.len()).sum();
    let body = 4 + table.len() + ledger.len() + content;
    let mut bytes = Vec::with_capacity(HEADER + body);
    for word in [MAGIC, place.0, place.1, body as u64] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend([0; 32]);
    bytes.extend((table.len() as u32).to_le_bytes());
    bytes.extend(&table);
    bytes.extend(ledger);
    for file in files {
        bytes.extend(&file.bytes);
    }
    let sum = checksum(&bytes);
    bytes[32..HEADER].copy_from_slice(&sum);
    bytes
}

fn checksum(framed: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(&framed[..32]).chain_update(&framed[HEADER..]).finalize().into()
}

/// The entries of the write-ahead file in `folder`, in order; none when there is no such file. A torn
/// entry at the end was never acknowledged and is left out.
pub(crate) fn entries(folder: &Path) -> Result<Vec<Entry>> {
    let path = folder.join(WAL);
    let mut bytes = Vec::new();
    match File::open(&path) {
        Ok(file) => {
            file.take(CAPACITY).read_to_end(&mut bytes).map_err(|e| Error::io("read", &path, e))?;
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(Error::io("read", &path, e)),
    }
    Ok(decode(&bytes))
}

fn decode(mut bytes: &[u8]) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut generation = None;
    while let Some((entry, of, sequence, rest)) = decode_one(bytes) {
        if *generation.get_or_insert(of) != of || sequence != found.len() as u64 {
            break;
        }
        found.push(entry);
        bytes = rest;
    }
    found
}

fn decode_one(bytes: &[u8]) -> Option<(Entry, u64, u64, &[u8])> {
    let word = |i: usize| -> Option<u64> {
        Some(u64::from_le_bytes(bytes.get(i * 8..i * 8 + 8)?.try_into().ok()?))
    };
    if word(0)? != MAGIC {
        return None;
    }
    let end = HEADER.checked_add(usize::try_from(word(3)?).ok()?)?;
    let framed = bytes.get(..end)?;
    if checksum(framed) != framed[32..HEADER] {
        return None;
    }
    let body = &framed[HEADER..];
    let (length, body) = body.split_first_chunk::<4>()?;
    let (table, mut body) = body.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let table: Table = serde_json::from_slice(table).ok()?;
    let mut take = |n: usize| {
        let (part, rest) = body.split_at_checked(n)?;
        body = rest;
        Some(part.to_vec())
    };
    let ledger = take(table.ledger_bytes)?;
    let mut files = Vec::new();
    for (path, n) in table.files {
        if !is_run_file(&path) {
            return None;
        }
        files.push(RunFile { path: path.into(), bytes: take(n)? });
    }
    let entry = Entry { ledger_offset: table.ledger_offset, ledger, files };
    Some((entry, word(1)?, word(2)?, &bytes[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: u8) -> Entry {
        Entry {
            ledger_offset: u64::from(n) * 10,
            ledger: vec![n; 10],
            files: vec![RunFile {
                path: format!("trials/000{n}/record.json").into(),
                bytes: vec![n; 300],
            }],
        }
    }

    fn append(wal: &mut Wal, entry: &Entry) {
        wal.append(entry.ledger_offset, &entry.ledger, &entry.files).unwrap();
    }

    fn encoded(entry: &Entry, sequence: u64) -> Vec<u8> {
        encode(entry.ledger_offset, &entry.ledger, &entry.files, (1, sequence))
    }

    #[test]
    fn entries_come_back_in_order_and_old_generations_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut wal = Wal::create(folder.path()).unwrap();
        assert!(entries(folder.path()).unwrap().is_empty());
        for n in 1..=3 {
            append(&mut wal, &entry(n));
        }
        assert_eq!(entries(folder.path()).unwrap(), [entry(1), entry(2), entry(3)]);
        wal.restart();
        assert_eq!(entries(folder.path()).unwrap().len(), 3, "still there until overwritten");
        append(&mut wal, &entry(4));
        assert_eq!(entries(folder.path()).unwrap(), [entry(4)]);
    }

    #[test]
    fn a_torn_entry_is_left_out_wherever_it_is_torn() {
        let whole = [encoded(&entry(1), 0), encoded(&entry(2), 1)];
        let first = whole[0].len();
        let bytes = whole.concat();
        for cut in first..bytes.len() {
            let mut torn = bytes[..cut].to_vec();
            torn.resize(CAPACITY as usize, 0);
            assert_eq!(decode(&torn), [entry(1)], "cut at {cut}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]
        #[test]
        fn never_panics_and_believes_no_changed_byte(at in 0usize..2000, byte: u8) {
            let mut bytes = [encoded(&entry(1), 0), encoded(&entry(2), 1)].concat();
            let at = at % bytes.len();
            let same = bytes[at] == byte;
            bytes[at] = byte;
            let found = decode(&bytes);
            let first = encoded(&entry(1), 0).len();
            let expected = if same { 2 } else { usize::from(at >= first) };
            proptest::prop_assert_eq!(found.len(), expected);
        }

        #[test]
        fn any_bytes(bytes: Vec<u8>) {
            proptest::prop_assert!(decode(&bytes).is_empty());
        }
    }
}
