//! Tests of tags, notes, deleting and restoring. None of them changes the run's record.

use std::fs;

use assay_archive::{Error, ProblemKind, Search};

use crate::fixture::{archive, completed, create};

#[test]
fn tags_and_notes_are_found_and_leave_the_record_as_it_was() {
    let (_folder, archive) = archive();
    let id = completed(&archive, "block-size", &["nightly".to_owned()], 1);
    let other = completed(&archive, "threads", &[], 1);
    let list = || archive.list(&Search::default()).unwrap();
    assert_eq!(list().len(), 2);
    let bundle = |name: &str| {
        let path = archive.path().join(name);
        archive.export(&id, &path).unwrap();
        fs::read(path).unwrap()
    };
    let before = bundle("before.tar.zst");
    archive
        .annotate(&id, |n| {
            n.add_tag(" kept ");
            n.add_tag("nightly");
            n.note = "the fan was off\r\nafter trial 3\n".into();
        })
        .unwrap();
    let found = list().into_iter().find(|r| r.id == id).unwrap();
    assert_eq!(
        (found.tags.as_slice(), found.added_tags.as_slice()),
        (&["nightly".to_owned()][..], &["kept".to_owned()][..])
    );
    assert_eq!(found.note, "the fan was off\nafter trial 3");
    assert_eq!(archive.annotated(archive.run(&id).unwrap().summary().unwrap()), found);
    // Once with the index and once from the files.
    for _ in 0..2 {
        for search in [
            Search { tag: Some("kept".into()), ..Search::default() },
            Search { text: Some("FAN was".into()), ..Search::default() },
        ] {
            let found = archive.search(&search).unwrap();
            assert_eq!((found.total, &found.runs[0].id), (1, &id), "{search:?}");
        }
        let filter = Search { tag: Some("kept".into()), ..Search::default() };
        assert_eq!(archive.list(&filter).unwrap().len(), 1);
        let index = archive.path().join("index.sqlite");
        // A folder in the index's place makes the index unusable.
        let _ = fs::remove_file(&index);
        let _ = fs::create_dir(&index);
    }
    fs::remove_dir(archive.path().join("index.sqlite")).unwrap();
    assert_eq!(archive.verify(None).unwrap(), []);
    assert_eq!(bundle("after.tar.zst"), before, "the record is what it was");
    // A change to a completed run is noticed, even by a process whose index was up to date.
    archive.annotate(&other, |n| n.add_tag("late")).unwrap();
    assert_eq!(list().iter().filter(|r| r.all_tags().any(|t| t == "late")).count(), 1);
    archive.annotate(&other, |n| n.tags.clear()).unwrap();
    assert_eq!(list().iter().filter(|r| r.all_tags().any(|t| t == "late")).count(), 0);
}

#[test]
fn what_is_no_tag_is_refused_and_what_cannot_be_read_is_reported() {
    let (_folder, archive) = archive();
    let id = completed(&archive, "block-size", &[], 1);
    for bad in ["", "  ", "a,b", "history-0123", "a\u{1b}[31m", &"x".repeat(201)] {
        let refused = archive.annotate(&id, |n| n.add_tag(bad));
        assert!(matches!(refused, Err(Error::Note { .. })), "{bad:?}");
    }
    for bad in ["\u{1b}]0;x\u{7}", &"x".repeat(10_001)] {
        let refused = archive.annotate(&id, |n| bad.clone_into(&mut n.note));
        assert!(matches!(refused, Err(Error::Note { .. })));
    }
    assert!(!archive.path().join(format!("notes/{id}.json")).exists());
    let none = "20260101-000000-0000".parse().unwrap();
    assert!(matches!(archive.annotate(&none, |_| ()), Err(Error::NoRun { .. })));
    archive.annotate(&id, |n| n.add_tag("x")).unwrap();
    fs::write(archive.path().join(format!("notes/{id}.json")), "{").unwrap();
    let found = archive.verify(None).unwrap();
    assert_eq!(found.iter().map(|p| p.kind).collect::<Vec<_>>(), [ProblemKind::Unreadable]);
    assert_eq!(archive.list(&Search::default()).unwrap().len(), 1, "the run is listed");
}

#[test]
fn a_deleted_run_is_restored_whole_until_its_day_ends() {
    let (_folder, archive) = archive();
    let id = completed(&archive, "block-size", &[], 2);
    archive.annotate(&id, |n| n.add_tag("kept")).unwrap();
    let before = archive.list(&Search::default()).unwrap();
    let deleted = archive.delete(&id).unwrap();
    assert_eq!((&deleted.run, deleted.experiment.as_str()), (&id, "block-size"));
    assert!(deleted.until.ends_with("T00:00:00Z") && deleted.until > deleted.deleted_at);
    assert_eq!(archive.list(&Search::default()).unwrap(), []);
    assert!(matches!(archive.run(&id), Err(Error::NoRun { .. })));
    assert!(matches!(archive.delete(&id), Err(Error::NoRun { .. })));
    assert_eq!(archive.deleted().unwrap(), [deleted]);
    assert_eq!(archive.verify(None).unwrap(), [], "nothing is missing");
    assert_eq!(archive.restore(&id.as_str()[16..]).unwrap(), id);
    assert_eq!(archive.list(&Search::default()).unwrap(), before);
    assert_eq!(archive.verify(None).unwrap(), []);
    assert!(matches!(archive.restore(id.as_str()), Err(Error::NotDeleted { .. })));

    archive.delete(&id).unwrap();
    let trash = archive.path().join("trash");
    let folder = fs::read_dir(&trash).unwrap().next().unwrap().unwrap().path();
    fs::rename(folder, trash.join(format!("{id}.20260101-235959"))).unwrap();
    assert_eq!(archive.deleted().unwrap(), []);
    assert!(matches!(archive.restore("last"), Err(Error::NotDeleted { .. })));
    for of in ["trash", "tmp", "notes", "heads"] {
        assert_eq!(fs::read_dir(archive.path().join(of)).unwrap().count(), 0, "{of}");
    }
}

#[test]
fn a_run_that_is_written_is_not_deleted() {
    let (_folder, archive) = archive();
    let run = create(&archive, "block-size", &[]);
    let id = run.id().clone();
    assert!(matches!(archive.delete(&id), Err(Error::Busy { .. })));
    drop(run);
    archive.delete(&id).unwrap();
    assert_eq!(archive.restore("last").unwrap(), id);
    archive.resume(&id).unwrap();
}
