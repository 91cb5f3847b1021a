//! Time of the program's threads: for each treatment, the threads of one trial as a table over the
//! measurement window and as small charts over time, all on the same scales.

use std::collections::BTreeMap;

use assay_chart::area::{self, Area, Layer};
use assay_chart::{Head, PhaseSpan};
use assay_model::{SampleSet, TrialRecord};
use assay_observe::{ALL_TASKS, Drawing, TASKS};
use maud::{Markup, html};

use super::time::{further, interval_text, steps, usual_gap, whole};
use crate::document::html::{figure, table};
use crate::parts::curves::slug;
use crate::parts::draw::phases;
use crate::parts::tasks as parts;
use crate::view::RunView;

/// Largest number of treatments in the section.
const MAX_TREATMENTS: usize = 12;
/// Largest number of charts of a trial.
const MAX_CHARTS: usize = 24;
/// Layer of the time whose state the kernel does not distinguish.
const UNKNOWN: &str = "not told apart";

/// Renders, for each treatment, the first counted trial whose threads were sampled; `None` if there
/// is no such trial.
pub(super) fn section(view: &RunView) -> Option<Markup> {
    let of = |treatment: u32| {
        let mut sampled = view.counted(treatment).into_iter().filter_map(|r| {
            let samples = view.samples.get(&r.number)?;
            parts::threads(r, samples).map(|t| (r, samples, t))
        });
        let first = sampled.next()?;
        Some((view.label(treatment), first, sampled.count()))
    };
    let all: Vec<_> = view.treatments().into_iter().filter_map(of).collect();
    if all.is_empty() {
        return None;
    }
    let left = all.len().saturating_sub(MAX_TREATMENTS);
    Some(html! {
        p { "Where each thread's time went, as the kernel accounts it. All charts have the same \
            scales: seconds since the trial began, and 100 % is the whole time of one thread." }
        @for (label, (record, samples, threads), rest) in all.iter().take(MAX_TREATMENTS) {
            h3 { (label) }
            p.soft {
                a href={ "#trial-" (record.number) } { "Trial " (record.number) }
                @if *rest > 0 { "; " (further(*rest, "threads' samples")) }
                "."
            }
            (table(threads))
            (charts(record, samples))
            @let notes = not_seen(record);
            @if !notes.is_empty() { ul.soft { @for n in notes { li { (n) } } } }
        }
        @if left > 0 { p.soft {
            "Threads of " (left) " more treatments are in the archive and not shown here." } }
    })
}

fn not_seen(record: &TrialRecord) -> &[String] {
    let own = record.observers.iter().find(|o| o.observer == TASKS);
    own.map_or(&[], |o| o.not_seen.as_slice())
}

fn charts(record: &TrialRecord, samples: &SampleSet) -> Markup {
    let Some(drawing) = assay_observe::charts().into_iter().find(|d| d.monitor == TASKS) else {
        return html! {};
    };
    let phases = phases(record);
    let subjects = parts::busiest(record, samples);
    let threads: Vec<&str> =
        subjects.iter().map(String::as_str).filter(|s| *s != ALL_TASKS).collect();
    let fields = accounted(samples, &drawing);
    let layers = layers(&fields);
    let names: Vec<&str> = layers.iter().map(|l| l.name.as_str()).collect();
    let head = |id: String, title: String| Head {
        id,
        title,
        desc: format!("Shares of time stacked: {}.", names.join(", ")),
    };
    let number = record.number;
    let key = head(format!("threads-{number}"), "What the layers of the charts are".into());
    let charts: Vec<(&str, Markup)> = threads
        .iter()
        .take(MAX_CHARTS)
        .enumerate()
        .map(|(i, subject)| {
            let id = format!("thread-{number}-{i}-{}", slug(subject));
            let title = format!("{subject}: where its time went, trial {number}");
            let chart = chart(record, samples, subject, (&fields, &layers), &phases);
            (*subject, area::render_small(&Area { head: head(id, title), ..chart }, whole(record)))
        })
        .collect();
    html! {
        (figure(&area::legend(&key, &layers), "What the layers are."))
        div.clock { div.each {
            @for (subject, chart) in &charts { (figure(chart, subject)) }
        } }
        @let left = threads.len().saturating_sub(MAX_CHARTS);
        @if left > 0 { p.soft {
            (left) " less busy threads are in the archive and not drawn here." } }
    }
}

/// Returns the fields that have any value, with their labels; a kernel may not account the others.
fn accounted<'a>(samples: &SampleSet, drawing: &Drawing) -> Vec<(&'a str, &'a str)> {
    let known = |field: &str| {
        let of = |i: &usize| {
            let key = &samples.series[*i];
            key.monitor == TASKS && key.field == field
        };
        let series: Vec<usize> = (0..samples.series.len()).filter(of).collect();
        let finite = |r: &assay_model::SampleRow| r.value.is_finite();
        samples.rows.iter().any(|r| finite(r) && series.contains(&(r.series as usize)))
    };
    let all = drawing.fields.iter().filter(|(field, _)| known(field.name));
    all.map(|(field, word)| (field.name, *word)).collect()
}

/// Returns the layers to draw: the fields that have values and, if these are not all, the rest.
fn layers(fields: &[(&str, &str)]) -> Vec<Layer> {
    let class = |field: &str| match field {
        "user" | "system" => field.to_owned(),
        "waited_for_cpu" => "ready".to_owned(),
        "waited_for_disk" => "iowait".to_owned(),
        "waited_for_memory" => "memory".to_owned(),
        _ => "idle".to_owned(),
    };
    let mut layers: Vec<Layer> = fields
        .iter()
        .map(|(field, word)| Layer { name: (*word).to_owned(), class: class(field) })
        .collect();
    if fields.iter().all(|(field, _)| *field != "asleep") {
        layers.push(Layer { name: UNKNOWN.to_owned(), class: "unknown".to_owned() });
    }
    layers
}

fn chart(
    record: &TrialRecord,
    samples: &SampleSet,
    subject: &str,
    (fields, layers): (&[(&str, &str)], &[Layer]),
    phases: &[PhaseSpan],
) -> Area {
    let mut rows: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (i, (field, _)) in fields.iter().enumerate() {
        for (t, v) in samples.points(TASKS, subject, field) {
            rows.entry(t).or_insert_with(|| vec![f64::NAN; fields.len()])[i] = v;
        }
    }
    // Gaps are judged by the ticks of the trial, because a thread may have samples at only some of
    // them.
    let times: Vec<u64> =
        samples.points(TASKS, ALL_TASKS, "user").into_iter().map(|p| p.0).collect();
    let usual = usual_gap(&times);
    if layers.len() > fields.len() {
        for values in rows.values_mut() {
            values.push((100.0 - values.iter().sum::<f64>()).max(0.0));
        }
    }
    Area {
        head: Head::default(),
        name: "its time".to_owned(),
        unit: "%".into(),
        full: Some(100.0),
        layers: layers.to_vec(),
        steps: steps(record, rows, &times, usual),
        phases: phases.to_vec(),
        note: format!("every {}", interval_text(usual)),
    }
}

#[cfg(test)]
mod tests {
    use assay_model::{SampleRow, SeriesKey};

    use super::*;
    use crate::document::TableCell;

    /// Returns samples of two threads over two ticks, without the states that need delay
    /// accounting.
    pub(super) fn samples(record: &TrialRecord) -> SampleSet {
        let mut set = SampleSet::default();
        for subject in [ALL_TASKS, "srv", "srv/io"] {
            for field in ["user", "system", "waited_for_cpu", "asleep"] {
                set.series.push(SeriesKey {
                    monitor: TASKS.into(),
                    subject: subject.into(),
                    field: field.into(),
                    unit: "%".into(),
                });
            }
        }
        for tick in 1..=2u64 {
            for series in 0..set.series.len() as u32 {
                let value = if set.series[series as usize].field == "asleep" {
                    f64::NAN
                } else {
                    f64::from(series + 1)
                };
                set.rows.push(SampleRow {
                    t_ns: record.start_ns + tick * 1_000_000_000,
                    series,
                    value,
                });
            }
        }
        set
    }

    #[test]
    fn each_thread_has_a_chart_and_what_is_not_told_is_named() {
        let record = &crate::fixtures::block_size().records[0];
        let set = samples(record);
        let page = charts(record, &set).into_string();
        assert_eq!(page.matches("viewBox=\"0 0 300 ").count(), 2, "one for each, none for all");
        assert!(page.contains(UNKNOWN) && !page.contains("waiting for a disk"), "{page}");
        // srv/io: 9 + 10 + 11 of 100 are known.
        assert!(page.contains("not told apart 70.0 %"), "{page}");
        assert!(!page.contains("NaN"));
        let table = parts::threads(record, &set).unwrap();
        let row = |i: usize| -> Vec<String> {
            let words = |c: &TableCell| c.text.0.iter().map(|(_, words)| words.as_str()).collect();
            table.rows[i].cells.iter().map(words).collect()
        };
        assert_eq!(row(0)[0], "all");
        assert_eq!(row(1)[..2], ["srv/io".to_owned(), "9.0".to_owned()], "the busiest first");
        assert_eq!(row(1)[4], "unknown");
    }
}
