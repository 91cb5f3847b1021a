//! Series that other programs measured, as quoted values: read from their files, kept in the archive's folder of
//! histories.

mod git_perf;
mod services;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use assay_history::{Imported, QuotedPoint as Quoted, QuotedSeries};
use serde_json::Value;

use crate::cli::HistoryFormat;
use crate::exit::Usage;

/// Puts a point at the end of the series of that name and unit, which it makes where there is none.
fn put(series: &mut Vec<QuotedSeries>, name: &str, unit: &str, point: Quoted) {
    let same = |s: &&mut QuotedSeries| s.name == name && s.unit == unit;
    match series.iter_mut().find(same) {
        Some(found) => found.points.push(point),
        None => series.push(QuotedSeries {
            name: name.to_owned(),
            unit: unit.to_owned(),
            points: vec![point],
        }),
    }
}

/// Columns of a table that are no series.
const TIMES: [&str; 5] = ["time", "timestamp", "date", "datetime", "commit_ts"];
const REVISIONS: [&str; 6] = ["revision", "commit", "rev", "sha", "hash", "version"];

/// Reads a file.
pub fn read(format: HistoryFormat, file: &Path) -> Result<Imported> {
    let text = match format {
        HistoryFormat::Asv => asv_files(file)?,
        HistoryFormat::GitPerf => git_perf::notes(file)?,
        _ => fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?,
    };
    let bad = |why: String| Usage(format!("{}: {why}", file.display()));
    let (series, excluded) = match format {
        HistoryFormat::Csv => csv(&text).map_err(bad)?,
        HistoryFormat::Asv => asv(&text).map_err(bad)?,
        HistoryFormat::GithubActionBenchmark => data_js(&text).map_err(bad)?,
        HistoryFormat::Bencher => services::bencher(&text).map_err(bad)?,
        HistoryFormat::Conbench => services::conbench(&text).map_err(bad)?,
        HistoryFormat::GitPerf => git_perf::series(&text),
    };
    if series.iter().all(|s| s.points.is_empty()) {
        return Err(bad("it holds no values".into()).into());
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let sha256 = assay_sut::sha256(text.as_bytes());
    Ok(Imported { schema_version: 1, file: name, sha256, series, excluded })
}

fn csv(text: &str) -> Result<(Vec<QuotedSeries>, usize), String> {
    let header = text.lines().find(|l| !l.trim().is_empty() && !l.starts_with('#'));
    let header = header.ok_or("it is empty")?;
    let separator = [b'\t', b',', b';'].into_iter().find(|s| header.as_bytes().contains(s));
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator.unwrap_or(b','))
        .comment(Some(b'#'))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let names: Vec<String> =
        reader.headers().map_err(|e| e.to_string())?.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|e| e.to_string())?;
        if row.iter().any(|cell| !cell.is_empty()) {
            rows.push(row);
        }
    }
    let column =
        |known: &[&str]| names.iter().position(|n| known.contains(&n.to_lowercase().as_str()));
    let (time, revision) = (column(&TIMES), column(&REVISIONS));
    let mut excluded = 0;
    let mut series = Vec::new();
    for (i, name) in names.iter().enumerate() {
        if Some(i) == time || Some(i) == revision {
            continue;
        }
        let mut points = Vec::new();
        let mut lost = 0;
        for row in &rows {
            let cell = |at: Option<usize>| at.and_then(|i| row.get(i)).unwrap_or_default();
            match cell(Some(i)).parse::<f64>() {
                Ok(value) if value.is_finite() => {
                    let (time, revision) = (cell(time).to_owned(), cell(revision).to_owned());
                    points.push(Quoted { time, revision, value });
                }
                _ => lost += 1,
            }
        }
        // A column without a number is an attribute.
        if !points.is_empty() {
            excluded += lost;
            series.push(QuotedSeries { name: name.clone(), unit: String::new(), points });
        }
    }
    Ok((series, excluded))
}

/// The files of one machine in a folder of asv's results, a line of JSON each.
fn asv_files(folder: &Path) -> Result<String> {
    let read = || format!("read {}, a machine's folder of asv's results", folder.display());
    let mut paths: Vec<_> = fs::read_dir(folder)
        .with_context(read)?
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .filter(|p| p.file_name().is_some_and(|n| n != "machine.json"))
        .collect();
    paths.sort();
    let mut all = String::new();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        // Skipped benchmarks are NaN, which is no JSON.
        let value: Value = serde_json::from_str(&text)
            .or_else(|_| serde_json::from_str(&text.replace("NaN", "null")))
            .map_err(|e| Usage(format!("{}: {e}", path.display())))?;
        all.push_str(&value.to_string());
        all.push('\n');
    }
    Ok(all)
}

/// Result files of asv (its developer documentation, "Benchmark suite layout and file formats", version 2): the
/// series of each benchmark, combination of parameters and environment, by the date of the commit.
fn asv(lines: &str) -> Result<(Vec<QuotedSeries>, usize), String> {
    let mut files: Vec<Value> =
        lines.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    files.sort_by_key(|f| f["date"].as_i64().unwrap_or_default());
    let mut series: Vec<QuotedSeries> = Vec::new();
    let mut excluded = 0;
    for file in &files {
        let texts = |v: &Value| -> Vec<String> {
            v.as_array()
                .into_iter()
                .flatten()
                .map(|c| c.as_str().unwrap_or_default().into())
                .collect()
        };
        let columns = texts(&file["result_columns"]);
        let at = |name: &str| columns.iter().position(|c| c == name);
        let Some(result) = at("result") else {
            return Err("a file has no column `result`; asv before 0.6 wrote another format".into());
        };
        for (benchmark, row) in file["results"].as_object().into_iter().flatten() {
            let params: Vec<Vec<String>> = at("params")
                .and_then(|i| row[i].as_array())
                .map(|p| p.iter().map(texts).collect())
                .unwrap_or_default();
            for (i, value) in row[result].as_array().into_iter().flatten().enumerate() {
                let Some(value) = value.as_f64() else {
                    excluded += 1;
                    continue;
                };
                let environment = file["env_name"].as_str().unwrap_or_default();
                let name = format!("{benchmark}{} {environment}", combination(&params, i));
                let time = file["date"].as_i64().map(|ms| ms.to_string()).unwrap_or_default();
                let revision = file["commit_hash"].as_str().unwrap_or_default().to_owned();
                put(&mut series, &name, "", Quoted { time, revision, value });
            }
        }
    }
    Ok((series, excluded))
}

/// The `i`-th combination of parameters, the last varying fastest.
fn combination(params: &[Vec<String>], mut i: usize) -> String {
    let mut words = Vec::new();
    for levels in params.iter().rev().filter(|l| !l.is_empty()) {
        words.push(levels[i % levels.len()].clone());
        i /= levels.len();
    }
    words.reverse();
    if words.is_empty() { String::new() } else { format!("({})", words.join(", ")) }
}

fn data_js(text: &str) -> Result<(Vec<QuotedSeries>, usize), String> {
    let start = text.find('{').ok_or("there is no JSON in it")?;
    let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let data = match stream.next() {
        Some(Ok(data)) => data,
        Some(Err(e)) => return Err(e.to_string()),
        None => return Err("there is no JSON in it".into()),
    };
    let groups = data["entries"].as_object().ok_or("it has no `entries`")?;
    let mut series: Vec<QuotedSeries> = Vec::new();
    let mut excluded = 0;
    for (group, entries) in groups {
        for entry in entries.as_array().into_iter().flatten() {
            let revision = entry["commit"]["id"].as_str().unwrap_or_default();
            let time = entry["commit"]["timestamp"].as_str().unwrap_or_default();
            for bench in entry["benches"].as_array().into_iter().flatten() {
                let Some(value) = bench["value"].as_f64() else {
                    excluded += 1;
                    continue;
                };
                let name = format!("{group}: {}", bench["name"].as_str().unwrap_or_default());
                let unit = bench["unit"].as_str().unwrap_or_default();
                let (time, revision) = (time.to_owned(), revision.to_owned());
                put(&mut series, &name, unit, Quoted { time, revision, value });
            }
        }
    }
    Ok((series, excluded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_series_for_each_column_of_numbers() {
        let text = "time,revision,read_ms,branch,write_ms\n2026-01-01,abc,1.5,main,2\n2026-01-02,def,x,main,3\n";
        let (series, excluded) = csv(text).unwrap();
        let names: Vec<&str> = series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!((names, excluded), (vec!["read_ms", "write_ms"], 1));
        assert_eq!(series[1].points[1].revision, "def");
        assert_eq!(series[0].points.len(), 1);
    }

    #[test]
    fn a_separator_within_quotes_is_part_of_a_name() {
        let text = "# made by hand\ntime,revision,\"reads, 4 KiB\"\n\n2026-01-01,abc,1.5\n";
        let (series, excluded) = csv(text).unwrap();
        assert_eq!((series[0].name.as_str(), series[0].points[0].value), ("reads, 4 KiB", 1.5));
        assert_eq!((series.len(), excluded), (1, 0));
        assert_eq!(csv("# nothing\n\n").unwrap_err(), "it is empty");
    }

    #[test]
    fn asv_has_a_series_for_each_combination() {
        let file = |date: i64, hash: &str, third: &str| {
            format!(
                r#"{{"version":2,"commit_hash":"{hash}","env_name":"py","date":{date},
                "result_columns":["result","params"],
                "results":{{"time_it":[[1.5,2.5,{third},4.5],[["1","2"],["'a'","'b'"]]],"plain":[[7.0],[]]}}}}"#
            )
        };
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a-py.json"), file(20, "bbb", "null")).unwrap();
        fs::write(folder.path().join("b-py.json"), file(10, "aaa", "NaN")).unwrap();
        fs::write(folder.path().join("machine.json"), "{}").unwrap();
        let read = read(HistoryFormat::Asv, folder.path()).unwrap();
        let names: Vec<&str> = read.series.iter().map(|s| s.name.as_str()).collect();
        let wanted = ["time_it(1, 'a') py", "time_it(1, 'b') py", "time_it(2, 'b') py", "plain py"];
        assert_eq!((names, read.excluded), (wanted.to_vec(), 2));
        let revisions: Vec<&str> =
            read.series[0].points.iter().map(|p| p.revision.as_str()).collect();
        assert_eq!(revisions, ["aaa", "bbb"], "by the date of the commit");
    }

    #[test]
    fn data_js_has_a_series_for_each_benchmark() {
        let text = r#"window.BENCHMARK_DATA = {"entries":{"Go":[{"commit":{"id":"a1","timestamp":"2026-01-01T00:00:00Z"},
            "benches":[{"name":"fib","value":12.5,"unit":"ns/op"},{"name":"bad","unit":"s"}]}]}};"#;
        let (series, excluded) = data_js(text).unwrap();
        assert_eq!((series.len(), excluded), (1, 1));
        assert_eq!((series[0].name.as_str(), series[0].unit.as_str()), ("Go: fib", "ns/op"));
        assert_eq!(series[0].points[0].revision, "a1");
        assert!(data_js("nothing").is_err() && data_js("{}").is_err());
    }
}
