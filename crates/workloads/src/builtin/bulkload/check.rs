//! Comparison of the table with the flat files: row counts and sums, file by file.

use std::collections::BTreeMap;

use crate::Failure;
use crate::builtin::bulkload::client::{Connection, query};
use crate::builtin::bulkload::flat::{Manifest, SUMS};

/// Sums in the table, by load.
pub type LoadSums = BTreeMap<u64, Vec<i64>>;

/// Queries the table for its counts and sums.
///
/// # Errors
/// Fails if psql fails or prints something else.
pub fn query_sums(connection: &Connection) -> Result<LoadSums, Failure> {
    let sql = format!("SELECT load_id, {SUMS} FROM sales_fact GROUP BY load_id ORDER BY load_id");
    read(&query(connection, "the sums of the table", &sql)?)
}

/// Parses psql's output: numbers separated by `|`.
fn read(output: &str) -> Result<LoadSums, Failure> {
    let row = |line: &str| -> Option<(u64, Vec<i64>)> {
        let mut fields = line.split('|');
        let load = fields.next()?.trim().parse().ok()?;
        Some((load, fields.map(|f| f.trim().parse().ok()).collect::<Option<_>>()?))
    };
    let lines = output.lines().filter(|l| !l.trim().is_empty());
    lines
        .map(|line| {
            row(line).ok_or_else(|| Failure::program("the sums of the table are not numbers", line))
        })
        .collect()
}

/// Returns the differences between the table and the files; the files in `committed` must be
/// complete. A file that was not committed may be in the table completely, if the server's
/// confirmation was lost, or not at all.
pub fn wrong(found: &LoadSums, made: &Manifest, committed: &[u64]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (load, expected) in (0..).zip(&made.loads) {
        match found.get(&load) {
            None if committed.contains(&load) => {
                wrong.push(format!("the file {load} was committed, but its rows are missing"));
            }
            Some(sums) if *sums != expected.sums => {
                wrong.push(describe(load, sums, &expected.sums));
            }
            _ => {}
        }
    }
    for load in found.keys().filter(|l| **l >= made.loads.len() as u64) {
        wrong.push(format!("there are rows of a file {load}, which does not exist"));
    }
    wrong
}

fn describe(load: u64, found: &[i64], expected: &[i64]) -> String {
    const NAMES: [&str; 9] = [
        "rows",
        "sum of sale_id",
        "sum of days",
        "sum of store",
        "sum of item",
        "sum of customer",
        "sum of quantity * cents",
        "sum of lengths",
        "sum of first letters",
    ];
    let different = NAMES.iter().zip(found.iter().zip(expected)).find(|(_, (f, e))| f != e);
    match different {
        Some((name, (found, expected))) => {
            format!("file {load}: {name} is {found} in the table and {expected} in the file")
        }
        None => format!("file {load}: the table has {} sums, not {}", found.len(), expected.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::bulkload::flat::FileSums;

    #[test]
    fn each_kind_of_difference_is_named() {
        let sums = |n: i64| FileSums { sums: vec![3, n, 1, 1, 1, 1, 1, 1, 1], bytes: 1 };
        let made = Manifest { loads: vec![sums(3), sums(12)] };
        let fine = read("0|3|3|1|1|1|1|1|1|1\n1|3|12|1|1|1|1|1|1|1\n").unwrap();
        assert_eq!(wrong(&fine, &made, &[0, 1]), Vec::<String>::new());
        let half = read("0|3|3|1|1|1|1|1|1|1\n").unwrap();
        assert_eq!(wrong(&half, &made, &[0]), Vec::<String>::new());
        assert!(wrong(&half, &made, &[0, 1])[0].contains("file 1 was committed"));
        let torn = read("0|2|3|1|1|1|1|1|1|1\n7|1|1|1|1|1|1|1|1|1").unwrap();
        let output = wrong(&torn, &made, &[]);
        assert!(output[0].contains("rows is 2 in the table and 3"), "{output:?}");
        assert!(output[1].contains("does not exist"), "{output:?}");
        assert!(read("ERROR").is_err());
    }
}
