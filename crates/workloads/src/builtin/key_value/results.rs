//! Results of a load run as events: metrics, histograms and series over time.

use assay_loadgen::config::{Config, Mode};
use assay_loadgen::latency::report::Errors;
use assay_loadgen::{LoadReport, Operation};
use assay_model::{Event, Load, MetricKind};
use hdrhistogram::Histogram;

use crate::builtin::key_value::dialect::Dialect;
use crate::builtin::key_value::server_side::ServerCounters;
use crate::driver::response_times::{self, quantile};
use crate::driver::work::{Channel, Curve};

/// Maximum number of samples in a series.
const SAMPLES: usize = 600;

/// Returns the response times of gets: hits and misses of all classes.
fn gets(report: &LoadReport) -> Histogram<u64> {
    let mut times = report.times(Some(Operation::GetHit));
    times += &report.times(Some(Operation::GetMiss));
    times
}

/// Sends the metrics of a run. `seen` holds the server's counters around its window, `errors` the
/// errors of all runs of the trial.
pub fn metrics(
    dialect: &Dialect,
    report: &LoadReport,
    seen: &ServerCounters,
    (errors, answered): (&Errors, u64),
    channel: &mut Channel,
) {
    let gets = gets(report);
    let window = Some(report.window_s()).filter(|w| *w > 0.0);
    let per_s = |bytes: u64| window.map(|w| bytes as f64 / w);
    let of_gets = |q| quantile(&gets, report.unanswered, q);
    let answers = report.completed();
    let cpu = seen.window_cpu_s(dialect).filter(|_| answers > 0).map(|s| s * 1e6 / answers as f64);
    let also = dialect.also.iter();
    let also = also.map(|(metric, name)| (*metric, seen.window_count(name).map(|n| n as f64)));
    let rows = [
        ("throughput", report.throughput().filter(|_| answers > 0)),
        ("p50", of_gets(0.5)),
        ("p99", of_gets(0.99)),
        ("p99.9", of_gets(0.999)),
        ("set_p99", quantile(&report.times(Some(Operation::Set)), report.unanswered, 0.99)),
        ("hit_ratio", report.hit_ratio()),
        ("bytes_in", per_s(report.bytes_in)),
        ("bytes_out", per_s(report.bytes_out)),
        ("client_cpu", report.cpu_us_per_operation()),
        ("client_busy", report.limit.generator_busy),
        ("server_cpu", cpu),
        ("server_busy", report.limit.server.map(|used| used.busiest)),
        ("server_cpus", report.limit.server.map(|used| used.cpus)),
        ("evictions", seen.window_count(dialect.evictions).map(|n| n as f64)),
        ("timed_out", Some(report.unanswered as f64)),
    ];
    channel
        .metrics((dialect.spec)(), rows.into_iter().chain(also).chain(failures(errors, answered)));
}

/// Returns the wrong and missing answers of a whole trial as metrics; `answered` is the number of
/// its correct answers.
pub fn failures(errors: &Errors, answered: u64) -> [(&'static str, Option<f64>); 4] {
    let (wrong, missing) = (errors.wrong() as f64, errors.missing() as f64);
    let all = (answered + errors.total()) as f64;
    let share = |n: f64| (all > 0.0).then(|| n / all);
    [
        ("errors", Some(wrong)),
        ("missing", Some(missing)),
        ("error_rate", share(wrong)),
        ("missing_rate", share(missing)),
    ]
}

/// Returns a histogram of response times as an event, with the names of the metrics (or, if `at` is
/// a rate, of the curves) that are percentiles of it. Unanswered operations count in every
/// histogram regardless of their kind, as in every percentile of the trial.
fn histogram(
    name: String,
    times: &Histogram<u64>,
    (report, config): (&LoadReport, &Config),
    percentiles: &[(&str, f64)],
    at: Option<f64>,
) -> Option<Event> {
    let load = match config.mode {
        Mode::Closed { .. } => Load::Closed,
        Mode::Open { .. } => Load::Open,
    };
    response_times::histogram(name, times, report.unanswered, percentiles, at, load)
}

/// Percentiles of gets that are reported as metrics and as curves over the rate.
const OF_GETS: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

/// Sends the histograms of response times: `response_time.OPERATION.CLASS` for each pair, and those
/// merged over all classes for gets and sets.
pub fn histograms(report: &LoadReport, config: &Config, channel: &mut Channel) {
    let both = (report, config);
    let cells = report.cells.iter().map(|cell| {
        let class = match cell.operation {
            // These have no class of their own.
            Operation::Increment | Operation::MultiGet => String::new(),
            _ => format!(".{}", cell.class),
        };
        let name = format!("response_time.{}{class}", cell.operation.name());
        histogram(name, &cell.times, both, &[], None)
    });
    let sets = report.times(Some(Operation::Set));
    let merged = [
        histogram("response_time.get".into(), &gets(report), both, &OF_GETS, None),
        histogram("response_time.set".into(), &sets, both, &[("set_p99", 0.99)], None),
    ];
    for event in cells.chain(merged).flatten() {
        channel.send(&event);
    }
}

/// Sends the series over time, ramps included, up to the end of the run.
pub fn series(report: &LoadReport, channel: &mut Channel) {
    let width = report.bin.as_nanos() as u64;
    let together = report.series.len().div_ceil(SAMPLES).max(1);
    for (i, bins) in report.series.chunks(together).enumerate() {
        let from = report.series_start_ns + (i * together) as u64 * width;
        let t_ns = from + bins.len() as u64 * width;
        let seconds = (bins.len() as u64 * width) as f64 * 1e-9;
        let answers: u64 = bins.iter().map(|b| b.operations).sum();
        let time: u64 = bins.iter().map(|b| b.time_sum_ns).sum();
        let longest = bins.iter().map(|b| b.time_max_ns).max().unwrap_or(0);
        let errors: u64 = bins.iter().map(|b| b.errors).sum();
        let some = |value: f64| (answers > 0).then_some(value);
        let rows = [
            ("throughput", Some(answers as f64 / seconds), "ops/s"),
            ("response_time_mean", some(time as f64 / answers as f64 * 1e-9), "s"),
            ("response_time_max", some(longest as f64 * 1e-9), "s"),
            ("errors", Some(errors as f64), "1"),
        ];
        for (sample, value, unit) in rows {
            channel.sample(sample, t_ns, value, unit);
        }
    }
}

/// Sends the heat map of response times: all correct answers of any operation by arrival time,
/// ramps included.
pub fn heat(report: &LoadReport, channel: &mut Channel) {
    response_times::heat(&report.heat, report.series_start_ns, report.bin, channel);
}

/// Sends a run at `rate` as a point of each curve over the rate, with its histogram.
pub fn point(rate: f64, report: &LoadReport, config: &Config, channel: &mut Channel) {
    let gets = gets(report);
    // `Derived`, because they are read from histograms of the measured times. They are lowest at
    // the lowest rate, so no rate may be chosen by them.
    let of_gets = OF_GETS
        .map(|(name, q)| (name, quantile(&gets, report.unanswered, q), "s", MetricKind::Derived));
    let throughput = ("throughput", report.throughput(), "ops/s", MetricKind::Measured);
    let name = format!("response_time.get@{rate}");
    if let Some(event) = histogram(name, &gets, (report, config), &OF_GETS, Some(rate)) {
        channel.send(&event);
    }
    for (name, value, unit, kind) in std::iter::once(throughput).chain(of_gets) {
        let curve = Curve { name, unit, x_name: "rate", x_unit: "ops/s", kind: Some(kind) };
        let value = value.filter(|v| v.is_finite());
        channel.points(&curve, value.map(|v| [rate, v]));
    }
}
