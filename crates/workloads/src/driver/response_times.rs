//! Response times of a load in nanoseconds, as percentiles, histograms and heat maps of the record.

use std::time::Duration;

use assay_loadgen::latency::heat::{Heat, ROWS, edge};
use assay_loadgen::{RatePoint, SearchReport};
use assay_model::{Event, Load, units};
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2Serializer};

use crate::driver::work::Channel;

/// Returns the `q` quantile, in seconds, of `times` in ns. `unanswered` operations count as longer
/// than any other. Returns `None` if fewer than ten operations lie beyond the quantile, or if it
/// falls among the unanswered ones.
pub(crate) fn quantile(times: &Histogram<u64>, unanswered: u64, q: f64) -> Option<f64> {
    let total = times.len() + unanswered;
    if !assay_stats::percentile::supports(total as f64, q) {
        return None;
    }
    let rank = ((q * total as f64).ceil() as u64).max(1);
    let share = (rank <= times.len()).then(|| rank as f64 / times.len() as f64)?;
    Some(times.value_at_quantile(share.min(1.0)) as f64 * 1e-9)
}

/// Describes the answer of a search for the highest rate, in `unit`, that keeps `promise`.
pub(crate) fn answer(found: &SearchReport, promise: &str, unit: &str) -> String {
    let rate = |point: &RatePoint| units::format_value(point.rate, unit);
    let above = found.above.as_ref().map(rate);
    let Some(best) = &found.best else {
        let (steps, above) = (found.steps.len(), above.unwrap_or("unknown".into()));
        return format!(
            "no rate kept {promise} in {steps} steps; the lowest rate that broke it was {above}"
        );
    };
    let above = above.map_or("no rate tried breaks it".into(), |rate| rate + " breaks it");
    let sure = format!("{:.0} % sure", 100.0 * assay_loadgen::SURE);
    let sure = if found.confirmed {
        format!(" ({sure})")
    } else {
        format!("; the search ended before this was {sure}")
    };
    format!("{} is the highest rate that keeps {promise}; {above}{sure}", rate(best))
}

/// Returns the histogram `times` as an event; `None` if it is empty. `unanswered` operations count
/// as longer than any other. `percentiles` names the metrics (or, if `at` is a rate, the curves)
/// that are percentiles of it.
pub(crate) fn histogram(
    name: String,
    times: &Histogram<u64>,
    unanswered: u64,
    percentiles: &[(&str, f64)],
    at: Option<f64>,
    load: Load,
) -> Option<Event> {
    let mut bytes = Vec::new();
    if times.is_empty() || V2Serializer::new().serialize(times, &mut bytes).is_err() {
        return None;
    }
    Some(Event::Histogram {
        histogram: name,
        unit: "ns".into(),
        hdr: base64::engine::general_purpose::STANDARD.encode(bytes),
        timed_out: unanswered,
        percentiles: percentiles.iter().map(|(name, q)| ((*name).to_owned(), *q)).collect(),
        at,
        load: Some(load),
    })
}

/// Sends the heat map `response_time` over a series that starts at `start_ns` in bins of width
/// `bin`; nothing if it is empty.
pub(crate) fn heat(heat: &Heat, start_ns: u64, bin: Duration, channel: &mut Channel) {
    let columns = heat.columns();
    let used = |row: &usize| columns.iter().any(|c| c[*row] > 0);
    let (Some(first), Some(last)) = ((0..ROWS).find(used), (0..ROWS).rfind(used)) else { return };
    channel.send(&Event::Heat {
        heat: "response_time".into(),
        unit: "ns".into(),
        start_ns,
        column_ns: bin.as_nanos() as u64 * heat.together() as u64,
        edges: (first..=last + 1).map(edge).collect(),
        counts: columns.iter().map(|c| c[first..=last].to_vec()).collect(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_reported_only_with_ten_beyond_it() {
        let mut times = Histogram::<u64>::new_with_bounds(1, 1_000_000_000, 3).unwrap();
        (1..=1000u64).for_each(|i| times.record(i * 1000).unwrap());
        let close = |value: Option<f64>, want: f64| (value.unwrap() / want - 1.0).abs() < 0.002;
        assert!(close(quantile(&times, 0, 0.5), 500e-6));
        assert!(close(quantile(&times, 0, 0.99), 990e-6));
        assert_eq!(quantile(&times, 0, 0.999), None);
        assert!(
            close(quantile(&times, 5, 0.99), 995e-6),
            "those without an answer are the longest"
        );
        assert_eq!(quantile(&times, 20, 0.99), None, "it lies among those without an answer");
        let empty = Histogram::<u64>::new(3).unwrap();
        assert_eq!(quantile(&empty, 0, 0.5), None);
    }
}
