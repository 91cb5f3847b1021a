//! Memory limits without root: in a control group of version 2 that systemd delegates, and on the
//! nodes of a Slurm that runs its steps in such groups. Runs in the virtual machines of `make
//! test-vm`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::common::virtual_slurm::Slurm;
use crate::common::{World, done};
use serde_json::{Deserializer, Value};

/// Command of a trial that prints the limit of its control group.
const SAY_LIMIT: &str = "cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/memory.max; grep \
    THP_enabled /proc/self/status";

fn version_2() -> bool {
    let there = fs::metadata("/sys/fs/cgroup/cgroup.controllers").is_ok();
    if !there {
        println!("skipped: because control groups are of version 1 here");
    }
    there && crate::common::root()
}

/// Runs a script as nobody, in a group of its own that systemd delegates; returns its output, and
/// true if it succeeded.
fn delegated(world: &World, script: &str) -> Option<(String, bool)> {
    let folder = world.path("");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new("systemd-run");
    command.args(["--quiet", "--pipe", "--wait", "--collect", "--uid=65534", "--gid=65534"]);
    command.args(["-p", "Delegate=yes", "-E", "LC_ALL=C.UTF-8"]);
    // Copied there, because every user may run it there.
    let program = folder.join("assay");
    if !program.exists() {
        fs::copy(env!("CARGO_BIN_EXE_assay"), &program).unwrap();
    }
    command.arg("-E").arg(format!("A={}", program.display()));
    for name in ["HOME", "ASSAY_ARCHIVE", "ASSAY_STATE", "ASSAY_SCRATCH", "ASSAY_CACHE"] {
        let own = folder.join(name);
        fs::create_dir_all(&own).unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
        command.arg("-E").arg(format!("{name}={}", own.display()));
    }
    // The script is a file, because systemd expands variables in arguments.
    let output = command.arg("sh").arg(world.write("script", script)).output();
    let Ok(output) = output else {
        println!("skipped: because there is no systemd-run");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Some((said.into_owned(), output.status.success()))
}

/// Command that prints the state of its control group: processes in it, groups below it, delegated
/// controllers.
const AS_BEFORE: &str = "echo left: $(ls -d $G/*/ $G/../assay-[0-9]*/ $G/../assay-rest-*/ \
                         2>/dev/null) in: $(grep -cx $$ $G/cgroup.procs) \
                         down: $(cat $G/cgroup.subtree_control)";

#[test]
fn a_group_that_systemd_hands_over_is_enough_for_a_memory_limit() {
    if !version_2() {
        return;
    }
    let world = World::new();
    let run = format!(
        "G=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)
         $A run --monitors none --blocks 1 --set controls.memory=64MiB --json -- sh -c \
        '{SAY_LIMIT}' >$HOME.json
         echo code $?
         {AS_BEFORE}
         cat $HOME.json"
    );
    // Once as a service of the system, where the program's own group must be vacated, and once
    // below an empty group, as in a user's own systemd.
    let inner = format!(
        "S=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup); mkdir $S/inner; echo $$ \
        >$S/inner/cgroup.procs; {run}"
    );
    for script in [&run, &inner] {
        let Some((said, well)) = delegated(&world, script) else { return };
        assert!(well && said.contains("code 0"), "{said}");
        assert!(said.contains("left: in: 1 down:\n"), "{said}");
        let json = &said[said.find('{').unwrap()..];
        // The messages for people follow the JSON.
        let result: Value = Deserializer::from_str(json).into_iter().next().unwrap().unwrap();
        let record = &result["records"][0];
        assert!(record["group"]["peak_memory_bytes"].as_u64().unwrap_or(1) > 0, "{record:#}");
        let root = world.path("ASSAY_ARCHIVE");
        let log = find(&root, "stdout.log").unwrap();
        assert!(fs::read_to_string(log).unwrap().starts_with("67108864\n"), "{said}");
        fs::remove_dir_all(&root).unwrap();
    }
    // A control that does not work there reports the reason.
    let script =
        "$A run --monitors none --blocks 1 --set 'controls.storage=loop:ext4,size=64MiB' -- true";
    let Some((said, well)) = delegated(&world, script) else { return };
    assert!(!well && said.contains("root"), "{said}");
}

#[test]
fn what_a_killed_run_left_in_a_delegated_group_is_put_back() {
    if !version_2() {
        return;
    }
    let world = World::new();
    let script = format!(
        "G=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)
         $A run --monitors none --blocks 1 --set controls.memory=64MiB -- sleep 97.25 >/dev/null \
        2>&1 &
         for i in $(seq 600); do pgrep -f '^sleep 97.25' >/dev/null && break; sleep 0.1; done
         kill -9 $!
         $A doctor --restore
         echo code $?
         {AS_BEFORE}"
    );
    let Some((said, _)) = delegated(&world, &script) else { return };
    assert!(said.contains("code 0") && said.contains("left: in: 1 down:\n"), "{said}");
    assert!(!crate::common::alive("sleep 97.25"), "{said}");
}

#[test]
fn limits_reach_the_ranks_of_a_slurm_with_groups() {
    if !version_2() {
        return;
    }
    let Some(slurm) = Slurm::start(1) else { return };
    let world = World::new();
    let set = ["--set", "controls.memory=64MiB", "--set", "controls.pages=4KiB"];
    let say = format!("{SAY_LIMIT}; cat /proc/self/cgroup");
    let program = ["--blocks", "1", "--json", "--", "sh", "-c", &say];
    let arguments =
        [&["run", "--on", "slurm", "--nodes", "1", "--monitors", "none"], &set[..], &program]
            .concat();
    let ran = done(world.assay(&arguments).env("SLURM_CONF", slurm.conf()));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let run = world.newest();
    let log = fs::read_to_string(find(&run, "stdout.log").unwrap()).unwrap();
    let lines: Vec<&str> = log.lines().filter(|l| !l.is_empty() && !l.starts_with("==>")).collect();
    assert_eq!(lines.first(), Some(&"67108864"), "{log}");
    assert!(lines.iter().any(|l| l.starts_with("THP_enabled:") && l.ends_with('0')), "{log}");
    // The group is within the step, so that Slurm's own limits still apply.
    let group = lines.iter().find(|l| l.starts_with("0::")).unwrap();
    assert!(group.contains("/job_") && group.contains("/step_"), "{group}");
    assert_eq!(slurm.jobs(), "");
}

/// Returns the first file with this name below a folder.
fn find(folder: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    fs::read_dir(folder).ok()?.flatten().map(|e| e.path()).find_map(|path| {
        if path.is_dir() {
            find(&path, name)
        } else {
            path.file_name().is_some_and(|n| n == name).then_some(path)
        }
    })
}
