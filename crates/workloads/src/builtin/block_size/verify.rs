//! Check of the transferred bytes: after the measurement, each visited size is used once more, and
//! the block that it moves is compared byte by byte.

use std::collections::BTreeSet;
use std::path::PathBuf;

use assay_stats::rng::Rng;

use crate::Failure;
use crate::builtin::block_size::params::{Cache, Direction};
use crate::builtin::block_size::slice::{Buffer, Walk};
use crate::builtin::block_size::trial_spec::TrialSpec;
use crate::builtin::block_size::{content, file};

/// A byte that differs from the one that was written.
#[derive(Debug, thiserror::Error)]
#[error("byte {position} of {} is wrong when moved in blocks of {size} B", path.display())]
pub struct WrongByte {
    /// Offset in the file.
    position: u64,
    path: PathBuf,
    /// Size of the blocks in bytes.
    size: u64,
}

/// Compares a block at each of `sizes`. Returns the number of blocks compared, or the first
/// difference as the inner `Err`.
///
/// # Errors
/// Returns a [`Failure`] if a call failed.
pub fn blocks(
    spec: &TrialSpec,
    index: u32,
    walk: &mut Walk,
    sizes: &BTreeSet<u64>,
) -> Result<Result<u64, WrongByte>, Failure> {
    let mut rng = Rng::new(u64::from(index));
    let (path, largest) = (spec.file_of(index), spec.largest() as usize);
    let (mut buffer, mut expected) = (Buffer::new(largest), vec![0; largest]);
    let other_way = spec.location.foreign.then(|| reference(path.clone(), spec.file_size));
    let mut other_way = other_way.transpose()?;
    let mut compared = 0;
    for &size in sizes {
        let length = size as usize;
        let position = rng.below((spec.file_size / size) as usize) as u64 * size;
        let expected = &mut expected[..length];
        match (spec.direction, &mut other_way) {
            (Direction::Write, _) => {
                content::fill(rng.next_u64(), position, expected);
                buffer.get()[..length].copy_from_slice(expected);
                walk.write_at(position, &mut buffer.get()[..length])?;
                buffer.get()[..length].fill(0);
            }
            (Direction::Read, None) => content::fill(file::SEED, position, expected),
            (Direction::Read, Some(reference)) => {
                // Reads in halves, so that a call is not compared with an identical call.
                let (first, second) = expected.split_at_mut(length / 2);
                for (part, at) in [(first, position), (second, position + size / 2)] {
                    if !part.is_empty() {
                        reference.read_at(at, part)?;
                    }
                }
            }
        }
        walk.read_at(position, &mut buffer.get()[..length])?;
        if let Some(at) = buffer.get()[..length].iter().zip(expected).position(|(x, y)| x != y) {
            return Ok(Err(WrongByte { position: position + at as u64, path, size }));
        }
        compared += 1;
    }
    Ok(Ok(compared))
}

fn reference(file: PathBuf, size: u64) -> Result<Walk, Failure> {
    let fd = file::open(&file, Direction::Read, Cache::Page)?;
    let spare = file::open(&file, Direction::Read, Cache::Page)?;
    Ok(Walk::new(fd, spare, file, size))
}
