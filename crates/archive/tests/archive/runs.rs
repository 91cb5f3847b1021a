//! Tests of a run from its start to its end.

use std::fs;
use std::path::PathBuf;

use assay_archive::{Archive, Error, ProblemKind};
use assay_model::{
    Better, Curve, LedgerEvent, MetricKind, MetricValue, RunId, RunState, SampleSet, Severity,
    TrialOutcome,
};

use crate::fixture::{
    EXPERIMENT, archive, completed, create, next_attempt, plan, record, samples, write, write_trial,
};

fn kinds(archive: &Archive, id: &RunId) -> Vec<ProblemKind> {
    archive.verify(Some(id)).unwrap().into_iter().map(|p| p.kind).collect()
}

#[test]
fn a_run_comes_back_as_it_was_written() {
    let (_folder, archive) = archive();
    let mut run = create(&archive, "block-size", &["nightly".into()]);
    let id = run.id().clone();
    assert_eq!(archive.run(&id).unwrap().state(), RunState::Started);
    for number in 1..=4 {
        write(&mut run, number, 1).unwrap();
    }
    let floor = MetricValue::new("aa_floor", None, "%", Better::Neither, MetricKind::Derived);
    run.set_run_metrics(std::slice::from_ref(&floor)).unwrap();
    assert_eq!(run.reader().unwrap().records().unwrap().len(), 4, "a writer reads its own trials");
    run.finish(RunState::Completed, "all blocks are done").unwrap();

    let run = archive.run(&id).unwrap();
    assert_eq!(run.state(), RunState::Completed);
    assert_eq!(run.experiment_toml().unwrap(), EXPERIMENT);
    assert_eq!(run.plan().unwrap(), plan(8));
    assert_eq!(run.run_metrics().unwrap(), [floor]);
    let expected: Vec<_> = (1..=4).map(|n| record(n, 1)).collect();
    assert_eq!(run.records().unwrap(), expected);
    assert_eq!(run.samples(2, 1).unwrap(), Some(samples(2)));
    assert_eq!(fs::read(run.trial_dir(2, 1).join("stdout.log")).unwrap(), b"hello");
    assert!(!run.trial_dir(2, 1).join("stderr.log").exists(), "an empty log is not written");
    let summary = run.summary().unwrap();
    assert_eq!((summary.completed, summary.failed, summary.planned), (4, 0, 8));
    // Trials 1 and 3 belong to the baseline: the geometric mean of 1e9 and 3e9.
    assert!((summary.value.unwrap() - 3f64.sqrt() * 1e9).abs() < 1.0);
    assert_eq!((summary.unit.as_str(), summary.host.as_str()), ("B/s", "lab1"));
    assert_eq!(archive.verify(None).unwrap(), []);
    let left: Vec<_> = ["lock", "trials.tmp"].map(|n| run.dir().join(n).exists()).into();
    assert_eq!(left, [false; 2]);
}

#[test]
fn a_further_attempt_replaces_the_record_and_keeps_the_first() {
    let (_folder, archive) = archive();
    let mut run = create(&archive, "block-size", &[]);
    let id = run.id().clone();
    let mut failed = record(1, 1);
    failed.outcome = TrialOutcome::Failed;
    run.ledger(LedgerEvent::TrialStarted { number: 1, attempt: 1 }).unwrap();
    write_trial(&mut run, &failed, b"", b"oops", None).unwrap();
    run.ledger(LedgerEvent::TrialStarted { number: 2, attempt: 1 }).unwrap();
    drop(run);
    let reader = archive.run(&id).unwrap();
    assert_eq!(reader.state(), RunState::Interrupted);
    assert_eq!(kinds(&archive, &id), [ProblemKind::InterruptedTrial]);
    assert_eq!(ProblemKind::InterruptedTrial.severity(), Severity::Note);
    assert_eq!([1, 2, 3].map(|n| next_attempt(&reader, n)), [2, 2, 1]);

    let mut run = archive.resume(&id).unwrap();
    write(&mut run, 1, 2).unwrap();
    write(&mut run, 2, 2).unwrap();
    run.finish(RunState::Completed, "done").unwrap();
    let reader = archive.run(&id).unwrap();
    assert_eq!(reader.records().unwrap(), [record(1, 2), record(2, 2)]);
    assert_eq!(reader.all_attempts().unwrap(), [failed, record(1, 2), record(2, 2)]);
    assert_eq!(fs::read(reader.trial_dir(1, 1).join("stderr.log")).unwrap(), b"oops");
    assert!(reader.dir().join("trials/0001.2/stdout.log").exists());
    assert!(matches!(archive.resume(&id), Err(Error::Finished { .. })));
}

#[test]
fn only_one_process_writes_a_run() {
    let (_folder, archive) = archive();
    let run = create(&archive, "block-size", &[]);
    let id = run.id().clone();
    assert!(matches!(archive.resume(&id), Err(Error::Busy { .. })));
    assert!(matches!(archive.remove(&id), Err(Error::Busy { .. })));
    drop(run);
    archive.resume(&id).unwrap().finish(RunState::Interrupted, "by hand").unwrap();
    assert_eq!(archive.run(&id).unwrap().state(), RunState::Interrupted);
    archive.resume(&id).unwrap();
    archive.remove(&id).unwrap();
    assert!(matches!(archive.run(&id), Err(Error::NoRun { .. })));
    assert_eq!(fs::read_dir(archive.path().join("tmp")).unwrap().count(), 0);
}

#[test]
fn the_plan_may_be_replaced_and_the_ledger_knows() {
    let (_folder, archive) = archive();
    let mut run = create(&archive, "block-size", &[]);
    let id = run.id().clone();
    write(&mut run, 1, 1).unwrap();
    run.replace_plan(&plan(40), "20 blocks fill 3 s").unwrap();
    write(&mut run, 2, 1).unwrap();
    drop(run);
    assert!(!archive.run(&id).unwrap().dir().join("plan.json.tmp").exists());
    let reader = archive.run(&id).unwrap();
    assert_eq!(reader.plan().unwrap().trials.len(), 40);
    let fixed = reader.ledger().iter().any(|e| {
        matches!(&e.event, LedgerEvent::BlocksFixed { blocks: 20, reason, .. }
            if reason == "20 blocks fill 3 s")
    });
    assert!(fixed);
    assert_eq!(kinds(&archive, &id), []);
}

#[test]
fn large_logs_are_kept_whole() {
    let (_folder, archive) = archive();
    let mut run = create(&archive, "block-size", &[]);
    let id = run.id().clone();
    let log = vec![b'x'; 3 << 20];
    write(&mut run, 1, 1).unwrap();
    write_trial(&mut run, &record(2, 1), &log, &log, None).unwrap();
    write(&mut run, 3, 1).unwrap();
    drop(run);
    let reader = archive.run(&id).unwrap();
    assert_eq!(reader.records().unwrap().len(), 3);
    assert_eq!(fs::read(reader.trial_dir(2, 1).join("stderr.log")).unwrap(), log);
    assert_eq!(kinds(&archive, &id), []);
}

#[test]
fn a_record_that_json_cannot_hold_is_refused_and_the_run_goes_on() {
    let (_folder, archive) = archive();
    let mut run = create(&archive, "block-size", &[]);
    let mut wrong = record(1, 1);
    let points = vec![[1.0, f64::NAN]];
    let (name, unit) = ("throughput".to_owned(), "B/s".to_owned());
    wrong.curves.push(Curve {
        name,
        x_name: "size".into(),
        x_unit: "B".into(),
        unit,
        kind: MetricKind::Measured,
        points,
    });
    let refused = write_trial(&mut run, &wrong, b"", b"", None);
    assert!(matches!(refused, Err(Error::Record { number: 1, .. })));
    write(&mut run, 1, 1).unwrap();
    assert!(matches!(write(&mut run, 1, 1), Err(Error::Record { .. })), "recorded already");
    let mut none = record(2, 1);
    none.metrics[0].value = None;
    write_trial(&mut run, &none, b"", b"", Some(&SampleSet::default())).unwrap();
    let reader = run.reader().unwrap();
    assert_eq!(reader.records().unwrap()[1].metric("throughput"), None);
    assert_eq!(reader.samples(2, 1).unwrap(), Some(SampleSet::default()));
}

#[test]
fn what_was_changed_afterwards_is_found() {
    use ProblemKind::{Chain, Hash, Leftover, Missing, Newer, Unknown, Unreadable};
    let (_folder, archive) = archive();
    let id = completed(&archive, "block-size", &[], 3);
    let folder = archive.run(&id).unwrap().dir().to_owned();
    let change = |name: &str, from: &str, to: &str, found: &[ProblemKind]| {
        let path: PathBuf = folder.join(name);
        let before = fs::read_to_string(&path).unwrap();
        assert!(before.contains(from), "{name} holds {from}");
        fs::write(&path, before.replacen(from, to, 1)).unwrap();
        assert_eq!(kinds(&archive, &id), found, "{name}: {from} -> {to}");
        fs::write(&path, before).unwrap();
        assert_eq!(kinds(&archive, &id), []);
    };
    change("records.jsonl", "2000000000", "9000000000", &[Hash]);
    change("records.jsonl", "\"number\":2", "\"number\":7", &[Unknown, Missing, Leftover]);
    change(
        "records.jsonl",
        "{\"schema_version\":1,\"number\":2",
        "[\"number\":2",
        &[Unreadable, Missing, Leftover],
    );
    change("plan.json", "\"seed\": 7", "\"seed\": 8", &[Hash]);
    change("experiment.toml", "stream", "dream", &[Hash]);
    change("ledger.jsonl", "completed\",\"record", "failed\",\"record", &[Chain]);
    change(
        "records.jsonl",
        "schema_version\":1",
        "schema_version\":9",
        &[Newer, Missing, Leftover],
    );
    change("run.json", "schema_version\": 1", "schema_version\": 9", &[Newer]);
    change("system.json", "{", "[", &[Hash]);

    let samples = folder.join("trials/0001/samples.parquet");
    let before = fs::read(&samples).unwrap();
    fs::write(&samples, b"PAR1 not really PAR1").unwrap();
    assert_eq!(kinds(&archive, &id), [Hash]);
    assert!(matches!(archive.run(&id).unwrap().samples(1, 1), Err(Error::Damaged { .. })));
    fs::write(&samples, before).unwrap();
    let records = folder.join("records.jsonl");
    let text = fs::read_to_string(&records).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (changed, found) in [
        (lines[..2].concat(), vec![Missing, Leftover]),
        (lines[1..].concat(), vec![Missing, Leftover]),
        ([&lines[..], &lines[2..]].concat().concat(), vec![Unknown]),
        (format!("{text}{}", lines[0].replace("\"attempt\":1", "\"attempt\":2")), vec![Unknown]),
        (format!("{text}{{"), vec![Unreadable]),
        (String::new(), [[Missing; 3], [Leftover; 3]].concat()),
    ] {
        fs::write(&records, &changed).unwrap();
        assert_eq!(kinds(&archive, &id), found, "{changed}");
        let lacks = found.contains(&Missing);
        let read = archive.run(&id).unwrap().records();
        assert_eq!(read.is_err(), lacks, "a trial is not left out silently");
    }
    fs::remove_file(&records).unwrap();
    assert_eq!(
        kinds(&archive, &id),
        [Missing, Missing, Missing, Missing, Leftover, Leftover, Leftover]
    );
}

#[test]
fn a_newer_format_says_which_assay_is_needed() {
    let (_folder, archive) = archive();
    let run = create(&archive, "block-size", &[]);
    let path = run.dir().join("run.json");
    let newer = fs::read_to_string(&path).unwrap().replace("version\": 1", "version\": 2");
    fs::write(&path, newer).unwrap();
    let error = run.reader().unwrap_err().to_string();
    assert!(error.contains("format version 2") && error.contains("a newer one"), "{error}");
}

#[test]
fn a_damaged_ledger_is_not_written_on() {
    let (_folder, archive) = archive();
    let mut run = create(&archive, "block-size", &[]);
    let id = run.id().clone();
    write(&mut run, 1, 1).unwrap();
    let path = run.dir().join("ledger.jsonl");
    drop(run);
    drop(archive.run(&id).unwrap());
    let changed = fs::read_to_string(&path).unwrap().replace("after 4 blocks", "after 9 blocks");
    fs::write(&path, &changed).unwrap();
    assert!(matches!(archive.resume(&id), Err(Error::Damaged { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), changed, "evidence stays");
    assert!(archive.path().join("runs").join(id.as_str()).join("trials/0001").exists());
}

#[test]
fn runs_are_found_by_a_part_of_their_id() {
    let (_folder, archive) = archive();
    assert!(matches!(archive.resolve("last"), Err(Error::NoRun { .. })));
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(completed(&archive, "block-size", &[], 0));
    }
    assert_eq!(archive.resolve("last").unwrap(), ids[2]);
    assert_eq!(archive.resolve(ids[0].as_str()).unwrap(), ids[0]);
    let suffix = &ids[1].as_str()[16..];
    assert_eq!(archive.resolve(suffix).unwrap(), ids[1]);
    match archive.resolve(&ids[0].as_str()[..4]) {
        Err(Error::Ambiguous { candidates, .. }) => assert_eq!(candidates.len(), 3),
        other => panic!("{other:?}"),
    }
    for nothing in ["", "../..", "nope"] {
        assert!(matches!(archive.resolve(nothing), Err(Error::NoRun { .. })), "{nothing}");
    }
}

#[test]
fn the_last_run_is_the_one_that_was_written_last_and_not_the_greatest_id() {
    let (_folder, archive) = archive();
    let first = completed(&archive, "block-size", &[], 0);
    let runs = archive.path().join("runs");
    // As if created with a clock that was years ahead.
    let ahead = "20990101-000000-abcd";
    fs::create_dir(runs.join(ahead)).unwrap();
    for file in fs::read_dir(runs.join(first.as_str())).unwrap().flatten() {
        if file.path().is_file() {
            fs::copy(file.path(), runs.join(ahead).join(file.file_name())).unwrap();
        }
    }
    assert_eq!(archive.resolve("last").unwrap(), first);
    let mut open = create(&archive, "block-size", &[]);
    write(&mut open, 1, 1).unwrap();
    assert_eq!(archive.resolve("last").unwrap(), *open.id(), "while it is written");
    let second = completed(&archive, "block-size", &[], 0);
    assert_eq!(archive.resolve("last").unwrap(), second);
    let id = open.id().clone();
    open.finish(RunState::Completed, "").unwrap();
    assert_eq!(archive.resolve("last").unwrap(), id, "it ended last");
    archive.remove(&id).unwrap();
    assert_eq!(archive.resolve("last").unwrap().as_str(), ahead);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Archive::open(file.join("archive")).unwrap_err().to_string();
    assert!(error.contains("file/archive"), "{error}");
}
