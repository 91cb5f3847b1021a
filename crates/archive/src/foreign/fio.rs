//! fio's JSON. A job is a treatment; a reporting group is a trial, since the jobs of a group may run at
//! the same time: their rates are added, and their latencies are given only where fio itself merged
//! them (`group_reporting`). `bw` is KiB/s and `bw_bytes` B/s; latencies are nanoseconds, those of
//! fio before 3.0 microseconds.

use std::collections::BTreeMap;

use assay_model::{Better, Load, MetricSpec, MetricValue, Observation, Scalar};
use serde::Deserialize;

use super::decode::Bounded;
use super::error::Flaw;
use super::result::{
    BENCHMARK, ForeignResult, ForeignTreatment, ForeignTrial, MAX_ENTRIES, disagreement, value,
};
use super::shape::Shape;
use super::{decode, unit};

#[derive(Deserialize)]
struct File {
    #[serde(rename = "fio version")]
    version: Option<String>,
    timestamp_ms: Option<i64>,
    timestamp: Option<i64>,
    #[serde(rename = "global options", default)]
    global: BTreeMap<String, String>,
    jobs: Bounded<Job, MAX_ENTRIES>,
}

#[derive(Deserialize)]
struct Job {
    jobname: String,
    #[serde(default)]
    groupid: u32,
    #[serde(default)]
    error: i64,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, String>,
    read: Option<Direction>,
    write: Option<Direction>,
    trim: Option<Direction>,
    usr_cpu: Option<f64>,
    sys_cpu: Option<f64>,
}

#[derive(Deserialize)]
struct Direction {
    io_bytes: Option<f64>,
    bw_bytes: Option<f64>,
    bw: Option<f64>,
    iops: Option<f64>,
    total_ios: Option<f64>,
    lat_ns: Option<Latency>,
    clat_ns: Option<Latency>,
    lat: Option<Latency>,
    clat: Option<Latency>,
}

#[derive(Deserialize)]
struct Latency {
    mean: Option<f64>,
    max: Option<f64>,
    #[serde(rename = "N")]
    n: Option<f64>,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

impl Direction {
    /// Bytes a second; older versions give KiB/s alone.
    fn bytes(&self) -> Option<f64> {
        self.bw_bytes.or(self.bw.map(|kib| kib * 1024.0))
    }

    fn did_something(&self) -> bool {
        self.total_ios.or(self.io_bytes).unwrap_or(0.0) > 0.0
    }
}

impl Job {
    /// What it did, by direction.
    fn directions(&self) -> impl Iterator<Item = (&'static str, &Direction)> {
        [("read", &self.read), ("write", &self.write), ("trim", &self.trim)]
            .into_iter()
            .filter_map(|(name, d)| Some((name, d.as_ref()?)))
            .filter(|(_, d)| d.did_something())
    }
}

pub(super) fn detect(bytes: &[u8]) -> bool {
    Shape::of(bytes).has(&["fio version"])
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file: File = decode::json_after_text(bytes)?;
    let jobs = &file.jobs.0;
    if jobs.is_empty() {
        return Err(Flaw::field("jobs", "it holds no job"));
    }
    let started = file.timestamp_ms.or(file.timestamp.map(|s| s.saturating_mul(1000)));
    let mut result = ForeignResult {
        tool: "fio",
        version: file.version.as_deref().map(|v| v.trim_start_matches("fio-").to_owned()),
        workload: "fio",
        metrics: vec![
            unit::metric("throughput", "B/s", Better::Higher, "read, written and trimmed together"),
            unit::metric("iops", "IO/s", Better::Higher, "reads, writes and trims together"),
        ],
        measured_at: started
            .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
            .map(|t| t.to_string()),
        ..ForeignResult::default()
    };
    let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, job) in jobs.iter().enumerate() {
        check(job, &format!("jobs[{i}]"))?;
        groups.entry(job.groupid).or_default().push(i);
    }
    for indices in groups.values() {
        let of_group: Vec<&Job> = indices.iter().map(|i| &jobs[*i]).collect();
        group(&mut result, &file.global, &of_group);
    }
    result.notes.push(
        "fio's JSON does not record when each job ran. Percentiles are those of fio's own \
         buckets."
            .to_owned(),
    );
    Ok(vec![result])
}

fn check(job: &Job, path: &str) -> Result<(), Flaw> {
    for (name, d) in [("read", &job.read), ("write", &job.write), ("trim", &job.trim)] {
        let Some(d) = d else { continue };
        for (field, rate) in [("bw_bytes", d.bw_bytes), ("bw", d.bw), ("iops", d.iops)] {
            if rate.is_some_and(|v| v < 0.0) {
                let message = format!("no rate is {}", rate.unwrap_or_default());
                return Err(Flaw::field(format!("{path}.{name}.{field}"), message));
            }
        }
        let latencies = [("lat_ns", &d.lat_ns), ("clat_ns", &d.clat_ns), ("clat", &d.clat)];
        for (field, latency) in latencies {
            let mean = latency.as_ref().and_then(|l| l.mean).filter(|v| *v < 0.0);
            if let Some(mean) = mean {
                let path = format!("{path}.{name}.{field}.mean");
                return Err(Flaw::field(path, format!("no latency is {mean}")));
            }
        }
    }
    Ok(())
}

/// One trial: a group of jobs.
fn group(result: &mut ForeignResult, global: &BTreeMap<String, String>, jobs: &[&Job]) {
    let mut names: Vec<&str> = Vec::new();
    let mut params: BTreeMap<String, Scalar> =
        global.iter().map(|(k, v)| (k.clone(), Scalar::parse(v))).collect();
    for job in jobs {
        if !names.contains(&job.jobname.as_str()) {
            names.push(&job.jobname);
        }
    }
    for job in jobs {
        for (key, text) in job.options.iter().filter(|(key, _)| *key != "name") {
            // Options of jobs side by side are distinguished by the job's name.
            let one = names.len() == 1;
            let key = if one { key.clone() } else { format!("{}.{key}", job.jobname) };
            params.insert(key, Scalar::parse(text));
        }
    }
    let level = (BENCHMARK.to_owned(), Scalar::Text(names.join(" + ")));
    let treatment = ForeignTreatment { levels: BTreeMap::from([level]), params };
    let treatment = result.treatment(treatment);
    let mut trial = ForeignTrial::new(treatment, Vec::new());
    trial.started_at = result.measured_at.clone().unwrap_or_default();
    let specs: Vec<MetricSpec> = result.metrics[..2].to_vec();
    for (spec, of) in specs.iter().zip([Direction::bytes, |d: &Direction| d.iops]) {
        trial.metrics.push(value(spec, total(jobs, |_| true, of)));
    }
    for direction in ["read", "write", "trim"] {
        trial.metrics.extend(of_direction(jobs, direction, &specs));
    }
    if let [job] = jobs {
        let shares = [("user CPU", job.usr_cpu), ("system CPU", job.sys_cpu)];
        trial.metrics.extend(shares.into_iter().filter_map(|(name, share)| {
            let help = "share of one CPU's time, of the job's processes";
            Some(value(&unit::metric(name, "%", Better::Neither, help), Some(share?)))
        }));
    } else {
        trial.notes.push(format!(
            "{} jobs of one group, which may have run at the same time: their rates are added, and \
             latencies are left out, since percentiles cannot be added; fio merges them with \
             group_reporting",
            jobs.len()
        ));
    }
    for (_, d) in jobs.iter().flat_map(|j| j.directions()) {
        if let (Some(kib), Some(bytes)) = (d.bw, d.bw_bytes)
            // Both are whole numbers, rounded on their own.
            && (kib * 1024.0 - bytes).abs() > 1024.0
        {
            trial.evidence.extend(disagreement("`bw_bytes` is", bytes, kib * 1024.0));
        }
    }
    if let [job] = jobs {
        let limited = |options: &BTreeMap<String, String>| {
            ["rate", "rate_iops"].iter().any(|key| options.contains_key(*key))
        };
        let load = if limited(global) || limited(&job.options) { Load::Open } else { Load::Closed };
        let samples = job.directions().filter_map(|(_, d)| d.total_ios).reduce(f64::min);
        // fio takes a latency from when an operation is issued, not from when it was due.
        let slips_charged = false;
        let samples = samples.map(|n| n as u64);
        trial.evidence.push(Observation::Sending { load, slips_charged, samples });
    }
    if let Some(job) = jobs.iter().find(|j| j.error != 0) {
        trial.fail(format!("fio reports error {} for the job {}", job.error, job.jobname));
    }
    result.trials.push(trial);
}

/// The sum over the jobs' directions of that name; `None` when nothing was done or reported.
fn total(
    jobs: &[&Job],
    wanted: impl Fn(&str) -> bool,
    of: impl Fn(&Direction) -> Option<f64>,
) -> Option<f64> {
    let found: Option<Vec<f64>> = jobs
        .iter()
        .flat_map(|j| j.directions())
        .filter(|(name, _)| wanted(name))
        .map(|(_, d)| of(d))
        .collect();
    found.filter(|v| !v.is_empty()).map(|v| v.iter().sum())
}

fn of_direction(jobs: &[&Job], direction: &str, specs: &[MetricSpec]) -> Vec<MetricValue> {
    let mut out = Vec::new();
    for (spec, of) in specs.iter().zip([Direction::bytes, |d: &Direction| d.iops]) {
        let name = format!("{direction}.{}", spec.name);
        let spec = MetricSpec { name, ..spec.clone() };
        out.extend(total(jobs, |n| n == direction, of).map(|v| value(&spec, Some(v))));
    }
    let [job] = jobs else { return out };
    let Some((_, d)) = job.directions().find(|(name, _)| *name == direction) else { return out };
    for (short, ns, us) in [("latency", &d.lat_ns, &d.lat), ("clat", &d.clat_ns, &d.clat)] {
        let (latency, factor) = match (ns, us) {
            (Some(l), _) => (l, 1e-9),
            (None, Some(l)) => (l, 1e-6),
            (None, None) => continue,
        };
        if latency.n == Some(0.0) {
            continue;
        }
        let mut push = |what: String, amount: f64| {
            let name = format!("{direction}.{short}.{what}");
            let spec = unit::metric(&name, "s", Better::Lower, "latency, as fio takes it");
            out.push(value(&spec, Some(amount * factor)));
        };
        for (what, amount) in [("mean", latency.mean), ("max", latency.max)] {
            if let Some(amount) = amount {
                push(what.to_owned(), amount);
            }
        }
        for (percent, amount) in &latency.percentile {
            let short = percent.trim_end_matches('0').trim_end_matches('.');
            push(format!("p{short}"), *amount);
        }
    }
    out
}
