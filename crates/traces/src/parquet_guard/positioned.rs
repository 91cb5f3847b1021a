//! Reads a file at any offset without moving its file position, so that several threads can share a
//! file that was opened and checked once.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// Number of bytes read first for a page header, which takes a few dozen.
pub(crate) const HEAD: usize = 256;

/// Shared file that is read by offset.
#[derive(Debug)]
pub struct Positioned {
    file: Arc<File>,
    length: u64,
}

impl Positioned {
    pub(crate) fn new(file: File, length: u64) -> Self {
        Positioned { file: Arc::new(file), length }
    }
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<OffsetReader>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(HEAD, OffsetReader { file: Arc::clone(&self.file), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Allocate nothing for bytes that the file does not have.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(cut());
        }
        let mut bytes = Vec::with_capacity(length);
        OffsetReader { file: Arc::clone(&self.file), at: start }
            .take(length as u64)
            .read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(cut());
        }
        Ok(bytes.into())
    }
}

fn cut() -> ParquetError {
    ParquetError::EOF("a part of it lies beyond its end".to_owned())
}

/// Reader of the file from an offset.
#[derive(Debug)]
pub struct OffsetReader {
    file: Arc<File>,
    at: u64,
}

impl Read for OffsetReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
