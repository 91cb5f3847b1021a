//! `assay profile`, from the command line: recorded profiles in and out, live ones if the machine
//! allows them, and profiles in a run.

use std::os::unix::fs::PermissionsExt as _;

use crate::common::{World, json, root};

const FOLDED: &str = "app;main;work;hot 70\napp;main;work;cold_[k] 20\napp;main;idle 10\n";

#[test]
fn a_recorded_profile_is_shown_and_written_in_every_format() {
    let world = World::new();
    let recorded = world.write("a.folded", FOLDED);
    let recorded = recorded.to_str().unwrap();
    let done = world.run(&["profile", "--from", recorded]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("hot") && done.stdout.contains("70.0 %"), "{}", done.stdout);
    assert!(done.stdout.lines().all(|l| l.chars().count() <= 80), "{}", done.stdout);
    for name in ["b.folded", "b.pb.gz", "b.json"] {
        let file = world.path(name);
        let file = file.to_str().unwrap();
        let done = world.run(&["profile", "--from", recorded, "-o", file]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let back = world.run(&["profile", "--from", file, "--json"]);
        let back = json(&back.stdout);
        let counts: u64 =
            back["stacks"].as_array().unwrap().iter().filter_map(|s| s["count"].as_u64()).sum();
        assert_eq!(counts, 100, "{name}");
    }
    for (name, holds) in [
        ("b.speedscope.json", "speedscope.app"),
        ("b.firefox.json", "preprocessedProfileVersion"),
        ("b.html", "class=\"flame\""),
    ] {
        let file = world.path(name);
        let file = file.to_str().unwrap();
        let done = world.run(&["profile", "--from", recorded, "-o", file]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(std::fs::read_to_string(file).unwrap().contains(holds), "{name}");
    }
}

#[test]
fn what_cannot_be_profiled_is_refused() {
    let world = World::new();
    let story = world.write("story", "once upon a time\n");
    let story = story.to_str().unwrap();
    for (arguments, says) in [
        (&["--from", story][..], "holds no profile"),
        (&["--from", "/nowhere/x"], "/nowhere/x"),
        (&[], "name what to profile"),
        (&["--rate", "0", "--", "true"], "--rate"),
        (&["--seconds=-1", "--", "true"], "--seconds"),
        (&["-o", "x.svg", "--", "true"], ".folded"),
        (&["--cgroup", "/no/such/group"], "no control group"),
    ] {
        let done = world.run(&[&["profile"][..], arguments].concat());
        assert!(done.code != 0 && done.stderr.contains(says), "{arguments:?}: {}", done.stderr);
    }
    let done = world.run(&["profile", "--pid", "999999999"]);
    assert!(done.code != 0, "{}", done.stdout);
}

#[test]
fn the_process_of_another_user_is_named_as_the_obstacle() {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if !root() || paranoid.trim().parse().is_ok_and(|level: i8| !(1..=2).contains(&level)) {
        println!("skipped: because only root has two users, and {paranoid} allows all or nothing");
        return;
    }
    // The program as a file that any user may run.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("assay");
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), &program).unwrap();
    for path in [folder.path(), &program] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let line = format!(
        "cd /; exec {} profile --pid {} --seconds 1",
        program.display(),
        std::process::id()
    );
    let done = crate::common::done(
        std::process::Command::new("su")
            .args(["nobody", "-s", "/bin/sh", "-c", &line])
            .env("HOME", "/nowhere"),
    );
    let said = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(done.code != 0 && said.contains("as that user, or as root"), "{}: {said}", done.code);
    assert!(!said.contains("sysctl"), "{said}");
}

#[test]
fn a_run_keeps_its_profiles_and_draws_them() {
    let world = World::new();
    let experiment = world.write(
        "e.toml",
        "name = \"profiled\"\nworkload = \"command\"\n\
         [params]\nshell = \"sh\"\ncommand = \"i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done\"\n\
         [design]\nblocks = 3\n[observe]\ntracers = [\"profile@499\"]\n",
    );
    let done = world.run(&["run", experiment.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let page = world.path("page");
    let done = world.run(&["publish", "last", "-o", page.to_str().unwrap()]);
    assert!(done.code == 0 || done.code == 4, "{}", done.stderr);
    let trials = world.run(&["archive", "show", "last", "--json"]);
    if !trials.stdout.contains("profile.on_cpu") {
        println!("skipped: because programs cannot be profiled here");
        return;
    }
    let html = std::fs::read_dir(&page)
        .unwrap()
        .flatten()
        .find(|e| e.path().extension().is_some_and(|x| x == "html"))
        .unwrap();
    let html = assay_testing::unpacked(&std::fs::read_to_string(html.path()).unwrap());
    assert!(html.contains("id=\"profile\"") && html.contains("class=\"flame\""));

    // `compare` also compares the functions of the runs; a run compared with itself has no clear
    // difference.
    let beside = json(&world.run(&["compare", "last", "last", "--json"]).stdout);
    let functions = &beside["inside"][0]["functions"];
    let changes = functions["changes"].as_array().unwrap();
    assert!(!changes.is_empty() && functions["trials"] == serde_json::json!([3, 3]), "{beside:#}");
    assert!(changes.iter().all(|c| c["clear"] == false), "{functions:#}");
    let text = world.run(&["compare", "last", "last"]).stdout;
    assert!(text.contains("Own time on CPU a trial: #2 against #1"), "{text}");
    let file = world.path("beside.html");
    let done = world.run(&["compare", "last", "last", "-o", file.to_str().unwrap()]);
    assert!(file.exists(), "{}", done.stderr);
    let page = assay_testing::unpacked(&std::fs::read_to_string(file).unwrap());
    assert!(page.contains("id=\"profiles\"") && page.contains("class=\"flame\""));

    let post = "+++\ntitle = \"T\"\n[runs.p]\nrun = \"last\"\nexperiment = \"e.toml\"\n+++\n\
        {{ profile(\"p\") }}\n";
    let post = world.write("post.md", post);
    let done =
        world.run(&["publish", post.to_str().unwrap(), "-o", world.path("post").to_str().unwrap()]);
    let page = std::fs::read_to_string(world.path("post/index.html")).unwrap_or_default();
    assert!(page.contains("class=\"flame\""), "{}", done.stderr);
}

#[test]
fn the_threads_of_a_trial_are_sampled_where_that_is_asked_for() {
    let world = World::new();
    let spin = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";
    let done = world.run(&[
        "run",
        "--blocks",
        "3",
        "--monitors",
        "all,tasks",
        "--interval",
        "100ms",
        "--shell",
        "sh",
        "--",
        spin,
    ]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let page = world.path("page");
    let done = world.run(&["publish", "last", "-o", page.to_str().unwrap()]);
    assert!(done.code == 0 || done.code == 4, "{}", done.stderr);
    let html = assay_testing::unpacked(&std::fs::read_to_string(page.join("index.html")).unwrap());
    assert!(html.contains("id=\"tasks\"") && html.contains(">sh</"), "no threads on the page");
    // `all` alone does not sample tasks, which must be named because of their cost.
    let done =
        world.run(&["run", "--blocks", "1", "--interval", "100ms", "--shell", "sh", "--", spin]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let records = world.run(&["archive", "show", "last", "--json"]).stdout;
    assert!(!records.contains("\"tasks\""), "{records}");
    let wrong = world.run(&["run", "--monitors", "all,task", "--blocks", "1", "--", "true"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("`tasks`"), "{}", wrong.stderr);
}

#[test]
fn instructions_are_counted_in_trials_that_are_not_timed() {
    if std::process::Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: because valgrind is not installed");
        return;
    }
    let world = World::new();
    let loops = |n: u32| format!("i=0; while [ $i -lt {n} ]; do i=$((i+1)); done");
    let experiment = world.write(
        "e.toml",
        &format!(
            "name = \"counted\"\nworkload = \"command\"\n[params]\nshell = \"sh\"\n\
             [factors]\ncommand = [\"{}\", \"{}\"]\n\
             [design]\nblocks = 4\n[observe]\ntracers = [\"instructions\"]\n",
            loops(2000),
            loops(3000)
        ),
    );
    let done = world.run(&["run", experiment.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let shown = json(&world.run(&["archive", "show", "last", "--json"]).stdout);
    let records = shown["records"].as_array().unwrap();
    let mut counted = 0;
    for record in records {
        let of = |name: &str| {
            let metrics = record["metrics"].as_array().unwrap();
            metrics.iter().find(|m| m["name"] == name).and_then(|m| m["value"].as_f64())
        };
        // The timed trial is not the one under Valgrind, which takes seconds.
        assert!(of("elapsed").is_some_and(|s| s < 1.0), "{record:#}");
        let instructions = of("instructions.count");
        assert_eq!(instructions.is_some(), record["block"].as_u64() < Some(3), "{record:#}");
        assert!(instructions.is_none_or(|n| n > 100_000.0), "{record:#}");
        counted += u32::from(instructions.is_some());
    }
    assert_eq!(counted, 6, "{shown:#}");
    // The longer loop clearly executes half as many instructions again, in functions that have
    // names.
    let explained = json(&world.run(&["explain", "last", "--json"]).stdout);
    let all = explained["observations"].as_array().unwrap();
    let count = all.iter().find(|o| o["name"] == "instructions.count").unwrap();
    assert!(count["treatment"].as_f64() > count["baseline"].as_f64(), "{count:#}");
    assert!(all.iter().any(|o| o["source"] == "instructions" && o["subject"] != ""), "{all:#?}");

    let beside = json(&world.run(&["compare", "last", "last", "--json"]).stdout);
    let instructions = &beside["inside"][0]["instructions"];
    assert_eq!(instructions["trials"], serde_json::json!([3, 3]), "{beside:#}");
    assert!(instructions["functions"].as_array().unwrap().iter().all(|c| c["clear"] == false));
    let text = world.run(&["compare", "last", "last"]).stdout;
    assert!(text.contains("as many instructions") && text.contains("no verdict on time"), "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");

    let page = world.path("page");
    let done = world.run(&["publish", "last", "-o", page.to_str().unwrap()]);
    assert!(done.code == 0 || done.code == 4, "{}", done.stderr);
    let html = std::fs::read_dir(&page)
        .unwrap()
        .flatten()
        .find(|e| e.path().extension().is_some_and(|x| x == "html"))
        .unwrap();
    let html = assay_testing::unpacked(&std::fs::read_to_string(html.path()).unwrap());
    assert!(html.contains("more instructions") && html.contains("Functions by instructions"));
}

#[test]
fn without_valgrind_its_package_is_named() {
    let world = World::new();
    let experiment = world.write(
        "e.toml",
        "name = \"counted\"\nworkload = \"command\"\n[params]\ncommand = \"/bin/true\"\n\
         [design]\nblocks = 1\n[observe]\ntracers = [\"instructions\"]\n",
    );
    let done = crate::common::done(
        world.assay(&["run", experiment.to_str().unwrap()]).env("PATH", "/nowhere"),
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let shown = world.run(&["archive", "show", "last", "--json"]).stdout;
    assert!(shown.contains("Debian package valgrind"), "{shown}");
}

/// Returns the functions on CPU in a run's first trial, or `None` if programs cannot be profiled
/// here.
fn functions_of_a_run(world: &World, command: &str) -> Option<Vec<String>> {
    let experiment = world.write(
        "e.toml",
        &format!(
            "name = \"made\"\nworkload = \"command\"\n[params]\ncommand = \"{command}\"\n\
             [design]\nblocks = 1\n[observe]\ntracers = [\"profile@499\"]\n"
        ),
    );
    let done = world.run(&["run", experiment.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let kept = world.runs()[0].join("trials/0001/profile.json");
    let Ok(bytes) = std::fs::read(kept) else {
        println!("skipped: because programs cannot be profiled here");
        return None;
    };
    let profile = assay_traces::profile::read(&bytes, "profile.json").unwrap();
    let all =
        assay_traces::profile::functions(&profile, assay_traces::profile::ProfileSide::OnCpu, None);
    Some(all.iter().map(|f| f.frame.label()).collect())
}

fn is_there(program: &str) -> bool {
    let there = std::process::Command::new(program).arg("--version").output().is_ok();
    if !there {
        println!("skipped: because {program} is not installed");
    }
    there
}

#[test]
fn functions_that_java_compiles_while_it_runs_have_names() {
    if !is_there("java") {
        return;
    }
    let world = World::new();
    let source = "public class Hot {\n\
        static volatile long sink;\n\
        static long warms(int n) { long s = 0; \
        for (int i = 0; i < n; i++) s = s * 7 + i; return s; }\n\
        public static void main(String[] a) { \
        for (int i = 0; i < 30000; i++) sink += warms(20000 + i % 7); }\n}\n";
    world.write("Hot.java", source);
    let Some(all) = functions_of_a_run(&world, "java Hot.java") else { return };
    // A profiled trial makes the Java virtual machine write its symbol map when it ends.
    assert!(all.iter().any(|f| f.contains("Hot.warms") || f.contains("Hot::warms")), "{all:#?}");
}

#[test]
fn functions_that_node_compiles_while_it_runs_have_names() {
    if !is_there("node") {
        return;
    }
    let world = World::new();
    let source = "function warms(n) { let s = 0; \
                  for (let i = 0; i < n; i++) s = (s * 7 + i) | 0; return s; }\n\
                  let sink = 0; for (let i = 0; i < 20000; i++) sink += warms(20000 + i % 7);\n";
    world.write("hot.js", source);
    let Some(all) = functions_of_a_run(&world, "node --perf-basic-prof hot.js") else { return };
    assert!(all.iter().any(|f| f.contains("warms")), "{all:#?}");
}

/// Returns a command for assay without any capability, or `None` if that is impossible here.
fn powerless(world: &World, arguments: &[&str]) -> Option<std::process::Command> {
    if !is_there("setpriv") {
        return None;
    }
    let plain = world.assay(&[]);
    let mut command = std::process::Command::new("setpriv");
    command
        .args(["--bounding-set=-all", "--inh-caps=-all"])
        .arg(plain.get_program())
        .args(arguments)
        .current_dir(world.path(""));
    Some(command)
}

#[test]
fn without_privileges_own_programs_are_sampled_on_the_cpu() {
    let world = World::new();
    let spin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let arguments = ["profile", "--rate", "499", "--json", "--", "sh", "-c", spin];
    let Some(mut command) = powerless(&world, &arguments) else { return };
    let done = crate::common::done(&mut command);
    if done.stderr.contains("setpriv:") {
        println!("skipped: because {}", done.stderr);
        return;
    }
    if done.code == 6 {
        // The message names the setting that forbids profiling, with its value.
        assert!(done.stderr.contains("kernel.perf_event_paranoid is "), "{}", done.stderr);
        println!("skipped: because {}", done.stderr);
        return;
    }
    let profile = json(&done.stdout);
    let stacks = profile["stacks"].as_array().unwrap();
    let samples: u64 = stacks.iter().filter_map(|s| s["count"].as_u64()).sum();
    assert!(samples > 5 && stacks.iter().all(|s| s["state"] == "on_cpu"), "{profile:#}");
    assert_eq!(profile["off_cpu"], false);
    assert!(stacks.iter().any(|s| s["thread"] == "sh"), "{profile:#}");
    let notes = profile["notes"].to_string();
    assert!(notes.contains("waits and exact CPU time need eBPF: "), "{notes}");
    assert!(profile["accounted_ns"].as_u64().unwrap() > 0, "{profile:#}");

    let mut command = powerless(&world, &["profile", "--all", "--seconds", "1"]).unwrap();
    let done = crate::common::done(&mut command);
    assert!(done.code == 6 && done.stderr.contains("CAP_BPF"), "{}", done.stderr);
}

#[test]
fn time_in_a_kernel_that_is_hidden_and_short_processes_are_reported() {
    let world = World::new();
    let copies = "i=0; while [ $i -lt 100 ]; do i=$((i+1)); \
                  head -c 3000000 /dev/zero | wc -c > /dev/null; done";
    let json_of = |arguments: &[&str]| {
        let mut command = powerless(&world, arguments)?;
        let done = crate::common::done(&mut command);
        let refused = done.stderr.contains("cannot be profiled here");
        if refused || done.stderr.contains("setpriv:") {
            println!("skipped: because {}", done.stderr);
            return None;
        }
        Some(done.stdout)
    };
    let Some(out) = json_of(&["profile", "--json", "--", "sh", "-c", copies]) else { return };
    let profile = json(&out);
    let [all, hidden] =
        [&profile["accounted_ns"], &profile["loss"]["hidden_ns"]].map(|n| n.as_u64().unwrap());
    // The command copies 300 MB through a pipe, which takes the kernel some time.
    assert!(all > 0 && hidden <= all, "{profile:#}");
    let shows_kernel = !profile["notes"].to_string().contains("time in the kernel is not in this");
    assert_eq!(hidden == 0, shows_kernel, "{profile:#}");
    let text = json_of(&["profile", "--", "sh", "-c", copies]).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("(the kernel counts "), "{text}");
    assert_eq!(
        words.contains("was spent in the kernel and is in no table"),
        !shows_kernel,
        "{text}"
    );
}

#[test]
fn profiles_of_other_programs_become_runs_whose_functions_are_compared() {
    let world = World::new();
    // Files as async-profiler writes them, three for each run.
    let write = |name: &str, hot: u64| {
        let text = format!(
            "[main tid=1];Work.main_[j];Work.twice_[i] {hot}\n\
            [main tid=1];Work.main_[j];Work.once_[j] 500\n"
        );
        world.write(name, &text).to_str().unwrap().to_owned()
    };
    let import = |name: &str, hot: [u64; 3]| {
        let files: Vec<String> = hot
            .iter()
            .enumerate()
            .map(|(i, n)| write(&format!("{name}{i}.collapsed"), *n))
            .collect();
        let mut arguments = vec!["archive", "import", "--name", name];
        arguments.extend(files.iter().map(String::as_str));
        let done = world.run(&arguments);
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stdout.trim().to_owned()
    };
    let (a, b) = (import("before", [1000, 1003, 999]), import("after", [1500, 1497, 1501]));
    let beside = world.run(&["compare", &a, &b, "--json"]);
    let beside = json(&beside.stdout);
    let changes = beside["inside"][0]["functions"]["changes"]
        .as_array()
        .unwrap_or_else(|| panic!("{beside:#}"));
    assert!(changes[0]["function"] == "Work.twice" && changes[0]["clear"] == true, "{changes:#?}");
    let page = world.path("page");
    let done = world.run(&["publish", &b, "-o", page.to_str().unwrap()]);
    assert!(done.code == 0 || done.code == 4, "{}", done.stderr);
    let html = std::fs::read_to_string(page.join("index.html")).unwrap_or_else(|_| {
        let mut all = std::fs::read_dir(&page).unwrap().flatten();
        let found = all.find(|e| e.path().extension().is_some_and(|x| x == "html")).unwrap();
        std::fs::read_to_string(found.path()).unwrap()
    });
    assert!(assay_testing::unpacked(&html).contains("class=\"flame\""));
}
