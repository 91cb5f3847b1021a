//! Comparisons of unlike runs: two programs are not compared unless they are declared to differ,
//! and no output has a verdict on a comparison that a check calls invalid.

use crate::common::{Done, World};
use serde_json::Value;

fn made(world: &World, command: &[&str]) -> String {
    let run = ["run", "--quiet", "--monitors", "none", "--blocks", "4", "--"];
    let before: Vec<_> = world.runs();
    let done = world.run(&[&run[..], command].concat());
    let new = world.runs().into_iter().find(|r| !before.contains(r));
    let id = new.unwrap_or_else(|| panic!("{}", done.stderr));
    id.file_name().unwrap().to_string_lossy().into_owned()
}

fn findings(done: &Done) -> Vec<(String, String, String)> {
    let json: Value =
        serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", done.stderr));
    let text = |f: &Value, key: &str| f[key].as_str().unwrap_or("").to_owned();
    let all = json["findings"].as_array().unwrap().iter();
    all.map(|f| (text(f, "id"), text(f, "severity"), text(f, "message"))).collect()
}

fn verdict(done: &Done) -> String {
    let json: Value = serde_json::from_str(&done.stdout).unwrap();
    json["rows"][0]["comparisons"][1]["verdict"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn unlike_programs_need_a_factor() {
    let world = World::new();
    let (a, b) = (made(&world, &["sleep", "0.01"]), made(&world, &["true"]));
    let bare = world.run(&["compare", &a, &b, "--json"]);
    assert_eq!(bare.code, 4, "{}", bare.stdout);
    assert_eq!(verdict(&bare), "invalid");
    let found = findings(&bare);
    assert!(
        found.iter().any(|(id, severity, _)| id == "F02" && severity == "invalid"),
        "{found:?}"
    );
    let shown = world.run(&["compare", &a, &b]);
    assert_eq!(shown.code, 4);
    for word in ["better", "worse", "equivalent"] {
        let lines = shown.stdout.lines().filter(|l| !l.starts_with("elapsed,"));
        let verdicts = lines.filter(|l| l.trim_end().ends_with(word)).count();
        assert_eq!(verdicts, 0, "{}", shown.stdout);
    }
    let words: Vec<&str> = shown.stdout.split_whitespace().collect();
    assert!(
        words.join(" ").contains("the programs are not the same (sleep and true)"),
        "{}",
        shown.stdout
    );

    for factor in ["command", "program"] {
        let meant = world.run(&["compare", &a, &b, "--factor", factor, "--json"]);
        let found = findings(&meant);
        assert!(found.iter().all(|(id, _, _)| id != "F02"), "{factor} differs: {found:?}");
        assert_ne!(verdict(&meant), "invalid", "{}", meant.stdout);
        assert_eq!(meant.code, 0, "{}", meant.stdout);
    }
    let none = world.run(&[
        "compare",
        &a,
        &b,
        "--factor",
        "command",
        "--factor",
        "memory.total",
        "--json",
    ]);
    let found = findings(&none);
    let untrue: Vec<&str> =
        found.iter().filter(|f| f.0 == "F02").map(|(_, _, message)| message.as_str()).collect();
    assert_eq!(untrue, ["memory.total is declared as different but is the same"]);
    assert_eq!(
        (none.code, verdict(&none).as_str()),
        (4, "invalid"),
        "what is invalid has no verdict"
    );
}

#[test]
fn a_parameter_that_differs_is_a_factor_that_does() {
    let world = World::new();
    let (a, b) = (made(&world, &["sleep", "0.01"]), made(&world, &["sleep", "0.02"]));
    let done = world.run(&["compare", &a, &b, "--factor", "command", "--json"]);
    let found = findings(&done);
    assert!(found.iter().all(|(id, _, _)| id != "F02" && id != "F16"), "{found:?}");
    assert_eq!(done.code, 0, "{}", done.stdout);
    let same = world.run(&["compare", &a, &a, "--factor", "command", "--json"]);
    let found = findings(&same);
    assert!(
        found.iter().any(|(id, _, m)| id == "F02" && m.contains("declared as different")),
        "{found:?}"
    );
}

#[test]
fn what_a_check_calls_invalid_has_no_verdict_in_any_output() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let script = world.write("self.sh", "#!/bin/sh\necho '#' >> \"$0\"\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = script.to_str().unwrap();
    let run = [
        "run",
        "--quiet",
        "--monitors",
        "none",
        "--blocks",
        "4",
        "--set",
        "controls.nice=0,5",
        "--json",
    ];
    let done = world.run(&[&run[..], &["--", program]].concat());
    assert_eq!(
        done.code, 4,
        "a program that changes itself is no program to compare: {}",
        done.stderr
    );
    let json: Value = serde_json::from_str(&done.stdout).unwrap();
    let comparisons = json["analysis"]["comparisons"].as_array().unwrap();
    assert!(!comparisons.is_empty());
    for c in comparisons {
        assert_eq!((&c["verdict"], &c["ratio"]), (&"invalid".into(), &Value::Null), "{c}");
    }
    let one = world.run(&["compare", "last"]);
    assert_eq!(one.code, 4, "the same code as that of the run");
    for text in [
        &one.stdout,
        &world.run(&["run", "--blocks", "4", "--set", "controls.nice=0,5", "--", program]).stdout,
    ] {
        assert!(!text.contains("which is worse") && !text.contains("which is better"), "{text}");
    }
    assert_eq!(world.run(&["publish", "last", "-o", "page"]).code, 4);
    let page = std::fs::read_to_string(world.path("page/index.html")).unwrap();
    assert!(!page.contains("which is worse") && !page.contains("which is better"));
}

#[test]
fn single_runs_have_a_ratio_and_no_verdict() {
    let world = World::new();
    let run = |time: &str| made(&world, &["sleep", time]);
    let runs: Vec<[String; 2]> = (0..3).map(|_| [run("0.01"), run("0.2")]).collect();
    let side = |i: usize| runs.iter().map(|r| r[i].as_str()).collect::<Vec<_>>().join(",");
    let comparison = |done: &Done, i: usize| {
        let json: Value = serde_json::from_str(&done.stdout).unwrap();
        json["rows"][0]["comparisons"][i].clone()
    };
    let [a, b] = &runs[0];
    let factor = ["--factor", "command", "--json"];
    let single = world.run(&[&["compare", a.as_str(), b], factor.as_slice()].concat());
    let compared = comparison(&single, 1);
    assert_eq!((single.code, &compared["verdict"]), (0, &"not established".into()), "{compared}");
    assert!(compared["ratio"].as_f64().unwrap() > 1.5 && compared["interval"].is_null());
    // The printed text decides.
    let reason = compared["reason"].as_str().unwrap();
    let command = reason.split('`').nth(1).unwrap();
    let words: Vec<String> = command.split_whitespace().skip(1).map(str::to_owned).collect();
    assert_eq!(words.join(" "), "run --vs 'sleep 0.2' -- sleep 0.01");
    let together = world.run(&["run", "--blocks", "4", "--vs", "sleep 0.2", "--", "sleep", "0.01"]);
    assert_eq!(together.code, 0, "{}", together.stderr);
    assert!(!together.stdout.contains("not established"), "{}", together.stdout);

    let sides = [side(0), side(1)];
    let several = [&["compare", sides[0].as_str(), &sides[1]], factor.as_slice()].concat();
    let done = world.run(&several);
    let compared = comparison(&done, 3);
    assert_eq!(compared["verdict"], "worse", "{}", done.stdout);
    assert_eq!(compared["n"], 3);
    // Runs of two commands are no repetitions of each other.
    let mixed = [a.as_str(), &runs[1][1], &runs[2][0]].join(",");
    let mixed = world.run(&[&["compare", mixed.as_str(), &sides[1]], factor.as_slice()].concat());
    let compared = comparison(&mixed, 3);
    assert_eq!(compared["verdict"], "invalid", "{compared}");
    assert!(compared["reason"].as_str().unwrap().contains("is not a repetition of"), "{compared}");
}

#[test]
fn a_reference_in_both_runs_takes_the_drift_out() {
    let world = World::new();
    let run = || {
        let done = world.run(&[
            "run",
            "--blocks",
            "6",
            "--json",
            "--vs",
            "sleep 0.01",
            "--",
            "sleep",
            "0.03",
        ]);
        let json: Value = serde_json::from_str(&done.stdout).unwrap();
        json["summary"]["id"].as_str().unwrap_or_default().to_owned()
    };
    let (a, b) = (run(), run());
    let done = world.run(&["compare", &a, &b, "--reference", "sleep 0.01", "--json"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let json: Value = serde_json::from_str(&done.stdout).unwrap();
    for row in json["rows"].as_array().unwrap() {
        let (label, compared) = (row["label"].as_str().unwrap(), &row["comparisons"][1]);
        let is_reference = label == "sleep 0.01";
        assert_eq!(compared["verdict"] == "not established", is_reference, "{row}");
        assert_eq!(compared["interval"].is_null(), is_reference, "{row}");
    }
    let unknown = world.run(&["compare", &a, &b, "--reference", "gzip"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("sleep 0.01"), "{}", unknown.stderr);
}

/// One command of three fails, in each place: the healthy pair keeps its blocks.
#[test]
fn a_failure_is_charged_to_its_own_treatment() {
    let world = World::new();
    let faults = [
        ("sh -c 'exit 2'", "exit code 2"),
        ("sh -c 'kill -9 $$'", "signal 9"),
        ("sleep 20", "longer than 300.0 ms"),
        ("./gone", "No such file"),
    ];
    std::os::unix::fs::symlink("/bin/true", world.path("gone")).unwrap();
    for (fault, what) in faults {
        for place in 0..3 {
            let mut commands = vec!["sleep 0.01", "sleep 0.03"];
            commands.insert(place, fault);
            // A program that vanishes after the plan is made.
            let vanishes = if fault == "./gone" { "rm -f gone" } else { "true" };
            let options = "run --blocks 4 --json --monitors none --timeout 300ms --setup";
            let mut line: Vec<&str> = options.split(' ').chain([vanishes]).collect();
            line.extend(["--vs", commands[1], "--vs", commands[2], "--"]);
            match commands[0].strip_prefix("sh -c ") {
                Some(script) => line.extend(["sh", "-c", script.trim_matches('\'')]),
                None => line.extend(commands[0].split(' ')),
            }
            let done = world.run(&line);
            assert_eq!(done.code, 3, "{fault} {place}: {}", done.stderr);
            let json: Value = serde_json::from_str(&done.stdout).unwrap();
            let analysis = &json["analysis"];
            let of = |command: &str| {
                let all = analysis["summaries"].as_array().unwrap().iter();
                let label = |s: &&Value| {
                    s["label"].as_str().unwrap().ends_with(command) && s["metric"] == "elapsed"
                };
                all.clone().find(label).unwrap_or_else(|| panic!("{command}: {analysis}")).clone()
            };
            let failed = of(commands[place]);
            assert_eq!(failed["summary"]["n"], 0, "{failed}");
            assert_eq!(failed["longer_than"].is_number(), fault == "sleep 20", "{failed}");
            for (i, command) in commands.iter().enumerate().filter(|(i, _)| *i != place) {
                assert_eq!(of(command)["summary"]["n"], 4, "{fault} {place}: {command}");
                if i > 0 && place > 0 {
                    let all = analysis["comparisons"].as_array().unwrap().iter();
                    let pair = all.clone().find(|c| c["treatment"] == i).unwrap();
                    // On a loaded machine it may be inconclusive.
                    assert!(pair["ratio"].is_number() && pair["n"] == 4, "{pair}");
                }
            }
            assert!(
                done.stderr.contains(what) || what.starts_with("longer"),
                "{fault}: {}",
                done.stderr
            );
            let _ = std::os::unix::fs::symlink("/bin/true", world.path("gone"));
        }
    }
}

#[test]
fn exit_codes_that_are_right_are_listed() {
    let world = World::new();
    world.write("n.txt", "1\n");
    let run = |codes: &str| {
        let done = world.run(&[
            "run",
            "--blocks",
            "3",
            "--json",
            codes,
            "--vs",
            "grep -c 2 gone.txt",
            "--",
            "grep",
            "-c",
            "2",
            "n.txt",
        ]);
        let json: Value = serde_json::from_str(&done.stdout).unwrap();
        let n = |i: usize| json["analysis"]["summaries"][i]["summary"]["n"].as_u64().unwrap();
        let found = json["analysis"]["findings"].as_array().unwrap().iter();
        let unlike =
            found.clone().any(|f| f["message"].as_str().unwrap().contains("with exit code 1"));
        (done.code, n(0), n(1), unlike)
    };
    assert_eq!(run("--ignore-failure=1"), (3, 3, 0, false));
    assert_eq!(run("--ignore-failure=1,2"), (0, 3, 3, true));
    assert_eq!(run("--ignore-failure"), (0, 3, 3, true));
    let wrong = world.run(&["run", "--ignore-failure=256", "--", "true"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("exit_codes"), "{}", wrong.stderr);
}

#[test]
fn a_set_up_is_made_once_and_outside_of_the_measurement() {
    let world = World::new();
    let set_up = "sh -c 'sleep 0.3; echo x >> made'";
    let run = |set_up: &str| {
        let run = [
            "run",
            "--blocks",
            "4",
            "--json",
            "--setup",
            set_up,
            "--vs",
            "cat made made",
            "--",
            "cat",
            "made",
        ];
        world.run(&run)
    };
    let done = run(set_up);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(std::fs::read_to_string(world.path("made")).unwrap(), "x\n");
    let json: Value = serde_json::from_str(&done.stdout).unwrap();
    assert!(json["analysis"]["summaries"][0]["summary"]["geomean"].as_f64().unwrap() < 0.3);
    let fails = run("sh -c 'echo no room; exit 3'");
    assert_eq!(fails.code, 3, "{}", fails.stderr);
    assert!(fails.stderr.contains("no room"), "{}", fails.stderr);
    let json: Value = serde_json::from_str(&fails.stdout).unwrap();
    assert_eq!(json["records"].as_array().map_or(0, Vec::len), 2, "one for each treatment");
}

/// Facts of an emulated arm64 machine (Debian 12, Linux 6.1), as assay described it there.
const ARM64: &str = include_str!("arm64.json");

#[test]
fn an_x86_and_an_arm64_machine_are_compared_and_what_differs_is_named() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: because one of the two machines is this one, and it is not x86-64");
        return;
    }
    let world = World::new();
    let [a, b] =
        [(); 2].map(|()| made(&world, &["perl", "-e", "select undef, undef, undef, 0.01"]));
    let file = world.runs().into_iter().find(|r| r.ends_with(&b)).unwrap().join("system.json");
    let mut system: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let arm64: serde_json::Map<String, Value> = serde_json::from_str(ARM64).unwrap();
    let facts = system["facts"].as_object_mut().unwrap();
    let group = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
    let replaced: Vec<String> = arm64.keys().map(|path| group(path)).collect();
    facts.retain(|path, _| !replaced.contains(&group(path)));
    facts.extend(arm64);
    facts["memory.page_size"]["value"] = "16 KiB".into();
    facts["thp.enabled"]["value"] = "as on no other machine".into();
    std::fs::write(&file, system.to_string()).unwrap();

    let done = world.run(&["compare", &a, &b]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for named in [
        "compared: system against system",
        "soft (might explain a result): thp",
        "kernel.arch x86_64 aarch64",
        "memory.page_size 4 KiB 16 KiB",
        "toolchain.perl.version",
    ] {
        assert!(words.contains(named), "{named}: {}", done.stdout);
    }
    let json = world.run(&["compare", "--json", &a, &b]);
    assert_eq!(verdict(&json), "not established", "{}", json.stdout);
    assert!(findings(&json).iter().all(|(_, severity, _)| severity != "invalid"));
}
