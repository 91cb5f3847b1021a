use assay_model::{Scalar, Setting};

use super::Controller;
use crate::controller::pending::{PendingState, pending};
use crate::fake::FakeMachine;
use crate::{ControlError, parse_setting};

fn machine() -> FakeMachine {
    let m = FakeMachine::new();
    m.put("/proc/sys/vm/swappiness", "60\n");
    m.put("/proc/sys/vm/dirty_ratio", "20\n");
    m.put("/proc/sys/vm/drop_caches", "0\n");
    m.put("/proc/sys/kernel/randomize_va_space", "2\n");
    m.put("/sys/block/sda/queue/nr_requests", "256\n");
    m.put("/sys/devices/system/cpu/online", "0-3\n");
    m
}

fn setting(path: &str, value: &str) -> Setting {
    parse_setting(path, &Scalar::parse(value)).unwrap()
}

fn controller(machine: &FakeMachine) -> Controller {
    Controller::new(machine.path("state"), machine.root())
}

fn journals(machine: &FakeMachine) -> usize {
    let entries = std::fs::read_dir(machine.path("state/journal"));
    entries.map_or(0, |all| {
        all.filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|x| x == "json")).count()
    })
}

#[test]
fn a_treatment_is_applied_and_put_back() {
    let m = machine();
    let settings = [
        setting("drop_caches", "3"),
        setting("env.THREADS", "4"),
        setting("sysctl.vm.swappiness", "5"),
        setting("cpus", "0-1,3"),
        setting("nice", "default"),
        setting("aslr", "off"),
        setting("sysfs./sys/block/sda/queue/nr_requests", "64"),
    ];
    let controller = controller(&m);
    controller.check(&settings).unwrap();
    assert_eq!(journals(&m), 0, "a check writes nothing");
    let applied = controller.apply(&settings).unwrap();
    assert_eq!(applied.setup.cpus.as_deref(), Some(&[0, 1, 3][..]));
    assert_eq!(applied.setup.env, [("THREADS".to_owned(), "4".to_owned())]);
    assert_eq!(applied.setup.nice, None);
    assert!(applied.setup.no_aslr);
    assert_eq!(m.read("proc/sys/vm/swappiness"), "5");
    assert_eq!(m.read("proc/sys/vm/drop_caches"), "3");
    assert_eq!(m.read("sys/block/sda/queue/nr_requests"), "64");
    assert_eq!(journals(&m), 1);
    assert!(pending(&m.path("state")).unwrap().is_empty(), "its owner lives");

    applied.restore().unwrap();
    assert_eq!(m.read("proc/sys/vm/swappiness"), "60");
    assert_eq!(m.read("sys/block/sda/queue/nr_requests"), "256");
    assert_eq!(journals(&m), 0);
}

#[test]
fn a_drop_puts_back_too() {
    let m = machine();
    let applied = controller(&m).apply(&[setting("sysctl.vm.swappiness", "5")]).unwrap();
    assert_eq!(m.read("proc/sys/vm/swappiness"), "5");
    drop(applied);
    assert_eq!(m.read("proc/sys/vm/swappiness"), "60");
    assert_eq!(journals(&m), 0);
}

#[test]
fn nothing_is_journaled_that_does_not_change() {
    let m = machine();
    let settings = [setting("sysctl.vm.swappiness", "60"), setting("nice", "5")];
    let applied = controller(&m).apply(&settings).unwrap();
    assert_eq!(journals(&m), 0);
    applied.restore().unwrap();
}

#[test]
fn a_failure_half_way_puts_the_first_half_back() {
    let m = machine();
    let settings = [setting("sysctl.vm.swappiness", "5"), setting("sysctl.vm.none", "1")];
    let error = controller(&m).apply(&settings).unwrap_err();
    assert!(matches!(error, ControlError::NotHere { .. }), "{error}");
    assert!(controller(&m).check(&settings).is_err());
    assert_eq!(m.read("proc/sys/vm/swappiness"), "60");
    assert_eq!(journals(&m), 0);
}

#[test]
fn one_thing_is_set_once() {
    let m = machine();
    let twice = [setting("sysctl.vm.swappiness", "5"), setting("sysctl.vm.swappiness", "6")];
    assert!(matches!(controller(&m).check(&twice), Err(ControlError::Twice { .. })));
    let first = controller(&m).apply(&twice[..1]).unwrap();
    let second = controller(&m).apply(&twice[1..]).unwrap_err();
    assert!(matches!(second, ControlError::Busy { pid, .. } if pid == std::process::id()));
    first.restore().unwrap();
    assert_eq!(m.read("proc/sys/vm/swappiness"), "60");
}

#[test]
fn a_control_and_one_that_it_is_made_of_are_one_thing() {
    let m = machine();
    m.put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    let both = |pages: &str| [setting("pages", pages), setting("thp", "never")];
    for order in [both("madvise"), {
        let [a, b] = both("always");
        [b, a]
    }] {
        let error = controller(&m).check(&order).unwrap_err();
        assert!(matches!(error, ControlError::Twice { .. }), "{error}");
    }
    // 4 KiB pages are a flag of the process, so the machine's level may be anything.
    controller(&m).check(&both("4KiB")).unwrap();
}

#[test]
fn what_cannot_be_put_back_stays_in_the_journal() {
    let m = machine();
    let controller = controller(&m);
    let settings = [setting("sysctl.vm.swappiness", "5"), setting("sysctl.vm.dirty_ratio", "20")];
    let applied = controller.apply(&settings).unwrap();
    std::fs::remove_file(m.path("proc/sys/vm/swappiness")).unwrap();
    let error = applied.restore().unwrap_err().to_string();
    assert!(error.contains("sysctl.vm.swappiness") && error.contains("--restore"), "{error}");
    assert_eq!(journals(&m), 1);
}

#[test]
fn a_journal_that_cannot_be_understood_is_reported_and_kept() {
    let m = machine();
    let dir = m.path("state/journal");
    std::fs::create_dir_all(&dir).unwrap();
    for (name, text) in [
        ("1-1-0.json", "{"),
        (
            "1-1-1.json",
            r#"{"schema_version":99,"pid":1,"start_ticks":1,"boot_id":"x","entries":[]}"#,
        ),
    ] {
        std::fs::write(dir.join(name), text).unwrap();
    }
    let state = m.path("state");
    let found = pending(&state).unwrap();
    assert!(found.iter().all(|p| matches!(p.state, PendingState::Corrupt { .. })), "{found:?}");
    let reports = crate::restore_pending(&state, &m.root()).unwrap();
    assert_eq!(reports.len(), 2);
    assert!(reports.iter().all(|r| !r.done && r.path.exists()));
    assert!(reports.iter().any(|r| r.note.contains("newer assay")));
    // A power failure may leave an empty one, whose settings the reboot has reset.
    let path = dir.join("1-1-0.json");
    let file = std::fs::File::create(&path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let reports = crate::restore_pending(&state, &m.root()).unwrap();
    assert!(reports[0].done && reports[0].note.contains("rebooted"), "{reports:?}");
    assert!(!path.exists() && !reports[1].done);
}
