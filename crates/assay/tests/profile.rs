//! `assay profile` from the command line: recorded profiles in and out, live ones where the machine allows
//! it, and in a run.
#![allow(clippy::unwrap_used)] // this is a test

mod common;

use common::{World, json};

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
    let html = assay_report::page::unpacked(&std::fs::read_to_string(html.path()).unwrap());
    assert!(html.contains("id=\"profile\"") && html.contains("class=\"flame\""));

    // Runs are laid side by side from inside too; of a run and itself nothing is clear.
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
    let page = assay_report::page::unpacked(&std::fs::read_to_string(file).unwrap());
    assert!(page.contains("id=\"profiles\"") && page.contains("class=\"flame\""));

    let post = "+++\ntitle = \"T\"\n[runs.p]\nrun = \"last\"\nexperiment = \"e.toml\"\n+++\n{{ profile(\"p\") }}\n";
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
    let html =
        assay_report::page::unpacked(&std::fs::read_to_string(page.join("index.html")).unwrap());
    assert!(html.contains("id=\"tasks\"") && html.contains(">sh</"), "no threads on the page");
    // `all` alone samples none: what each costs is asked for by name.
    let done =
        world.run(&["run", "--blocks", "1", "--interval", "100ms", "--shell", "sh", "--", spin]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let records = world.run(&["archive", "show", "last", "--json"]).stdout;
    assert!(!records.contains("\"tasks\""), "{records}");
    let wrong = world.run(&["run", "--monitors", "all,task", "--blocks", "1", "--", "true"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("`tasks`"), "{}", wrong.stderr);
}
