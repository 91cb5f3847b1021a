//! Tests of each format: its treatments, trials, samples and units.

use assay_model::{Better, Exit, MetricKind, TrialOutcome, ValidationResult};

use super::{level, near, one, read, text, values};

#[test]
fn hyperfine_times_are_trials_and_parameters_levels() {
    let set = read("hyperfine.json");
    assert_eq!(set.format.name, "hyperfine");
    let [result] = set.results.as_slice() else { panic!() };
    assert_eq!(level(result, 0, "level"), "1");
    assert_eq!(level(result, 1, "level"), "9");
    assert_eq!(result.treatments[1].params["command"].to_text(), "pack -9 corpus");
    assert_eq!(values(result, 1, "elapsed")[..2], [Some(0.840), Some(0.851)]);
    assert_eq!(values(result, 1, "elapsed").len(), 6);
    assert_eq!(one(result, 0, "peak_memory"), (f64::from(5 << 20), "B".to_owned()));
    assert_eq!(result.trials[10].exit, Some(Exit::Code(2)));
    assert_eq!(result.trials[10].validation, ValidationResult::ExitCodeOnly);
    assert_eq!(result.trials[11].exit, None);
    assert!(result.trials[11].notes[0].contains("signal"));
    assert!(result.trials.iter().all(|t| t.findings().is_empty()));
    assert!(result.run_metrics.iter().any(|m| m.name == "mean user (pack -1 corpus)"));
    // The file states nothing about the system.
    assert!(result.facts.is_empty() && result.host.is_none());
}

#[test]
fn commands_that_parameters_do_not_tell_apart_are_levels_themselves() {
    let plain = text("hyperfine.json").replace("\"level\"", "\"x\"").replace("\"9\"", "\"1\"");
    let set = super::read_text(plain.as_bytes(), None).unwrap();
    let result = &set.results[0];
    assert_eq!(level(result, 0, "command"), "pack -1 corpus");
    assert_eq!(level(result, 1, "command"), "pack -9 corpus");
}

#[test]
fn a_mean_that_is_not_that_of_the_times_is_a_finding() {
    let changed =
        text("hyperfine.json").replacen("0.851,\n        0.838", "1.851,\n        0.838", 1);
    let set = super::read_text(changed.as_bytes(), None).unwrap();
    let result = &set.results[0];
    assert!(result.trials[0].findings().is_empty());
    assert!(result.trials[6].findings()[0].message.contains("the mean of elapsed is"));
    assert_eq!(result.trials[6].metrics[0].value, None);
}

#[test]
fn google_repetitions_are_trials_and_aggregates_are_checked() {
    let set = read("google-benchmark.json");
    assert_eq!(set.format.name, "google-benchmark");
    let result = &set.results[0];
    assert_eq!(result.treatments.len(), 3);
    assert_eq!(level(result, 0, "benchmark"), "BM_copy/64");
    assert!(near(values(result, 0, "real_time")[1].unwrap(), 42e-9));
    assert!(near(values(result, 1, "real_time")[1].unwrap(), 2.75e-3));
    assert!(near(values(result, 1, "cpu_time")[1].unwrap(), 2.5e-3));
    assert_eq!(result.trials.len(), 7);
    let (bytes, unit) = one(result, 0, "bytes_per_second");
    assert!(near(bytes, 1.6e9) && unit == "B/s");
    assert_eq!(one(result, 0, "lookups"), (7.0, "1".to_owned()));
    let failed = &result.trials[6];
    assert_eq!(
        (failed.outcome, failed.error.as_str()),
        (TrialOutcome::Failed, "the file is not there")
    );
    assert!(failed.metrics.is_empty(), "a time of 0 was not measured");
    assert_eq!(result.host.as_deref(), Some("lab7"));
    assert_eq!(result.facts["cpu.threads"].value(), Some("8"));
    assert_eq!(result.facts["cpu.cache.l1d.size"].value(), Some("48K"));
    assert_eq!(result.measured_at.as_deref(), Some("2026-05-04T10:30:00Z"));
    let changed = text("google-benchmark.json").replacen("42.0", "62.0", 1);
    let set = super::read_text(changed.as_bytes(), None).unwrap();
    assert!(set.results[0].trials[0].findings()[0].message.contains("the mean"));
    assert!(set.results[0].trials[3].findings().is_empty());
}

#[test]
fn google_nan_is_a_missing_value() {
    let changed =
        text("google-benchmark.json").replacen("\"real_time\": 40.0", "\"real_time\": NaN", 1);
    let set = super::read_text(changed.as_bytes(), None).unwrap();
    assert_eq!(values(&set.results[0], 0, "real_time")[0], None);
}

#[test]
fn fio_groups_are_trials_and_rates_are_bytes() {
    let set = read("fio.json");
    assert_eq!(set.format.name, "fio");
    let result = &set.results[0];
    assert_eq!((result.treatments.len(), result.trials.len()), (2, 3));
    assert_eq!(level(result, 0, "benchmark"), "randread");
    assert_eq!(result.treatments[0].params["rw"].to_text(), "randread");
    assert_eq!(result.treatments[0].params["ioengine"].to_text(), "io_uring");
    // bw is 40000 KiB/s, and bw_bytes is exact to the byte.
    assert_eq!(one(result, 0, "throughput"), (40_000.0 * 1024.0 + 500.0, "B/s".to_owned()));
    assert_eq!(one(result, 0, "iops"), (10_000.0, "IO/s".to_owned()));
    let (p99, unit) = one(result, 0, "read.clat.p99");
    assert!(near(p99, 285_000e-9) && unit == "s");
    assert!(near(one(result, 0, "read.clat.p99.9").0, 570_000e-9));
    assert!(near(one(result, 0, "read.latency.mean").0, 96_000e-9));
    assert!(!result.trials[0].metrics.iter().any(|m| m.name.starts_with("write")));
    // Two jobs of one group: rates are added, latencies are left out.
    assert_eq!(one(result, 2, "throughput").0, 16_200.0 * 1024.0 + 1000.0);
    assert_eq!(one(result, 2, "write.iops").0, 4050.0);
    assert!(!result.trials[2].metrics.iter().any(|m| m.name.contains("clat")));
    assert_eq!(result.measured_at.as_deref(), Some("2026-02-02T02:40:00.5Z"));
    assert!(result.trials.iter().all(|t| t.findings().is_empty()));
}

#[test]
fn older_fio_gives_kib_and_microseconds() {
    let old = r#"{"fio version": "fio-2.16", "jobs": [{"jobname": "w", "groupid": 0, "error": 0,
        "write": {"io_bytes": 4096, "bw": 1000, "iops": 250.0, "total_ios": 500,
        "clat": {"mean": 120.0, "percentile": {"99.000000": 300}}}}]}"#;
    let set = super::read_text(old.as_bytes(), None).unwrap();
    let result = &set.results[0];
    assert_eq!(one(result, 0, "throughput").0, 1_024_000.0);
    assert!(near(one(result, 0, "write.clat.mean").0, 120e-6));
    assert!(near(one(result, 0, "write.clat.p99").0, 300e-6));
    let both = old.replace("\"bw\": 1000", "\"bw\": 1000, \"bw_bytes\": 1000000");
    let set = super::read_text(both.as_bytes(), None).unwrap();
    let trial = &set.results[0].trials[0];
    let message = &trial.findings()[0].message;
    assert!(message.contains("the rate of write.throughput is 1000000"), "{message}");
    let value = |name: &str| trial.metrics.iter().find(|m| m.name == name).unwrap().value;
    assert_eq!((value("throughput"), value("write.throughput")), (None, None));
    assert!(value("iops").is_some() && value("write.clat.p99").is_some());
    let failed = old.replace("\"error\": 0", "\"error\": 28");
    let set = super::read_text(failed.as_bytes(), None).unwrap();
    assert_eq!(set.results[0].trials[0].outcome, TrialOutcome::Failed);
}

#[test]
fn jmh_forks_are_trials_and_iterations_samples() {
    let set = read("jmh.json");
    assert_eq!(set.format.name, "jmh");
    let parts: Vec<&str> = set.results.iter().map(|r| r.part.as_str()).collect();
    assert_eq!(parts, ["thrpt", "avgt", "sample"]);
    let result = &set.results[0];
    assert_eq!((result.treatments.len(), result.trials.len()), (2, 4));
    assert_eq!(level(result, 1, "size"), "4096");
    assert_eq!(values(result, 0, "throughput"), [Some(505_000.0), Some(525_000.0)]);
    assert_eq!(result.metrics[0].unit, "ops/s");
    assert_eq!(
        (result.metrics[0].better, result.metrics[0].kind),
        (Better::Higher, MetricKind::Derived)
    );
    assert_eq!(one(result, 0, "gc.alloc.rate"), (101.0, "MB/s".to_owned()));
    let samples = result.trials[0].samples.as_ref().unwrap();
    let rows: Vec<(u64, f64)> = samples.rows.iter().map(|r| (r.t_ns, r.value)).collect();
    assert_eq!(rows[1], (4_000_000_000, 510_000.0));
    assert_eq!(rows.len(), 4);
    assert!(!result.trials[0].not_seen.is_empty(), "the times are nominal");
    let time = &set.results[1];
    assert!(near(values(time, 0, "time")[0].unwrap(), 2.25e-6));
    assert_eq!(time.metrics[0].unit, "s");
    // Sampled: 3 samples of 2 us and 1 of 4 us; 4 samples of 2.5 us.
    assert_eq!(set.results[2].trials.len(), 1);
    assert!(near(values(&set.results[2], 0, "time")[0].unwrap(), 2.5e-6));
    assert_eq!(result.facts["toolchain.java.version"].value(), Some("21.0.2"));
    assert!(set.results.iter().flat_map(|r| &r.trials).all(|t| t.findings().is_empty()));
}

#[test]
fn figures_that_contradict_each_other_have_no_number() {
    let metric = |text: &str, name: &str| {
        let set = super::read_text(text.as_bytes(), None).unwrap();
        let trial = &set.results[0].trials[0];
        let found: Vec<String> = trial.findings().into_iter().map(|f| f.message).collect();
        (trial.metrics.iter().find(|m| m.name == name).unwrap().value, found.join("; "))
    };
    let memtier = |totals: &str| {
        format!(
            r#"{{"ALL STATS": {{"Runtime": {{"Total duration": 60000}},
                "Gets": {{"Count": 2000000, "Ops/sec": 0,
            "Latency": 19.7}}, "Totals": {{{totals}, "Latency": 19.7}}}}}}"#
        )
    };
    for (totals, says) in [
        (
            r#""Count": 2000000, "Ops/sec": 0"#,
            "the rate of throughput is 0, and its own values give 33333",
        ),
        (r#""Count": 2000000, "Ops/sec": 1234"#, "the rate of throughput is 1234"),
        // Versions that print no count: a latency shows that there were operations.
        (r#""Ops/sec": 0"#, "the rate of throughput is 0, and its own values give 50.7"),
    ] {
        let (value, found) = metric(&memtier(totals), "throughput");
        assert!(value.is_none() && found.contains(says), "{found}");
    }
    let good = memtier(r#""Count": 2000000, "Ops/sec": 33333.3"#);
    assert_eq!(metric(&good, "throughput").0, Some(33333.3));
    // An operation with a count occurred, whatever its rate says.
    let (latency, found) = metric(&good, "Gets.latency.mean");
    assert!(latency.is_some() && found.contains("the rate of Gets.throughput is 0"), "{found}");
    assert_eq!(metric(&good, "Gets.throughput").0, None);
    let fio = |latency: &str| {
        format!(
            r#"{{"fio version": "fio-3.33",
                "jobs": [{{"jobname": "r", "read": {{"io_bytes": 4096000, "bw_bytes": 4096000,
            "iops": 1000, "total_ios": 1000, "runtime": 1000,
                "clat_ns": {{"N": 1000, {latency}}}}}}}]}}"#
        )
    };
    for (latency, says) in [
        (
            r#""min": 1000, "mean": 90000, "max": 50000"#,
            "the mean (at most the maximum) of read.clat is 0.00009",
        ),
        (
            r#""mean": 2000, "percentile": {"50.000000": 3000, "99.000000": 2000}"#,
            "the p50 (at most the p99)",
        ),
        (
            r#""mean": 2000, "percentile": {"99.990000": 17112760320}"#,
            "the largest that its histogram has",
        ),
    ] {
        let (mean, found) = metric(&fio(latency), "read.clat.mean");
        assert!(mean.is_none() && found.contains(says), "{found}");
    }
    let (iops, found) = metric(&fio(r#""min": 1000, "mean": 2000, "max": 50000"#), "iops");
    assert!(iops == Some(1000.0) && found.is_empty(), "{found}");
}

#[test]
fn memtier_totals_are_a_trial_and_runs_trials() {
    let set = read("memtier.json");
    assert_eq!(set.format.name, "memtier");
    let result = &set.results[0];
    assert_eq!(result.trials.len(), 1);
    assert_eq!(one(result, 0, "throughput"), (11_000.0, "ops/s".to_owned()));
    assert_eq!(one(result, 0, "Gets.throughput").0, 10_000.0);
    assert!(near(one(result, 0, "latency.mean").0, 0.41e-3));
    assert!(near(one(result, 0, "Gets.latency.p99").0, 1.2e-3));
    assert!(near(one(result, 0, "latency.p99.9").0, 2.46e-3));
    // A KB is 1024 bytes.
    assert_eq!(one(result, 0, "transfer"), (480.0 * 1024.0, "B/s".to_owned()));
    let idle = result.trials[0].metrics.iter().any(|m| m.name.starts_with("Waits"));
    assert!(!idle, "zeros of nothing");
    assert_eq!(result.treatments[0].params["threads"].to_text(), "4");
    assert!(!result.treatments[0].params.contains_key("unix socket"));
    assert_eq!(read("memtier-runs.json").results[0].trials.len(), 3);
}

#[test]
fn mcperf_totals_are_trials() {
    let set = read("mcperf.txt");
    assert_eq!(set.format.name, "mcperf");
    let result = &set.results[0];
    assert_eq!((result.treatments.len(), result.trials.len()), (2, 2));
    assert_eq!(level(result, 1, "num-conns"), "400");
    assert_eq!(one(result, 0, "throughput"), (8000.0, "ops/s".to_owned()));
    assert!(near(one(result, 0, "latency.p99").0, 5e-3));
    assert!(near(one(result, 0, "latency.mean").0, 1.7e-3));
    assert!(near(one(result, 0, "latency.p99.9").0, 9e-3));
    assert!(near(one(result, 0, "connect_time.mean").0, 0.3e-3));
    assert_eq!(one(result, 0, "transfer").0, 281.2 * 1024.0);
    assert_eq!(one(result, 0, "client_system").0, 1.25);
    assert!(result.trials[0].findings()[0].message.contains("3 errors"));
    assert!(result.trials[1].findings().is_empty());
}

#[test]
fn spec_runs_are_quoted_trials() {
    for name in ["spec.rsf", "spec.csv"] {
        let set = read(name);
        let result = &set.results[0];
        assert_eq!(level(result, 0, "benchmark"), "505.mcf_r", "{name}");
        assert_eq!(level(result, 0, "tune"), "base");
        assert_eq!(result.treatments[0].params["copies"].to_text(), "32");
        assert_eq!(values(result, 0, "ratio"), [Some(128.0), Some(126.7)]);
        assert_eq!(values(result, 0, "time"), [Some(404.0), Some(408.25)]);
        let peak = result.treatments.iter().position(|t| t.levels["tune"].to_text() == "peak");
        assert_eq!(values(result, peak.unwrap(), "ratio"), [Some(66.3)]);
        let metrics = result.trials.iter().flat_map(|t| &t.metrics).chain(&result.run_metrics);
        assert!(metrics.clone().all(|m| m.kind == MetricKind::Quoted));
        assert!(metrics.clone().any(|m| m.name == "SPECrate2017_int_base"));
        assert_eq!(result.facts["cpu.model"].value(), Some("Example Processor 9"));
        // Estimates must be called estimates.
        assert!(result.trials.iter().all(|t| t.findings().iter().any(|f| f.id == "F58")));
        let selected = |t: usize| result.trials[t].notes.iter().any(|n| n.contains("selected"));
        assert!(!selected(0));
    }
    let rsf = &read("spec.rsf").results[0];
    assert_eq!(rsf.trials[3].outcome, TrialOutcome::Invalid);
    assert_eq!(rsf.trials.len(), 4, "a run that was not made is none");
    assert_eq!(rsf.facts["spec.hw_memory"].value(), Some("64 GB (4 x 16 GB)"));
    assert_eq!(read("spec.csv").results[0].trials.len(), 4, "the selected ones count once");
}
