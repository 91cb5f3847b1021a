//! The flat files: rows of a fact table of sales, generated from a seed, with the counts and sums
//! for checking the loaded table.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use assay_stats::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::builtin::bulkload::params::BulkloadParams;

/// Table definition, in the order of the files' columns.
pub const TABLE: &str = "CREATE TABLE sales_fact (load_id integer NOT NULL, sale_id bigint NOT \
    NULL, sold date NOT NULL, store integer NOT NULL, item integer NOT NULL, customer bigint NOT \
    NULL, quantity integer NOT NULL, cents bigint NOT NULL, note text NOT NULL)";
/// SQL expressions for the sums of a file, in the order of [`FileSums::sums`].
pub const SUMS: &str = "count(*), sum(sale_id), sum(sold - date '2009-01-01'), sum(store), \
    sum(item), sum(customer), sum(quantity * cents), sum(length(note)), sum(ascii(note))";

const MANIFEST: &str = "manifest.json";
/// Number of days in each month of 2009.
const DAYS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Sums of a file's rows, and its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSums {
    /// Number of rows and sums of their columns, in the order of [`SUMS`].
    pub sums: Vec<i64>,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// The files that were made, one for each load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Sums of the files, by load.
    pub loads: Vec<FileSums>,
}

impl Manifest {
    /// Returns the size of all files in bytes.
    pub fn bytes(&self) -> u64 {
        self.loads.iter().map(|l| l.bytes).sum()
    }

    /// Reads the manifest that [`make`] wrote.
    ///
    /// # Errors
    /// Fails if it does not exist.
    pub fn read(dir: &Path) -> Result<Self, WorkloadError> {
        let path = dir.join(MANIFEST);
        let text = fs::read(&path).map_err(WorkloadError::io("read", &path))?;
        serde_json::from_slice(&text).map_err(|e| WorkloadError::io("read", &path)(e.into()))
    }
}

/// Returns the folder of the files.
pub fn folder(params: &BulkloadParams, run_dir: &Path) -> PathBuf {
    let BulkloadParams { rows, sessions, files, seed, client, .. } = params;
    run_dir.join(format!("bulkload-{rows}-{sessions}-{files}-{seed}-{client}"))
}

/// Returns the path of a load's file.
pub fn file(dir: &Path, load: u64) -> PathBuf {
    dir.join(format!("load-{load}.txt"))
}

/// Makes the files unless they exist.
///
/// # Errors
/// Fails if they cannot be written.
pub fn make(params: &BulkloadParams, dir: &Path) -> Result<Manifest, WorkloadError> {
    if let Ok(there) = Manifest::read(dir) {
        return Ok(there);
    }
    fs::create_dir_all(dir).map_err(WorkloadError::io("create", dir))?;
    let mut loads = Vec::new();
    for load in 0..params.loads() {
        let path = file(dir, load);
        let write = || {
            let mut out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
            let sums = rows(params, load, &mut out)?;
            out.flush()?;
            Ok(sums)
        };
        loads.push(write().map_err(WorkloadError::io("write", &path))?);
    }
    let made = Manifest { loads };
    let path = dir.join(MANIFEST);
    let text = serde_json::to_vec(&made).unwrap_or_default();
    // Written last: without it the files are made again.
    fs::write(&path, text).map_err(WorkloadError::io("write", &path))?;
    Ok(made)
}

/// Computes the sums of the files of the first `clients` clients without writing the files; the
/// loads of all clients are in order.
///
/// # Errors
/// Cannot fail in practice, because nothing is written.
pub fn expected(params: &BulkloadParams, clients: u64) -> Result<Manifest, WorkloadError> {
    let mut loads = Vec::new();
    for client in 0..clients {
        let params = BulkloadParams { client, ..params.clone() };
        for load in 0..params.loads() {
            let sums = rows(&params, load, &mut io::sink());
            loads.push(sums.map_err(WorkloadError::io("make", Path::new("the sums")))?);
        }
    }
    Ok(Manifest { loads })
}

/// Writes the rows of a load. The numbers of loads and sales are unique over all clients.
fn rows(params: &BulkloadParams, load: u64, out: &mut impl Write) -> io::Result<FileSums> {
    let (first, count) = params.part(load);
    let (first, load) =
        (params.client * params.rows + first, params.client * params.loads() + load);
    let mut rng = Rng::new(params.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(load));
    let mut sums = [0i64; 9];
    let (mut bytes, mut line) = (0, Vec::with_capacity(256));
    for sale in first..first + count {
        let day = rng.below(365) as i64;
        let (month, of_month) = date(day as u32);
        let (store, item) = (rng.below(2000) as i64 + 1, rng.below(60_000) as i64 + 1);
        let customer = 7_000_000_000 + rng.below(90_000_000) as i64;
        let (quantity, cents) = (rng.below(20) as i64 + 1, rng.below(200_000) as i64 + 1);
        line.clear();
        write!(
            line,
            "{load}\t{sale}\t2009-{month:02}-{of_month:02}\t{store}\t{item}\t\
            {customer}\t{quantity}\t{cents}\t"
        )?;
        let begin = line.len();
        note(&mut rng, &mut line);
        let (length, head) = ((line.len() - begin) as i64, i64::from(line[begin]));
        line.push(b'\n');
        out.write_all(&line)?;
        bytes += line.len() as u64;
        let row = [1, sale as i64, day, store, item, customer, quantity * cents, length, head];
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    Ok(FileSums { sums: sums.into(), bytes })
}

/// Returns month and day of the month for a day of 2009, counted from 0.
fn date(mut day: u32) -> (u32, u32) {
    for (month, days) in (1..).zip(DAYS) {
        if day < days {
            return (month, day + 1);
        }
        day -= days;
    }
    (12, 31)
}

/// Appends a few words of text, like a remark on a sale.
fn note(rng: &mut Rng, line: &mut Vec<u8>) {
    #[rustfmt::skip]
    const WORDS: [&str; 16] = [
        "returned", "promotion", "cash", "account", "express", "fragile", "store", "catalogue",
        "web", "gift", "bulk", "damaged", "reserved", "discount", "late", "final",
    ];
    let words = 3 + rng.below(6);
    for n in 0..words {
        if n > 0 {
            line.push(b' ');
        }
        line.extend_from_slice(WORDS[rng.below(WORDS.len())].as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::bulkload::params::tests::of_files;

    #[test]
    fn the_same_seed_makes_the_same_files_once() {
        let dir = tempfile::tempdir().unwrap();
        let shape = of_files(500, 2, 2, 3);
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        let made = make(&shape, &a).unwrap();
        assert_eq!(make(&shape, &b).unwrap(), made);
        assert_eq!(fs::read(file(&a, 3)).unwrap(), fs::read(file(&b, 3)).unwrap());
        let other =
            make(&BulkloadParams { seed: 4, ..shape.clone() }, &dir.path().join("c")).unwrap();
        assert_ne!(other.loads, made.loads);
        let written = fs::metadata(file(&a, 0)).unwrap().modified().unwrap();
        assert_eq!(make(&shape, &a).unwrap(), made);
        assert_eq!(fs::metadata(file(&a, 0)).unwrap().modified().unwrap(), written);
        assert_eq!(made.loads.iter().map(|l| l.sums[0]).sum::<i64>(), 500);
        assert_eq!(made.loads.iter().map(|l| l.sums[1]).sum::<i64>(), 499 * 500 / 2);
        let length: u64 = (0..4).map(|n| fs::metadata(file(&a, n)).unwrap().len()).sum();
        assert_eq!(length, made.bytes());
    }

    #[test]
    fn clients_have_rows_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let shape = of_files(100, 2, 1, 3);
        let all = expected(&shape, 2).unwrap();
        assert_eq!(all.loads.len(), 4);
        for client in 0..2 {
            let shape = BulkloadParams { client, ..shape.clone() };
            let made = make(&shape, &folder(&shape, dir.path())).unwrap();
            let at = client as usize * 2;
            assert_eq!(made.loads, all.loads[at..at + 2]);
        }
        assert_eq!(all.loads.iter().map(|l| l.sums[1]).sum::<i64>(), 199 * 200 / 2);
        let first = fs::read_to_string(file(
            &folder(&BulkloadParams { client: 1, ..shape }, dir.path()),
            0,
        ));
        assert!(first.unwrap().starts_with("2\t100\t"));
    }

    #[test]
    fn days_of_a_year() {
        assert_eq!((date(0), date(31), date(59), date(364)), ((1, 1), (2, 1), (3, 1), (12, 31)));
    }
}
