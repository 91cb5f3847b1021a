//! Tests of points over revisions and over time.

use std::path::PathBuf;

use assay_workloads::readers::{FORMATS, FormatReader, read_foreign, read_series};

use super::{data, text};

fn series(names: &[&str]) -> Result<assay_stats::series::ImportedSeries, String> {
    let paths: Vec<PathBuf> = names.iter().map(|name| data(name)).collect();
    read_series(&paths, None).map_err(|e| e.to_string())
}

#[test]
fn each_format_of_series_is_recognised_and_gives_points() {
    for name in
        ["nightly.csv", "data.js", "asv.json", "bencher.json", "conbench.json", "git-perf.txt"]
    {
        let read = series(&[name]).unwrap();
        assert_eq!((read.file.as_str(), read.sha256.len()), (name, 64));
        assert!(read.series.iter().all(|s| !s.points.is_empty()), "{name}");
        assert!(read.series[0].points.iter().all(|p| p.value > 0.0 && !p.time.is_empty()));
        let refused = read_foreign(&[data(name)], None).unwrap_err().to_string();
        assert!(refused.contains("no trials") && refused.contains("assay history import"));
    }
    let csv = series(&["nightly.csv"]).unwrap();
    assert_eq!(csv.series.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["ms", "bytes"]);
    assert_eq!((csv.excluded, csv.series[0].points[1].revision.as_str()), (1, "r2"));
}

#[test]
fn trials_are_points_where_their_file_states_the_time() {
    let read = series(&["google-benchmark.json"]).unwrap();
    let copy = read.series.iter().find(|s| s.name == "benchmark=BM_copy/64, real_time").unwrap();
    assert_eq!((copy.unit.as_str(), copy.points.len()), ("s", 1));
    assert_eq!(copy.points[0].time, "2026-05-04T10:30:00Z");
    assert!((copy.points[0].value - 41e-9).abs() < 1e-15, "{copy:?}");
    // Only the failed trial is left out.
    assert_eq!(read.excluded, 1);
    // A later file adds a point; points are ordered by time, whatever the order of the files.
    let folder = tempfile::tempdir().unwrap();
    let later = folder.path().join("later.json");
    std::fs::write(&later, text("google-benchmark.json").replace("2026-05-04", "2026-05-05"))
        .unwrap();
    let read = read_series(&[later, data("google-benchmark.json")], None).unwrap();
    let copy = read.series.iter().find(|s| s.name == "benchmark=BM_copy/64, real_time").unwrap();
    let times: Vec<&str> = copy.points.iter().map(|p| p.time.as_str()).collect();
    assert_eq!(times, ["2026-05-04T10:30:00Z", "2026-05-05T10:30:00Z"]);
    // Different settings make different series.
    let read = series(&["memtier.json", "memtier-8.json"]).unwrap();
    for threads in ["threads=4", "threads=8"] {
        let of =
            |s: &&assay_stats::series::QuotedSeries| s.name == format!("{threads}, throughput");
        assert_eq!(read.series.iter().find(of).unwrap().points.len(), 1, "{:?}", read.series);
    }
    let refused = series(&["hyperfine.json"]).unwrap_err();
    assert!(refused.contains("does not state when") && refused.contains("assay archive import"));
}

#[test]
fn a_folder_is_read_as_the_format_that_its_marker_names() {
    let folder = tempfile::tempdir().unwrap();
    for (file, hash) in [("a.json", "aaa"), ("b.json", "bbb")] {
        let changed = text("asv.json").replace("0123abc", hash);
        std::fs::write(folder.path().join(file), changed).unwrap();
    }
    let path = [folder.path().to_owned()];
    let refused = read_series(&path, None).unwrap_err().to_string();
    assert!(refused.contains("is not a regular file"), "{refused}");
    std::fs::write(folder.path().join("machine.json"), "{}").unwrap();
    assert_eq!(read_series(&path, None).unwrap().series[0].points.len(), 2);
    std::fs::write(folder.path().join("b.json"), "{").unwrap();
    let bad = read_series(&path, None).unwrap_err().to_string();
    assert!(bad.contains("b.json:1:1: EOF") && bad.contains("(read as asv)"), "{bad}");
}

#[test]
fn bad_series_name_their_place() {
    let of = |bytes: &[u8], name: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        let format = assay_workloads::readers::format(name);
        read_series(&[path], format).unwrap_err().to_string()
    };
    assert!(of(b"time,ms\n1,x\n", "csv").contains("file: it holds no values (read as csv)"));
    assert!(of(b"{\"results\": [", "bencher").contains("file:1:13: EOF"));
    assert!(of(b"{}", "conbench").contains("it is neither a list of benchmark results"));
    assert!(of(b"{}", "github-action-benchmark").contains("it has no `entries`"));
    assert!(of(b"{}", "asv").contains("no column `result`"));
}

#[test]
fn the_manual_lists_every_format_with_the_verb_that_takes_it() {
    let manual = include_str!("../../../../../docs/compare/importing.md");
    let suites = include_str!("../../../../../docs/measure/suites.md");
    let listed = |part: &str| -> Vec<String> {
        let rows = part.lines().filter(|line| line.starts_with("| `"));
        let cells = rows.map(|row| row.split('|').nth(1).unwrap().to_owned());
        cells
            .flat_map(|c| c.split(',').map(|n| n.trim().replace('`', "")).collect::<Vec<_>>())
            .collect()
    };
    let (runs, series) = manual.split_once("## Series").unwrap();
    let names = |run: bool| -> Vec<&str> {
        let of = FORMATS.iter().filter(|f| matches!(f.reader, FormatReader::Run(_)) == run);
        of.map(|f| f.name).collect()
    };
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names.dedup();
        names
    };
    let wanted = |run| sorted(names(run).into_iter().map(str::to_owned).collect());
    let live: Vec<String> = FORMATS.iter().filter(|f| f.live).map(|f| f.name.to_owned()).collect();
    assert_eq!(sorted(listed(suites)), sorted(live));
    assert_eq!(sorted([listed(runs), listed(suites)].concat()), wanted(true));
    assert_eq!(sorted(listed(series)), wanted(false));
}
