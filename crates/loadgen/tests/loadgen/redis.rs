//! Tests of the generator against a real Redis.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{never, quick};
use assay_loadgen::latency::report::Operation;
use assay_loadgen::sizes::{Distribution, Sizes};
use assay_loadgen::{Config, ErrorKind, LoadEnd, LoadReport, Protocol, Target, preload, run};

/// A Redis process of this test on a UNIX socket, ended on drop.
struct Redis {
    child: Child,
    folder: tempfile::TempDir,
}

impl Redis {
    /// Starts one; `None` (with a message) if it is not installed.
    fn new(options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--unixsocket", socket.to_str().unwrap()]);
        command.arg("--dir").arg(folder.path()).args(options);
        let Ok(mut child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
            eprintln!("skipped: because redis-server is not installed");
            return None;
        };
        let until = Instant::now() + Duration::from_secs(100);
        while UnixStream::connect(&socket).is_err() {
            assert!(child.try_wait().unwrap().is_none(), "redis-server ended: {command:?}");
            assert!(Instant::now() < until, "redis-server does not listen: {command:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(Redis { child, folder })
    }

    fn config(&self, protocol: Protocol, depth: usize) -> Config {
        let target = Target::Unix(self.folder.path().join("s"));
        Config { protocol, depth, server_pid: Some(self.child.id()), ..quick(&target) }
    }

    /// Sends a command whose answer is one number.
    fn number(&self, command: &str) -> u64 {
        let mut stream = UnixStream::connect(self.folder.path().join("s")).unwrap();
        write!(stream, "{command}\r\nQUIT\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap().trim_start_matches(':').parse().unwrap()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Preloads and runs without errors.
fn check(config: &Config) -> LoadReport {
    let loaded = preload(config, &never()).unwrap();
    assert_eq!((loaded.stored, loaded.errors.total()), (500, 0), "{:?}", loaded.errors);
    let report = run(config, &never(), |_, _| {}).unwrap();
    assert_eq!(
        (report.ended, report.errors.total()),
        (LoadEnd::Complete, 0),
        "{:?}",
        report.errors
    );
    assert_eq!((report.unanswered, report.reconnects), (0, 0));
    assert!(report.completed() > 0);
    report
}

#[test]
fn both_versions_at_every_depth() {
    let Some(server) = Redis::new(&[]) else { return };
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        for depth in [1, 2, 64, 1024] {
            let mut config = server.config(protocol, depth);
            config.mix.hit_ratio = 0.8;
            config.mix.key_sizes = Some(Sizes::uniform(16, 60));
            let report = check(&config);
            let share = report.hit_ratio().unwrap();
            assert!((share - 0.8).abs() < 0.1, "{protocol:?} {depth}: {share}");
            assert_eq!(report.evicted, 0);
        }
    }
}

#[test]
fn every_operation_is_answered_and_counted() {
    let Some(server) = Redis::new(&[]) else { return };
    for (protocol, depth) in [(Protocol::Resp2, 1), (Protocol::Resp3, 16)] {
        let mut config = server.config(protocol, depth);
        let mix = &mut config.mix;
        (mix.get_share, mix.delete_share) = (0.3, 0.1);
        (mix.increment_share, mix.multi_get_share, mix.multi_get_keys) = (0.2, 0.2, 7);
        let before = server.number("DBSIZE");
        let report = check(&config);
        let share = |of| report.completed_of(of) as f64 / report.completed() as f64;
        for (operation, want) in [
            (Operation::Set, 0.2),
            (Operation::Delete, 0.1),
            (Operation::Increment, 0.2),
            (Operation::MultiGet, 0.2),
        ] {
            assert!((share(operation) - want).abs() < 0.05, "{operation:?}: {}", share(operation));
        }
        let keys = 7 * report.completed_of(Operation::MultiGet);
        assert_eq!(report.parts[0] + report.parts[1], keys, "{:?}", report.parts);
        assert!(report.parts[0] > 0 && report.parts[1] > 0, "deletes make some of them miss");
        // Four connections, and so four counters.
        let all: u64 =
            report.series.iter().map(|b| b.by_operation[Operation::Increment as usize]).sum();
        assert!(all > 0 && server.number("DBSIZE") <= 500 + 4 && before <= 504);
    }
}

#[test]
fn a_miss_is_followed_by_a_set() {
    let Some(server) = Redis::new(&[]) else { return };
    let mut config = server.config(Protocol::Resp2, 4);
    // Without a preload every first get of a key misses, and only misses set.
    (config.mix.get_share, config.mix.read_through) = (1.0, true);
    config.ramp_up = Duration::ZERO;
    let report = run(&config, &never(), |_, _| {}).unwrap();
    assert_eq!(report.errors.total(), 0, "{:?}", report.errors);
    let (misses, sets) =
        (report.completed_of(Operation::GetMiss), report.completed_of(Operation::Set));
    assert!(sets > 0 && sets <= misses && misses - sets <= 16, "{misses} misses, {sets} sets");
    assert_eq!(server.number("DBSIZE"), 500, "every key was filled");
    assert!(report.completed_of(Operation::GetHit) > 0);
}

#[test]
fn a_server_without_memory_refuses_and_says_why() {
    let Some(server) = Redis::new(&["--maxmemory", "1mb"]) else { return };
    let mut config = server.config(Protocol::Resp2, 8);
    config.mix.get_share = 0.0;
    let report = run(&config, &never(), |_, _| {}).unwrap();
    assert!(report.errors.count(ErrorKind::OutOfMemory) > 0, "{:?}", report.errors);
    assert_eq!(report.errors.refused(), report.errors.total());
    assert!(report.errors.wrong_words().unwrap().contains("OOM command not allowed"));
}

#[test]
fn lengths_of_the_values_follow_their_distribution() {
    let Some(server) = Redis::new(&[]) else { return };
    let mut config = server.config(Protocol::Resp2, 1);
    config.mix.classes.truncate(1);
    let distribution = Distribution::Lognormal { median: 300.0, sigma: 1.0 };
    config.mix.classes[0].sizes = Sizes { distribution, min: 4, max: 100_000 };
    check(&config);
    let length = |key: u64| server.number(&format!("STRLEN assay:{key:010x}"));
    let mut lengths: Vec<u64> = (0..500).map(length).collect();
    lengths.sort_unstable();
    assert!((240..380).contains(&lengths[250]), "{}", lengths[250]);
    assert!((600..1100).contains(&lengths[421]), "84.1 %: {}", lengths[421]);
}
