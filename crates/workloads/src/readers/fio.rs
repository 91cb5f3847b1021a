//! fio's JSON. A job is a treatment. A reporting group is a trial, because the jobs of a group may
//! run at the same time: their rates are added, and their latencies are imported only if fio itself
//! merged them (`group_reporting`). `bw` is in KiB/s and `bw_bytes` in B/s; latencies are in
//! nanoseconds, before fio 3.0 in microseconds.

use std::collections::BTreeMap;

use assay_model::{Better, Load, MetricSpec, MetricValue, Observation, Scalar};

use crate::readers::prelude::*;

const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// Upper end of fio's latency histograms in seconds: 29 groups of nanoseconds; before fio 3.0, 19
/// groups of microseconds (`FIO_IO_U_PLAT_GROUP_NR`).
const CEILING: f64 = 17.112;
const OLD_CEILING: f64 = 16.711;

struct FioJob<'a> {
    name: &'a str,
    json: Json<'a>,
    /// The directions in which the job did I/O.
    directions: Vec<Direction<'a>>,
}

struct Direction<'a> {
    name: &'static str,
    json: Json<'a>,
    kib: Option<f64>,
    bytes: Option<f64>,
    iops: Option<f64>,
    operations: Option<f64>,
}

impl<'a> FioJob<'a> {
    fn from_json(json: Json<'a>) -> Result<Self, Flaw> {
        let all = DIRECTIONS.into_iter().map(|name| Direction::from_json(name, json.get(name)));
        let all: Vec<Option<Direction<'a>>> = all.collect::<Result<_, Flaw>>()?;
        let directions = all.into_iter().flatten().collect();
        Ok(FioJob { name: json.name("jobname")?, directions, json })
    }

    fn options(&self) -> Result<BTreeMap<String, Scalar>, Flaw> {
        self.json.get("job options").scalars()
    }
}

impl<'a> Direction<'a> {
    /// Reads a direction; `None` if it had no I/O.
    fn from_json(name: &'static str, json: Json<'a>) -> Result<Option<Self>, Flaw> {
        let rate = |field: &str| {
            let rate = json.get(field);
            match rate.number()? {
                Some(v) if v < 0.0 => Err(rate.flaw(format!("{v} is not a rate"))),
                other => Ok(other),
            }
        };
        let (kib, bytes, iops) = (rate("bw")?, rate("bw_bytes")?, rate("iops")?);
        for field in ["lat_ns", "clat_ns", "clat"] {
            let mean = json.get(field).get("mean");
            if let Some(v) = mean.number()?.filter(|v| *v < 0.0) {
                return Err(mean.flaw(format!("{v} is not a latency")));
            }
        }
        let operations = json.get("total_ios").number()?;
        let done = operations.or(json.get("io_bytes").number()?).unwrap_or(0.0) > 0.0;
        Ok(done.then_some(Direction { name, json, kib, bytes, iops, operations }))
    }

    /// Returns the rate in bytes per second; older versions report only KiB/s.
    fn rate(&self) -> Option<f64> {
        self.bytes.or(self.kib.map(|kib| kib * 1024.0))
    }
}

pub(crate) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["fio version"])
}

pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value_at(bytes, "\n{")?;
    let file = Json::root(&file);
    let list = file.get("jobs");
    let jobs = list.entries()?.into_iter().map(FioJob::from_json).collect::<Result<Vec<_>, _>>()?;
    if jobs.is_empty() {
        return Err(list.flaw("it holds no job"));
    }
    let seconds = file.get("timestamp").number()?;
    let started = file.get("timestamp_ms").number()?.or(seconds.map(|s| s * 1000.0));
    let started = started.and_then(|ms| jiff::Timestamp::from_millisecond(ms as i64).ok());
    let mut result = ForeignResult {
        tool: "fio",
        version: file.get("fio version").text()?.map(|v| v.trim_start_matches("fio-").to_owned()),
        workload: "fio",
        metrics: vec![
            unit::metric("throughput", "B/s", Better::Higher, "read, written and trimmed together"),
            unit::metric("iops", "IO/s", Better::Higher, "reads, writes and trims together"),
        ],
        measured_at: started.map(|t| t.to_string()),
        notes: vec![
            "fio's JSON does not record when each job ran. Percentiles are those of fio's own \
             buckets."
                .to_owned(),
        ],
        ..ForeignResult::default()
    };
    let global = file.get("global options").scalars()?;
    let mut groups: BTreeMap<u32, Vec<FioJob<'_>>> = BTreeMap::new();
    for job in jobs {
        let id = job.json.get("groupid").amount()?.unwrap_or(0.0);
        groups.entry(id as u32).or_default().push(job);
    }
    for jobs in groups.values() {
        let trial = trial(&mut result, &global, jobs)?;
        result.trials.push(trial);
    }
    Ok(vec![result])
}

/// Reads a group of jobs as a trial.
fn trial(
    result: &mut ForeignResult,
    global: &BTreeMap<String, Scalar>,
    jobs: &[FioJob<'_>],
) -> Result<ForeignTrial, Flaw> {
    let mut names: Vec<&str> = Vec::new();
    for job in jobs {
        if !names.contains(&job.name) {
            names.push(job.name);
        }
    }
    let mut params = global.clone();
    for job in jobs {
        for (key, level) in job.options()?.into_iter().filter(|(key, _)| key != "name") {
            // The options of jobs in one group are distinguished by the job's name.
            let key = if names.len() == 1 { key } else { format!("{}.{key}", job.name) };
            params.insert(key, level);
        }
    }
    let levels = BTreeMap::from([(BENCHMARK.to_owned(), Scalar::Text(names.join(" + ")))]);
    let treatment = result.treatment(ForeignTreatment { levels, params });
    let mut trial = ForeignTrial::new(treatment, rates(jobs, &DIRECTIONS, &result.metrics, ""));
    trial.started_at = result.measured_at.clone().unwrap_or_default();
    for direction in DIRECTIONS {
        let prefix = format!("{direction}.");
        let rates = rates(jobs, &[direction], &result.metrics, &prefix).into_iter();
        trial.metrics.extend(rates.filter(|m| m.value.is_some()));
        if let [job] = jobs
            && let Some(d) = job.directions.iter().find(|d| d.name == direction)
        {
            latencies(&mut trial, d)?;
        }
    }
    let directions = || jobs.iter().flat_map(|j| &j.directions);
    for d in directions() {
        let number = |field: &str| d.json.get(field).number();
        let seconds = number("runtime")?.map(|ms| ms * 1e-3);
        // `io_bytes` is in KiB in versions without `bw_bytes`. Both rates are whole numbers that
        // fio rounds separately.
        let of = |count: Option<f64>, seconds| Figures {
            rate: d.bytes,
            count,
            seconds,
            resolution: 1024.0,
            ..Figures::default()
        };
        let by_time = of(number("io_bytes")?, seconds);
        let by_bw = of(d.kib.map(|kib| kib * 1024.0), Some(1.0));
        let iops = Figures { rate: d.iops, count: d.operations, seconds, ..Figures::default() };
        for figures in [by_time, by_bw] {
            trial.hold(&[&format!("{}.throughput", d.name), "throughput"], &figures);
        }
        trial.hold(&[&format!("{}.iops", d.name), "iops"], &iops);
    }
    if let [job] = jobs {
        for (name, field) in [("user CPU", "usr_cpu"), ("system CPU", "sys_cpu")] {
            let Some(share) = job.json.get(field).number()? else { continue };
            let spec = unit::metric(name, "%", Better::Neither, "");
            trial.metrics.push(value(&spec, Some(share)));
        }
        let own = job.options()?;
        let limited =
            ["rate", "rate_iops"].iter().any(|k| global.contains_key(*k) || own.contains_key(*k));
        let load = if limited { Load::Open } else { Load::Closed };
        let samples = directions().filter_map(|d| d.operations).reduce(f64::min);
        // fio measures latency from the issue of an operation, not from when it was due.
        let slips_charged = false;
        let samples = samples.map(|n| n as u64);
        trial.evidence.push(Observation::Sending { load, slips_charged, samples });
    } else {
        trial.notes.push(format!(
            "{} jobs of one group, which may have run at the same time: their rates are added, and \
             latencies are left out, since percentiles cannot be added; fio merges them with \
             group_reporting",
            jobs.len()
        ));
    }
    for job in jobs {
        let error = job.json.get("error").number()?.unwrap_or(0.0);
        if error != 0.0 && trial.error.is_empty() {
            trial.fail(format!("fio reports error {error} for the job {}", job.name));
        }
    }
    Ok(trial)
}

/// Sums the jobs' bytes and operations per second in these directions; `None` if a job reported no
/// rate or if there was no I/O.
fn rates(
    jobs: &[FioJob<'_>],
    wanted: &[&str],
    specs: &[MetricSpec],
    prefix: &str,
) -> Vec<MetricValue> {
    let directions =
        || jobs.iter().flat_map(|j| &j.directions).filter(|d| wanted.contains(&d.name));
    let of: [fn(&Direction<'_>) -> Option<f64>; 2] = [|d| d.rate(), |d| d.iops];
    let rate = |(spec, of): (&MetricSpec, fn(&Direction<'_>) -> Option<f64>)| {
        let spec = MetricSpec { name: format!("{prefix}{}", spec.name), ..spec.clone() };
        let found: Option<Vec<f64>> = directions().map(of).collect();
        value(&spec, found.filter(|v| !v.is_empty()).map(|v| v.iter().sum()))
    };
    specs.iter().zip(of).map(rate).collect()
}

fn latencies(trial: &mut ForeignTrial, direction: &Direction<'_>) -> Result<(), Flaw> {
    for (short, ns, us) in [("latency", "lat_ns", "lat"), ("clat", "clat_ns", "clat")] {
        let (ns, us) = (direction.json.get(ns), direction.json.get(us));
        let (latency, factor) = if ns.value().is_null() { (us, 1e-6) } else { (ns, 1e-9) };
        if latency.get("N").number()? == Some(0.0) {
            continue;
        }
        let mut add = |name: &str, json: &Json<'_>| -> Result<(), Flaw> {
            let name = format!("{}.{short}.{name}", direction.name);
            let spec = unit::metric(&name, "s", Better::Lower, "");
            trial.metrics.extend(json.number()?.map(|v| value(&spec, Some(v * factor))));
            Ok(())
        };
        add("mean", &latency.get("mean"))?;
        add("min", &latency.get("min"))?;
        add("max", &latency.get("max"))?;
        for (percent, json) in latency.get("percentile").fields() {
            let percent = percent.trim_end_matches('0').trim_end_matches('.');
            add(&format!("p{percent}"), &json)?;
        }
        let name = format!("{}.{short}", direction.name);
        let figures = Figures {
            ceiling: Some(if factor == 1e-9 { CEILING } else { OLD_CEILING }),
            // Versions with microseconds print whole microseconds.
            resolution: factor,
            ..Figures::of_metrics(&trial.metrics, &name)
        };
        trial.hold(&[&name], &figures);
    }
    Ok(())
}
