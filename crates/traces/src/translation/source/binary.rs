//! Reads and writes assay's own format: a header of 16 bytes (`ASSAYTLB`, version 1, zeros), then
//! little-endian records of eight bytes (see [`Record`]). The last record is the end, with the
//! number of records before it.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use super::{AccessStream, BATCH};
use crate::translation::access::{Record, kind_of, payload_of};
use crate::translation::error::Error;

/// First bytes of a trace.
pub const MAGIC: &[u8; 8] = b"ASSAYTLB";
const VERSION: u32 = 1;
const END: u64 = Record::End as u64;

fn head() -> [u8; 16] {
    let mut head = [0; 16];
    head[..8].copy_from_slice(MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_le_bytes());
    head
}

pub(super) struct BinaryTrace {
    input: Box<dyn Read>,
    path: PathBuf,
    bytes: Vec<u8>,
    /// Number of bytes of a record that was cut by the end of a read.
    rest: usize,
    records: u64,
    ended: bool,
}

impl BinaryTrace {
    pub fn open(mut reader: Box<dyn Read>, path: PathBuf) -> Result<Self, Error> {
        let mut found = [0; 16];
        if let Err(source) = reader.read_exact(&mut found) {
            return Err(match source.kind() {
                io::ErrorKind::UnexpectedEof => {
                    Error::Truncated { path, reason: "it ends within its head of 16 B".into() }
                }
                _ => Error::Io { path, source },
            });
        }
        if found != head() {
            let version = u32::from_le_bytes([found[8], found[9], found[10], found[11]]);
            let reason = format!("version {version}; version {VERSION} is read");
            return Err(Error::Bad { path, place: "head".into(), reason });
        }
        let bytes = vec![0; BATCH * 8];
        Ok(BinaryTrace { input: reader, path, bytes, rest: 0, records: 0, ended: false })
    }

    fn truncated(&self, reason: String) -> Error {
        Error::Truncated { path: self.path.clone(), reason }
    }
}

impl AccessStream for BinaryTrace {
    fn next(&mut self, batch: &mut Vec<u64>) -> Result<(), Error> {
        batch.clear();
        let mut filled = self.rest;
        while filled < self.bytes.len() {
            match self.input.read(&mut self.bytes[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::Io { path: self.path.clone(), source }),
            }
        }
        if self.ended && filled > 0 {
            let place = format!("record {}", self.records);
            let reason = "there is data after its end".to_owned();
            return Err(Error::Bad { path: self.path.clone(), place, reason });
        }
        let (whole, rest) = self.bytes[..filled].as_chunks::<8>();
        batch.extend(whole.iter().map(|r| u64::from_le_bytes(*r)));
        self.rest = rest.len();
        let at_end = filled < self.bytes.len();
        if at_end && self.rest > 0 {
            return Err(self.truncated(format!("{} B of a record at its end", self.rest)));
        }
        // Only the very last record may be the end.
        if let Some(last) = batch.last().copied().filter(|r| kind_of(*r) == END) {
            batch.pop();
            self.records += batch.len() as u64;
            if payload_of(last) != self.records {
                let (stated, got) = (payload_of(last), self.records);
                return Err(self.truncated(format!("it states {stated} records, but has {got}")));
            }
            self.ended = true;
        } else {
            self.records += batch.len() as u64;
        }
        // First check all records at once, which is fast: the kind is incremented, and 7 or more
        // carries into bit 3.
        let carried = batch.iter().fold(0, |all, r| all | (kind_of(*r) + 1));
        if carried > END
            && let Some(at) = batch.iter().position(|r| kind_of(*r) >= END)
        {
            let place = format!("record {}", self.records - (batch.len() - at) as u64);
            let reason = "it is not an address: its upper bits are set".to_owned();
            return Err(Error::Bad { path: self.path.clone(), place, reason });
        }
        if at_end && !self.ended {
            let reason = format!("no end after {} records; was the writer killed?", self.records);
            return Err(self.truncated(reason));
        }
        Ok(())
    }

    fn format(&self) -> &'static str {
        "assay's own"
    }
}

/// Writer of traces in assay's own format.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    records: u64,
    bytes: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Starts a trace by writing the header.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&head())?;
        Ok(Writer { out, records: 0, bytes: Vec::with_capacity(BATCH * 8) })
    }

    /// Appends records to the trace.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&mut self, records: &[u64]) -> io::Result<()> {
        for part in records.chunks(BATCH) {
            self.bytes.clear();
            self.bytes.extend(part.iter().flat_map(|r| r.to_le_bytes()));
            self.out.write_all(&self.bytes)?;
        }
        self.records += records.len() as u64;
        Ok(())
    }

    /// Ends the trace and returns the output. A trace that is not ended counts as cut off.
    ///
    /// # Errors
    /// If the end cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&Record::End.with(self.records).to_le_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}
