//! Hosts that refuse, fail, vanish, or are in use.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{on, run, said};
use crate::common::virtual_hosts::Hosts;
use crate::common::{World, alive, done, wait_for};

/// A setting of the machine that no other test changes.
const SETTING: &str = "/proc/sys/vm/laptop_mode";

/// Returns the arguments of a run that changes the setting on its hosts.
fn changing<'a>(hosts: &[&'a str], more: &[&'a str], program: &'a str) -> Vec<&'a str> {
    let set = ["--set", "controls.sysctl.vm.laptop_mode=7", "--json"];
    [&on(hosts, &set)[..], more, &["--", "sh", program]].concat()
}

fn setting() -> String {
    std::fs::read_to_string(SETTING).unwrap()
}

/// Name of the file that the program on a host executes, which no other command line contains.
const HELD: &str = "held-on-host.sh";

/// A program that waits on h1 until the file `go` exists, after writing `here`.
fn held(world: &World) -> String {
    let (here, go) = (world.path("here"), world.path("go"));
    let text = format!(
        "[ $(hostname) = h1 ] || exit 0; echo >> {}; until [ -e {} ]; do sleep 0.05; done\n",
        here.display(),
        go.display()
    );
    let held = world.write(HELD, &text);
    // The command line of the collector has the path of another file.
    world.write("outer.sh", &format!("exec sh {}\n", held.display())).display().to_string()
}

/// Returns true while the program of [`held`] runs.
fn runs(world: &World) -> bool {
    alive(&world.path(HELD).display().to_string())
}

fn started(hosts: &Hosts, world: &World, arguments: &[&str]) -> Child {
    let mut command = hosts.assay(world, arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> (i32, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_host_that_refuses_is_named_at_once_with_what_to_do() {
    let Some(hosts) = Hosts::start(1) else { return };
    let world = World::new();
    for (host, advice) in [
        ("h1-password", "`ssh-copy-id h1-password`"),
        ("h1-stranger", "then `ssh h1-stranger` once"),
        ("h1-i686", "it is i686"),
        ("no-such-host.invalid", "Could not resolve hostname"),
    ] {
        let done = run(&world, &hosts, &on(&[host], &["--", "true"]));
        let printed = said(&done);
        assert_ne!(done.code, 0, "{host}: {printed}");
        assert!(printed.contains(&format!("host {host}:")), "{host}: {printed}");
        assert!(printed.contains(advice), "{host}: {printed}");
    }
    assert!(world.runs().is_empty(), "no run was registered");
}

#[test]
fn an_assay_of_another_version_is_refused_with_both_versions() {
    let Some(hosts) = Hosts::start(1) else { return };
    let world = World::new();
    let old = world.write("assay-old", "#!/bin/sh\necho assay 0.0.9\n");
    assert!(Command::new("chmod").arg("+x").arg(&old).status().unwrap().success());
    let place = |program: &Path| {
        format!(
            "name = \"x\"\nworkload = \"noop\"\n[where]\nengine = \"ssh\"\nhosts = [\"h1\"]\n\
             program = \"{}\"\n",
            program.display()
        )
    };
    let experiment = world.write("x.toml", &place(&old));
    let done = run(&world, &hosts, &["run", experiment.to_str().unwrap()]);
    let printed = said(&done);
    assert!(printed.contains("the program there is assay 0.0.9"), "{printed}");
    assert!(printed.contains(concat!("this is assay ", env!("CARGO_PKG_VERSION"))), "{printed}");
    // The same version where it is installed is used as it is.
    let own = world.write("x.toml", &place(Path::new(env!("CARGO_BIN_EXE_assay"))));
    let done = run(&world, &hosts, &["run", own.to_str().unwrap(), "--blocks", "1"]);
    assert!(done.code == 0 || done.code == 4, "{}", done.stderr);
    assert!(!hosts.path("h1", "cache/assay/agents").exists(), "nothing was copied");
}

#[test]
fn a_full_disk_of_the_host_is_named_before_the_run() {
    let Some(hosts) = Hosts::start(1) else { return };
    let world = World::new();
    let cache = hosts.path("h1", "cache");
    let small = format!("mount -t tmpfs -o size=1m tmpfs {}", cache.display());
    assert!(hosts.ssh("h1", &small).status.success());
    let done = run(&world, &hosts, &on(&["h1"], &["--", "true"]));
    let left = hosts.ssh("h1", &format!("ls -A {}/assay/agents", cache.display()));
    let printed = said(&done);
    assert!(printed.contains("host h1: assay cannot be copied"), "{printed}");
    assert!(printed.contains("No space left on device"), "{printed}");
    assert!(left.status.success() && left.stdout.is_empty(), "half a copy is removed: {left:?}");
}

#[test]
fn a_cut_link_fails_its_trial_and_the_host_ends_the_program_itself() {
    // Other tests compare the settings of the machine.
    let _alone = assay_testing::alone();
    let Some(hosts) = Hosts::start(2) else { return };
    let world = World::in_turn();
    let (program, before) = (held(&world), setting());
    let options = ["--hosts-as", "replicates", "--blocks", "2", "--warmup", "0"];
    let child = started(&hosts, &world, &changing(&["h1", "h2"], &options, &program));
    wait_for("the first trial begins", || world.path("here").exists());
    assert_eq!(setting(), "7\n");
    hosts.cut("h1");
    // Both ends find out: ssh after 15 s without an answer, the agent after 20 s of silence.
    wait_for("the program on the host is ended", || !runs(&world));
    wait_for("the setting is restored", || setting() == before);
    world.write("go", "");
    let (code, stdout, stderr) = ended(child);
    hosts.join("h1");
    assert_eq!(code, 3, "{stderr}");
    let result: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let records = result["records"].as_array().unwrap();
    assert_eq!(records[0]["outcome"], "failed", "{result:#}");
    let error = records[0]["error"].as_str().unwrap();
    assert!(error.contains("host h1 lost its agent"), "{error}");
    assert_eq!(records[1]["outcome"], "completed", "the other host goes on: {result:#}");
}

#[test]
fn nothing_outlives_a_kill_of_either_side() {
    // Other tests compare the settings of the machine.
    let _alone = assay_testing::alone();
    let Some(hosts) = Hosts::start(1) else { return };
    let world = World::in_turn();
    let (program, before) = (held(&world), setting());
    let arguments = changing(&["h1"], &[], &program);
    let mut child = started(&hosts, &world, &arguments);
    wait_for("the first trial begins", || world.path("here").exists());
    assert_eq!(setting(), "7\n");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the program on the host is ended", || !runs(&world));
    wait_for("the setting is restored", || setting() == before);
    std::fs::remove_file(world.path("here")).unwrap();

    let child = started(&hosts, &world, &arguments);
    wait_for("the second run begins", || world.path("here").exists());
    let status = Command::new("pkill").args(["-9", "-f", "__agent h1 "]).status().unwrap();
    assert!(status.success());
    wait_for("the program on the host is ended", || !runs(&world));
    wait_for("the setting is restored", || setting() == before);
    world.write("go", "");
    let (code, stdout, stderr) = ended(child);
    assert_ne!(code, 0, "{stderr}");
    assert!(stdout.contains("host h1 lost its agent"), "{stdout}{stderr}");
}

#[test]
fn a_host_is_measured_by_one_run_at_a_time() {
    let Some(hosts) = Hosts::start(1) else { return };
    let world = World::new();
    let program = held(&world);
    let arguments = [&on(&["h1"], &["--blocks", "1"])[..], &["--", "sh", &program]].concat();
    let child = started(&hosts, &world, &arguments);
    wait_for("the first run measures", || world.path("here").exists());
    let second = done(&mut hosts.assay(&world, &on(&["h1"], &["--", "true"])));
    let printed = said(&second);
    world.write("go", "");
    assert_eq!(ended(child).0, 0);
    assert_ne!(second.code, 0, "{printed}");
    assert!(printed.contains("is measuring there"), "{printed}");
}
