//! Tests that every later change in a run's folder is detected and reported.

use std::fs;
use std::path::{Path, PathBuf};

use assay_archive::{Archive, ImportLimits, Problem, ProblemKind};
use assay_model::{Better, LedgerEvent, MetricKind, MetricValue, RunId, RunState, Severity};

use assay_system::redact::CleanRecord;

use crate::fixture::{archive, completed, create, record, samples, write, write_trial};

/// Makes a run with everything that a run can have: logs, samples, additional files, single I/Os,
/// metrics of the whole run, and trials that have only a record.
fn full(archive: &Archive, scratch: &Path) -> RunId {
    let mut run = create(archive, "full", &["nightly".into()]);
    for number in 1..=4 {
        run.ledger(LedgerEvent::TrialStarted { number, attempt: 1 }).unwrap();
        let record = record(number, 1);
        match number {
            1 => write_trial(&mut run, &record, b"", b"", None).unwrap(),
            2 => {
                let kept = [("map.csv".to_owned(), b"a,b\n1,2\n".to_vec())];
                run.write_trial(
                    &CleanRecord::new(record, None),
                    b"one\ntwo\n",
                    b"oops\n",
                    None,
                    &kept,
                )
                .unwrap();
            }
            3 => {
                let events = scratch.join("events.parquet");
                fs::write(&events, b"line\nline\n").unwrap();
                run.trace_next(b"{}\n".to_vec(), Some(events));
                write_trial(&mut run, &record, b"three\n", b"", Some(&samples(3))).unwrap();
            }
            _ => write_trial(&mut run, &record, b"last\n", b"", None).unwrap(),
        }
    }
    let floor = MetricValue::new("aa_floor", Some(1.5), "%", Better::Neither, MetricKind::Derived);
    run.set_run_metrics(&[floor]).unwrap();
    let id = run.id().clone();
    run.finish(RunState::Completed, "done").unwrap();
    id
}

/// Makes a run that was interrupted in its third trial.
fn cut_off(archive: &Archive) -> RunId {
    let mut run = create(archive, "cut", &[]);
    write(&mut run, 1, 1).unwrap();
    run.ledger(LedgerEvent::TrialStarted { number: 2, attempt: 1 }).unwrap();
    write_trial(&mut run, &record(2, 1), b"one\ntwo\n", b"", None).unwrap();
    run.ledger(LedgerEvent::TrialStarted { number: 3, attempt: 1 }).unwrap();
    run.id().clone()
}

fn resumed(archive: &Archive) -> RunId {
    let id = cut_off(archive);
    let mut run = archive.resume(&id).unwrap();
    write(&mut run, 3, 2).unwrap();
    run.finish(RunState::Completed, "done").unwrap();
    id
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn problems(archive: &Archive, id: &RunId) -> Vec<Problem> {
    archive.verify(Some(id)).unwrap()
}

/// Changes every file in every way and asserts each time that `verify` reports that file.
fn assert_every_change_is_named(archive: &Archive, id: &RunId) {
    let folder = archive.run(id).unwrap().dir().to_owned();
    let sound = problems(archive, id);
    assert!(sound.iter().all(|p| p.severity() == Severity::Note), "{sound:?}");
    let noticed = |path: &Path, what: &str| {
        let found = problems(archive, id);
        let new = |p: &&Problem| p.path == path && !sound.contains(p);
        let of_file = found.iter().find(new);
        let of_file = of_file.unwrap_or_else(|| panic!("{}: {what}: {found:?}", path.display()));
        assert!(of_file.severity() >= Severity::Warning, "{what}: {of_file:?}");
    };
    let all = files(&folder);
    assert!(all.len() >= 7);
    for path in &all {
        let before = fs::read(path).unwrap();
        let step = (before.len() / 40).max(1);
        let last = before.len().saturating_sub(1);
        for at in (0..before.len()).step_by(step).chain([last]) {
            for bit in [1, 0x20] {
                let mut changed = before.clone();
                changed[at] ^= bit;
                fs::write(path, changed).unwrap();
                noticed(path, &format!("byte {at} ^ {bit}"));
            }
        }
        let lines: Vec<&[u8]> = before.split_inclusive(|b| *b == b'\n').collect();
        fs::write(path, lines[..lines.len() - 1].concat()).unwrap();
        noticed(path, "without its last line");
        fs::write(path, &before[..last]).unwrap();
        noticed(path, "without its last byte");
        fs::write(path, [&before[..], b"x\n"].concat()).unwrap();
        noticed(path, "with one more line");
        fs::remove_file(path).unwrap();
        noticed(path, "removed");
        fs::write(path, &before).unwrap();
        assert_eq!(problems(archive, id), sound, "{}", path.display());
    }
    let mut folders: Vec<&Path> = all.iter().filter_map(|p| p.parent()).collect();
    folders.dedup();
    for inside in folders {
        for name in ["added.txt", ".hidden", "stdout.log.orig", "x.tmp"] {
            let added = inside.join(name);
            fs::write(&added, "x").unwrap();
            noticed(&added, "added");
            fs::remove_file(&added).unwrap();
        }
    }
    assert_eq!(problems(archive, id), sound);
}

#[test]
fn every_change_of_a_run_is_named() {
    let (folder, archive) = archive();
    let id = full(&archive, folder.path());
    assert_every_change_is_named(&archive, &id);
    let id = resumed(&archive);
    assert_every_change_is_named(&archive, &id);
    let id = cut_off(&archive);
    assert_every_change_is_named(&archive, &id);
}

#[test]
fn every_change_of_an_imported_run_is_named() {
    let (folder, archive) = archive();
    let to = Archive::open(folder.path().join("to")).unwrap();
    let ids = [full(&archive, folder.path()), resumed(&archive), cut_off(&archive)];
    for id in ids {
        let file = folder.path().join(format!("{id}.tar.zst"));
        archive.export(&id, &file).unwrap();
        to.import(&file, &ImportLimits::default()).unwrap();
        assert_every_change_is_named(&to, &id);
    }
    assert_eq!(to.verify(None).unwrap().iter().filter(|p| p.run.is_none()).count(), 0);
}

/// If the ledger's last entry was removed before the export, the import detects it.
#[test]
fn an_export_of_a_run_whose_end_was_taken_out_is_refused() {
    let (folder, archive) = archive();
    let to = Archive::open(folder.path().join("to")).unwrap();
    let id = completed(&archive, "cut", &[], 2);
    let ledger = archive.run(&id).unwrap().dir().join("ledger.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&ledger, lines[..lines.len() - 1].concat()).unwrap();
    assert!(archive.resume(&id).unwrap_err().to_string().contains("its end, 1 entry"));
    let file = folder.path().join("run.tar.zst");
    archive.export(&id, &file).unwrap();
    let refused = to.import(&file, &ImportLimits::default()).unwrap_err().to_string();
    assert!(
        refused.contains("ledger.jsonl: its end, 1 entry, was changed or removed"),
        "{refused}"
    );
    assert!(to.verify(None).unwrap().is_empty(), "nothing was kept, no head either");
}

#[test]
fn a_head_and_its_run_come_and_go_together() {
    let (_folder, archive) = archive();
    let id = completed(&archive, "head", &[], 1);
    let head = archive.path().join("heads").join(format!("{id}.json"));
    let kept = fs::read(&head).unwrap();
    let of_head = |archive: &Archive| -> Vec<(ProblemKind, PathBuf)> {
        archive.verify(None).unwrap().into_iter().map(|p| (p.kind, p.path)).collect()
    };
    for at in 0..kept.len() {
        let mut changed = kept.clone();
        changed[at] ^= 1;
        fs::write(&head, changed).unwrap();
        assert!(!problems(&archive, &id).is_empty(), "byte {at}");
    }
    fs::remove_file(&head).unwrap();
    assert_eq!(of_head(&archive), [(ProblemKind::Missing, head.clone())]);
    fs::write(&head, &kept).unwrap();
    let stray = head.with_file_name("note.txt");
    fs::write(&stray, "x").unwrap();
    assert_eq!(of_head(&archive), [(ProblemKind::Unknown, stray.clone())]);
    fs::remove_file(&stray).unwrap();
    archive.reindex().unwrap();
    assert_eq!(of_head(&archive), []);
    archive.remove(&id).unwrap();
    assert!(!head.exists());
    assert_eq!(of_head(&archive), []);
    let id = completed(&archive, "gone", &[], 1);
    fs::remove_dir_all(archive.run(&id).unwrap().dir()).unwrap();
    let found = archive.verify(None).unwrap();
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("`assay archive delete` did not delete it"), "{found:?}");
}

/// Makes a run as an older assay wrote it: with hashes only of the experiment and the plan, and
/// without a head.
fn older(archive: &Archive) -> RunId {
    use sha2::{Digest, Sha256};
    let id = completed(archive, "older", &[], 2);
    let ledger = archive.run(&id).unwrap().dir().join("ledger.jsonl");
    let (mut prev, mut text) = ("0".repeat(64), String::new());
    for line in fs::read_to_string(&ledger).unwrap().lines() {
        let mut entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let fields = entry.as_object_mut().unwrap();
        fields.remove("files");
        fields.insert("prev".into(), prev.into());
        let line = entry.to_string();
        prev = Sha256::digest(&line).iter().fold(String::new(), |hex, b| hex + &format!("{b:02x}"));
        text.push_str(&line);
        text.push('\n');
    }
    fs::write(&ledger, text).unwrap();
    fs::remove_file(archive.path().join("heads").join(format!("{id}.json"))).unwrap();
    id
}

#[test]
fn an_older_run_is_read_and_what_it_does_not_vouch_for_is_not_recorded() {
    let (folder, archive) = archive();
    let id = older(&archive);
    assert_eq!(archive.run(&id).unwrap().records().unwrap().len(), 2);
    let found = problems(&archive, &id);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].kind, found[0].severity()), (ProblemKind::NotRecorded, Severity::Note));
    for name in ["the end of ledger.jsonl", "run.json", "system.json", "trials/0001/stdout.log"] {
        assert!(found[0].message.contains(name), "{name}: {found:?}");
    }
    assert!(!found[0].message.contains("plan.json"), "its hash is in every ledger");
    let samples = archive.run(&id).unwrap().trial_dir(1, 1).join("samples.parquet");
    let before = fs::read(&samples).unwrap();
    fs::write(&samples, "PAR1").unwrap();
    assert_eq!(problems(&archive, &id)[0].kind, ProblemKind::Unreadable);
    fs::write(&samples, before).unwrap();
    // The run can be exported and imported, and from then on it has a head.
    let to = Archive::open(folder.path().join("to")).unwrap();
    let file = folder.path().join("run.tar.zst");
    archive.export(&id, &file).unwrap();
    to.import(&file, &ImportLimits::default()).unwrap();
    let found = to.verify(None).unwrap();
    assert!(!found[0].message.contains("the end of"), "{found:?}");
}
