//! Result files of asv (its developer documentation, "Benchmark suite layout and file formats",
//! version 2). Gives one series per benchmark, combination of parameters and environment, ordered
//! by commit date.

use std::fs;
use std::path::Path;

use crate::readers::file::error::ForeignError;
use crate::readers::file::format::{MAX_FILE, ResultFolder, bounded};
use crate::readers::prelude::*;

/// Folder format: the results of one machine.
pub(crate) const FOLDER: ResultFolder = ResultFolder { marker: "machine.json", read: folder };
/// Maximum size of the results in a folder, in bytes.
const MAX_FOLDER: usize = 16 * MAX_FILE as usize;

pub(crate) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["commit_hash", "env_name", "results"])
}

/// Reads the files in a folder and returns them as one line of JSON each.
fn folder(path: &Path) -> Result<Vec<u8>, ForeignError> {
    let fail = |error| ForeignError::Io(path.to_owned(), error);
    let paths = fs::read_dir(path).map_err(fail)?.flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "json") && !p.ends_with("machine.json"))
        .collect();
    paths.sort();
    let mut all = Vec::new();
    for file in paths {
        let flaw = |flaw| ForeignError::Malformed(file.clone(), "asv", flaw);
        let value = json::value(&bounded(&file)?).map_err(flaw)?;
        all.extend_from_slice(format!("{value}\n").as_bytes());
        if all.len() > MAX_FOLDER {
            let (found, limit) = (all.len() as u64, MAX_FOLDER as u64);
            return Err(ForeignError::TooLarge { path: path.to_owned(), found, limit });
        }
    }
    Ok(all)
}

/// Reads one file, or the lines of a folder.
pub(crate) fn read(bytes: &[u8]) -> Result<ForeignSeries, Flaw> {
    let mut all = ForeignSeries::default();
    match json::value(bytes) {
        Ok(file) => add(&mut all, &Json::root(&file))?,
        Err(flaw) => {
            for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
                let file = json::value(line).map_err(|_| flaw.clone())?;
                add(&mut all, &Json::root(&file))?;
            }
        }
    }
    all.sort_by_key(|point| point.time.parse::<i64>().ok());
    Ok(all)
}

fn add(all: &mut ForeignSeries, file: &Json<'_>) -> Result<(), Flaw> {
    let columns: Vec<&str> =
        file.get("result_columns").items().map(|c| c.text_or_empty()).collect();
    let at = |name: &str| columns.iter().position(|c| *c == name);
    let Some(result) = at("result") else {
        let message = "a file has no column `result`; asv before 0.6 wrote another format";
        return Err(Flaw::whole(message));
    };
    let environment = file.get("env_name").text_or_empty();
    let time = file.get("date").value().as_i64().map_or_else(String::new, |ms| ms.to_string());
    let point = (time.as_str(), file.get("commit_hash").text_or_empty());
    for (benchmark, row) in file.get("results").fields() {
        let texts = |list: Json<'_>| list.items().map(|t| t.text_or_empty().to_owned()).collect();
        let params = at("params").and_then(|i| row.items().nth(i));
        let params: Vec<Vec<String>> =
            params.map_or_else(Vec::new, |params| params.items().map(texts).collect());
        let values: Vec<Json<'_>> =
            row.items().nth(result).map_or_else(Vec::new, |v| v.items().collect());
        let quartile = |name: &str| -> Vec<Option<f64>> {
            let list = at(name).and_then(|at| row.items().nth(at));
            list.map_or_else(Vec::new, |l| l.items().map(|v| v.value().as_f64()).collect())
        };
        let (low, high) = (quartile("stats_q_25"), quartile("stats_q_75"));
        for (i, value) in values.iter().enumerate() {
            let name = format!("{benchmark}{} {environment}", combination(&params, i));
            let of = |list: &[Option<f64>]| list.get(i).copied().flatten();
            // asv's value is the median.
            let mean = value.value().as_f64();
            let figures = Figures { mean, min: of(&low), max: of(&high), ..Figures::default() };
            all.put(&name, "", point, mean.filter(|_| figures.contradictions("").is_empty()));
        }
    }
    Ok(())
}

/// Returns the `i`-th combination of parameters; the last parameter varies fastest.
fn combination(params: &[Vec<String>], mut i: usize) -> String {
    let mut words = Vec::new();
    for levels in params.iter().rev().filter(|l| !l.is_empty()) {
        words.push(levels[i % levels.len()].clone());
        i /= levels.len();
    }
    words.reverse();
    if words.is_empty() { String::new() } else { format!("({})", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_series_for_each_combination() {
        let file = |date: i64, hash: &str, third: &str| {
            format!(
                r#"{{"version":2,"commit_hash":"{hash}","env_name":"py","date":{date},
                "result_columns":["result","params"],
                "results":{{"time_it":[[1.5,2.5,{third},4.5],[["1","2"],["'a'","'b'"]]],
                "plain":[[7.0],[]]}}}}"#
            )
        };
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a-py.json"), file(20, "bbb", "null")).unwrap();
        fs::write(dir.path().join("b-py.json"), file(10, "aaa", "NaN")).unwrap();
        fs::write(dir.path().join("machine.json"), "{}").unwrap();
        let lines = folder(dir.path()).unwrap();
        assert!(detect(&lines));
        let all = read(&lines).unwrap();
        let names: Vec<&str> = all.series.iter().map(|s| s.name.as_str()).collect();
        let wanted = ["time_it(1, 'a') py", "time_it(1, 'b') py", "time_it(2, 'b') py", "plain py"];
        assert_eq!((names, all.excluded), (wanted.to_vec(), 2));
        let revisions: Vec<&str> =
            all.series[0].points.iter().map(|p| p.revision.as_str()).collect();
        assert_eq!(revisions, ["aaa", "bbb"], "by the date of the commit");
        // A single file gives one point of each series.
        let one = file(10, "aaa", "NaN");
        assert!(detect(one.as_bytes()));
        assert_eq!(read(one.as_bytes()).unwrap().series[0].points.len(), 1);
        let cut = read(&one.as_bytes()[..one.len() - 3]).unwrap_err();
        assert!(cut.message.contains("EOF"), "{cut:?}");
    }
}
