//! Tests of listing runs with an intact, missing, damaged or shared index.

use std::fs;

use assay_archive::{Archive, Search, SortOrder};
use assay_model::{RunState, RunSummary};

use crate::child;
use crate::fixture::{archive, completed, create, write};

const RUNS: u32 = 30;

/// Makes an archive of three runs.
fn filled() -> (tempfile::TempDir, Archive) {
    let (folder, archive) = archive();
    for (name, tag) in [("block-size", "nightly"), ("threads", "nightly"), ("threads", "Kernel-6")]
    {
        completed(&archive, name, &[tag.to_owned()], 1);
    }
    (folder, archive)
}

fn list(archive: &Archive) -> Vec<RunSummary> {
    archive.list(&Search::default()).unwrap()
}

#[test]
fn runs_are_listed_newest_first_and_by_what_is_asked() {
    let (_folder, archive) = filled();
    let all = list(&archive);
    assert_eq!(all.len(), 3);
    assert!(all.windows(2).all(|w| w[0].started_at >= w[1].started_at));
    for run in &all {
        assert_eq!(&archive.run(&run.id).unwrap().summary().unwrap(), run);
    }
    let count = |filter: Search| archive.list(&filter).unwrap().len();
    let text = |t: &str| Some(t.to_owned());
    assert_eq!(count(Search { experiment: text("threads"), ..Default::default() }), 2);
    assert_eq!(count(Search { experiment: text("thread"), ..Default::default() }), 0);
    assert_eq!(count(Search { workload: text("stream"), ..Default::default() }), 3);
    assert_eq!(count(Search { tag: text("nightly"), ..Default::default() }), 2);
    assert_eq!(count(Search { text: text("KERNEL"), ..Default::default() }), 1);
    archive.annotate(&all[0].id, |notes| notes.note = "Größere Blöcke".into()).unwrap();
    assert_eq!(count(Search { text: text("GRÖSSER"), ..Default::default() }), 0);
    assert_eq!(count(Search { text: text("GRÖßERE BLÖCKE"), ..Default::default() }), 1);
    let page = Search { text: text("ö"), offset: 1, limit: Some(1), ..Default::default() };
    let page = archive.search(&page).unwrap();
    assert_eq!((page.total, page.runs.len()), (1, 0));
    assert_eq!(count(Search { limit: Some(2), ..Default::default() }), 2);
    assert_eq!(count(Search { limit: Some(0), ..Default::default() }), 0);
    let hours =
        |n| Some((jiff::Timestamp::now() + jiff::SignedDuration::from_hours(n)).to_string());
    assert_eq!(count(Search { since: hours(-1), ..Default::default() }), 3);
    assert_eq!(count(Search { since: hours(1), ..Default::default() }), 0);
    assert_eq!(count(Search { until: hours(-1), ..Default::default() }), 0);
}

#[test]
fn what_changes_is_seen() {
    let (_folder, archive) = filled();
    assert_eq!(list(&archive).len(), 3);
    let mut run = create(&archive, "more", &[]);
    let id = run.id().clone();
    let state = |archive: &Archive| {
        let found = list(archive).into_iter().find(|r| r.id == id).unwrap();
        (found.state, found.completed)
    };
    assert_eq!(state(&archive), (RunState::Started, 0));
    write(&mut run, 1, 1).unwrap();
    assert_eq!(state(&archive), (RunState::Started, 1));
    drop(run);
    assert_eq!(state(&archive), (RunState::Interrupted, 1));
    archive.resume(&id).unwrap().finish(RunState::Completed, "done").unwrap();
    assert_eq!(state(&archive), (RunState::Completed, 1));
    archive.remove(&id).unwrap();
    assert_eq!(list(&archive).len(), 3);
    let stray = archive.path().join("runs/20260101-000000-0000");
    fs::create_dir(&stray).unwrap();
    assert_eq!(list(&archive).len(), 3);
    let unreadable = archive.unreadable().unwrap();
    assert_eq!(unreadable.len(), 1);
    assert!(unreadable[0].reason.contains("run.json"), "{unreadable:?}");
}

#[test]
fn an_index_that_is_gone_or_damaged_is_made_anew() {
    let (_folder, archive) = filled();
    let before = list(&archive);
    let index = archive.path().join("index.sqlite");
    fs::remove_file(&index).unwrap();
    assert_eq!(list(&archive), before);
    assert_eq!(archive.reindex().unwrap(), 3);
    assert_eq!(list(&archive), before);

    let whole = fs::read(&index).unwrap();
    fs::write(&index, b"this is not a database, whatever its name says").unwrap();
    assert_eq!(list(&archive), before);
    fs::write(&index, &whole[..whole.len() / 3]).unwrap();
    assert_eq!(list(&archive), before);
    let mut noise = whole.clone();
    for byte in noise.iter_mut().skip(100).step_by(3) {
        *byte ^= 0x5a;
    }
    fs::write(&index, &noise).unwrap();
    assert_eq!(list(&archive), before);
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    assert_eq!(list(&archive), before, "without an index, from the files");
}

/// Not a test: one of the processes of the test below.
#[test]
#[ignore = "started by the other tests of this file"]
fn child() {
    let Some(archive) = child::archive() else { return };
    for _ in 0..RUNS {
        completed(&archive, "shared", &[], 1);
        list(&archive);
    }
}

#[test]
fn two_processes_share_an_archive() {
    let (_folder, archive) = archive();
    let start = || child::command("listing::child", archive.path()).spawn().unwrap();
    for mut child in [start(), start()] {
        assert!(child.wait().unwrap().success());
    }
    let listed = list(&archive);
    assert_eq!(listed.len(), 2 * RUNS as usize);
    assert_eq!(archive.verify(None).unwrap(), []);
    assert_eq!(archive.reindex().unwrap(), listed.len());
    assert_eq!(list(&archive), listed);
}

#[test]
fn a_search_is_cut_into_pages_and_answers_the_same_without_the_index() {
    let (folder, archive) = filled();
    let search = |change: &dyn Fn(&mut Search)| {
        let mut search = Search { limit: Some(2), ..Search::default() };
        change(&mut search);
        let found = archive.search(&search).unwrap();
        let names: Vec<String> = found.runs.into_iter().map(|r| r.id.to_string()).collect();
        (found.total, names)
    };
    let questions: [&dyn Fn(&mut Search); 12] = [
        &|_| {},
        &|s| s.offset = 2,
        &|s| s.text = Some("KERNEL".into()),
        &|s| s.tag = Some("nightly".into()),
        &|s| s.factor = Some("processes".into()),
        &|s| s.factor = Some("' OR 1=1 --".into()),
        &|s| s.sort = SortOrder::Oldest,
        &|s| s.until = Some("2000-01-01".into()),
        &|s| s.since = Some("2000-01-01".into()),
        &|s| s.experiment = Some("threads".into()),
        &|s| s.text = Some("[".into()),
        &|s| s.text = Some("Ä".into()),
    ];
    let with: Vec<_> = questions.iter().map(|q| search(*q)).collect();
    let totals: Vec<usize> = with.iter().map(|(total, _)| *total).collect();
    assert_eq!(totals[..4], [3, 3, 1, 2]);
    assert_eq!(totals[5..], [0, 3, 0, 3, 2, 0, 0]);
    assert_eq!((with[0].1.len(), with[1].1.len()), (2, 1), "two pages");
    assert_eq!(with[0].1[0], list(&archive)[0].id.to_string());
    // A folder in the index's place makes the index unusable.
    let index = folder.path().join("index.sqlite");
    let index = if index.exists() { index } else { archive.path().join("index.sqlite") };
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    let without: Vec<_> = questions.iter().map(|q| search(*q)).collect();
    assert_eq!(with, without);
}
