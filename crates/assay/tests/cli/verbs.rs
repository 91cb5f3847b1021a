//! Every verb once, as a user would use it, with real input.

use crate::common::{World, done, fits, json, root};

#[test]
fn two_commands_are_compared() {
    let world = World::new();
    let ran = world.run(&["run", "--blocks", "8", "--vs", "sleep 0.03", "--", "sleep", "0.01"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    fits(&ran.stdout);
    assert!(ran.stdout.contains("baseline") && ran.stdout.contains("worse"), "{}", ran.stdout);
    let shown = json(&world.run(&["compare", "last", "--json"]).stdout);
    let comparison = &shown["analysis"]["comparisons"][0];
    let ratio = comparison["ratio"].as_f64().unwrap();
    // 0.03 s against 0.01 s, plus the start-up time of a program.
    assert!((1.5..3.2).contains(&ratio), "{comparison}");
    assert_eq!(comparison["n"], 8);
}

#[test]
fn a_gate_exits_with_five() {
    let world = World::new();
    let arguments = [
        "run",
        "--blocks",
        "8",
        "--margin",
        "5 %",
        "--gate",
        "--vs",
        "sleep 0.03",
        "--",
        "sleep",
        "0.01",
    ];
    assert_eq!(world.run(&arguments).code, 5);
    // A single run is compared by another of its metrics; a metric that it lacks is refused.
    let system = world.run(&["compare", "last", "--metric", "system", "--json"]);
    let analysis = &json(&system.stdout)["analysis"];
    assert_eq!(analysis["metric"], "system", "{}", system.stderr);
    assert_eq!(analysis["comparisons"][0]["metric"], "system");
    let none = world.run(&["compare", "last", "--metric", "speed"]);
    assert!(none.code == 2 && none.stderr.contains("it has elapsed"), "{}", none.stderr);
}

#[test]
fn until_the_answer_is_clear() {
    let world = World::new();
    let ran =
        world.run(&["run", "--json", "--until-clear", "--vs", "sleep 0.03", "--", "sleep", "0.01"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let result = json(&ran.stdout);
    let blocks = result["records"].as_array().unwrap().len() / 2;
    assert!([6, 9, 13].contains(&blocks), "{blocks} blocks for a difference of 3 to 1");
    // The interval of a run with looks is wider than 95 %.
    assert!(result["analysis"]["confidence"].as_f64().unwrap() > 0.98);
}

#[test]
fn the_order_is_random_in_blocks_and_the_seed_repeats_it() {
    let world = World::new();
    let order = |seed: &str| -> Vec<u64> {
        let arguments = [
            "plan",
            "--json",
            "noop",
            "--blocks",
            "12",
            "--seed",
            seed,
            "--set",
            "controls.nice=0,1,2",
        ];
        let plan = json(&world.run(&arguments).stdout);
        let trials = plan["plan"]["trials"].as_array().unwrap().clone();
        for block in trials.chunks(3) {
            let mut ids: Vec<u64> =
                block.iter().map(|t| t["treatment"].as_u64().unwrap()).collect();
            ids.sort_unstable();
            assert_eq!(ids, [0, 1, 2], "each block holds each treatment once");
        }
        trials.iter().map(|t| t["treatment"].as_u64().unwrap()).collect()
    };
    assert_eq!(order("7"), order("7"));
    assert_ne!(order("7"), order("8"));
}

#[test]
fn plan_says_what_to_expect() {
    let world = World::new();
    let unknown = world.run(&["plan", "noop", "--blocks", "10", "--set", "controls.nice=0,1"]);
    assert_eq!(unknown.code, 0, "{}", unknown.stderr);
    fits(&unknown.stdout);
    assert!(unknown.stdout.contains("noise"), "{}", unknown.stdout);
    assert_eq!(world.run(&["run", "noop", "--blocks", "4", "--set", "controls.nice=0,1"]).code, 0);
    let known = json(
        &world
            .run(&["plan", "--json", "noop", "--blocks", "10", "--set", "controls.nice=0,1"])
            .stdout,
    );
    assert!(known["estimate"]["total_s"].as_f64().unwrap() > 0.0);
    assert!(known["estimate"]["detectable"].as_f64().unwrap() > 1.0);
}

#[test]
fn a_shell_is_measured_beside_the_trial_and_taken_off_nothing() {
    let world = World::new();
    let run =
        || world.run(&["run", "--json", "--blocks", "5", "--shell", "--", "sleep 0.05; true"]);
    // On a loaded machine a run may drift, and is then invalid.
    let ran = (0..5).map(|_| run()).find(|r| r.code == 0).unwrap();
    let mut startups = Vec::new();
    for record in json(&ran.stdout)["records"].as_array().unwrap() {
        let metrics = record["metrics"].as_array().unwrap();
        let metric = |name: &str| metrics.iter().find(|m| m["name"] == name).unwrap();
        assert_eq!(metric("elapsed")["value"], record["resources"]["wall_s"]);
        assert!(metrics.iter().all(|m| m["kind"] == "measured"), "{metrics:?}");
        startups.push(metric("shell_startup")["value"].as_f64().unwrap());
    }
    // Each trial has its own value.
    startups.dedup();
    assert!(startups.len() > 1 && startups.iter().all(|s| *s > 0.0), "{startups:?}");
}

#[test]
fn prepare_runs_before_each_trial_and_is_not_measured() {
    let world = World::new();
    let arguments = [
        "run",
        "--json",
        "--blocks",
        "3",
        "--prepare",
        "sh -c 'echo p >> prepared; sleep 0.2'",
        "--",
        "cat",
        "prepared",
    ];
    let ran = world.run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let result = json(&ran.stdout);
    assert_eq!(std::fs::read_to_string(world.path("prepared")).unwrap(), "p\np\np\n");
    for record in result["records"].as_array().unwrap() {
        assert!(record["resources"]["wall_s"].as_f64().unwrap() < 0.2);
    }
}

#[test]
fn controls_reach_the_program_and_are_put_back() {
    // Runs of other tests would see the system's settings change.
    let _alone = assay_testing::alone();
    let world = World::new();
    let script = "cat /proc/self/status; nice; echo $GREETING; cat /proc/sys/vm/swappiness";
    let mut arguments = vec![
        "run",
        "--blocks",
        "1",
        "--set",
        "controls.nice=7",
        "--set",
        "controls.cpus=0",
        "--set",
        "controls.env.GREETING=hello",
    ];
    let before = std::fs::read_to_string("/proc/sys/vm/swappiness").unwrap();
    if root() {
        arguments.extend([
            "--set",
            "controls.sysctl.vm.swappiness=42",
            "--set",
            "controls.sched=batch",
        ]);
    } else {
        println!("skipped: setting a sysctl, because that needs root");
    }
    arguments.extend(["--", "sh", "-c", script]);
    let ran = world.run(&arguments);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let log = world.runs()[0].join("trials/0001/stdout.log");
    let printed = std::fs::read_to_string(log).unwrap();
    assert!(printed.contains("Cpus_allowed_list:\t0\n"), "{printed}");
    assert!(printed.contains("\n7\nhello\n"), "{printed}");
    if root() {
        assert!(printed.ends_with("42\n"), "{printed}");
        assert_eq!(std::fs::read_to_string("/proc/sys/vm/swappiness").unwrap(), before);
    }
}

#[test]
fn exports_hold_the_same_numbers() {
    let world = World::new();
    let mut arguments =
        vec!["run", "--blocks", "6", "--export", "json=r.json", "--export", "csv=r.csv"];
    arguments.extend([
        "--export",
        "md=r.md",
        "--export",
        "hyperfine=h.json",
        "--export",
        "junit=j.xml",
        "--export",
        "html=r.html",
        "--",
        "sleep",
        "0.01",
    ]);
    let ran = world.run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let read = |name: &str| std::fs::read_to_string(world.path(name)).unwrap();
    let result = json(&read("r.json"));
    let hyperfine = json(&read("h.json"));
    let times = hyperfine["results"][0]["times"].as_array().unwrap();
    assert_eq!(times.len(), 6);
    for (record, time) in result["records"].as_array().unwrap().iter().zip(times) {
        let elapsed = record["metrics"].as_array().unwrap().iter().find(|m| m["name"] == "elapsed");
        assert_eq!(elapsed.unwrap()["value"], *time);
        assert!(read("r.csv").contains(&time.to_string()), "{time} is in the CSV");
    }
    assert!(read("j.xml").contains("<testsuite"));
    assert!(read("r.md").contains("sleep"));
    assert!(read("r.html").starts_with("<!DOCTYPE html>"));
}

#[test]
fn publish_writes_a_page_that_needs_no_network() {
    let world = World::new();
    assert_eq!(
        world.run(&["run", "--blocks", "6", "--vs", "sleep 0.02", "--", "sleep", "0.01"]).code,
        0
    );
    let published = world.run(&["publish", "last", "-o", "page"]);
    assert_eq!(published.code, 0, "{}", published.stderr);
    assert!(published.stdout.starts_with("page: /"), "{}", published.stdout);
    let page = std::fs::read_to_string(world.path("page/index.html")).unwrap();
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(outside), "the page reaches outside: {outside}");
    }
    for name in ["index.md", "trials.csv", "summaries.csv", "result.json", "experiment.toml"] {
        assert!(world.path("page").join(name).exists(), "{name}");
    }
}

#[test]
fn the_archive_lists_shows_verifies_and_travels() {
    let world = World::new();
    assert_eq!(world.run(&["run", "noop", "--blocks", "3", "--tag", "one"]).code, 0);
    assert_eq!(world.run(&["run", "--blocks", "3", "--", "true"]).code, 0);
    let list = world.run(&["archive", "list"]);
    fits(&list.stdout);
    assert_eq!(
        json(&world.run(&["archive", "list", "--json"]).stdout).as_array().unwrap().len(),
        2
    );
    let tagged = json(&world.run(&["archive", "list", "--json", "--tag", "one"]).stdout);
    assert_eq!(tagged.as_array().unwrap().len(), 1);
    let id = tagged[0]["id"].as_str().unwrap().to_owned();
    let shown = world.run(&["archive", "show", &id]);
    fits(&shown.stdout);
    assert!(shown.stdout.contains("kernel"), "{}", shown.stdout);
    assert_eq!(world.run(&["archive", "export", &id, "-o", "run.tar.zst"]).code, 0);
    let data = world.run(&["archive", "export", "--dataset", "-o", "data"]);
    assert_eq!(data.code, 0, "{}", data.stderr);
    assert!(world.path("data/trials.parquet").exists());

    let other = World::new();
    std::fs::copy(world.path("run.tar.zst"), other.path("run.tar.zst")).unwrap();
    let imported = other.run(&["archive", "import", "run.tar.zst"]);
    assert_eq!((imported.code, imported.stdout.trim()), (0, id.as_str()), "{}", imported.stderr);
    assert_eq!(other.run(&["archive", "verify"]).code, 0);
    let again = other.run(&["archive", "show", &id, "--json"]);
    let here = world.run(&["archive", "show", &id, "--json"]);
    assert_eq!(json(&again.stdout)["records"], json(&here.stdout)["records"]);
    // A changed record is detected.
    let records =
        world.runs().iter().map(|r| r.join("records.jsonl")).find(|p| p.exists()).unwrap();
    let text = std::fs::read_to_string(&records).unwrap();
    std::fs::write(&records, text.replacen("\"value\":0.0", "\"value\":0.1", 1)).unwrap();
    assert_eq!(world.run(&["archive", "verify"]).code, 4);
}

#[test]
fn runs_are_laid_side_by_side() {
    let world = World::new();
    for _ in 0..2 {
        assert_eq!(world.run(&["run", "--blocks", "6", "--", "sleep", "0.01"]).code, 0);
    }
    let runs = json(&world.run(&["archive", "list", "--json"]).stdout);
    let id = |i: usize| runs[i]["id"].as_str().unwrap().to_owned();
    let compared = world.run(&["compare", &id(1), &id(0)]);
    assert_eq!(compared.code, 0, "{}", compared.stderr);
    fits(&compared.stdout);
    assert!(compared.stdout.contains("F31"), "they were not interleaved: {}", compared.stdout);
    let across = json(&world.run(&["compare", "--json", &id(1), &id(0)]).stdout);
    assert!(across["rows"][0]["comparisons"][1]["ratio"].as_f64().is_some());
}

#[test]
fn stat_shows_lines_and_watches_a_command() {
    let world = World::new();
    let lines = world.run(&["stat", "-n", "2", "-i", "100 ms"]);
    assert_eq!(lines.code, 0, "{}", lines.stderr);
    fits(&lines.stdout);
    assert_eq!(lines.stdout.lines().count(), 4, "{}", lines.stdout);
    let timed = world.run(&["stat", "--seconds", "0.2", "-i", "100 ms"]);
    assert_eq!((timed.code, timed.stdout.lines().count()), (0, lines.stdout.lines().count()));
    let watched = world.run(&["stat", "-i", "100 ms", "--", "sh", "-c", "sleep 0.35; exit 3"]);
    assert_eq!(watched.code, 3, "{}", watched.stderr);
    assert!(watched.stdout.contains("wall"), "{}", watched.stdout);
    let tick = world.run(&["stat", "--json", "-n", "1", "-i", "100 ms"]);
    assert!(json(&tick.stdout)["monitors"]["cpu"]["all"]["user"].is_number());
}

#[test]
fn stat_lists_tasks_the_busiest_first() {
    let world = World::new();
    let busy = "i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done & sleep 0.7; kill $!; exit 3";
    let watched = ["stat", "--tasks", "-i", "200 ms", "--json", "--", "sh", "-c", busy];
    let done = world.run(&watched);
    assert_eq!(done.code, 3, "the command's failure: {}", done.stderr);
    let ticks: Vec<serde_json::Value> = done.stdout.lines().map(json).collect();
    let most = |tick: &serde_json::Value| tick["tasks"][0]["user"].as_f64().unwrap_or(0.0);
    let busiest = ticks.iter().map(most).fold(0.0, f64::max);
    assert!(busiest > 0.0, "{}", done.stdout);
    for tick in &ticks {
        let tasks = tick["tasks"].as_array().unwrap();
        let cpu =
            |t: &serde_json::Value| t["user"].as_f64().unwrap() + t["system"].as_f64().unwrap();
        assert!(tasks.is_sorted_by(|a, b| cpu(a) >= cpu(b)), "{tick}");
        // The list has only processes that the command started, not those of the test.
        assert!(tasks.iter().all(|t| t["program"] != "verbs"), "{tick}");
    }
    // Only the last interval is cut by the command's end; here it is the only one.
    let whole = &ticks[..ticks.len() - 1];
    assert!(whole.iter().all(|t| t["partial"] == false && t["seconds"].as_f64() > Some(0.0)));
    let cut = ["stat", "--tasks", "-i", "1 h", "--json", "--", "sleep", "0.2"];
    let cut = json(&world.run(&cut).stdout);
    assert!(cut["partial"] == true && cut["seconds"].as_f64() < Some(3600.0), "{cut}");
    let cut = world.run(&["stat", "--tasks", "-i", "1 h", "--", "sleep", "0.2"]).stdout;
    assert!(cut.starts_with("the last "), "{cut}");
    let machine =
        world.run(&["stat", "--tasks", "--threads", "--busiest", "3", "-n", "1", "-i", "100 ms"]);
    assert_eq!(machine.code, 0, "{}", machine.stderr);
    assert!(
        machine.stdout.contains("tid") && !machine.stdout.contains('\u{1b}'),
        "{}",
        machine.stdout
    );
    fits(&machine.stdout);
    for (wrong, says) in [
        (&["stat", "--tasks", "--pid", "999999999"][..], "no process 999999999"),
        (&["stat", "--tasks", "--cgroup", "/no/such"], "no control group"),
        (&["stat", "--threads"], "--tasks"),
        (&["stat", "-n", "0"], "assay: error: "),
        (&["stat", "--seconds", "0"], "more than 0"),
        (&["stat", "--seconds", "1", "-n", "1"], "assay: error: "),
        (&["stat", "--tasks", "-i", "1 ms"], "--interval"),
    ] {
        let done = world.run(wrong);
        assert!(done.code != 0 && done.stderr.contains(says), "{wrong:?}: {}", done.stderr);
    }
}

#[test]
fn doctor_looks_at_the_machine() {
    let world = World::new();
    let seen = world.run(&["doctor"]);
    assert!([0, 4].contains(&seen.code), "{}", seen.stderr);
    fits(&seen.stdout);
    // The verdict comes first and agrees with the exit code.
    let verdict = if seen.code == 0 { "QUIET" } else { "NOT QUIET: " };
    assert!(seen.stdout.starts_with(verdict), "{}", seen.stdout);
    for word in ["Monitors: ", "Controls: ", "killed: nothing"] {
        assert!(seen.stdout.contains(word), "{word}: {}", seen.stdout);
    }
    let all = world.run(&["doctor", "-v"]);
    fits(&all.stdout);
    assert!(all.stdout.contains("Fitness to measure\n") && all.stdout.contains("\nMonitors\n"));
    let (_, tracers) = all.stdout.split_once("\nTracers\n").unwrap();
    let listed = |answer: &str| tracers.contains(&format!("  {answer} runqueue "));
    assert!(listed("yes") || listed("no "), "{tracers}");
    let restored = world.run(&["doctor", "--restore"]);
    assert_eq!((restored.code, restored.stdout.trim()), (0, "nothing was left changed"));
}

#[test]
fn the_a_a_floor_is_measured() {
    let world = World::new();
    let floor = world.run(&["doctor", "--aa", "--json"]);
    assert_eq!(floor.code, 0, "{}", floor.stderr);
    let aa = &json(&floor.stdout)["aa"];
    assert_eq!(aa["comparisons"], 20);
    assert!(aa["floor"].as_f64().unwrap() > 0.0);
    assert!(aa["worst"].as_f64().unwrap() >= aa["floor"].as_f64().unwrap());
}

#[test]
fn the_a_a_floor_of_a_command_is_kept_and_quoted() {
    let world = World::new();
    let before = json(
        &world.run(&["run", "--json", "--blocks", "3", "--vs", "sleep 0", "--", "true"]).stdout,
    );
    assert!(before["analysis"]["floor"].is_null());
    let found = world.run(&["run", "--aa", "--blocks", "60", "--", "true"]);
    assert_eq!(found.code, 0, "{}", found.stderr);
    assert!(found.stdout.contains("compared 20 times, 3 blocks each"), "{}", found.stdout);
    let own = json(&world.run(&["archive", "show", "last", "--json"]).stdout);
    let floor = own["analysis"]["run_metrics"].as_array().unwrap();
    let floor = floor.iter().find(|m| m["name"] == "aa_floor").unwrap()["value"].as_f64().unwrap();
    let vs = ["run", "-v", "--blocks", "3", "--vs", "sleep 0", "--", "true"];
    let ran = world.run(&vs);
    assert!(ran.stdout.contains("A/A floor of 20"), "{}", ran.stdout);
    let quoted = json(&world.run(&["archive", "show", "last", "--json"]).stdout);
    let known = &quoted["analysis"]["floor"];
    assert_eq!(known["found"]["floor"].as_f64(), Some(floor));
    assert_eq!(known["found"]["run"], own["summary"]["id"]);
    assert_eq!(known["differs"].as_array().unwrap().len(), 0, "{known}");
    assert!(known["age_s"].as_f64().unwrap() >= 0.0);
    let published = world.run(&["publish", "last", "-o", "page"]);
    assert!(world.path("page").is_dir(), "{}", published.stderr);
    let page = std::fs::read_to_string(world.path("page/index.html")).unwrap();
    assert!(page.contains("A/A floor of 20"));
    // With fewer blocks the floor is quoted with that difference; another command has no floor.
    let fewer = json(&world.run(&["run", "--json", "--blocks", "2", "--", "true"]).stdout);
    let differs = fewer["analysis"]["floor"]["differs"].to_string();
    assert_eq!(differs, r#"["the blocks (3 each, here 2)"]"#);
    let other = json(&world.run(&["run", "--json", "--blocks", "3", "--", "sleep", "0"]).stdout);
    assert!(other["analysis"]["floor"].is_null());
}

#[test]
fn the_same_command_twice_is_compared_with_itself() {
    let world = World::new();
    let ran = world.run(&["run", "--json", "--blocks", "3", "--vs", "true", "--", "true"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(json(&ran.stdout)["analysis"]["comparisons"].as_array().unwrap().len(), 1);
    let shown = world.run(&["show"]).stdout;
    assert!(shown.contains("true #1") && shown.contains("true #2"), "{shown}");
    let few = world.run(&["run", "--aa", "--blocks", "10", "--", "true"]);
    assert_eq!(few.code, 2, "{}", few.stderr);
    assert!(few.stderr.contains("give 60 or more"), "{}", few.stderr);
    let factor = world.run(&["run", "--aa", "--set", "controls.nice=0,1", "--", "true"]);
    assert_eq!(factor.code, 2, "{}", factor.stderr);
    assert!(factor.stderr.contains("--set controls.nice=LEVEL"), "{}", factor.stderr);
}

#[test]
fn workloads_and_kits_describe_themselves() {
    let world = World::new();
    let all = world.run(&["workloads"]);
    fits(&all.stdout);
    for name in ["block-size", "command", "noop", "zstd"] {
        assert!(all.stdout.contains(name), "{name}: {}", all.stdout);
    }
    let one = world.run(&["workloads", "block-size"]);
    fits(&one.stdout);
    assert!(one.stdout.contains("buffer_size"), "{}", one.stdout);
    let kit = crate::common::repository().join("kits/zstd");
    assert_eq!(world.run(&["kit", "check", kit.to_str().unwrap()]).code, 0);
    assert_eq!(world.run(&["kit", "check", "."]).code, 2);
    assert_eq!(world.run(&["workloads", "nosuch"]).code, 2);
    assert!(world.run(&["kit", "list"]).stdout.contains("kits"));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let world = World::new();
    let mut command = std::process::Command::new("sh");
    let line = format!("{} workloads block-size | head -n 1", env!("CARGO_BIN_EXE_assay"));
    let piped = done(command.args(["-c", &line]).env("ASSAY_STATE", world.path("state")));
    assert_eq!(piped.code, 0);
    assert!(!piped.stderr.contains("error"), "{}", piped.stderr);
}

#[test]
fn ready_made_experiments_can_be_planned() {
    let world = World::new();
    for entry in std::fs::read_dir(crate::common::repository().join("experiments")).unwrap() {
        let path = entry.unwrap().path();
        // These need one or two servers; the tests of those workloads plan them.
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("memcached-") || name.starts_with("redis-") {
            continue;
        }
        let planned = world.run(&["plan", path.to_str().unwrap()]);
        assert_eq!(planned.code, 0, "{}: {}", path.display(), planned.stderr);
        fits(&planned.stdout);
    }
}
