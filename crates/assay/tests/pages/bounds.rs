//! Limits on the requests of people and programs: plans of any size, and their cost for the
//! machine.

use crate::common::served::{Client, Served, serve};
use crate::common::{World, wait_for};
use serde_json::json;

/// Returns the peak memory of the server's process so far, in MiB.
fn peak_mib(served: &Served) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.child.id())).unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}

/// Returns experiments whose plans are refused, with a part of the message.
fn too_large() -> Vec<(String, &'static str)> {
    let zipped: Vec<String> = (0..1000).map(|i| format!("\"controls.env.A{i}\"")).collect();
    let range = |name: &String| format!("{name} = {{ from = 1, to = 10000 }}\n");
    let ranges = zipped.iter().map(range).collect::<Vec<String>>().concat();
    let fat = "x".repeat(200_000);
    let noop = |rest: &str| format!("name = \"x\"\nworkload = \"noop\"\n{rest}");
    vec![
        (noop("[design]\nblocks = 4294967295\n"), "the plan has 4294967295 trials"),
        (noop("[design]\nblocks = 4294967295\nmax_trials = 4294967295\n"), "more than 100000"),
        (noop("[design]\nwarmup_blocks = 4294967295\nmax_trials = 4294967295\n"), "4294967305"),
        (
            noop("[design]\nwarmup_blocks = 4294967295\nstop = \"clear\"\n"),
            "no plan has more than 100000",
        ),
        (
            noop(
                "[factors]\n\"controls.nice\" = { from = 0, to = 9 }\n\
                 \"controls.env.A\" = { from = 1, to = 900 }\n[design]\nblocks = 4294967295\n",
            ),
            "the plan has 38654705655000 trials",
        ),
        (
            noop(&format!("[design]\nzip = [[{}]]\n[factors]\n{ranges}", zipped.join(","))),
            "more than 20000 levels",
        ),
        (
            format!(
                "name = \"x\"\nworkload = \"command\"\n[params]\ncommand = \"echo {fat}\"\n\
                 [factors]\n\"controls.env.A\" = {{ from = 1, to = 9000 }}\n"
            ),
            "9000 treatments",
        ),
    ]
}

#[test]
fn a_plan_that_is_too_large_is_refused_before_it_is_made() {
    let world = World::new();
    let served = serve(&world, &["--allow-any"]);
    for (text, words) in too_large() {
        let file = world.write("x.toml", &text).display().to_string();
        for verb in ["plan", "run", "submit"] {
            let done = world.run(&[verb, &file]);
            let printed = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(done.code, 2, "{verb}: {printed}");
            assert!(printed.contains(words), "{verb}: {words}: {printed}");
        }
    }
    assert!(world.runs().is_empty(), "nothing was begun");
    assert!(served.get("/api/v1/jobs").json()["waiting"].as_array().unwrap().is_empty());
    let peak = peak_mib(&served);
    assert!(peak < 100, "the server took {peak} MiB");
}

#[test]
fn what_is_changed_on_submitting_is_checked_as_the_file_is() {
    let world = World::new();
    std::fs::create_dir_all(world.path("experiments")).unwrap();
    world.write("experiments/plain.toml", "name = \"plain\"\nworkload = \"noop\"\n");
    // The file itself asks for too much: its form is refused too.
    world.write(
        "experiments/hog.toml",
        "name = \"hog\"\nworkload = \"noop\"\n[design]\nblocks = 4294967295\n",
    );
    let served = serve(&world, &[]);
    for blocks in [0_u64, 10_001, 4_294_967_295, 4_294_967_296, u64::MAX] {
        let answer =
            served.post("/api/v1/jobs", &json!({ "experiment": "plain", "blocks": blocks }));
        assert!([400, 422].contains(&answer.status), "{blocks}: {} {}", answer.status, answer.body);
    }
    let form = served.get("/api/v1/experiments/hog");
    assert!(form.status == 400 && form.body.contains("max_trials"), "{}", form.body);
    let peak = peak_mib(&served);
    assert!(peak < 100, "the server took {peak} MiB");
}

#[test]
fn the_largest_plan_that_is_accepted_is_small() {
    let world = World::new();
    std::fs::create_dir_all(world.path("experiments")).unwrap();
    world.write(
        "experiments/long.toml",
        "name = \"long\"\nworkload = \"noop\"\n[design]\nblocks = 100000\nmax_trials = 100000\n",
    );
    world.write(
        "experiments/wide.toml",
        "name = \"wide\"\nworkload = \"memcached\"\n[factors]\n\
         \"controls.env.A\" = { from = 1, to = 2000 }\n[design]\nblocks = 50\n\
         max_trials = 100000\n",
    );
    let served = serve(&world, &[]);
    for experiment in ["long", "wide"] {
        let form = served.get(&format!("/api/v1/experiments/{experiment}"));
        assert_eq!(form.json()["trials"], 100_000, "{}", form.body);
        let later = json!({ "experiment": experiment, "not_before": "2100-01-01T00:00:00Z" });
        assert_eq!(served.post("/api/v1/jobs", &later).status, 201);
    }
    let peak = peak_mib(&served);
    assert!(peak < 100, "the server took {peak} MiB");
}

#[test]
fn resuming_checks_the_design_again() {
    let world = World::new();
    let done = world.run(&["run", "noop", "--blocks", "1"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let run = world.runs().remove(0);
    // Turns the run into one that could come from elsewhere: with a missing end, and with a design
    // that has the largest possible number of warm-up blocks.
    let file = run.join("experiment.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let text: Vec<String> = text
        .lines()
        .filter(|l| !l.starts_with("warmup_blocks"))
        .map(|l| {
            let more = if l == "[design]" {
                "\nwarmup_blocks = 4294967295\nmax_trials = 4294967295"
            } else {
                ""
            };
            let l = if l.starts_with("max_trials") || l.starts_with("blocks") { "" } else { l };
            format!("{l}{more}\n")
        })
        .collect();
    std::fs::write(&file, text.concat()).unwrap();
    let ledger = run.join("ledger.jsonl");
    let lines = std::fs::read_to_string(&ledger).unwrap();
    let kept: Vec<&str> = lines.lines().take(lines.lines().count() - 1).collect();
    std::fs::write(&ledger, format!("{}\n", kept.join("\n"))).unwrap();
    let id = run.file_name().unwrap().to_string_lossy().into_owned();
    let resumed = world.run(&["run", "--resume", &id]);
    assert_eq!(resumed.code, 2, "{}", resumed.stderr);
    assert!(resumed.stderr.contains("4294967305"), "{}", resumed.stderr);
}

/// Number of reports that [`endless`] is making.
#[cfg(feature = "server")]
static BUSY: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Reads a run for ever.
#[cfg(feature = "server")]
fn endless(
    _: &assay_archive::Archive,
    _: &assay_model::RunId,
) -> Result<assay_report::RunView, Box<dyn std::error::Error + Send + Sync>> {
    struct Busy;
    impl Drop for Busy {
        fn drop(&mut self) {
            BUSY.fetch_sub(1, Relaxed);
        }
    }
    use std::sync::atomic::Ordering::Relaxed;
    BUSY.fetch_add(1, Relaxed);
    let _busy = Busy;
    loop {
        assay_model::cancel::checkpoint();
        std::thread::yield_now();
    }
}

#[test]
#[cfg(feature = "server")]
fn work_ends_with_the_time_limit_of_its_request_and_others_are_served_meanwhile() {
    use std::sync::atomic::Ordering::Relaxed;
    use std::time::Duration;

    let world = World::new();
    let ran = world.run(&["run", "--quiet", "--monitors", "none", "--blocks", "1", "--", "true"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let id = world.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let interrupt = assay_system::Interrupt::manual().unwrap();
    let config = assay_server::Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        hosts: Vec::new(),
        folders: Vec::new(),
        allow_any: false,
        archive: assay_archive::Archive::open(world.path("archive")).unwrap(),
        state_dir: world.path("state"),
        exe: env!("CARGO_BIN_EXE_assay").into(),
        kits: assay_workloads::KitPaths::default(),
        load: endless,
        connections: 100,
        connections_per_address: 100,
        rate: 1000,
        response_time: Duration::from_secs(5),
        version: "0",
    };
    let (started, starts) = std::sync::mpsc::channel();
    let stop = interrupt.clone();
    let server = std::thread::spawn(move || {
        let ready = &mut |address: std::net::SocketAddr, keys: &assay_server::Keys| {
            started.send((address.to_string(), keys.full.clone())).unwrap();
        };
        assay_server::serve(config, &stop, ready).unwrap();
    });
    let (address, token) = starts.recv().unwrap();
    let client = std::sync::Arc::new(Client { address, token });
    for _ in 0..2 {
        let (of, path) = (std::sync::Arc::clone(&client), format!("/api/v1/runs/{id}"));
        let slow = std::thread::spawn(move || of.get(&path));
        wait_for("the work has begun", || BUSY.load(Relaxed) == 1);
        assert_eq!(client.get("/api/v1/status").status, 200);
        assert!(!slow.is_finished(), "the other request was served after the first one");
        let answer = slow.join().unwrap();
        assert_eq!(answer.status, 504, "{}", answer.body);
        assert!(answer.body.contains("no response within 5 s"), "{}", answer.body);
        wait_for("the work has ended with its request", || BUSY.load(Relaxed) == 0);
        // Expensive requests take turns.
        assert_eq!(client.get("/api/v1/runs").status, 200);
    }
    interrupt.fire();
    server.join().unwrap();
}
