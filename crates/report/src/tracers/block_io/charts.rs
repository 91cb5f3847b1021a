//! The charts of block I/O: over time, by size, by latency and by address.

use assay_chart::heat::{self, Heat};
use assay_chart::histogram::{self, Histogram};
use assay_chart::lines::{self, LineChart};
use assay_chart::{Head, ScaleKind, ScaleRanges};
use assay_traces::block_io::{BLOCK_BYTES, HeatMap, IoReport, Measure, TickRow};
use maud::Markup;

use super::IoChartSource;

/// Largest number of series of a histogram that a reader can distinguish.
const MAX_SERIES: usize = 8;

/// A chart that is not drawn yet.
pub(super) enum Chart {
    Lines(LineChart),
    Histogram(Histogram),
    Heat(Heat),
}

impl Chart {
    fn reach(&self) -> ScaleRanges {
        match self {
            Chart::Lines(c) => c.reach(),
            Chart::Histogram(c) => c.reach(),
            Chart::Heat(c) => c.reach(),
        }
    }

    /// Draws the chart at this width, on scales that also cover `reach`.
    pub(super) fn draw(&self, reach: ScaleRanges, width: f64) -> Markup {
        match self {
            Chart::Lines(c) => lines::render_over(c, reach, width),
            Chart::Histogram(c) => histogram::render_over(c, reach, width),
            Chart::Heat(c) => heat::render_over(c, reach, width),
        }
    }
}

/// Charts with their titles.
pub(super) type TitledCharts = Vec<(String, Chart)>;

/// Returns the reach that covers all charts with this title.
pub(super) fn common<'a>(title: &str, all: impl Iterator<Item = &'a TitledCharts>) -> ScaleRanges {
    let same = all.flatten().filter(|(t, _)| t == title);
    same.fold(ScaleRanges::default(), |reach, (_, chart)| reach.join(chart.reach()))
}

/// Gives histograms with the same title the same series in the same order, busiest first, so that a
/// colour has one meaning in all of them. A series that a histogram lacks has no bars there.
pub(super) fn same_series(all: &mut [&mut TitledCharts]) {
    use std::collections::BTreeMap;
    let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
    for (title, chart) in all.iter().flat_map(|charts| charts.iter()) {
        let Chart::Histogram(h) = chart else { continue };
        for s in &h.series {
            let ios = s.rows.iter().map(|r| r.2).sum::<u64>();
            *sums.entry((title.clone(), s.label.clone())).or_default() += ios;
        }
    }
    for (title, chart) in all.iter_mut().flat_map(|charts| charts.iter_mut()) {
        let Chart::Histogram(h) = chart else { continue };
        let mut order: Vec<(&String, u64)> =
            sums.iter().filter(|((t, _), _)| t == title).map(|((_, l), n)| (l, *n)).collect();
        // The sort is stable: equally busy series stay ordered by name.
        order.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let own = std::mem::take(&mut h.series);
        let of = |label: &String| {
            own.iter().find(|s| s.label == *label).cloned().unwrap_or_else(|| {
                histogram::HistogramSeries { label: label.clone(), rows: Vec::new() }
            })
        };
        h.series = order.into_iter().take(MAX_SERIES).map(|(label, _)| of(label)).collect();
    }
}

/// Returns every chart of a subject with its title.
pub(super) fn charts(subject: &IoChartSource, report: &IoReport) -> TitledCharts {
    let mut charts = vec![
        ("I/Os a second".to_owned(), over_time(subject, report, Rate::Ios)),
        ("Bytes a second".to_owned(), over_time(subject, report, Rate::Bytes)),
    ];
    for (measure, title) in [
        (Measure::Size, "Size"),
        (Measure::Latency, "Latency, from being taken up to completion"),
        (Measure::Queue, "Time in the queue"),
        (Measure::Device, "Time in the device"),
    ] {
        let chart = distribution(subject, report, measure, title);
        charts.extend(chart.map(|chart| (title.to_owned(), chart)));
    }
    charts.push(("Latency over time".to_owned(), latency_heat(subject, report)));
    let places = report.devices.iter().take(3).enumerate();
    charts.extend(places.filter_map(|(i, d)| {
        let chart = address_heat(subject, &d.device, i, d.heat.as_ref()?);
        Some((format!("Where on {} over time", d.device), chart))
    }));
    charts
}

#[derive(Clone, Copy, PartialEq)]
enum Rate {
    Ios,
    Bytes,
}

fn seconds(subject: &IoChartSource, t_ns: u64) -> f64 {
    (t_ns as f64 - subject.start_ns as f64) / 1e9
}

fn over_time(subject: &IoChartSource, report: &IoReport, rate: Rate) -> Chart {
    let tick_s = report.series.tick_ns as f64 / 1e9;
    let points = |of: fn(&TickRow) -> u64| -> Vec<(f64, f64)> {
        report
            .series
            .ticks
            .iter()
            .map(|t| {
                let length_s = t.seconds.filter(|s| *s > 0.0).unwrap_or(tick_s);
                (seconds(subject, t.t_ns) + tick_s / 2.0, of(t) as f64 / length_s)
            })
            .collect()
    };
    let (name, unit, reads, writes) = match rate {
        Rate::Ios => ("I/Os", "1/s", points(|t| t.reads), points(|t| t.writes)),
        Rate::Bytes => ("bytes", "B/s", points(|t| t.read_bytes), points(|t| t.write_bytes)),
    };
    Chart::Lines(LineChart {
        head: Head {
            id: format!("io-{}-{}", if rate == Rate::Ios { "ios" } else { "bytes" }, subject.id),
            title: format!("{name} a second, {}", subject.name),
            desc: format!("{name} read and written in each {tick_s} s."),
        },
        name: name.to_owned(),
        unit: unit.to_owned(),
        series: vec![
            lines::LineSeries { label: "read".into(), points: reads },
            lines::LineSeries { label: "written".into(), points: writes },
        ],
        phases: subject.spans.clone(),
        note: format!("the mean of each {tick_s} s"),
    })
}

fn distribution(
    subject: &IoChartSource,
    report: &IoReport,
    measure: Measure,
    title: &str,
) -> Option<Chart> {
    let of = |g: &assay_traces::block_io::GroupReport| {
        let h = g.histograms.iter().find(|h| h.measure == measure && !h.rows.is_empty())?;
        // The unit of the times depends on the question; here they become seconds, to which the
        // axis adds the prefix.
        let (factor, _) = assay_model::units::in_seconds(&h.unit);
        // A row that begins at 0 has no place on an axis of powers of two; it is drawn from half of
        // its end.
        let rows = h.rows.iter().filter_map(|r| {
            let (from, to) = (r.from? as f64, r.to? as f64);
            let from = if from > 0.0 { from } else { to / 2.0 };
            Some((from * factor, to * factor, r.count))
        });
        Some(histogram::HistogramSeries { label: g.key.join(" "), rows: rows.collect() })
    };
    let series: Vec<_> = report.groups.iter().filter_map(of).take(MAX_SERIES).collect();
    if series.is_empty() {
        return None;
    }
    Some(Chart::Histogram(Histogram {
        head: Head {
            id: format!("io-{}-{}", measure.name(), subject.id),
            title: format!("{title}, {}", subject.name),
            desc:
                "How many I/Os in each power of two, by device and direction; the first may hold \
                all that is less."
                    .into(),
        },
        name: measure.name().to_owned(),
        unit: if measure == Measure::Size { "B" } else { "s" }.to_owned(),
        what: "I/Os".into(),
        series,
    }))
}

fn columns(subject: &IoChartSource, map: &HeatMap) -> (f64, f64) {
    (seconds(subject, map.start_ns), map.column_ns as f64 / 1e9)
}

fn latency_heat(subject: &IoChartSource, report: &IoReport) -> Chart {
    let map = &report.latency_heat;
    Chart::Heat(Heat {
        head: Head {
            id: format!("io-latency-heat-{}", subject.id),
            title: format!("Latency over time, {}", subject.name),
            desc: "How many I/Os of each latency in each stretch of time.".into(),
        },
        name: "latency".into(),
        unit: "s".into(),
        kind: ScaleKind::Log2,
        what: "I/Os".into(),
        columns_s: columns(subject, map),
        rows: map.rows.iter().map(|ns| (*ns as f64 / 1e9, *ns as f64 * 2.0 / 1e9)).collect(),
        counts: map.counts.clone(),
        phases: subject.spans.clone(),
    })
}

fn address_heat(subject: &IoChartSource, device: &str, at: usize, map: &HeatMap) -> Chart {
    let step = match map.rows.as_slice() {
        [a, b, ..] => b - a,
        _ => 1,
    };
    let bytes = |block: u64| block as f64 * BLOCK_BYTES as f64;
    Chart::Heat(Heat {
        head: Head {
            id: format!("io-address-heat-{at}-{}", subject.id),
            title: format!("Where on {device} over time, {}", subject.name),
            desc: "How many I/Os in each part of the device in each stretch of time.".into(),
        },
        name: format!("place on {device}"),
        unit: "B".into(),
        kind: ScaleKind::Linear,
        what: "I/Os".into(),
        columns_s: columns(subject, map),
        rows: map.rows.iter().map(|b| (bytes(*b), bytes(b + step))).collect(),
        counts: map.counts.clone(),
        phases: subject.spans.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(series: &[(&str, u64)]) -> TitledCharts {
        let of = |(label, n): &(&str, u64)| histogram::HistogramSeries {
            label: (*label).to_owned(),
            rows: vec![(4096.0, 8192.0, *n)],
        };
        let chart = Histogram {
            head: Head { id: "h".into(), title: "t".into(), desc: "d".into() },
            name: "size".into(),
            unit: "B".into(),
            what: "I/Os".into(),
            series: series.iter().map(of).collect(),
        };
        vec![("Size".to_owned(), Chart::Histogram(chart))]
    }

    #[test]
    fn a_colour_means_the_same_in_histograms_beside_each_other() {
        let mut one = sizes(&[("vda write", 90), ("vda read", 7)]);
        let mut other = sizes(&[("vda read", 500), ("vda flush", 1)]);
        same_series(&mut [&mut one, &mut other]);
        let lines = |of: &TitledCharts| -> Vec<(String, u64)> {
            let Chart::Histogram(h) = &of[0].1 else { panic!("a histogram") };
            let sum = |s: &histogram::HistogramSeries| s.rows.iter().map(|r| r.2).sum();
            h.series.iter().map(|s| (s.label.clone(), sum(s))).collect()
        };
        let line = |n: [u64; 3]| -> Vec<(String, u64)> {
            ["vda read", "vda write", "vda flush"].map(str::to_owned).into_iter().zip(n).collect()
        };
        assert_eq!(lines(&one), line([7, 90, 0]));
        assert_eq!(lines(&other), line([500, 0, 1]));
    }
}
