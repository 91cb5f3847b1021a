use assay_model::{Scalar, Setting};

use super::{all, find, parse_setting};
use crate::fake::FakeMachine;
use crate::{ControlError, Root};

fn machine() -> FakeMachine {
    let m = FakeMachine::new();
    m.put("/sys/devices/system/cpu/online", "0-3\n");
    m.put("/sys/devices/system/node/has_memory", "0-1\n");
    m.put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    m.put("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
    m.put("/sys/block/sda/queue/scheduler", "none [mq-deadline] bfq\n");
    m.put("/proc/meminfo", "MemAvailable: 1048576 kB\n");
    m.put("/proc/sys/vm/swappiness", "60\n");
    m.put("/proc/sys/vm/drop_caches", "0\n");
    m.put("/proc/sys/vm/compact_memory", "0\n");
    m.put("/proc/sys/kernel/randomize_va_space", "2\n");
    m.put("/etc/passwd", "root\n");
    m
}

fn check(root: &Root, control: &str, key: &str, value: &str) -> Result<(), ControlError> {
    let setting = Setting { control: control.into(), key: key.into(), value: Scalar::parse(value) };
    find(control).unwrap().check(root, &setting)
}

#[test]
fn levels_are_checked() {
    let machine = machine();
    let root = machine.root();
    let cases: [(&str, &str, &[&str], &[&str]); 10] = [
        ("cpus", "", &["0", "0-3", "1,3"], &["", "x", "4", "3-1", "true"]),
        ("sched", "", &["other", "fifo:10", "rr:99"], &["fifo", "fifo:0", "deadline", "1"]),
        ("nice", "", &["-20", "0", "19"], &["-21", "20", "x", "1.5"]),
        (
            "numa",
            "",
            &["interleave", "interleave:0-1", "bind:1", "preferred:0"],
            &["bind", "bind:2", "preferred:0-1", "local", ""],
        ),
        ("aslr", "", &["on", "off", "true"], &["2", "maybe"]),
        ("thp", "", &["always", "madvise", "never"], &["inherit", "1"]),
        ("hugepages", "", &["0", "512"], &["-1", "x", "513"]),
        (
            "pages",
            "",
            &["base", "4KiB", "4 KiB", "always", "madvise", "2MiB*512"],
            &["2MiB", "never", "2MiB*x", "always*2", "3MiB", "2MiB*513", "1GiB*1"],
        ),
        ("drop_caches", "", &["1", "3"], &["0", "4", "x"]),
        ("compact_memory", "", &["1"], &["0", "2", "x"]),
    ];
    for (control, key, good, bad) in cases {
        for value in good {
            check(&root, control, key, value).unwrap_or_else(|e| panic!("{control}={value}: {e}"));
        }
        for value in bad {
            let error = check(&root, control, key, value).expect_err(value).to_string();
            assert!(error.contains(control), "{error}");
        }
    }
}

#[test]
fn no_key_leads_out_of_its_folder() {
    let machine = machine();
    let root = machine.root();
    std::os::unix::fs::symlink("../etc/passwd", machine.path("/sys/link")).unwrap();
    for key in
        ["/etc/passwd", "/sys/../etc/passwd", "/sys/link", "sys/x", "/sys/block", "/sysx", ""]
    {
        let error = check(&root, "sysfs", key, "1").expect_err(key);
        assert!(matches!(error, ControlError::Key { .. }), "{key}: {error}");
    }
    for key in ["//.//.etc.passwd", "..", "vm.", "kernel.modules_disabled", "vm.drop_caches"] {
        let error = check(&root, "sysctl", key, "1").expect_err(key);
        assert!(matches!(error, ControlError::Key { .. }), "{key}: {error}");
    }
    assert!(check(&root, "env", "A=B", "1").is_err());
    assert!(check(&root, "hugepages", "3MiB", "1").is_err());
    assert!(check(&root, "hugepages", "1GiB", "1").unwrap_err().to_string().contains("2 MiB"));
}

#[test]
fn a_choice_must_be_one_that_is_offered() {
    let machine = machine();
    let root = machine.root();
    let file = "/sys/block/sda/queue/scheduler";
    check(&root, "sysfs", file, "bfq").unwrap();
    let error = check(&root, "sysfs", file, "cfq").unwrap_err().to_string();
    assert!(error.contains("none, mq-deadline, bfq"), "{error}");
    let level = find("sysfs").unwrap().current(&root, file).unwrap();
    assert_eq!(level, Scalar::Text("mq-deadline".into()));
    assert_eq!(find("thp").unwrap().current(&root, "").unwrap().to_text(), "madvise");
}

#[test]
fn settings_are_split_at_the_first_dot() {
    let text = |s: &str| Scalar::Text(s.into());
    let s = parse_setting("sysctl.vm.swappiness", &Scalar::Int(1)).unwrap();
    assert_eq!((s.control.as_str(), s.key.as_str()), ("sysctl", "vm.swappiness"));
    let s = parse_setting("sysfs./sys/block/sda.1/x", &text("1")).unwrap();
    assert_eq!(s.key, "/sys/block/sda.1/x");
    assert_eq!(parse_setting("cpus", &text("0")).unwrap().key, "");
    assert_eq!(parse_setting("hugepages", &text("0")).unwrap().key, "");
    assert_eq!(parse_setting("hugepages.1GiB", &text("0")).unwrap().key, "1GiB");
}

#[test]
fn mistakes_are_answered_with_what_would_be_right() {
    let say = |path: &str| parse_setting(path, &Scalar::Int(1)).unwrap_err().to_string();
    assert!(say("cpu").contains("did you mean `cpus`?"), "{}", say("cpu"));
    assert!(say("hugepage").contains("`hugepages`"));
    assert!(!say("zzzzzz").contains("did you mean") && say("zzzzzz").contains("sysctl"));
    assert!(say("sysctl").contains("needs a key"));
    assert!(say("nice.5").contains("takes no key"));
}

#[test]
fn every_control_has_its_own_name_and_words() {
    let mut names: Vec<&str> = all().iter().map(|c| c.spec().name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for spec in all().iter().map(|c| c.spec()) {
        assert!(!spec.name.contains('.'), "{} would be split", spec.name);
        assert!(!spec.keyed || !spec.key.is_empty(), "{}", spec.name);
        for text in [spec.help, spec.levels, spec.needs, spec.put_back] {
            assert!(!text.is_empty() && !text.contains('|'), "{}: {text}", spec.name);
        }
    }
}
