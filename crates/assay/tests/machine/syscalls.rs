//! `assay syscalls` from the command line, in a run, on its page and in `explain`.

use crate::common::served::serve;
use crate::common::{World, json, wait_for};

/// Returns true if the output reports that system calls cannot be counted here.
fn cannot(printed: &str) -> bool {
    let cannot = printed.contains("cannot be counted here");
    if cannot {
        println!("skipped: because {printed}");
    }
    cannot
}

#[test]
fn a_command_is_counted_by_what_is_asked_for() {
    let world = World::new();
    let command = ["--", "sh", "-c", "cat /etc/passwd /nowhere | wc -l > /dev/null; true"];
    let done = world.run(&[&["syscalls"][..], &command].concat());
    if cannot(&done.stderr) {
        return;
    }
    assert_eq!(done.code, 0, "{}", done.stderr);
    for says in ["execve", "ENOENT", "most time first", "p99"] {
        assert!(done.stdout.contains(says), "{says}: {}", done.stdout);
    }
    assert!(done.stdout.lines().all(|l| l.chars().count() <= 80), "{}", done.stdout);
    let done = world.run(&[&["syscalls", "--by", "program,kind"][..], &command].concat());
    for says in ["cat", "wc", "pipe", "device", "file"] {
        assert!(done.stdout.contains(says), "{says}: {}", done.stdout);
    }
    let done = world.run(&[&["syscalls", "--json", "--by", "process"][..], &command].concat());
    let seen = json(&done.stdout);
    let calls = seen["calls"].as_array().unwrap();
    assert!(calls.iter().all(|c| c["process"].as_u64().is_some()), "{}", done.stdout);
    let execs = calls.iter().filter(|c| c["call"] == "execve");
    let execs: u64 =
        execs.map(|c| c["calls"].as_u64().unwrap() - c["errors"].as_u64().unwrap()).sum();
    assert_eq!(execs, 3, "sh, cat, wc: {}", done.stdout);
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let world = World::new();
    for (arguments, says) in [
        (&[][..], "name whose calls"),
        (&["--seconds=-1", "--", "true"], "--seconds"),
        (&["--by", "moon", "--", "true"], "moon"),
        (&["--cgroup", "/no/such/group"], "no control group"),
        (&["--pid", "999999999"], "here"),
        (&["--pid", "1", "--", "true"], "--pid"),
    ] {
        let done = world.run(&[&["syscalls"][..], arguments].concat());
        assert!(done.code != 0 && done.stderr.contains(says), "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn a_run_keeps_its_calls_shows_them_and_says_what_differs() {
    let world = World::new();
    let experiment = world.write(
        "e.toml",
        "name = \"calls\"\nworkload = \"command\"\n[params]\nshell = \"sh\"\n\
         [factors]\ncommand = [\"dd if=/dev/zero of=/dev/null bs=4096 count=100\", \"dd \
         if=/dev/zero of=/dev/null bs=4096 count=2000\"]\n\
         [design]\nblocks = 4\n[observe]\ntracers = [\"syscalls\"]\n",
    );
    let done = world.run(&["run", experiment.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let trials = world.run(&["archive", "show", "last", "--json"]);
    if !trials.stdout.contains("syscalls.calls") {
        println!("skipped: because system calls cannot be counted here");
        return;
    }
    let explained = json(&world.run(&["explain", "last", "--json"]).stdout);
    let of = |name: &str| {
        let all = explained["observations"].as_array().unwrap();
        let is = |o: &&serde_json::Value| {
            o["source"] == "syscalls" && o["subject"] == "read" && o["name"] == name
        };
        all.iter().find(is).unwrap().clone()
    };
    let calls = of("calls");
    assert!((calls["change"]["difference"].as_f64().unwrap() - 1900.0).abs() < 10.0, "{calls}");
    assert!(calls["change"]["interval"]["level"].as_f64().unwrap() > 0.95, "{calls}");
    assert_eq!(of("bytes")["unit"], "B");
    let page = world.path("page");
    let done = world.run(&["publish", "last", "-o", page.to_str().unwrap()]);
    assert!(done.code == 0 || done.code == 4, "{}", done.stderr);
    let html = std::fs::read_to_string(page.join("index.html")).unwrap();
    let section = html.split("id=\"syscalls\"").nth(1).expect("the page has the section");
    for says in ["System calls a trial", "Holm", "System calls by call", "by program", "yes"] {
        assert!(section.contains(says), "{says}");
    }
    // Runs side by side: terminal, JSON, page and server have the same results.
    let first = json(&world.run(&["archive", "show", "last", "--json"]).stdout);
    assert_eq!(world.run(&["run", experiment.to_str().unwrap()]).code, 0);
    let id = |run: &serde_json::Value| run["summary"]["id"].as_str().unwrap().to_owned();
    let second = json(&world.run(&["archive", "show", "last", "--json"]).stdout);
    let (a, b) = (id(&first), id(&second));
    let beside = json(&world.run(&["compare", &a, &b, "--json"]).stdout);
    let served = serve(&world, &[]);
    let asked = served.get(&format!("/api/v1/compare?runs={a},{b}")).json();
    let inside = &beside["inside"];
    assert_eq!(&asked["inside"], inside);
    let text = world.run(&["compare", &a, &b]).stdout;
    let file = world.path("beside.html");
    world.run(&["compare", &a, &b, "-o", file.to_str().unwrap()]);
    let page = assay_testing::unpacked(&std::fs::read_to_string(file).unwrap());
    let listed = inside[0]["syscalls"]["changes"].as_array().unwrap();
    assert!(!listed.is_empty(), "{inside:#}");
    for change in listed.iter().take(4) {
        let call = change["call"].as_str().unwrap_or_else(|| panic!("{change:#}"));
        // A narrow terminal shortens long names in the middle.
        assert!(text.contains(call.get(..6).unwrap_or(call)), "{call}: {text}");
        assert!(page.contains(call), "{call} is not on the page");
    }
}

/// A killed process leaves no probe behind: the next one counts the same.
#[test]
fn killed_in_the_middle_it_leaves_no_probe() {
    let world = World::new();
    let mut look = world.assay(&["syscalls", "--all"]).spawn().unwrap();
    let probes = format!("/proc/{}/fdinfo", look.id());
    let probing = || {
        let files = std::fs::read_dir(&probes).into_iter().flatten().flatten();
        files.flat_map(|f| std::fs::read_to_string(f.path())).any(|f| f.contains("prog_id:"))
    };
    wait_for("it never probed", || probing() || look.try_wait().unwrap().is_some());
    look.kill().unwrap();
    look.wait().unwrap();
    let files: Vec<_> = std::fs::read_dir(world.path(".")).unwrap().flatten().collect();
    assert!(!files.iter().any(|f| f.file_name().to_string_lossy().contains("syscalls")));
    let done = world.run(&["syscalls", "--", "true"]);
    assert!(done.code == 0 || cannot(&done.stderr), "{}", done.stderr);
}
