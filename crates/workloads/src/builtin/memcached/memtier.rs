//! The driver `memtier`: memtier_benchmark generates the load instead of assay, so that the two can
//! be compared. It does not check values and has no ramp-down, so its trials are checked less than
//! those of assay's own generator.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_loadgen::config::{Config, Protocol};
use assay_loadgen::latency::limiter::limit;
use assay_loadgen::latency::report::ThreadUse;
use assay_loadgen::server_use::{ServerTimes, ServerUse};
use assay_loadgen::{Target, Trust};
use assay_model::{Load, Observation, Phase};

use crate::builtin::key_value::diagnostics;
use crate::builtin::key_value::params::{Driver, Find, KeyValueParams};
use crate::builtin::key_value::server_side::{ServerCounters, listen, sample};
use crate::builtin::key_value::trial::TrialState;
use crate::declare::wrong;
use crate::driver::program::{last_lines, log_to, need};
use crate::failure::Result;
use crate::{Failure, WorkloadError};
use assay_system::end_with_parent;

/// Returns the path of memtier_benchmark.
///
/// # Errors
/// Fails if it is not installed.
pub fn program(path: Option<&Path>) -> Result<PathBuf, WorkloadError> {
    let name = path.unwrap_or(Path::new("memtier_benchmark"));
    let remedy = "Debian 12 does not package it: build memtier_benchmark from source (it needs \
                  libevent-dev, zlib1g-dev and libssl-dev) and give its path as `driver.path`";
    need(name, format!("the driver `{}`", name.display()), remedy)
}

/// Checks that memtier_benchmark is installed.
///
/// # Errors
/// See [`program`].
pub fn installed(params: &KeyValueParams) -> Result<(), WorkloadError> {
    program(params.driver.as_ref().and_then(|driver| driver.path.as_deref())).map(|_| ())
}

/// Checks that memtier_benchmark can generate the load.
///
/// # Errors
/// [`WorkloadError::Param`] names a parameter that it does not support.
pub fn can(params: &KeyValueParams) -> Result<(), WorkloadError> {
    let refuse = |what: &str| {
        Err(wrong(format!("memtier_benchmark cannot do {what}; use `driver = \"assay\"`")))
    };
    match () {
        () if params.find != Find::Throughput => refuse("`find` other than throughput"),
        () if params.protocol == Protocol::Meta => refuse("`protocol = \"meta\"`"),
        () if params.hits < 1.0 => refuse("`hits` below 1"),
        () if params.open || !params.think.is_zero() => {
            refuse("an open loop that counts from when operations were due, or `think`")
        }
        () if params.read_through => refuse("`read_through`"),
        () if params.password_file.is_some() => refuse("a password that nobody else sees"),
        () if params.sizes != "classes" || params.key_sizes != "short" => {
            refuse("`sizes` and `key_sizes`")
        }
        () if params.skewed => refuse("`popularity = \"zipf\"` over the same keys as assay"),
        () => Ok(()),
    }
}

/// Fills the cache, warms it up and measures it, each with a run of memtier_benchmark.
///
/// # Errors
/// Fails if memtier_benchmark is missing, does not support the configuration, exits with an error,
/// or prints results that cannot be parsed.
pub fn run(driver: &Driver, dir: &Path, stage: &mut TrialState<'_>) -> Result<()> {
    let program = program(driver.path.as_deref())?;
    let config = stage.config.clone();
    let common = arguments(&config)?;
    let drive = Drive { program: &program, common: &common, dir, config: &config };
    drive.go(&["--ratio=1:0", "--key-pattern=P:P", "--requests=allkeys"], "fill", stage)?;
    let gets = config.mix.get_share;
    let ratio = whole_numbers(&[1.0 - gets, gets]);
    let ratio = format!("--ratio={}:{}", ratio[0], ratio[1]);
    let load = [ratio.as_str(), "--key-pattern=R:R", "--distinct-client-seed"];
    let seconds = |time: Duration| format!("--test-time={}", time.as_secs_f64().ceil().max(1.0));
    if !config.ramp_up.is_zero() {
        drive.go(&[&load[..], &[&seconds(config.ramp_up)]].concat(), "ramp-up", stage)?;
    }
    let mut talk = listen(stage.place.as_ref(), &config);
    let mut seen =
        ServerCounters { from: sample(stage.dialect, &mut talk), ..ServerCounters::default() };
    stage.channel.phase(Phase::Steady, None);
    let used = drive.go(&[&load[..], &[&seconds(config.steady)]].concat(), "steady", stage)?;
    seen.to = sample(stage.dialect, &mut talk);
    stage.channel.phase(Phase::RampDown, None);
    let file = dir.join("memtier-steady.json");
    let text = std::fs::read_to_string(&file).map_err(WorkloadError::io("read", &file))?;
    let results = Results::read(&text).ok_or_else(|| Failure::Program {
        what: "memtier_benchmark".into(),
        message: format!(
            "cannot parse its results in {}; it may be another version",
            file.display()
        ),
    })?;
    report(&config, &results, &seen, &used, stage);
    check(&config, &results, &seen, stage);
    stage.verdict();
    Ok(())
}

/// Maximum relative difference between the operation counts of memtier_benchmark and the server.
/// They are not read at the same instant.
const APART: f64 = 0.05;

/// Compares the results with the server's counters and with the keys that were set.
/// memtier_benchmark does not check values, so nothing more can be verified.
fn check(config: &Config, results: &Results, seen: &ServerCounters, stage: &mut TrialState<'_>) {
    let operations = results.throughput * results.seconds;
    if operations <= 0.0 {
        stage.wrong.push("memtier_benchmark got no answer".into());
        return;
    }
    // memtier_benchmark is a closed loop: it sends the next operation of a connection only after an
    // answer. It also leaves no histogram that can be merged.
    stage.channel.evidence(Observation::Sending {
        load: Load::Closed,
        slips_charged: false,
        samples: Some(operations.round() as u64),
    });
    match results.errors {
        // A lost connection is a missing answer, not a wrong one.
        Some(errors) if errors > 0.0 => {
            stage.channel.evidence(Observation::Operations {
                answered: operations.round() as u64,
                wrong: 0,
                missing: errors.round() as u64,
                allowed: stage.max_missing,
                within: config.op_timeout.as_secs_f64(),
            });
            stage.channel.note(format!("memtier_benchmark reports {errors} connection errors"));
        }
        Some(_) => stage.checked.push("memtier_benchmark reports no connection error".into()),
        None => stage.checked.push("memtier_benchmark does not report connection errors".into()),
    }
    let counted = seen.window_count("cmd_get").zip(seen.window_count("cmd_set"));
    if let Some(counted) = counted.map(|(gets, sets)| (gets + sets) as f64) {
        let sentence = format!(
            "memtier_benchmark reports {operations:.0} operations, the server counted {counted:.0}"
        );
        // A server that the trial did not start may have other clients.
        let ours = config.server_pid.is_some();
        let agree = (counted / operations - 1.0).abs() <= APART;
        if agree || !ours { &mut stage.checked } else { &mut stage.wrong }.push(sentence);
    }
    let evictions = seen.window_count("evictions");
    match results.hit_ratio {
        Some(share) if share < 1.0 && evictions == Some(0) && config.server_pid.is_some() => {
            stage.wrong.push(format!(
                "{:.3} % of the gets missed, though every key had been set and none was evicted",
                (1.0 - share) * 100.0
            ));
        }
        Some(share) => stage.checked.push(format!("{:.3} % of the gets hit", share * 100.0)),
        None => {}
    }
    if let Some(evicted) = evictions {
        let (hit_ratio, asked) = (results.hit_ratio, config.mix.hit_ratio);
        stage.channel.evidence(Observation::Evictions { evicted, gone: 0, hit_ratio, asked });
    }
}

/// Returns the options that all runs share: server address, concurrency and objects.
fn arguments(config: &Config) -> Result<Vec<OsString>> {
    if !config.connections.is_multiple_of(config.threads) {
        return Err(Failure::Workload(wrong(format!(
            "memtier_benchmark gives each thread as many connections: `connections` ({}) must be a \
             multiple of `client.threads` ({})",
            config.connections, config.threads
        ))));
    }
    let mut words: Vec<String> = Vec::new();
    match &config.target {
        Target::Unix(path) => words.push(format!("--unix-socket={}", path.display())),
        Target::Tcp(address) | Target::Tls { address, .. } => {
            let (host, port) = address.rsplit_once(':').unwrap_or((address, "11211"));
            words.extend([format!("--host={host}"), format!("--port={port}")]);
        }
    }
    if let Target::Tls { name, trust, .. } = &config.target {
        words.extend(["--tls".into(), format!("--sni={name}")]);
        words.push(match trust {
            Trust::Authorities(file) => format!("--cacert={}", file.display()),
            Trust::Anything => "--tls-skip-verify".into(),
        });
    }
    let protocol =
        if config.protocol == Protocol::Binary { "memcache_binary" } else { "memcache_text" };
    words.extend([
        format!("--protocol={protocol}"),
        format!("--threads={}", config.threads),
        format!("--clients={}", config.connections / config.threads),
        format!("--pipeline={}", config.depth),
        format!("--data-size-list={}", sizes(config)),
        format!("--key-prefix={}", config.mix.key_prefix),
        "--key-minimum=1".into(),
        format!("--key-maximum={}", config.mix.keys),
        "--hide-histogram".into(),
        "--print-percentiles=50,99,99.9".into(),
    ]);
    Ok(words.into_iter().map(OsString::from).collect())
}

/// Formats the size classes for `--data-size-list`, which takes one size per class: the mean size
/// of each class and its weight.
fn sizes(config: &Config) -> String {
    let classes: Vec<_> = config.mix.classes.iter().filter(|c| c.share > 0.0).collect();
    let weights = whole_numbers(&classes.iter().map(|c| c.share).collect::<Vec<_>>());
    let words = classes.iter().zip(weights).map(|(class, weight)| {
        format!("{}:{weight}", u64::midpoint(class.sizes.min.into(), class.sizes.max.into()))
    });
    words.collect::<Vec<_>>().join(",")
}

/// Returns the shares as the smallest whole numbers with the same ratios, rounded to hundredths of
/// their sum. Small numbers matter: memtier_benchmark does all operations of one kind (and all
/// objects of one size) in a row before it switches to the next.
fn whole_numbers(shares: &[f64]) -> Vec<u64> {
    let total: f64 = shares.iter().sum();
    let hundredths = shares.iter().map(|share| {
        let number = (share / total * 100.0).round() as u64;
        if *share > 0.0 { number.max(1) } else { 0 }
    });
    let numbers: Vec<u64> = hundredths.collect();
    let divisor = numbers.iter().copied().fold(0, gcd).max(1);
    numbers.iter().map(|n| n / divisor).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Settings shared by all runs of memtier_benchmark in a trial.
struct Drive<'a> {
    program: &'a Path,
    common: &'a [OsString],
    dir: &'a Path,
    config: &'a Config,
}

/// CPU seconds of the client and the server in one run.
struct RunCpuTime {
    client: Option<ServerUse>,
    server: Option<ServerUse>,
}

/// CPU seconds of a process since its start was recorded: the maximum of all readings, because the
/// threads that did the work may have ended before the last reading.
struct CpuTimeMeter {
    pid: Option<u32>,
    from: Option<ServerTimes>,
    began: Instant,
    most: Option<ServerUse>,
}

impl CpuTimeMeter {
    fn new(pid: Option<u32>) -> Self {
        CpuTimeMeter {
            pid,
            from: pid.and_then(ServerTimes::read),
            began: Instant::now(),
            most: None,
        }
    }

    fn look(&mut self) {
        let now = self.pid.and_then(ServerTimes::read);
        let Some((now, from)) = now.zip(self.from.as_ref()) else { return };
        let wall = self.began.elapsed().as_secs_f64();
        let Some(used) = now.since(from) else { return };
        let spent = ServerUse { cpus: used.cpus * wall, busiest: used.busiest * wall };
        if spent.cpus > self.most.map_or(0.0, |most| most.cpus) {
            self.most = Some(spent);
        }
    }
}

/// Divides CPU seconds by `seconds`, which gives CPUs in use.
fn over(spent: Option<ServerUse>, seconds: f64) -> Option<ServerUse> {
    spent.map(|s| ServerUse { cpus: s.cpus / seconds, busiest: s.busiest / seconds })
}

impl Drive<'_> {
    /// Runs memtier_benchmark to its end and returns the CPU seconds of client and server.
    fn go(&self, more: &[&str], name: &str, stage: &mut TrialState<'_>) -> Result<RunCpuTime> {
        let failed = |message: String| Failure::program(self.program.display(), message);
        let log = self.dir.join(format!("memtier-{name}.log"));
        let mut json = OsString::from("--json-out-file=");
        json.push(self.dir.join(format!("memtier-{name}.json")));
        let mut command = Command::new(self.program);
        command.args(self.common).args(more).arg(json).stdin(Stdio::null());
        log_to(&mut command, &log)?;
        end_with_parent(&mut command, self.config.cpus.as_deref());
        if name == "steady" {
            let argv: Vec<OsString> = std::iter::once(command.get_program())
                .chain(command.get_args())
                .map(Into::into)
                .collect();
            stage.channel.note(format!("driver: {}", crate::words::quote_words(&argv)));
        }
        let mut child = command.spawn().map_err(Failure::start(self.program.display()))?;
        let mut spent = [Some(child.id()), self.config.server_pid].map(CpuTimeMeter::new);
        let mut looked = Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if stage.stopped() => {
                    // The process may have ended already.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(Failure::Stopped);
                }
                Ok(None) => {}
                Err(e) => return Err(failed(e.to_string())),
            }
            if looked.elapsed() > Duration::from_millis(100) {
                looked = Instant::now();
                spent.iter_mut().for_each(CpuTimeMeter::look);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        if !status.success() {
            let text = std::fs::read(&log).unwrap_or_default();
            let text = last_lines(&String::from_utf8_lossy(&text));
            return Err(failed(format!("{status}: {text}")));
        }
        let [client, server] = spent.map(|spent| spent.most);
        Ok(RunCpuTime { client, server })
    }
}

/// Results from memtier_benchmark's JSON file, as far as a trial's metrics need them. Other parts
/// of assay parse the same file for other purposes.
#[derive(Debug, PartialEq)]
struct Results {
    throughput: f64,
    hit_ratio: Option<f64>,
    p50: Option<f64>,
    p99: Option<f64>,
    p999: Option<f64>,
    set_p99: Option<f64>,
    /// Duration of the run in seconds.
    seconds: f64,
    errors: Option<f64>,
}

impl Results {
    fn read(text: &str) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        let all = value.get("ALL STATS")?;
        let number = |of: &str, field: &str| all.get(of)?.get(field)?.as_f64();
        let percentile = |of: &str, field: &str| {
            // The file has milliseconds.
            Some(all.get(of)?.get("Percentile Latencies")?.get(field)?.as_f64()? / 1e3)
        };
        let (hits, misses) = (number("Gets", "Hits/sec"), number("Gets", "Misses/sec"));
        let share = |hits: f64, misses: f64| (hits + misses > 0.0).then(|| hits / (hits + misses));
        Some(Results {
            throughput: number("Totals", "Ops/sec")?,
            hit_ratio: hits.zip(misses).and_then(|(h, m)| share(h, m)),
            p50: percentile("Gets", "p50.00"),
            p99: percentile("Gets", "p99.00"),
            p999: percentile("Gets", "p99.90"),
            set_p99: percentile("Sets", "p99.00"),
            seconds: number("Runtime", "Total duration").filter(|ms| *ms > 0.0)? / 1e3,
            errors: number("Totals", "Connection Errors"),
        })
    }
}

fn report(
    config: &Config,
    results: &Results,
    seen: &ServerCounters,
    used: &RunCpuTime,
    stage: &mut TrialState<'_>,
) {
    let rate = results.throughput;
    let client = over(used.client, results.seconds);
    let server = over(used.server, results.seconds);
    let per_op = |cpus: f64| (rate > 0.0).then(|| cpus / rate * 1e6);
    let answered = seen.window_count("cmd_get").zip(seen.window_count("cmd_set"));
    let server_cpu = seen
        .window_cpu_s(stage.dialect)
        .zip(answered)
        .map(|(s, (gets, sets))| s * 1e6 / (gets + sets) as f64);
    // The client received the bytes that the server wrote. memtier_benchmark's own byte rates are
    // incomplete.
    let per_s = |name: &str| seen.window_count(name).map(|bytes| bytes as f64 / results.seconds);
    let rows = [
        ("throughput", Some(rate)),
        ("p50", results.p50),
        ("p99", results.p99),
        ("p99.9", results.p999),
        ("set_p99", results.set_p99),
        ("hit_ratio", results.hit_ratio),
        ("bytes_in", per_s("bytes_written")),
        ("bytes_out", per_s("bytes_read")),
        ("client_cpu", client.and_then(|u| per_op(u.cpus))),
        ("client_busy", client.map(|u| u.busiest)),
        ("server_cpu", server_cpu),
        ("server_busy", server.map(|u| u.busiest)),
        ("server_cpus", server.map(|u| u.cpus)),
        ("evictions", seen.window_count("evictions").map(|n| n as f64)),
        ("errors", results.errors),
    ];
    stage.channel.metrics((stage.dialect.spec)(), rows);
    let busy = client.map(|u| ThreadUse { cpu: None, cpu_s: u.busiest, wall_s: 1.0 });
    let limit =
        diagnostics::judged(&limit(config, busy.as_slice(), server, true), stage.server_cpus);
    stage.channel.evidence(diagnostics::limiter(&limit, None));
    stage.channel.note(limit.reasons.join("; "));
    stage.channel.note(
        "memtier_benchmark made the load: values were not checked, each class had its mean size, \
         and its response times are those of a closed loop over the whole window; its percentiles \
         are this trial's alone, it leaves no histogram to add to those of other trials",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_results_are_read() {
        let text = r#"{"ALL STATS": {
            "Sets": {"Ops/sec": 10.0, "Percentile Latencies": {"p50.00": 0.2, "p99.00": 0.5}},
            "Gets": {"Ops/sec": 90.0, "Hits/sec": 81.0, "Misses/sec": 9.0,
                     "Percentile Latencies": {"p50.00": 0.1, "p99.00": 0.4, "p99.90": 0.9}},
            "Totals": {"Ops/sec": 100.0, "Connection Errors": 0},
            "Runtime": {"Total duration": 3000, "Time unit": "MILLISECONDS"}}}"#;
        let results = Results::read(text).unwrap();
        assert_eq!((results.throughput, results.hit_ratio), (100.0, Some(0.9)));
        assert_eq!(
            (results.p50, results.p999, results.set_p99),
            (Some(1e-4), Some(9e-4), Some(5e-4))
        );
        assert_eq!((results.seconds, results.errors), (3.0, Some(0.0)));
        assert_eq!(Results::read("{}"), None);
        assert_eq!(Results::read("no JSON"), None);
    }

    #[test]
    fn it_gets_the_same_load() {
        let config = Config {
            target: Target::Tcp("127.0.0.1:11311".into()),
            threads: 2,
            connections: 6,
            depth: 3,
            ..Config::default()
        };
        let line: Vec<String> =
            arguments(&config).unwrap().iter().map(|w| w.to_string_lossy().into_owned()).collect();
        for word in
            ["--port=11311", "--clients=3", "--threads=2", "--pipeline=3", "--key-maximum=100000"]
        {
            assert!(line.iter().any(|w| w == word), "{word}: {line:?}");
        }
        assert!(line.contains(&"--data-size-list=52:6,1536:3,12800:1".to_owned()), "{line:?}");
        assert_eq!(whole_numbers(&[0.1, 0.9]), [1, 9]);
        assert_eq!(whole_numbers(&[0.0, 2.0]), [0, 1]);
        assert_eq!(whole_numbers(&[0.001, 0.999]), [1, 100]);
        let odd = Config { connections: 7, ..config };
        assert!(arguments(&odd).unwrap_err().to_string().contains("multiple"));
    }
}
