//! Charts of the monitors' samples over the time of a trial.

use std::collections::BTreeMap;

use assay_chart::area::{self, Area, AreaStep, Layer};
use assay_chart::lines::{self, LineChart};
use assay_chart::{Head, PhaseSpan, ScaleRanges, WIDTH};
use assay_model::{SampleSet, SeriesKey, TrialRecord};
use assay_observe::{Drawing, TASKS};
use maud::{Markup, html};

use super::heat;
use crate::document::html::figure;
use crate::figures::count;
use crate::parts::curves::slug;
use crate::parts::draw::{phases, seconds};
use crate::view::RunView;

/// Largest number of treatments in the section.
const MAX_TREATMENTS: usize = 12;
/// Largest number of lines in a chart of series that have no chart of their own.
const MAX_SERIES: usize = 16;

/// Renders, for each treatment, the first counted trial with samples or heat maps; `None` if there
/// is no such trial.
pub(super) fn section(view: &RunView) -> Option<Markup> {
    // The charts are those of assay's monitors, so samples of other programs are not drawn.
    if view.imported().is_some() {
        return None;
    }
    let none = SampleSet::default();
    let mut parts = Vec::new();
    for treatment in view.treatments() {
        let label = view.label(treatment);
        let mut watched = view
            .counted(treatment)
            .into_iter()
            .map(|r| (r, view.samples.get(&r.number).unwrap_or(&none)))
            .filter(|(r, s)| !s.rows.is_empty() || !r.heat_maps.is_empty());
        let Some((record, samples)) = watched.next() else { continue };
        let rest = watched.count();
        if parts.len() >= MAX_TREATMENTS {
            parts
                .push(html! { p.soft { "Samples of " (label) " are in the archive, not drawn." } });
            continue;
        }
        parts.push(html! {
            details open[parts.is_empty()] {
                summary { (label) }
                (trial(record, samples))
                @if rest > 0 { p.soft { (further(rest, "samples")) "." } }
            }
        });
    }
    if parts.is_empty() {
        return None;
    }
    Some(html! {
        p { "One clock for all: seconds since the trial began. Only the steady phase counts as \
            measured; gaps are missing samples." }
        @for p in &parts { (p) }
    })
}

/// Returns the words about `rest` trials of a treatment that are not drawn.
pub(super) fn further(rest: usize, samples: &str) -> String {
    let have = if rest == 1 { "has" } else { "have" };
    format!("{} of it {have} {samples} in the archive", count(rest, "further trial"))
}

fn trial(record: &TrialRecord, samples: &SampleSet) -> Markup {
    let link = html! { a href={ "#trial-" (record.number) } { "Trial " (record.number) } };
    let phases = phases(record);
    let spoken = if phases.is_empty() {
        ". The workload reported no phases: the whole run is measured."
    } else {
        ". "
    };
    let figures = |charts: &[(String, Markup)], words: &str| {
        html! {
            @for (title, chart) in charts {
                (figure(chart, html! { (link) ": " (title) (words) }))
            }
        }
    };
    html! {
        div.clock {
            (figures(&workload(record, samples, &phases), ", as the workload reported it."))
            @let words = " over time, as the workload counted it: the darker, the more.";
            (figures(&heat::charts(record, &phases), words))
            @let stacks = stacks(record, samples, &phases);
            (figures(&stacks, spoken))
            @if stacks.is_empty() { p { (link) ": no samples of CPU time." } }
            details {
                summary { "What else the monitors saw in trial " (record.number) }
                @let more = more(record, samples, &phases);
                @if more.is_empty() { p { "Nothing to show: no such samples, or only zeros." } }
                @for (title, chart) in &more { (figure(chart, title)) }
            }
        }
    }
}

/// Returns the reach of the time axis of every chart of a trial.
pub(super) fn whole(record: &TrialRecord) -> ScaleRanges {
    ScaleRanges { time_s: Some((0.0, seconds(record, record.end_ns))), ..ScaleRanges::default() }
}

/// Draws the charts whose layers add up to 100 %, each with its title.
fn stacks(
    record: &TrialRecord,
    samples: &SampleSet,
    phases: &[PhaseSpan],
) -> Vec<(String, Markup)> {
    let all = assay_observe::charts().into_iter();
    let charts = all.filter(|d| d.chart.stacked && !d.chart.each);
    charts
        .filter_map(|d| {
            let subject = d.chart.subject.unwrap_or_default();
            Some((format!("{}, {subject}", d.chart.title), stack(record, samples, phases, &d)?))
        })
        .collect()
}

fn stack(
    record: &TrialRecord,
    samples: &SampleSet,
    phases: &[PhaseSpan],
    drawing: &Drawing,
) -> Option<Markup> {
    let mut layers: Vec<&str> = drawing.fields.iter().map(|(_, word)| *word).collect();
    layers.dedup();
    let subject = drawing.chart.subject.unwrap_or_default();
    let mut rows: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (field, word) in &drawing.fields {
        let Some(i) = layers.iter().position(|l| l == word) else { continue };
        for (t, v) in samples.points(drawing.monitor, subject, field.name) {
            let row = rows.entry(t).or_insert_with(|| vec![f64::NAN; layers.len()]);
            // A layer is missing only if none of its fields has a value.
            row[i] = if row[i].is_nan() { v } else { row[i] + v };
        }
    }
    rows.first_key_value()?;
    let times: Vec<u64> = rows.keys().copied().collect();
    let usual = usual_gap(&times);
    let steps = steps(record, rows, &times, usual);
    let title = drawing.chart.title;
    let chart = Area {
        head: Head {
            id: format!("{}-{}", drawing.monitor, record.number),
            title: format!("{title} over time, trial {}", record.number),
            desc: format!("Shares of {title} stacked: {}.", layers.join(", ")),
        },
        name: title.to_owned(),
        unit: "%".into(),
        full: Some(100.0),
        layers: layers
            .iter()
            .map(|word| Layer {
                name: (*word).to_owned(),
                class: word.split(' ').next().unwrap_or_default().to_owned(),
            })
            .collect(),
        steps,
        phases: phases.to_vec(),
        note: format!("one sample every {}", interval_text(usual)),
    };
    Some(area::render_over(&chart, whole(record)))
}

/// Returns the steps of layers between samples that were taken at `times`; `usual` is the usual gap
/// between these, in nanoseconds.
pub(super) fn steps(
    record: &TrialRecord,
    rows: BTreeMap<u64, Vec<f64>>,
    times: &[u64],
    usual: u64,
) -> Vec<AreaStep> {
    let step = |(t, values): (u64, Vec<f64>)| {
        let before = times.partition_point(|one| *one < t).checked_sub(1).map(|i| times[i]);
        // A late sample is not valid for all the time in which no sample was taken.
        let from = before.unwrap_or(t.saturating_sub(usual)).max(t.saturating_sub(usual * 3 / 2));
        AreaStep { from_s: seconds(record, from).max(0.0), to_s: seconds(record, t), values }
    };
    rows.into_iter().map(step).filter(|s| s.to_s > s.from_s).collect()
}

/// Formats the time between samples as `100 ms` or `1 s`, rounded to 10 ms (the resolution of their
/// clock).
pub(super) fn interval_text(ns: u64) -> String {
    let hundredths = (ns as f64 / 1e7).round() as u64;
    if hundredths.is_multiple_of(100) {
        format!("{} s", hundredths / 100)
    } else {
        format!("{} ms", hundredths * 10)
    }
}

/// Returns the median time between samples in nanoseconds, or 1 s for fewer than two samples.
pub(super) fn usual_gap(times: &[u64]) -> u64 {
    let mut gaps: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    gaps.sort_unstable();
    gaps.get(gaps.len() / 2).copied().unwrap_or(1_000_000_000)
}

fn more(record: &TrialRecord, samples: &SampleSet, phases: &[PhaseSpan]) -> Vec<(String, Markup)> {
    let number = record.number;
    let drawn = assay_observe::charts().into_iter().filter(|d| !d.chart.stacked);
    let written = drawn.enumerate().map(|(i, drawing)| {
        let series = series(record, samples, &drawing);
        let unit = drawing.fields.first().map_or("1", |(field, _)| base(field.unit).0);
        (format!("lines-{number}-{i}"), drawing.chart.title.to_owned(), unit, series)
    });
    let rest = rest(samples).into_iter().map(|((monitor, unit), keys)| {
        let id = format!("rest-{number}-{}-{}", slug(monitor), slug(unit));
        let (unit, times) = base(unit);
        let series = keys
            .into_iter()
            .filter_map(|k| {
                let label = format!("{} {}", k.subject, k.field.replace('_', " "));
                line(record, samples, k, label.trim().to_owned(), times)
            })
            .collect();
        let of = if unit == "1" { "counts" } else { unit };
        (id, format!("Monitor {monitor}, {of}"), unit, series)
    });
    written
        .chain(rest)
        .filter(|(_, _, _, series)| !series.is_empty())
        .map(|(id, title, unit, mut series)| {
            let all = series.len();
            let drawn = if id.starts_with("rest-") { all.min(MAX_SERIES) } else { all };
            series.truncate(drawn);
            let chart = LineChart {
                head: Head {
                    id,
                    title: format!("{title}, trial {number}"),
                    desc: format!("{} over the time of the trial.", names(&series)),
                },
                name: title.split(':').next().unwrap_or(&title).to_owned(),
                unit: unit.to_owned(),
                series,
                phases: phases.to_vec(),
                note: if drawn < all {
                    format!("the first {drawn} of {all} series; the archive has all")
                } else {
                    String::new()
                },
            };
            (title, lines::render_over(&chart, whole(record), WIDTH))
        })
        .collect()
}

/// Returns the series that no chart draws, by monitor and unit: fields without a chart, and
/// monitors of other versions. A field of a stacked chart counts as drawn for every subject,
/// although the chart has only one. A workload's own samples and threads have charts of their own.
fn rest(samples: &SampleSet) -> BTreeMap<(&str, &str), Vec<&SeriesKey>> {
    let drawn = |k: &SeriesKey| {
        let of = assay_observe::field(&k.monitor, &k.field);
        k.monitor == WORKLOAD || k.monitor == TASKS || of.is_some_and(|field| field.chart.is_some())
    };
    let mut rest: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for key in samples.series.iter().filter(|k| !drawn(k)) {
        rest.entry((key.monitor.as_str(), key.unit.as_str())).or_default().push(key);
    }
    rest
}

/// Returns the unit without its prefix, and the factor that converts a value to it.
pub(super) fn base(unit: &str) -> (&str, f64) {
    match unit {
        "KiB/s" => ("B/s", 1024.0),
        "kB/s" => ("B/s", 1000.0),
        "KiB" => ("B", 1024.0),
        "ms" => ("s", 1e-3),
        _ => (unit, 1.0),
    }
}

/// Returns the series of a chart that have any value above zero.
fn series(record: &TrialRecord, samples: &SampleSet, drawing: &Drawing) -> Vec<lines::LineSeries> {
    let of = samples.series.iter().filter(|k| k.monitor == drawing.monitor);
    of.filter_map(|k| {
        let (field, word) = drawing.fields.iter().find(|(field, _)| field.name == k.field)?;
        let label = format!("{} {word}", k.subject).trim().to_owned();
        line(record, samples, k, label, base(field.unit).1)
    })
    .collect()
}

/// Returns the line of one series; `None` if no value is above zero.
fn line(
    record: &TrialRecord,
    samples: &SampleSet,
    key: &SeriesKey,
    label: String,
    times: f64,
) -> Option<lines::LineSeries> {
    let points = samples.points(&key.monitor, &key.subject, &key.field);
    let points: Vec<(f64, f64)> =
        points.into_iter().map(|(t, v)| (seconds(record, t), v * times)).collect();
    points.iter().any(|p| p.1 > 0.0).then_some(lines::LineSeries { label, points })
}

/// Monitor name of the samples that a workload reports itself.
const WORKLOAD: &str = "workload";
/// Largest number of charts of a workload's own samples; the other fields are in the archive.
const MAX_OWN: usize = 6;

/// Draws the samples that the workload reported, without fields of zeros: a chart for each field,
/// and one for the fields of a unit whose names have the same part before a dot.
fn workload(
    record: &TrialRecord,
    samples: &SampleSet,
    phases: &[PhaseSpan],
) -> Vec<(String, Markup)> {
    let mut charts: Vec<(&str, &SeriesKey, Vec<lines::LineSeries>)> = Vec::new();
    for k in samples.series.iter().filter(|k| k.monitor == WORKLOAD) {
        let points: Vec<(f64, f64)> = samples
            .points(&k.monitor, &k.subject, &k.field)
            .into_iter()
            .map(|(t, v)| (seconds(record, t), v))
            .collect();
        if !points.iter().any(|p| p.1.is_finite() && p.1 != 0.0) {
            continue;
        }
        let (name, part) = k.field.split_once('.').unwrap_or((&k.field, &k.field));
        let line = lines::LineSeries { label: part.replace('_', " "), points };
        match charts.iter_mut().find(|(n, first, _)| *n == name && first.unit == k.unit) {
            Some((.., series)) => series.push(line),
            None => charts.push((name, k, vec![line])),
        }
    }
    let drawn = charts.into_iter().take(MAX_OWN).map(|(name, first, series)| {
        let title = name.replace('_', " ");
        let chart = LineChart {
            head: Head {
                id: format!("own-{}-{}", record.number, slug(&first.field)),
                title: format!("{title} over time, trial {}", record.number),
                desc: format!("{} over the time of the trial, ramps included.", names(&series)),
            },
            name: title.clone(),
            unit: first.unit.clone(),
            series,
            phases: phases.to_vec(),
            note: String::new(),
        };
        (title, lines::render_over(&chart, whole(record), WIDTH))
    });
    drawn.collect()
}

fn names(series: &[lines::LineSeries]) -> String {
    series.iter().map(|s| s.label.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use assay_model::SampleRow;

    use super::*;

    fn key(monitor: &str, field: &str, unit: &str) -> SeriesKey {
        SeriesKey {
            monitor: monitor.into(),
            subject: String::new(),
            field: field.into(),
            unit: unit.into(),
        }
    }

    #[test]
    fn a_monitor_that_no_list_names_is_drawn() {
        let series = vec![
            key("cpu", "user", "%"),
            key("disk", "rkB/s", "KiB/s"),
            key("disk", "rareq-sz", "KiB"),
            key("unheard_of", "rx", "kB/s"),
            key("unheard_of", "tx", "kB/s"),
            key("workload", "rate", "1/s"),
        ];
        let samples = SampleSet { series, rows: Vec::new() };
        let rest = rest(&samples);
        let fields = |at| rest[&at].iter().map(|k| k.field.as_str()).collect::<Vec<_>>();
        assert_eq!(rest.len(), 2);
        assert_eq!(fields(("disk", "KiB")), ["rareq-sz"]);
        assert_eq!(fields(("unheard_of", "kB/s")), ["rx", "tx"]);
    }

    #[test]
    fn every_chart_that_a_monitors_row_asks_for_is_drawn() {
        let record = &crate::fixtures::block_size().records[0];
        // Charts of each subject are drawn by `tasks`.
        for drawing in assay_observe::charts().into_iter().filter(|d| !d.chart.each) {
            let subject = drawing.chart.subject.unwrap_or("s0");
            let series: Vec<SeriesKey> = drawing
                .fields
                .iter()
                .map(|(f, _)| SeriesKey {
                    subject: subject.into(),
                    ..key(drawing.monitor, f.name, f.unit)
                })
                .collect();
            let row = |i: usize, s: u64| SampleRow {
                t_ns: record.start_ns + s * 1_000_000_000,
                series: i as u32,
                value: 7.0,
            };
            let rows = (0..series.len()).flat_map(|i| [row(i, 1), row(i, 2)]).collect();
            let samples = SampleSet { series, rows };
            let charts = if drawing.chart.stacked {
                stacks(record, &samples, &[])
            } else {
                more(record, &samples, &[])
            };
            let [(title, chart)] = charts.as_slice() else {
                panic!("{}: {} charts", drawing.chart.title, charts.len())
            };
            assert!(title.starts_with(drawing.chart.title), "{title}");
            let chart = chart.clone().into_string();
            for (_, word) in &drawing.fields {
                assert!(chart.contains(word), "{title} has no {word}");
            }
        }
    }

    #[test]
    fn fields_of_a_workload_with_one_name_before_the_dot_share_a_chart() {
        let record = &crate::fixtures::block_size().records[0];
        let series: Vec<SeriesKey> = [
            ("rate", "1/s"),
            ("time.max", "s"),
            ("time.mean", "s"),
            ("time.zero", "s"),
            ("time.n", "1"),
        ]
        .map(|(field, unit)| key(WORKLOAD, field, unit))
        .into();
        let row = |i: usize| SampleRow {
            t_ns: record.start_ns + 1_000_000_000,
            series: i as u32,
            value: if i == 3 { 0.0 } else { 7.0 },
        };
        let samples = SampleSet { series, rows: (0..5).map(row).collect() };
        let charts = workload(record, &samples, &[]);
        let titles: Vec<&str> = charts.iter().map(|c| c.0.as_str()).collect();
        assert_eq!(titles, ["rate", "time", "time"]);
        let time = charts[1].1.clone().into_string();
        for (label, drawn) in [("max", true), ("mean", true), ("zero", false), ("n", false)] {
            assert_eq!(time.contains(&format!("data-label=\"{label}\"")), drawn, "{time}");
        }
    }

    #[test]
    fn its_chart_has_its_values_and_says_what_it_leaves_out() {
        let record = &crate::fixtures::block_size().records[0];
        let series: Vec<SeriesKey> = (0..20)
            .map(|i| SeriesKey { subject: format!("s{i}"), ..key("unheard_of", "rx", "kB/s") })
            .collect();
        let t_ns = record.start_ns + 1_000_000_000;
        let rows = (0..20).map(|series| SampleRow { t_ns, series, value: 7.0 }).collect();
        let charts = more(record, &SampleSet { series, rows }, &[]);
        let [(title, chart)] = charts.as_slice() else { panic!("{} charts", charts.len()) };
        assert_eq!(title, "Monitor unheard_of, B/s");
        let chart = chart.clone().into_string();
        assert!(chart.contains("s15 rx") && !chart.contains("s16 rx"), "{chart}");
        assert!(chart.contains("the first 16 of 20 series"), "{chart}");
    }
}
