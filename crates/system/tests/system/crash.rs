//! Tests that the changes of a killed run are found and restored.
//!
//! The child is this test program itself, started again with a single ignored test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use assay_model::{Scalar, Setting};
use assay_system::{
    ControlError, Controller, PendingState, RestoreOutcome, Root, parse_setting, pending,
    restore_pending,
};
use assay_testing::alone;

/// The state folder, the root and the settings of the child.
const STATE: &str = "ASSAY_TEST_STATE";
const ROOT: &str = "ASSAY_TEST_ROOT";
const SETTINGS: &str = "ASSAY_TEST_SETTINGS";

fn settings(text: &str) -> Vec<Setting> {
    text.split_whitespace()
        .map(|one| one.split_once('=').unwrap())
        .map(|(path, value)| parse_setting(path, &Scalar::parse(value)).unwrap())
        .collect()
}

#[test]
#[ignore = "the other tests start it as a child"]
fn child_that_changes_settings_and_hangs() {
    let var = |name: &str| std::env::var(name).unwrap();
    let controller = Controller::new(var(STATE), Root::at(var(ROOT)));
    let _applied = controller.apply(&settings(&var(SETTINGS))).unwrap();
    println!("changed");
    loop {
        std::thread::park();
    }
}

/// A child that has applied the settings and waits to be killed.
struct Hanging(Child);

impl Hanging {
    fn start(state: &Path, root: &Path, settings: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--ignored",
                "--nocapture",
                "crash::child_that_changes_settings_and_hangs",
            ])
            .env(STATE, state)
            .env(ROOT, root)
            .env(SETTINGS, settings)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|l| l.unwrap().contains("changed")), "the child could not apply them");
        Hanging(child)
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn put(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap().trim().to_owned()
}

/// Remembers a tunable of this machine and restores it on drop.
struct Keep(&'static str, String);

impl Keep {
    fn new(path: &'static str) -> Self {
        Keep(path, read(Path::new(path)))
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        let _ = std::fs::write(self.0, &self.1);
    }
}

#[test]
fn a_killed_run_is_put_back_in_reverse() {
    let _turn = alone();
    let dir = tempfile::tempdir().unwrap();
    let (machine, state) = (dir.path().join("machine"), dir.path().join("state"));
    let (a, b) = (machine.join("proc/sys/vm/a"), machine.join("proc/sys/vm/b"));
    put(&machine, "proc/sys/vm/a", "1\n");
    put(&machine, "proc/sys/vm/b", "2\n");
    let mut child = Hanging::start(&state, &machine, "sysctl.vm.a=10 sysctl.vm.b=20 nice=5");
    assert_eq!((read(&a), read(&b)), ("10".into(), "20".into()));
    assert!(pending(&state).unwrap().is_empty(), "it still lives");
    child.kill();

    let left = pending(&state).unwrap();
    assert_eq!(left.len(), 1);
    let PendingState::Left { owner, entries } = &left[0].state else { panic!("{left:?}") };
    assert_eq!(owner.pid, child.0.id());
    assert_eq!(entries.len(), 2);

    // New changes on top of ones that were left behind are refused.
    let next = Controller::new(&state, Root::at(&machine)).apply(&settings("sysctl.vm.a=30"));
    assert!(matches!(next, Err(ControlError::LeftOver { .. })));

    let reports = restore_pending(&state, &Root::at(&machine)).unwrap();
    assert_eq!(reports.len(), 1);
    assert!(reports[0].done);
    let order: Vec<&str> = reports[0].settings.iter().map(|s| s.path.as_str()).collect();
    assert_eq!(order, ["sysctl.vm.b", "sysctl.vm.a"]);
    assert_eq!((read(&a), read(&b)), ("1".into(), "2".into()));
    assert!(restore_pending(&state, &Root::at(&machine)).unwrap().is_empty(), "once is enough");
}

#[test]
fn what_cannot_be_put_back_is_kept_for_the_next_time() {
    let _turn = alone();
    let dir = tempfile::tempdir().unwrap();
    let (machine, state) = (dir.path().join("machine"), dir.path().join("state"));
    put(&machine, "proc/sys/vm/a", "1\n");
    put(&machine, "proc/sys/vm/b", "2\n");
    Hanging::start(&state, &machine, "sysctl.vm.a=10 sysctl.vm.b=20").kill();
    std::fs::remove_file(machine.join("proc/sys/vm/a")).unwrap();
    let root = Root::at(&machine);
    let reports = restore_pending(&state, &root).unwrap();
    assert!(!reports[0].done);
    assert!(matches!(reports[0].settings[0].outcome, RestoreOutcome::PutBack { .. }));
    assert!(matches!(reports[0].settings[1].outcome, RestoreOutcome::Failed { .. }));
    put(&machine, "proc/sys/vm/a", "10\n");
    let reports = restore_pending(&state, &root).unwrap();
    assert!(reports[0].done);
    assert_eq!(reports[0].settings.len(), 1);
    assert_eq!(read(&machine.join("proc/sys/vm/a")), "1");
}

#[test]
fn several_may_put_back_at_once() {
    let _turn = alone();
    let dir = tempfile::tempdir().unwrap();
    let (machine, state) = (dir.path().join("machine"), dir.path().join("state"));
    put(&machine, "proc/sys/vm/a", "1\n");
    Hanging::start(&state, &machine, "sysctl.vm.a=10").kill();
    let root = Root::at(&machine);
    let done: usize = std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..4).map(|_| scope.spawn(|| restore_pending(&state, &root).unwrap().len())).collect();
        all.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(done, 1, "one of them did it, the others found nothing to do");
    assert_eq!(read(&machine.join("proc/sys/vm/a")), "1");
}

#[test]
fn a_start_of_the_machine_takes_settings_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let (machine, state) = (dir.path().join("machine"), dir.path().join("state"));
    put(&machine, "proc/sys/vm/a", "77\n");
    let text = r#"{"schema_version":1,"pid":1,"start_ticks":1,"boot_id":"an-earlier-one","entries":
        [{"control":"sysctl","key":"vm.a",
            "target":"/proc/sys/vm/a","old":"1","new":"2","at":""}]}"#;
    put(&state, "journal/1-1-0.json", text);
    let reports = restore_pending(&state, &Root::at(&machine)).unwrap();
    assert!(reports[0].done && !reports[0].note.is_empty());
    assert_eq!(reports[0].settings[0].outcome, RestoreOutcome::Rebooted);
    assert_eq!(read(&machine.join("proc/sys/vm/a")), "77", "it was not touched");
    assert!(pending(&state).unwrap().is_empty());
}

#[test]
fn a_tunable_of_this_machine_survives_kill_9() {
    const FILE: &str = "/proc/sys/vm/swappiness";
    let _turn = alone();
    let dir = tempfile::tempdir().unwrap();
    let before = read(Path::new(FILE));
    let other = if before == "59" { "58" } else { "59" };
    let wanted = format!("sysctl.vm.swappiness={other}");
    let controller = Controller::new(dir.path(), Root::system());
    if let Err(reason) = controller.check(&settings(&wanted)) {
        println!("skipped: because {reason}");
        return;
    }
    let _keep = Keep::new(FILE);
    let mut child = Hanging::start(dir.path(), Path::new("/"), &wanted);
    assert_eq!(read(Path::new(FILE)), other);
    child.kill();
    assert_eq!(read(Path::new(FILE)), other, "killed, it could not put anything back");
    let reports = restore_pending(dir.path(), &Root::system()).unwrap();
    assert!(reports[0].done, "{reports:?}");
    assert_eq!(read(Path::new(FILE)), before);
}

#[test]
fn both_of_a_coupled_pair_come_back() {
    const BYTES: &str = "/proc/sys/vm/dirty_background_bytes";
    const RATIO: &str = "/proc/sys/vm/dirty_background_ratio";
    let _turn = alone();
    let dir = tempfile::tempdir().unwrap();
    let controller = Controller::new(dir.path(), Root::system());
    let wanted = settings("sysctl.vm.dirty_background_bytes=104857600");
    if let Err(reason) = controller.check(&wanted) {
        println!("skipped: because {reason}");
        return;
    }
    let before = (read(Path::new(BYTES)), read(Path::new(RATIO)));
    if before.0 != "0" {
        println!("skipped: because this machine sets the limit in bytes already");
        return;
    }
    let applied = controller.apply(&wanted).unwrap();
    assert_eq!(read(Path::new(BYTES)), "104857600");
    assert_eq!(read(Path::new(RATIO)), "0");
    applied.restore().unwrap();
    assert_eq!((read(Path::new(BYTES)), read(Path::new(RATIO))), before);
}
