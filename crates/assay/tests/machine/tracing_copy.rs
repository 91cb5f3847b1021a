//! The copy of assay with file capabilities, by which ordinary users trace.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::common::{Done, done};

/// Lists what the kernel and glibc take away from a program with file capabilities.
const SHOW: &str = "grep CapPrm /proc/self/status; ulimit -s; echo \"[$LD_LIBRARY_PATH]\"";

#[test]
fn users_trace_by_the_copy_and_their_programs_get_none_of_its_capabilities() {
    let folder = tempfile::tempdir().unwrap();
    let (program, copy) =
        (folder.path().join("bin/assay"), folder.path().join("libexec/assay/assay"));
    for path in [&program, &copy] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_assay"), path).unwrap();
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o777)).unwrap();
    let as_nobody = |arguments: &[&str]| -> Done {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -s unlimited; exec setpriv \"$@\"", "-", "--reuid=nobody"]);
        command.args(["--regid=nogroup", "--clear-groups"]);
        command.arg(&program).args(arguments).env("LD_LIBRARY_PATH", "/x").env("HOME", &home);
        done(command.current_dir("/"))
    };
    let granted = Command::new("setcap")
        .arg("cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog=p")
        .arg(&copy)
        .output();
    if !granted.is_ok_and(|granted| granted.status.success()) {
        println!("skipped: because file capabilities cannot be set (setcap, as root)");
        return;
    }
    let plain = as_nobody(&["run", "--json", "--blocks", "1", "--", "sh", "-c", SHOW]);
    if plain.stderr.contains("setpriv") {
        println!("skipped: because no other user can be taken on: {}", plain.stderr);
        return;
    }
    assert_eq!(plain.code, 0, "{}", plain.stderr);
    let traced = as_nobody(&["syscalls", "--", "sh", "-c", SHOW]);
    if traced.code == 6 {
        assert!(!traced.stderr.contains("tracing needs"), "{}", traced.stderr);
        println!("skipped: because {}", traced.stderr);
        return;
    }
    assert_eq!(traced.code, 0, "{}", traced.stderr);
    for line in ["CapPrm:\t0000000000000000", "unlimited", "[/x]", "eBPF"] {
        assert!(traced.stdout.contains(line), "{line}: {}", traced.stdout);
    }
    let report = as_nobody(&["doctor", "--json"]).json();
    assert_eq!(report["missing_capabilities"], serde_json::json!([]), "{report:#}");

    // Without the right to execute the copy, and with a copy of another build.
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o750)).unwrap();
    let report = as_nobody(&["doctor"]).stdout;
    assert!(report.contains("Tracers lack CAP_BPF") && report.contains("usermod"), "{report}");
    fs::write(&copy, "another").unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let stale = as_nobody(&["io", "-n", "1"]);
    assert_eq!(stale.code, 1, "{}", stale.stdout);
    assert!(
        stale.stderr.contains("another build") && stale.stderr.contains("setcap"),
        "{}",
        stale.stderr
    );
}
