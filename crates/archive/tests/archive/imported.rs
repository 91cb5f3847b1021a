//! Tests of imported results as runs of the archive.

use std::path::{Path, PathBuf};

use assay_archive::{Archive, ForeignOptions, ImportError, ImportedRuns, ProblemKind};
use assay_model::{LedgerEvent, RunId, RunState};

use assay_workloads::readers::{ForeignSet, read_foreign};

/// Returns the path of a fixture of the readers.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../workloads/tests/workloads/readers/data")
        .join(name)
}

fn read(name: &str) -> ForeignSet {
    read_foreign(&[data(name)], None).unwrap()
}

fn archive() -> (tempfile::TempDir, Archive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path().join("archive")).unwrap().unflushed();
    (folder, archive)
}

fn import(archive: &Archive, names: &[&str], options: &ForeignOptions) -> Vec<RunId> {
    let paths: Vec<PathBuf> = names.iter().map(|n| data(n)).collect();
    match archive.import_foreign(&read_foreign(&paths, None).unwrap(), options).unwrap() {
        ImportedRuns::New(ids) => ids,
        ImportedRuns::Already(ids) => panic!("{ids:?} are there already"),
    }
}

#[test]
fn every_format_becomes_a_sound_run() {
    let (folder, archive) = archive();
    let other = Archive::open(folder.path().join("other")).unwrap().unflushed();
    for name in [
        "hyperfine.json",
        "google-benchmark.json",
        "fio.json",
        "jmh.json",
        "memtier.json",
        "memtier-runs.json",
        "mcperf.txt",
        "spec.rsf",
        "spec.csv",
    ] {
        let set = read(name);
        let ids = import(&archive, &[name], &ForeignOptions::default());
        assert_eq!(ids.len(), set.results.len(), "{name}");
        for (id, result) in ids.iter().zip(&set.results) {
            let run = archive.run(id).unwrap();
            let plan = run.plan().unwrap();
            let records = run.records().unwrap();
            assert_eq!(run.state(), RunState::Completed);
            assert_eq!(records.len(), result.trials.len());
            assert_eq!(plan.treatments.len(), result.treatments.len());
            assert_eq!(plan.metric, result.metrics[0].name);
            for (record, trial) in records.iter().zip(&result.trials) {
                assert_eq!(record.metrics, trial.metrics);
                assert_eq!(record.treatment as usize, trial.treatment);
                assert!(record.resources.is_none(), "nothing is invented");
                let samples = run.samples(record.number, 1).unwrap();
                assert_eq!(samples.is_some(), trial.samples.is_some());
            }
            // The files are stored byte for byte, and the ledger has their hashes.
            let (tool, files) = run.imported().unwrap();
            assert_eq!(tool, result.tool);
            let kept = std::fs::read(run.dir().join(&files[0].kept)).unwrap();
            assert_eq!(kept, std::fs::read(data(name)).unwrap());
            assert_eq!((files[0].name.as_str(), files[0].bytes), (name, kept.len() as u64));
            let unknown = run.system().unwrap().facts["kernel.release"].clone();
            assert_eq!(unknown.value(), None);
            // Export and import the run again.
            let file = folder.path().join(format!("{id}.tar.zst"));
            archive.export(id, &file).unwrap();
            assert_eq!(other.import(&file, &assay_archive::ImportLimits::default()).unwrap(), *id);
            assert_eq!(other.run(id).unwrap().records().unwrap(), records);
        }
    }
    assert_eq!(archive.verify(None).unwrap(), []);
    assert_eq!(other.verify(None).unwrap(), []);
}

#[test]
fn the_same_file_is_there_already() {
    let (_folder, archive) = archive();
    let options = ForeignOptions::default();
    let mut first = import(&archive, &["jmh.json"], &options);
    assert_eq!(first.len(), 3);
    let again = archive.import_foreign(&read("jmh.json"), &options).unwrap();
    let ImportedRuns::Already(mut there) = again else { panic!("{again:?}") };
    // Runs made within the same millisecond have no defined order.
    first.sort();
    there.sort();
    assert_eq!(there, first);
    let third = import(&archive, &["jmh.json"], &ForeignOptions { again: true, ..options });
    assert_eq!(third.len(), 3);
    // A set with one more file is a different set.
    import(&archive, &["memtier.json"], &ForeignOptions::default());
    import(&archive, &["memtier.json", "memtier-8.json"], &ForeignOptions::default());
}

#[test]
fn files_of_one_format_become_one_run() {
    let (_folder, archive) = archive();
    let options = ForeignOptions {
        name: Some("mt".to_owned()),
        tags: vec!["host=lab1".to_owned()],
        again: false,
    };
    let ids = import(&archive, &["memtier.json", "memtier-8.json"], &options);
    let run = archive.run(&ids[0]).unwrap();
    let plan = run.plan().unwrap();
    // The setting in which the files differ is the factor.
    assert_eq!(plan.factors, ["threads"]);
    let labels: Vec<String> = plan.treatments.iter().map(assay_model::Treatment::label).collect();
    assert_eq!(labels, ["threads=4", "threads=8"]);
    assert_eq!(run.identity().experiment, "mt");
    assert_eq!(run.identity().tags, ["imported", "memtier", "host=lab1"]);
    assert_eq!(run.imported().unwrap().1.len(), 2);
    let bad = ForeignOptions { name: Some("../x".to_owned()), ..ForeignOptions::default() };
    let refused = archive.import_foreign(&read("fio.json"), &bad);
    assert!(matches!(refused, Err(ImportError::Name { .. })));
}

#[test]
fn a_changed_original_is_found() {
    let (_folder, archive) = archive();
    let id = import(&archive, &["fio.json"], &ForeignOptions::default()).remove(0);
    let run = archive.run(&id).unwrap();
    let path = run.dir().join("imported/0001");
    std::fs::write(&path, "{}").unwrap();
    let problems = archive.verify(Some(&id)).unwrap();
    assert_eq!((problems.len(), problems[0].kind), (1, ProblemKind::Hash), "{problems:?}");
    std::fs::remove_file(&path).unwrap();
    let problems = archive.verify(Some(&id)).unwrap();
    assert_eq!((problems.len(), problems[0].kind), (1, ProblemKind::Missing), "{problems:?}");
    let planned_first = matches!(run.ledger()[0].event, LedgerEvent::Planned { .. });
    assert!(planned_first && matches!(run.ledger()[1].event, LedgerEvent::Imported { .. }));
}
