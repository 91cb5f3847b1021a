//! Tests of a file system that runs out of space at any moment.

use std::fs;
use std::path::Path;
use std::process::Command;

use assay_archive::{Archive, Error, ProblemKind};
use assay_model::RunState;

use crate::fixture::{completed, create, next_attempt, write};

/// A small tmpfs, unmounted on drop.
struct Small(tempfile::TempDir);

impl Small {
    /// Mounts the tmpfs; prints the reason and returns `None` if that is not possible.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"])
            .arg(folder.path())
            .output();
        if done.as_ref().is_ok_and(|o| o.status.success()) {
            return Some(Small(folder));
        }
        println!("skipped: because a tmpfs can be mounted by root only");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the file system up to the last `left` bytes.
    fn fill(&self, left: u64) {
        let free = || {
            let s = rustix::fs::statvfs(self.path()).unwrap();
            s.f_bavail * s.f_frsize
        };
        let all = free();
        fs::write(self.path().join("filler"), vec![1; all.saturating_sub(left) as usize]).unwrap();
    }

    fn free(&self) {
        fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

#[test]
fn a_disk_that_fills_while_trials_are_written_loses_none_that_was_acknowledged() {
    let Some(small) = Small::mount() else { return };
    for pages in 0..12 {
        let archive = Archive::open(small.path().join("archive")).unwrap();
        let mut run = create(&archive, "full", &[]);
        let id = run.id().clone();
        write(&mut run, 1, 1).unwrap();
        small.fill(pages * 4096);
        let mut acknowledged = 1;
        let error = loop {
            match write(&mut run, acknowledged + 1, 1) {
                Ok(()) => acknowledged += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(&error, Error::Full { .. }), "{error}");
        assert!(error.to_string().contains("Free some space"), "{error}");
        assert!(matches!(write(&mut run, acknowledged + 1, 1), Err(Error::Broken { .. })));
        drop(run);
        // Even while the disk is full, the run can be read and holds every acknowledged trial.
        let reader = archive.run(&id).unwrap();
        assert_eq!(reader.state(), RunState::Interrupted);
        let records = reader.records().unwrap();
        assert!(records.len() as u32 >= acknowledged);
        small.free();
        let mut run = archive.resume(&id).unwrap();
        let known = run.reader().unwrap();
        assert!(known.records().unwrap().len() as u32 >= acknowledged);
        let number = acknowledged + 1;
        write(&mut run, number, next_attempt(&known, number)).unwrap();
        run.finish(RunState::Completed, "done").unwrap();
        let problems = archive.verify(None).unwrap();
        let interrupted = |p: &assay_archive::Problem| p.kind == ProblemKind::InterruptedTrial;
        assert!(problems.iter().all(interrupted), "{problems:?}");
        archive.remove(&id).unwrap();
    }
}

#[test]
fn a_run_that_finds_no_space_to_begin_leaves_nothing() {
    let Some(small) = Small::mount() else { return };
    let archive = Archive::open(small.path().join("archive")).unwrap();
    let run = create(&archive, "room", &[]);
    let (id, folder) = (run.id().clone(), run.dir().to_owned());
    for pages in [0, 1, 3, 5] {
        small.fill(pages * 4096);
        let system = archive.run(&id).unwrap().system().unwrap();
        let error = archive
            .create_run(&assay_archive::NewRun {
                experiment_toml: crate::fixture::EXPERIMENT,
                plan: &crate::fixture::plan(8),
                system: &system,
                host: "lab1",
                experiment_name: "full",
                workload: "stream",
                tags: &[],
                stop_rule: "never",
            })
            .unwrap_err();
        assert!(matches!(&error, Error::Full { .. }), "{error}");
        small.free();
        assert_eq!(fs::read_dir(small.path().join("archive/tmp")).unwrap().count(), 0);
        assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn a_full_disk_still_lists_runs() {
    let Some(small) = Small::mount() else { return };
    let archive = Archive::open(small.path().join("archive")).unwrap();
    completed(&archive, "full", &[], 0);
    small.fill(0);
    assert_eq!(archive.list(&assay_archive::Search::default()).unwrap().len(), 1);
}
