//! Points at a rate: the search for the highest rate that keeps the limit, and the response times
//! with the pauses of the collectors.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use assay_loadgen::{RatePoint, SearchBound, search};
use assay_model::{LimitedBy, Load, Observation, units};

use super::trial::OrdersTrial;
use super::{SCORE, pauses, spec};
use crate::Failure;
use crate::builtin::orders::instance::Hello;
use crate::builtin::orders::params::{Limit, OrdersParams};
use crate::builtin::orders::pauses::Pause;
use crate::builtin::orders::response::Responses;
use crate::builtin::orders::result::{MeasuredPoint, Points, Window};
use crate::builtin::orders::schedule::PlannedPoint;
use crate::driver::copies::ProcessGroup;
use crate::driver::response_times;
use crate::driver::work::Channel;

/// Percentiles of the response times that are metrics.
const PERCENTILES: [(&str, f64); 4] = [
    ("response_p50", 0.5),
    ("response_p99", 0.99),
    ("response_p99.9", 0.999),
    ("response_p99.99", 0.9999),
];
/// Bounds of the number of columns of the series of response times, and the requests that a column
/// needs for a 99th percentile, with room for the chance of an exponential spacing.
const COLUMNS: (u64, u64) = (20, 240);
const COLUMN_REQUESTS: f64 = 1100.0;
/// Least width of a column, ns.
const COLUMN_NS: u64 = 50_000_000;
/// Share of late requests from which the trial has a note about them.
const LATE: f64 = 0.01;

/// Returns the width of a column of the series over time in ns.
fn column_ns(rate: f64, window: &Window) -> u64 {
    let whole = window.stop - window.begin;
    let enough = (COLUMN_REQUESTS / rate * 1e9) as u64;
    enough.min(whole / COLUMNS.0).max(whole.div_ceil(COLUMNS.1)).max(COLUMN_NS)
}

/// Returns the kit's command that starts a point, at a rate of all instances or without one.
pub(super) fn command(params: &OrdersParams, rate: Option<f64>, w: &Window) -> String {
    let moments = format!("{} {} {} {}", w.begin, w.start, w.end, w.stop);
    let Some(rate) = rate else { return format!("go {moments}") };
    let spacing = if params.even { "even" } else { "exponential" };
    let each = rate / params.instances as f64;
    format!("serve {moments} {each} {spacing} {} {}", params.queue, column_ns(rate, w))
}

/// Measures the point at the rate, after the search for that rate if there is one.
pub(super) fn points(
    trial: &mut OrdersTrial<'_>,
    crew: &mut ProcessGroup,
    warehouses: u32,
) -> Result<Vec<MeasuredPoint>, Failure> {
    let length = trial.params.lengths().scored;
    let point = |rate, scored| PlannedPoint { warehouses, length, scored, rate };
    let mut all = Vec::new();
    let rate = match &trial.params.limit {
        Some(limit) if trial.params.search => {
            // The virtual machines warm up in it, and it gives the search its first rate.
            all.push(trial.point(crew, point(None, false), "")?);
            let closed = all[0].total();
            trial.channel.note(format!("without a rate: {}", units::format_value(closed, SCORE)));
            let first = if trial.params.rate > 0.0 { trial.params.rate } else { closed / 2.0 };
            find(trial, limit, first, &mut |trial, rate| {
                all.push(trial.point(crew, point(Some(rate), false), "")?);
                Ok(all[all.len() - 1].responses())
            })?
        }
        _ => trial.params.rate,
    };
    all.push(trial.point(crew, point(Some(rate), true), trial.params.fault)?);
    Ok(all)
}

/// Measures a rate of all instances.
type Measure<'a> = dyn FnMut(&mut OrdersTrial<'_>, f64) -> Result<Option<Responses>, Failure> + 'a;

/// Returns the highest rate that keeps `limit`; notes every step.
fn find(
    trial: &mut OrdersTrial<'_>,
    limit: &Limit,
    first: f64,
    measure: &mut Measure<'_>,
) -> Result<f64, Failure> {
    let (stop, precision) = (trial.stop, trial.params.precision);
    let Limit { quantile, most, ref text } = *limit;
    let limit_ns = most.as_nanos() as u64;
    let bound = SearchBound { quantile, limit_ns, precision, ..SearchBound::default() };
    let trial = RefCell::new(trial);
    let mut steps = 0;
    let mut run = |rate: f64| {
        let responses = measure(&mut trial.borrow_mut(), rate)?;
        let time = responses.as_ref().and_then(|r| r.quantile(quantile));
        Ok(RatePoint {
            rate,
            bound_ns: time.map(|s| (s * 1e9) as u64),
            kept: responses.as_ref().is_some_and(|r| r.unanswered == 0),
            answered: responses.map_or(0, |r| r.times.len()),
            errors: assay_loadgen::latency::report::Errors::default(),
        })
    };
    let mut note = |point: &RatePoint, kept: bool| {
        steps += 1;
        let channel = &mut *trial.borrow_mut().channel;
        channel.progress(f64::from(steps) / f64::from(bound.most_steps + 1));
        let time = point.bound_ns.map(|ns| ns as f64 * 1e-9);
        channel.note(format!(
            "step {steps}: at {}: {}, {}",
            orders(point.rate),
            percentile(quantile, time),
            match (kept, point.kept) {
                (true, _) => "kept",
                (false, true) => "too long",
                (false, false) => "the rate was not held",
            }
        ));
    };
    let found = search::<Failure>(first, bound, stop, &mut run, &mut note)?;
    let answer = response_times::answer(&found, text, SCORE);
    let remedy = "; raise `limit`, or `heap` if collections-N.log has long pauses";
    let best = found.best.ok_or_else(|| Failure::other(answer.clone() + remedy))?;
    trial.into_inner().channel.note(answer);
    Ok(best.rate)
}

fn orders(rate: f64) -> String {
    units::format_value(rate, SCORE)
}

fn percentile(quantile: f64, seconds: Option<f64>) -> String {
    let time = seconds.map_or("missing".to_owned(), |s| units::format_value(s, "s"));
    format!("p{} {time}", (quantile * 1e6).round() / 1e4)
}

/// Sends the response times of the scored point at a rate; nothing without a rate.
pub(super) fn report(
    points: &Points,
    params: &OrdersParams,
    hello: &[Hello],
    keep: &Path,
    channel: &mut Channel,
) {
    let Some((point, rate)) = points.at_rate() else { return };
    let Some(responses) = point.responses() else { return };
    let window = &point.window;
    let log = |i| keep.join(format!("collections-{i}.log"));
    let logs = (1..=params.instances).map(|i| pauses::read(&log(i)));
    let stopped = logs.collect::<Option<Vec<_>>>().map(|all| all.concat());
    let late = (responses.offered > 0).then(|| responses.late as f64 / responses.offered as f64);
    let rows = [
        ("response_max", (responses.max_ns > 0).then_some(responses.max_ns as f64 * 1e-9)),
        ("offered", Some(responses.offered as f64 / window.seconds())),
        ("unanswered", Some(responses.unanswered as f64)),
        ("late_share", late),
        ("collection_pause", longest(stopped.as_ref(), window.start, window.end)),
    ];
    let percentiles = PERCENTILES.map(|(name, q)| (name, responses.quantile(q)));
    let found = params.search.then_some(("max_rate", Some(rate)));
    channel.metrics(spec(), percentiles.into_iter().chain(rows).chain(found));
    let (times, lost) = (&responses.times, responses.unanswered);
    let name = "response_time".to_owned();
    if let Some(event) =
        response_times::histogram(name, times, lost, &PERCENTILES, None, Load::Open)
    {
        channel.send(&event);
    }
    over_time(&responses, window, column_ns(rate, window), stopped.as_ref(), channel);
    held(point, rate, &responses, channel);
    if let Some(Limit { quantile, most, text }) = params.limit.as_ref() {
        let time = responses.quantile(*quantile);
        let verdict = match time {
            Some(time) if time <= most.as_secs_f64() => "kept",
            Some(_) => "broken",
            None => "unknown",
        };
        channel.note(format!("the limit {text}: {}, {verdict}", percentile(*quantile, time)));
    }
    if let Some(late) = late.filter(|late| *late > LATE) {
        channel.note(format!(
            "sleeping threads saw {:.1} % of the transactions more than 1 ms late, because other \
             work had their CPU or a collection stopped them; response times include this",
            late * 100.0
        ));
    }
    if stopped.is_none() {
        channel.note("the pauses of the collector are unknown: HotSpot did not write its log");
    }
    if hello.iter().any(|h| h.processors == 1) {
        channel
            .note("a virtual machine has one CPU: requests, transactions and collector share it");
    }
}

/// Returns the longest pause that overlaps with a time, in seconds; 0 if none does.
fn longest(pauses: Option<&Vec<Pause>>, from: u64, to: u64) -> Option<f64> {
    let within = pauses?.iter().filter(|p| p.to_ns > from && p.from_ns < to);
    Some(within.map(|p| p.seconds()).fold(0.0, f64::max))
}

/// Sends the response times and the pauses over time, in columns of `width` ns.
fn over_time(
    responses: &Responses,
    window: &Window,
    width: u64,
    pauses: Option<&Vec<Pause>>,
    channel: &mut Channel,
) {
    response_times::heat(&responses.heat(), window.begin, Duration::from_nanos(width), channel);
    for (i, (times, max)) in responses.columns.iter().enumerate() {
        let from = window.begin + i as u64 * width;
        let quantile = |q| response_times::quantile(times, 0, q);
        for (sample, value) in [
            ("response_time.max", (!times.is_empty()).then_some(*max as f64 * 1e-9)),
            ("response_time.p99", quantile(0.99)),
            ("response_time.p50", quantile(0.5)),
            ("response_time.collection_pause", longest(pauses, from, from + width)),
        ] {
            channel.sample(sample, (from + width).min(window.stop), value, "s");
        }
    }
}

/// Reports whether the requested rate was held.
fn held(point: &MeasuredPoint, rate: f64, responses: &Responses, channel: &mut Channel) {
    let Responses { offered, refused, unanswered, .. } = *responses;
    let (by, reason) = if unanswered == 0 {
        (LimitedBy::Load, "all transactions that were due were done".to_owned())
    } else {
        let (rate, done, left) = (orders(rate), orders(point.total()), unanswered - refused);
        let reason = format!(
            "the rate of {rate} was not held: of {offered} transactions, {refused} found the \
             queue full and {left} were not done by the end; {done} were done"
        );
        (LimitedBy::Server, reason)
    };
    channel.note(&reason);
    let (generator_busy, server_busy, others_busy) = (None, None, None);
    let reasons = vec![reason];
    channel.evidence(Observation::Limit { by, reasons, generator_busy, server_busy, others_busy });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use assay_model::Scalar;

    use super::*;
    use crate::builtin::orders::response::InstanceResponses;
    use crate::declare::treatment;

    #[test]
    fn columns_are_wide_enough_for_their_percentile_and_few() {
        let window = Window { begin: 0, start: 1, end: 2, stop: 24_000_000_000 };
        assert_eq!(column_ns(5_000.0, &window), 220_000_000, "1100 requests");
        assert_eq!(column_ns(1.0, &window), 1_200_000_000, "at least 20 columns");
        assert_eq!(column_ns(1e6, &window), 100_000_000, "at most 240 columns");
        let short = Window { stop: 1_000_000_000, ..window };
        assert_eq!(column_ns(1e6, &short), COLUMN_NS);
    }

    /// Simulates a queue with one server: 20,000 requests at exponential distances, 100 µs each.
    fn simulated(rate: f64, seed: u64) -> Responses {
        let (mut state, mut due, mut free) = (seed, 0.0, 0.0_f64);
        let mut one = InstanceResponses { offered: 20_000, ..InstanceResponses::default() };
        for _ in 0..one.offered {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            due -= (((state >> 11) + 1) as f64 / (1_u64 << 53) as f64).ln() / rate * 1e9;
            free = free.max(due) + 100_000.0;
            let ns = (free - due) as u64;
            let shift = u64::from(ns.ilog2().saturating_sub(7));
            one.times.extend([(shift << 7) + (ns >> shift), 1]);
        }
        Responses::merge(std::iter::once(&one))
    }

    #[test]
    fn the_search_finds_the_rate_of_a_scan() {
        let changes = [("search", Scalar::Bool(true)), ("limit", "p99<=1ms".into())];
        let params = OrdersParams::from_map(&treatment(OrdersParams::rows(), &changes)).unwrap();
        let limit = params.limit.clone().unwrap();
        let mut channel = Channel::to(Box::new(std::io::sink()));
        let stop = AtomicBool::new(false);
        let (stop, channel, scored_s) = (&stop, &mut channel, (0.0, 0.0));
        let mut trial = OrdersTrial { params: &params, stop, channel, heaps: &[], scored_s };
        let mut seed = 0;
        let found = find(&mut trial, &limit, 500.0, &mut |_, rate| {
            seed += 1;
            Ok(Some(simulated(rate, seed)))
        });
        let found = found.unwrap();
        let keeps = |rate: f64| simulated(rate, 99).quantile(0.99).is_some_and(|s| s <= 1e-3);
        let scan = (0..100).map(|i| 5_000.0 + 50.0 * f64::from(i));
        let highest = scan.take_while(|rate| keeps(*rate)).last().unwrap();
        assert!((found / highest - 1.0).abs() < 0.06, "{found} by search, {highest} by scan");
    }

    #[test]
    fn pauses_are_on_the_clock_of_the_response_times() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events");
        let mut channel = Channel::to(Box::new(std::fs::File::create(&path).unwrap()));
        let ms = 1_000_000;
        let one = InstanceResponses {
            columns: vec![0, 200, 1500, 1, 200, 1500],
            longest: vec![40 * ms, 3 * ms],
            ..InstanceResponses::default()
        };
        let window = Window { begin: 100 * ms, start: 100 * ms, end: 250 * ms, stop: 250 * ms };
        let pauses = vec![
            Pause { from_ns: 110 * ms, to_ns: 150 * ms },
            Pause { from_ns: 0, to_ns: 90 * ms },
        ];
        let responses = Responses::merge(std::iter::once(&one));
        over_time(&responses, &window, 100 * ms, Some(&pauses), &mut channel);
        channel.close().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let samples: Vec<(String, u64, Option<f64>)> = text
            .lines()
            .filter_map(|line| match assay_model::Event::from_line(line).unwrap()? {
                assay_model::Event::Sample { sample, t_ns, value, .. } => {
                    Some((sample.rsplit('.').next()?.to_owned(), t_ns / ms, value))
                }
                _ => None,
            })
            .collect();
        assert_eq!(samples.len(), 8, "{text}");
        assert_eq!(samples[0], ("max".to_owned(), 200, Some(0.04)));
        assert_eq!(samples[3], ("collection_pause".to_owned(), 200, Some(0.04)));
        assert_eq!(samples[7], ("collection_pause".to_owned(), 250, Some(0.0)));
        assert!(samples[1].2.is_some() && samples[2].2.is_some());
        assert!(text.contains("\"heat\":\"response_time\""), "{text}");
    }
}
