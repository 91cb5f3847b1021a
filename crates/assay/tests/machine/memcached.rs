//! The workload `memcached`, from the command line: a real server and its faults. After each test
//! no process is left and no tunable is changed.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{
    Done, World, alive, done, eventually, json, metric, repository, root, wait_for,
};
use assay_testing::alone;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Returns true if memcached is installed; prints the reason otherwise.
fn memcached() -> bool {
    let there = Command::new("memcached").arg("-V").output().is_ok();
    if !there {
        println!("skipped: because there is no memcached (Debian package memcached)");
    }
    there
}

/// A memory size that no other test's server has, which identifies the server among the processes.
struct Mark(u32);

impl Mark {
    fn text(&self) -> String {
        format!("-m {} -c", self.0)
    }

    /// Waits for the server's process and returns its id.
    fn server(&self) -> Pid {
        let server = || {
            std::fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
                let line = std::fs::read(entry.path().join("cmdline")).ok()?;
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                let pid = entry.file_name().to_str()?.parse().ok()?;
                (line.contains("memcached") && line.contains(&self.text())).then_some(pid)
            })
        };
        Pid::from_raw(eventually("the server runs", server)).unwrap()
    }

    fn gone(&self) {
        wait_for("the server lives on", || !alive(&self.text()));
    }

    /// Returns the arguments of a run of a few tenths of a second, with additional settings.
    fn arguments(&self, verb: &str, more: &[&str]) -> Vec<String> {
        let memory = format!("server.memory={} MiB", self.0);
        let fixed = [
            "memcached",
            "--json",
            "--monitors",
            "none",
            "--blocks",
            "1",
            "--set",
            "keys=2000",
            "--set",
            "ramp_up=100 ms",
            "--set",
            "steady=400 ms",
            "--set",
            "ramp_down=100 ms",
            "--set",
            // The number of threads depends on the machine; one is enough.
            "server.threads=1",
            "--set",
            &memory,
        ];
        let fixed = if verb == "plan" {
            [&["memcached", "--json"], &fixed[4..]].concat()
        } else {
            fixed.to_vec()
        };
        let mut all: Vec<String> = vec![verb.to_owned()];
        all.extend(fixed.iter().map(|w| (*w).to_owned()));
        all.extend(more.iter().flat_map(|set| ["--set".to_owned(), (*set).to_owned()]));
        all
    }

    fn command(&self, world: &World, more: &[&str]) -> Command {
        let all = self.arguments("run", more);
        world.assay(&all.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn run(&self, world: &World, more: &[&str]) -> Done {
        let ran = done(&mut self.command(world, more));
        assert!(!alive(&self.text()), "a server was left running: {}", ran.stderr);
        ran
    }
}

#[test]
fn a_run_is_measured_checked_and_described() {
    if !memcached() {
        return;
    }
    let (world, mark) = (World::new(), Mark(1031));
    let ran = mark.run(&world, &["hits=0.75"]);
    let record = ran.record("completed");
    assert!(metric(&record, "throughput").unwrap() > 0.0);
    assert_eq!(metric(&record, "errors"), Some(0.0));
    let hits = metric(&record, "hit_ratio").unwrap();
    assert!((0.6..0.9).contains(&hits), "{hits}");
    let (p50, p99) = (metric(&record, "p50").unwrap(), metric(&record, "p99").unwrap());
    assert!(p50 > 0.0 && p99 >= p50);
    assert!(metric(&record, "server_cpu").unwrap() > 0.0);
    let detail = record["validation"]["detail"].as_str().unwrap();
    assert!(detail.contains("agree with the load generator's"), "{detail}");
    let phases: Vec<&str> =
        record["phases"].as_array().unwrap().iter().map(|p| p["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["ramp-up", "steady", "ramp-down"]);
    for name in ["response_time.get", "response_time.set", "response_time.get-miss.small"] {
        assert_eq!(record["histograms"][name]["unit"], "ns", "{name}");
    }
    let run = &world.runs()[0];
    assert!(run.join("trials/0001/samples.parquet").exists(), "the series is kept");
    let system = json(&std::fs::read_to_string(run.join("system.json")).unwrap());
    let fact = |name: &str| system["facts"][format!("workload.server.{name}")]["value"].clone();
    assert!(fact("version").as_str().unwrap().starts_with("memcached "), "{}", fact("version"));
    assert_eq!(fact("sha256").as_str().unwrap().len(), 64);
    assert_eq!(fact("setting.num_threads"), "1");
    assert_eq!(world.run(&["archive", "verify"]).code, 0);
}

#[test]
fn percentiles_are_read_from_the_histograms_of_all_trials() {
    if !memcached() {
        return;
    }
    let (world, mark) = (World::new(), Mark(1097));
    let mut all = mark.arguments("run", &[]);
    let blocks = all.iter().position(|w| w == "--blocks").unwrap() + 1;
    all[blocks] = "2".to_owned();
    let ran = done(&mut world.assay(&all.iter().map(String::as_str).collect::<Vec<_>>()));
    let run = json(&ran.stdout);
    let of = |name: &str| -> Vec<f64> {
        let records = run["records"].as_array().unwrap();
        records.iter().map(|r| metric(r, name).unwrap()).collect()
    };
    let analysis = &run["analysis"];
    let summaries = analysis["summaries"].as_array().unwrap();
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99)] {
        let shown = &summaries.iter().find(|s| s["metric"] == name).unwrap()["percentile"];
        assert_eq!(
            (&shown["trials"], &shown["quantile"]),
            (&2.into(), &quantile.into()),
            "{shown}"
        );
        assert_eq!(shown["load"], "closed");
        let (samples, beyond) =
            (shown["samples"].as_f64().unwrap(), shown["beyond"].as_f64().unwrap());
        assert!(beyond >= 10.0 && beyond <= samples * (1.0 - quantile) + 1.0, "{shown}");
        // The merged percentile is between those of the two trials, to the three digits of a
        // histogram.
        let (value, own) = (shown["value"].as_f64().unwrap(), of(name));
        let (low, high) = (own[0].min(own[1]), own[0].max(own[1]));
        assert!(value >= low * 0.998 && value <= high * 1.002, "{value} of {own:?}");
    }
    let passed = analysis["checks"]["passed"].as_array().unwrap();
    for check in ["F23", "F24"] {
        assert!(passed.contains(&check.into()), "{check}: {}", analysis["checks"]);
    }
}

#[test]
fn over_every_transport() {
    if !memcached() {
        return;
    }
    let (world, mark) = (World::new(), Mark(1033));
    let mut ways = vec!["transport=unix", "protocol=meta", "protocol=binary"];
    if Command::new("openssl").arg("version").output().is_ok() {
        ways.push("transport=tls");
    } else {
        println!("skipped: TLS, because there is no openssl");
    }
    for way in ways {
        let ran = mark.run(&world, &[way]);
        let record = ran.record("completed");
        assert_eq!(record["validation"]["result"], "passed", "{way}: {record:#}");
    }
}

/// Returns the interfaces of virtual cables.
fn cables() -> Vec<String> {
    let names = std::fs::read_dir("/sys/class/net").unwrap().flatten();
    names
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|n| n.strip_prefix("assay").is_some_and(|n| n.parse::<u32>().is_ok()))
        .collect()
}

fn no_cables() {
    wait_for("a cable is left", || cables().is_empty());
}

#[test]
fn in_a_network_of_its_own_and_killed_there() {
    if !memcached() {
        return;
    }
    if !root() {
        println!("skipped: because a network namespace needs root");
        return;
    }
    let _alone = alone();
    let (world, mark) = (World::new(), Mark(1039));
    let ran = mark.run(&world, &["network=namespace"]);
    let record = ran.record("completed");
    assert!(record["notes"].to_string().contains("198.1"), "{record:#}");
    no_cables();
    let before = std::fs::read_to_string(SYSCTL).unwrap();
    let _put_back = PutBack(vec![(SYSCTL.into(), before.clone())]);
    let tunable = format!(
        "controls.sysctl.net.core.netdev_max_backlog={}",
        before.trim().parse::<u64>().unwrap() + 1
    );
    let mut command = mark.command(&world, &["network=namespace", "steady=60 s", &tunable]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The server that is started for its description has no network, so the cable is that of the
    // trial's server.
    wait_for("the cable never came", || !cables().is_empty());
    mark.server();
    child.kill().unwrap();
    child.wait().unwrap();
    mark.gone();
    no_cables();
    let listed = world.run(&["archive", "list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert_eq!(std::fs::read_to_string(SYSCTL).unwrap(), before, "the next command restores it");
}

/// Files of the machine with their content, which is written back if a failed test leaves them
/// changed.
struct PutBack(Vec<(std::path::PathBuf, String)>);

impl Drop for PutBack {
    fn drop(&mut self) {
        for (file, text) in &self.0 {
            if std::fs::read_to_string(file).is_ok_and(|now| now != *text) {
                let _ = std::fs::write(file, text);
            }
        }
    }
}

const SYSCTL: &str = "/proc/sys/net/core/netdev_max_backlog";

#[test]
fn ctrl_c_stops_the_server_in_order() {
    if !memcached() {
        return;
    }
    let (world, mark) = (World::new(), Mark(1049));
    let mut command = mark.command(&world, &["steady=60 s", "transport=unix"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_load(&world, &mark);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    mark.gone();
    let record = json(&String::from_utf8_lossy(&output.stdout))["records"][0].clone();
    assert_eq!(record["outcome"], "interrupted");
    assert!(!record.to_string().contains("left running"), "{record:#}");
}

/// Waits until the trial's server is under load: its socket is in the trial's folder.
fn wait_for_load(world: &World, mark: &Mark) {
    let there = || {
        let scratch = std::fs::read_dir(world.path("scratch")).unwrap().flatten();
        scratch.map(|e| e.path().join("trial/server.sock")).any(|path| path.exists())
    };
    wait_for("the server never came", there);
    mark.server();
    // Under load, the threads of the server have used CPU time for some ticks.
    let busy = || {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", mark.server().as_raw_nonzero()));
        let stat = stat.unwrap_or_default();
        let fields: Vec<u64> = stat
            .rsplit_once(')')
            .map(|(_, rest)| {
                rest.split_whitespace().skip(11).take(2).filter_map(|f| f.parse().ok()).collect()
            })
            .unwrap_or_default();
        fields.iter().sum::<u64>()
    };
    wait_for("the load never came", || busy() >= 40);
}

#[test]
fn a_server_that_is_killed_fails_the_trial_and_leaves_its_series() {
    if !memcached() {
        return;
    }
    let (world, mark) = (World::new(), Mark(1051));
    let mut command = mark.command(&world, &["steady=60 s", "transport=unix"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_load(&world, &mark);
    kill_process(mark.server(), Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let record = json(&String::from_utf8_lossy(&output.stdout))["records"][0].clone();
    assert_eq!(record["outcome"], "failed");
    let error = record["error"].as_str().unwrap();
    assert!(error.contains("went away") && error.contains("signal: 9"), "{error}");
    assert!(world.runs()[0].join("trials/0001/samples.parquet").exists(), "the series is kept");
    mark.gone();
}

/// Runs a trial with these parameters, and stops its server for longer than an operation may take.
fn stalled(mark: &Mark, more: &[&str]) -> (Option<i32>, Value) {
    let world = World::new();
    let more = [&["transport=unix", "op_timeout=500 ms"], more].concat();
    let mut command = mark.command(&world, &more);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_load(&world, mark);
    kill_process(mark.server(), Signal::STOP).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(900));
    kill_process(mark.server(), Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    mark.gone();
    let record = json(&String::from_utf8_lossy(&output.stdout))["records"][0].clone();
    assert_eq!(record["outcome"], "completed", "{record:#}");
    assert!(metric(&record, "missing").unwrap() > 0.0, "{record:#}");
    assert_eq!(metric(&record, "errors"), Some(0.0));
    assert_eq!(record["validation"]["result"], "passed", "{}", record["validation"]);
    assert!(of(&record, "F17").is_none(), "{}", record["findings"]);
    (output.status.code(), record)
}

/// Returns the severity of a finding in a record.
fn of(record: &Value, id: &str) -> Option<String> {
    let found = record["findings"].as_array()?.iter().find(|f| f["id"] == id)?;
    found["severity"].as_str().map(str::to_owned)
}

#[test]
fn answers_that_a_stall_swallows_are_missing_and_not_wrong() {
    if !memcached() {
        return;
    }
    // The stall is in the measurement window.
    let window = ["steady=6 s", "max_missing=0"];
    let (code, record) = stalled(&Mark(1053), &window);
    assert_eq!(of(&record, "F16").as_deref(), Some("invalid"), "{}", record["findings"]);
    assert_eq!(code, Some(4));
    assert!(metric(&record, "timed_out").unwrap() > 0.0);
    // The stall is in the ramp-down, and within the allowed number of missing answers.
    let ramp = ["ramp_up=0 s", "steady=100 ms", "ramp_down=6 s", "max_missing=0.5"];
    let (_, record) = stalled(&Mark(1055), &ramp);
    assert_eq!(of(&record, "F16").as_deref(), Some("note"), "{}", record["findings"]);
    assert_eq!(metric(&record, "timed_out"), Some(0.0));
}

#[test]
fn no_memcached_names_the_package() {
    let world = World::new();
    world.write("bin", "");
    let mark = Mark(1061);
    let ran = done(mark.command(&world, &[]).env("PATH", world.path("state")));
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.replace("\n  ", " ").contains("Debian package memcached"), "{}", ran.stderr);
    let ran = mark.run(&world, &["server.path=/no/such/memcached"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("/no/such/memcached"), "{}", ran.stderr);
    let ran = mark.run(&world, &["driver=memtier", "driver.path=/no/such/memtier"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("libevent-dev"), "{}", ran.stderr);
}

#[test]
fn a_port_that_is_taken() {
    if !memcached() {
        return;
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let (world, mark) = (World::new(), Mark(1063));
    let ran = mark.run(&world, &[&format!("server.port={port}")]);
    let record = ran.record("failed");
    let error = record["error"].as_str().unwrap();
    assert!(error.contains(&format!("port {port} is taken")), "{error}");
}

#[test]
fn more_connections_than_files() {
    if !memcached() {
        return;
    }
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    if hard.is_none_or(|hard| hard > 900_000) {
        println!("skipped: because this process may open more files than the most connections");
        return;
    }
    let (world, mark) = (World::new(), Mark(1069));
    let ran = mark.run(&world, &["connections=1000000"]);
    let error = ran.record("failed")["error"].as_str().unwrap().to_owned();
    assert!(error.contains("RLIMIT_NOFILE") && error.contains("ulimit"), "{error}");
}

#[test]
fn a_value_above_the_item_limit() {
    if !memcached() {
        return;
    }
    let (world, mark) = (World::new(), Mark(1087));
    let large = ["keys=50", "size.large=2000000", "share.large=1"];
    let ran = mark.run(&world, &large);
    let error = ran.record("failed")["error"].as_str().unwrap().to_owned();
    assert!(error.contains("too large") && error.contains("-I 2m"), "{error}");
    let ran = mark.run(&world, &[&large[..], &["server.options=-I 3m"]].concat());
    ran.record("completed");
}

#[test]
fn a_tunable_that_does_not_exist_is_reported_with_the_plan() {
    if !memcached() {
        return;
    }
    let (world, mark) = (World::new(), Mark(1091));
    let none = "controls.sysctl.net.core.no_such_thing=1";
    let arguments = mark.arguments("plan", &[none]);
    let plan = world.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    let obstacle = json(&plan.stdout)["obstacles"][0].as_str().unwrap().to_owned();
    assert!(obstacle.contains("net/core/no_such_thing"), "{obstacle}");
    let ran = mark.run(&world, &[none]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("is not there on this kernel"), "{}", ran.stderr);
    assert!(world.runs().is_empty());
}

#[test]
fn an_address_that_nobody_answers_at() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let world = World::new();
    let address = format!("server.address={nobody}");
    let arguments =
        ["run", "memcached", "--json", "--monitors", "none", "--blocks", "1", "--set", &address];
    let ran = world.run(&arguments);
    let error = ran.record("failed")["error"].as_str().unwrap().to_owned();
    assert!(
        error.contains(&nobody.to_string()) && error.contains("is a server running there?"),
        "{error}"
    );
    let system = std::fs::read_to_string(world.runs()[0].join("system.json")).unwrap();
    let system = json(&system);
    let unknown = &system["facts"]["workload.server.path"]["unknown"];
    assert!(unknown.as_str().unwrap().contains("does not know its program"), "{unknown}");
    let both = [&arguments[..], &["--set", "server.threads=2"]].concat();
    let ran = world.run(&both);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("server.threads"), "{}", ran.stderr);
}

/// A memcached that the test starts, killed when dropped.
struct Own(std::process::Child);

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_that_runs_already_is_measured_and_left_running() {
    if !memcached() {
        return;
    }
    let world = World::new();
    let socket = world.path("own.sock");
    let mut command = Command::new("memcached");
    command.arg("-s").arg(&socket).args(["-m", "200"]);
    if root() {
        command.args(["-u", "root"]);
    }
    let mut own = Own(command.spawn().unwrap());
    wait_for("memcached made no socket", || socket.exists());
    let address = format!("server.address={}", socket.display());
    let ran = world.run(&[
        "run",
        "memcached",
        "--json",
        "--monitors",
        "none",
        "--blocks",
        "1",
        "--set",
        &address,
        "--set",
        "transport=unix",
        "--set",
        "keys=2000",
        "--set",
        "ramp_up=100 ms",
        "--set",
        "steady=300 ms",
    ]);
    let record = ran.record("completed");
    assert_eq!(metric(&record, "server_busy"), None, "what cannot be known is missing");
    assert!(metric(&record, "server_cpu").is_some(), "it tells its own CPU time");
    assert!(own.0.try_wait().unwrap().is_none(), "it was left running");
}

#[test]
fn rates_are_searched_and_curves_are_drawn() {
    if !memcached() {
        return;
    }
    let (world, mark) = (World::new(), Mark(1093));
    let ran = mark.run(&world, &["find=saturation", "rates=4000 2000"]);
    let curves = ran.record("completed")["curves"].clone();
    let throughput = curves.as_array().unwrap().iter().find(|c| c["name"] == "throughput").unwrap();
    let rates: Vec<f64> =
        throughput["points"].as_array().unwrap().iter().map(|p| p[0].as_f64().unwrap()).collect();
    assert_eq!(rates, [2000.0, 4000.0]);
    // Every rate keeps this bound, so the search would end only at the limit of the machine; a
    // precision of a factor of two ends it earlier.
    let ran = mark.run(&world, &["find=max-rate", "bound=100 ms", "precision=1"]);
    let record = json(&ran.stdout)["records"][0].clone();
    if record["outcome"] == "completed" {
        assert!(record["notes"].to_string().contains("step 1: at"), "{record:#}");
        assert!(metric(&record, "max_rate").unwrap() > 0.0);
    } else {
        // On a busy machine no rate may keep the bound, or operations time out, which is reported.
        let error = record["error"].as_str().unwrap();
        assert!(!error.is_empty(), "{record:#}");
        println!("skipped: because this machine is too busy to search a rate ({error})");
    }
}

#[test]
fn parameters_that_do_not_go_together() {
    let world = World::new();
    let mark = Mark(1097);
    for (set, word) in [
        (&["mode=open"][..], "needs a `rate`"),
        (&["rate=100"], "`mode = \"open\"`"),
        (&["size.small=100-4"], "rising"),
        (&["network=namespace", "transport=unix"], "uses no network"),
        (&["server.options='open"], "server.options"),
        (&["client.threads=65"], "threads is 65"),
        (&["driver=memtier", "find=saturation"], "memtier_benchmark cannot"),
    ] {
        let ran = mark.run(&world, set);
        assert_eq!(ran.code, 2, "{set:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(word), "{set:?}: {}", ran.stderr);
    }
}

#[test]
fn what_needs_root_is_reported_to_who_is_not() {
    if !memcached() {
        return;
    }
    if !root() || Command::new("setpriv").arg("--version").output().is_err() {
        println!("skipped: because only root with setpriv can become another user here");
        return;
    }
    let world = World::new();
    let all = std::fs::Permissions::from_mode(0o777);
    for name in ["", "archive", "state", "scratch", "cache"] {
        std::fs::set_permissions(world.path(name), all.clone()).unwrap();
    }
    // Other users may not be allowed to enter the folder of the binary.
    let exe = world.path("assay");
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), &exe).unwrap();
    let mark = Mark(1103);
    let as_nobody = |more: &[&str]| {
        let inner = mark.command(&world, more);
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&exe)
            .args(inner.get_args());
        for (name, value) in inner.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let ran = done(command.current_dir(world.path("")));
        mark.gone();
        ran
    };
    let ran = as_nobody(&["network=namespace"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("needs root"), "{}", ran.stderr);
    let ran = as_nobody(&["controls.sysctl.net.ipv4.tcp_sack=0"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.replace("\n  ", " ").contains("run as root"), "{}", ran.stderr);
    as_nobody(&[]).record("completed");
}

fn file_of(tunable: &str) -> std::path::PathBuf {
    Path::new("/proc/sys").join(tunable.replace('.', "/"))
}

/// Returns the tunables of the experiment that comes with assay, with their values now.
fn tunables() -> Vec<(String, String)> {
    let text =
        std::fs::read_to_string(repository().join("experiments/memcached-tuning.toml")).unwrap();
    let names =
        text.lines().filter_map(|l| l.strip_prefix("\"controls.sysctl.")?.split('"').next());
    names
        .map(|name| {
            let now = std::fs::read_to_string(file_of(name));
            (name.to_owned(), now.unwrap_or_else(|e| e.to_string()))
        })
        .collect()
}

#[test]
fn the_tunables_of_the_study_are_set_and_put_back() {
    if !memcached() {
        return;
    }
    if !root() {
        println!("skipped: because tunables need root");
        return;
    }
    let _alone = alone();
    let before = tunables();
    assert_eq!(before.len(), 9);
    let _put_back =
        PutBack(before.iter().map(|(name, was)| (file_of(name), was.clone())).collect());
    let world = World::new();
    let file = repository().join("experiments/memcached-tuning.toml").display().to_string();
    let arguments = Mark(1109).arguments("run", &[]);
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments[1] = &file;
    let ran = world.run(&arguments);
    if ran.code == 2 && ran.stderr.contains("is not there on this kernel") {
        println!("skipped: because this kernel lacks a tunable: {}", ran.stderr);
        return;
    }
    let result = json(&ran.stdout);
    let outcomes: Vec<&Value> =
        result["records"].as_array().unwrap().iter().map(|r| &r["outcome"]).collect();
    assert_eq!(outcomes, ["completed", "completed"], "{}", ran.stderr);
    assert_eq!(tunables(), before);
}

#[test]
fn the_ready_made_experiments_can_be_planned() {
    if !memcached() {
        return;
    }
    let world = World::new();
    for name in
        ["memcached-tuning", "memcached-threads", "memcached-saturation", "memcached-versions"]
    {
        let file = repository().join(format!("experiments/{name}.toml")).display().to_string();
        let mut arguments = vec!["plan", file.as_str()];
        if name == "memcached-versions" {
            let ran = world.run(&arguments);
            if ran.code != 0 {
                assert!(ran.stderr.contains("server.path"), "{}", ran.stderr);
            }
            arguments.extend(["--set", "server.path=/usr/bin/memcached,memcached"]);
        }
        let ran = world.run(&arguments);
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_list_of_users_asks_for_a_password() {
    if !memcached() {
        return;
    }
    let (world, files, mark) = (World::new(), World::new(), Mark(1117));
    let file = |name: &str, text: &str| files.write(name, text).display().to_string();
    let options = format!("server.options=-Y {}", file("users", "ann:onlyInTheFile42\n"));
    let password = format!("auth.password_file={}", file("password", "onlyInTheFile42\n"));
    for protocol in ["text", "meta"] {
        let protocol = format!("protocol={protocol}");
        let more = [options.as_str(), &password, "auth.user=ann", &protocol, "depth=4"];
        let record = mark.run(&world, &more).record("completed");
        assert_eq!(record["validation"]["result"], "passed", "{record:#}");
    }
    let bob = [options.as_str(), &password, "auth.user=bob"];
    for (more, code, says) in [
        (&bob[..], 3, "authentication failure`; check `auth.user`"),
        (&bob[..1], 3, "requires a password; set `auth.password_file`"),
        (&bob[1..], 3, "the server requires no password"),
        (&bob[1..2], 2, "a name without blanks"),
        (&[bob[1], bob[2], "protocol=binary"], 2, "text or meta with a password"),
    ] {
        let failed = mark.run(&world, more);
        let text = failed.stderr.replace("\n  ", " ");
        assert!(failed.code == code && text.contains(says), "{more:?}: {text}");
    }
}
