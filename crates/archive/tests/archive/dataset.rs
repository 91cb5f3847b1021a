//! Tests that other programs can read an exported data set.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use assay_archive::{Archive, Error, Search};
use assay_model::RunState;

use crate::fixture::{archive, create, record, write, write_trial};

const CHECK: &str = r#"
import sys, json
folder, sample, run = sys.argv[1:]
import pyarrow.parquet as pq
t = pq.read_table(sample)
assert t.column_names == ["t_ns", "monitor", "subject", "field", "unit", "value"], t.column_names
assert t.num_rows == 20 and t["unit"][0].as_py() == "%" and t["value"][19].as_py() == 19.0
chunk = pq.ParquetFile(sample).metadata.row_group(0).column(1)
assert chunk.compression == "LZ4", chunk.compression
assert "RLE_DICTIONARY" in chunk.encodings, chunk.encodings
t = pq.read_table(folder + "/trials.parquet").to_pylist()
assert len(t) == 4, t
assert t[0]["run"] == run and t[0]["value"] == 1e9 and t[0]["metric"] == "throughput"
assert json.loads(t[0]["levels"]) == {"size": 4096} and t[0]["label"] == "size=4096"
assert t[2]["value"] is None and t[2]["metric"] == "throughput"
assert t[3]["metric"] is None and t[3]["outcome"] == "failed"
try:
    import duckdb
except ImportError:
    print("skipped: duckdb: because it is not importable")
    sys.exit()
q = duckdb.sql(f"select count(*), count(value), max(value) from '{sample}'")
assert q.fetchall()[0] == (20, 20, 19.0)
q = duckdb.sql(f"select avg(value) from '{folder}/trials.parquet' where outcome = 'completed'")
assert q.fetchall()[0] == (1.5e9,)
"#;

/// Returns an archive with one run, the run's id, and the samples file of its first trial.
fn filled() -> (tempfile::TempDir, Archive, String, PathBuf) {
    let (folder, archive) = archive();
    let mut run = create(&archive, "block-size", &[]);
    let (id, dir) = (run.id().to_string(), run.dir().to_owned());
    write(&mut run, 1, 1).unwrap();
    write(&mut run, 2, 1).unwrap();
    let mut missing = record(3, 1);
    missing.metrics[0].value = None;
    write_trial(&mut run, &missing, b"", b"", None).unwrap();
    let mut nothing = record(4, 1);
    nothing.metrics.clear();
    nothing.outcome = assay_model::TrialOutcome::Failed;
    write_trial(&mut run, &nothing, b"", b"", None).unwrap();
    run.finish(RunState::Completed, "done").unwrap();
    (folder, archive, id, dir.join("trials/0001/samples.parquet"))
}

#[test]
fn a_data_set_holds_every_trial_and_metric() {
    let (folder, archive, _, _) = filled();
    let out = folder.path().join("set");
    let report = archive.export_dataset(&out, &Search::default()).unwrap();
    assert_eq!((report.runs, report.trials, report.rows), (1, 4, 4));
    assert_eq!(report.files.len(), 1);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "nothing else is left there");
    let again = archive.export_dataset(&out, &Search::default());
    assert!(matches!(again, Err(Error::Exists { .. })));
    let none = Search { experiment: Some("other".into()), ..Default::default() };
    let empty = folder.path().join("empty");
    let report = archive.export_dataset(&empty, &none).unwrap();
    assert_eq!((report.runs, report.rows), (0, 0));
}

#[test]
fn a_run_that_cannot_be_read_is_excluded_by_name() {
    let (folder, archive, id, samples) = filled();
    archive.list(&Search::default()).unwrap();
    fs::write(samples.with_file_name("../../records.jsonl"), "").unwrap();
    let out = folder.path().join("set");
    let report = archive.export_dataset(&out, &Search::default()).unwrap();
    assert_eq!((report.runs, report.rows), (0, 0));
    assert_eq!(report.excluded[0].0.as_str(), id);
}

/// Returns a Python with pyarrow: the one that `scripts/test-packages` installs, or the one on the
/// path.
fn python() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let installed = cache.map(|c| c.join("assay-tests/python/bin/python3"));
    installed.into_iter().chain(["python3".into()]).find(|python| {
        let imported = Command::new(python).args(["-c", "import pyarrow.parquet"]).output();
        imported.is_ok_and(|o| o.status.success())
    })
}

#[test]
fn pyarrow_and_duckdb_open_it_as_it_is() {
    let Some(python) = python() else {
        println!("skipped: because no python3 has pyarrow (scripts/test-packages installs it)");
        return;
    };
    let (folder, archive, id, samples) = filled();
    let out = folder.path().join("set");
    archive.export_dataset(&out, &Search::default()).unwrap();
    let done = Command::new(python).arg("-c").arg(CHECK).arg(&out).arg(samples).arg(id).output();
    let done = done.unwrap();
    println!("{}", String::from_utf8_lossy(&done.stdout));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
