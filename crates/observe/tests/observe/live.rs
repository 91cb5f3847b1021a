//! Compares the monitors' values on this machine with its counters read in another way.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assay_model::SampleSet;
use assay_observe::Sampler;

fn sampler(names: &[&str]) -> Sampler {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    Sampler::start(Path::new("/"), &names, Duration::from_millis(100)).unwrap()
}

/// Returns the sum of value times interval of a rate: the change of its counter since `from_ns`.
fn integral(set: &SampleSet, from_ns: u64, monitor: &str, subject: &str, field: &str) -> f64 {
    let mut before = from_ns;
    let mut sum = 0.0;
    for (t_ns, value) in set.points(monitor, subject, field) {
        sum += value * (t_ns - before) as f64 / 1e9;
        before = t_ns;
    }
    sum
}

/// Returns (reads, KiB read, writes, KiB written) since boot for each device.
fn diskstats() -> BTreeMap<String, [f64; 4]> {
    let text = std::fs::read_to_string("/proc/diskstats").unwrap();
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| words[i].parse::<f64>().unwrap();
        (words[2].to_owned(), [number(3), number(5) / 2.0, number(7), number(9) / 2.0])
    };
    text.lines().map(line).collect()
}

#[test]
fn disks_agree_with_the_kernels_counters() {
    let outer_before = diskstats();
    let sampler = sampler(&["disk"]);
    let start = sampler.newest_ns();
    let inner_before = diskstats();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for _ in 0..8 {
        file.write_all(&vec![7; 64 * 1024]).unwrap();
        file.as_file().sync_all().unwrap();
        sampler.wait_after(sampler.newest_ns(), Duration::from_secs(20)).unwrap();
    }
    let inner_after = diskstats();
    sampler.wait_after(sampler.newest_ns(), Duration::from_secs(20)).unwrap();
    let set = sampler.window(0, u64::MAX);
    let outer_after = diskstats();

    let mut disks: Vec<&str> = set.series.iter().map(|s| s.subject.as_str()).collect();
    disks.dedup();
    if disks.is_empty() {
        println!("skipped: because there is no block device with counters here");
    }
    for disk in disks {
        for (i, field) in ["r/s", "rkB/s", "w/s", "wkB/s"].into_iter().enumerate() {
            // The monitor's readings lie between the inner ones and the outer ones.
            let seen = integral(&set, start, "disk", disk, field);
            let least = inner_after[disk][i] - inner_before[disk][i];
            let most = outer_after[disk][i] - outer_before[disk][i];
            assert!(
                least - 0.5 <= seen && seen <= most + 0.5,
                "{disk} {field}: {seen} is not between {least} and {most}"
            );
        }
    }
}

#[test]
fn cpu_shares_add_up() {
    let sampler = sampler(&["cpu"]);
    for _ in 0..3 {
        sampler.wait_after(sampler.newest_ns(), Duration::from_secs(20)).unwrap();
    }
    let set = sampler.window(0, u64::MAX);
    let mut sums: BTreeMap<(u64, &str), Vec<f64>> = BTreeMap::new();
    for row in &set.rows {
        let key = &set.series[row.series as usize];
        sums.entry((row.t_ns, &key.subject)).or_default().push(row.value);
    }
    let times = sums.keys().filter(|(_, subject)| *subject == "all").count();
    assert!(times >= 3, "{times} intervals");
    for (key, values) in sums {
        let present: Vec<f64> = values.into_iter().filter(|v| !v.is_nan()).collect();
        // In a very short interval a CPU may have had no tick at all, and then has no shares.
        if !present.is_empty() {
            let sum: f64 = present.iter().sum();
            assert!((sum - 100.0).abs() <= 1.0, "{key:?} adds up to {sum}");
        }
    }
}

struct Busy(Child);

impl Busy {
    fn start() -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// Returns the ticks of user time so far: field 14 of the process's `stat`.
    fn user_ticks(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let after_name = stat.rsplit_once(')').unwrap().1;
        after_name.split_whitespace().nth(11).unwrap().parse().unwrap()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_busy_child_shows_as_user_time() {
    let sampler = sampler(&["cpu"]);
    let start = sampler.newest_ns();
    let child = Busy::start();
    while child.user_ticks() < 40.0 {
        sampler.wait_after(sampler.newest_ns(), Duration::from_secs(20)).unwrap();
    }
    let ticks = child.user_ticks();
    sampler.wait_after(sampler.newest_ns(), Duration::from_secs(20)).unwrap();
    let set = sampler.window(0, u64::MAX);
    let cpus =
        set.series.iter().filter(|s| s.field == "user" && s.subject.starts_with("cpu")).count();
    let seen_s = ["user", "nice"]
        .map(|field| integral(&set, start, "cpu", "all", field) / 100.0 * cpus as f64)
        .iter()
        .sum::<f64>();
    let ticks_per_second = rustix::param::clock_ticks_per_second() as f64;
    // The kernel scales a process's user ticks by its exact run time: allow a fifth less.
    assert!(
        seen_s >= 0.8 * ticks / ticks_per_second,
        "{seen_s} s of user time seen, but the child alone had {ticks} ticks of \
        1/{ticks_per_second} s"
    );
}

#[test]
fn every_monitor_records_or_says_why_not() {
    let sampler = sampler(&["all"]);
    let start = sampler.newest_ns();
    sampler.wait_after(start, Duration::from_secs(20)).unwrap();
    let reports = sampler.reports(start + 1, u64::MAX);
    assert_eq!(reports.len(), assay_observe::all().len());
    for report in &reports {
        assert!(report.samples > 0 || !report.not_seen.is_empty(), "{report:?}");
    }
    let none_before = sampler.reports(0, start);
    assert!(none_before.iter().all(|r| r.samples == 0 && !r.not_seen.is_empty()));
    let memory = sampler.window(0, u64::MAX).points("memory", "", "total");
    assert!(memory[0].1 > 1e6, "{memory:?}");
}
