//! Draws several runs in one chart: samples of the monitors and the workload over time, and curves,
//! with one axis for all runs.

use assay_chart::Head;
use assay_chart::lines::{self, LineChart, LineSeries};
use assay_model::{Across, CurveSummary, SampleSet, TrialRecord};
use assay_observe::{Field, FieldRole};
use maud::{Markup, html};

use super::time::base;
use crate::document::html::figure;
use crate::gate::Gate;
use crate::merged_sentences::distinct;
use crate::parts::curves::slug;
use crate::parts::draw::named_curves;
use crate::parts::draw::{phases, seconds};
use crate::view::RunView;

/// Largest number of lines in one chart that a reader can distinguish.
const MAX_LINES: usize = 8;
/// Largest number of charts of the same kind; a page with hundreds of them helps nobody.
const MAX_CHARTS: usize = 6;
/// Phases of runs that differ by at most this share of the trial are drawn as one.
const SAME: f64 = 0.03;

/// The trial that represents one treatment of one run: the first that counts and has samples.
struct OverlayTrial<'a> {
    label: String,
    record: &'a TrialRecord,
    samples: &'a SampleSet,
}

/// Function that returns the points of a trial: seconds since its start, and value.
type PointsFn = dyn Fn(&OverlayTrial<'_>) -> Vec<(f64, f64)>;

/// A quantity over time: its title, its unit and the function that returns a trial's points.
struct Quantity {
    title: String,
    unit: String,
    points: Box<PointsFn>,
}

/// Renders the charts; empty if no run has anything to draw over another.
pub fn overlay(views: &[&RunView], across: &Across) -> Markup {
    let time = over_time(views, across);
    let curves = curves(views);
    html! {
        @if !curves.is_empty() {
            h2 { "Curves over one another" }
            @for chart in &curves { (chart) }
        }
        @if !time.is_empty() {
            h2 { "Over time, one clock" }
            p { "The first trial that counts of each treatment, from its own beginning on. Only \
                the steady phase counts as measured." }
            @for chart in &time { (chart) }
        }
    }
}

fn over_time(views: &[&RunView], across: &Across) -> Vec<Markup> {
    let all = watched(views);
    if all.len() < 2 {
        return Vec::new();
    }
    // All trials share one chart if their lines can be distinguished; else each treatment has a
    // chart.
    let together: Vec<Vec<&OverlayTrial<'_>>> = if all.len() <= MAX_LINES {
        vec![all.iter().collect()]
    } else {
        let labels = across.rows.iter().map(|r| r.label.as_str());
        labels
            .map(|label| all.iter().filter(|w| w.label.ends_with(label)).collect::<Vec<_>>())
            .filter(|group| group.len() > 1)
            .take(MAX_CHARTS)
            .collect()
    };
    let mut charts = Vec::new();
    for quantity in quantities(&all) {
        for (i, group) in together.iter().enumerate() {
            let id = format!("over-{}-{i}", slug(&quantity.title));
            charts.extend(chart(id, &quantity, group));
        }
    }
    charts
}

fn watched<'a>(views: &[&'a RunView]) -> Vec<OverlayTrial<'a>> {
    let mut all = Vec::new();
    for (i, view) in views.iter().enumerate().filter(|(_, v)| v.imported().is_none()) {
        let gate = Gate::from_view(view);
        for treatment in view.treatments() {
            let withheld = gate.run().is_some() || gate.treatment(treatment).is_some();
            let mut counted = view.counted(treatment).into_iter();
            let found = counted.find_map(|r| {
                let samples = view.samples.get(&r.number).filter(|s| !s.rows.is_empty())?;
                Some((r, samples))
            });
            let Some((record, samples)) = found.filter(|_| !withheld) else { continue };
            let label = format!("#{} {}", i + 1, view.label(treatment));
            all.push(OverlayTrial { label, record, samples });
        }
    }
    all
}

/// Returns the quantities to draw: the workload's own fields, then the monitors' fields that ask
/// for an overlay, such as CPU time, disks and power.
fn quantities(all: &[OverlayTrial<'_>]) -> Vec<Quantity> {
    let mut own: Vec<(String, String)> = Vec::new();
    for key in all.iter().flat_map(|w| &w.samples.series).filter(|k| k.monitor == "workload") {
        if !own.iter().any(|(field, _)| *field == key.field) {
            own.push((key.field.clone(), key.unit.clone()));
        }
    }
    own.truncate(MAX_CHARTS);
    let mut list: Vec<Quantity> = own
        .into_iter()
        .map(|(field, unit)| {
            let title = field.replace('_', " ");
            let of_unit = unit.clone();
            let points = move |w: &OverlayTrial<'_>| {
                let same = |k: &&assay_model::SeriesKey| {
                    k.monitor == "workload" && k.field == field && k.unit == of_unit
                };
                w.samples.series.iter().find(same).map_or_else(Vec::new, |k| {
                    on_clock(w, &w.samples.points(&k.monitor, &k.subject, &k.field), 1.0)
                })
            };
            Quantity { title, unit, points: Box::new(points) }
        })
        .collect();
    for monitor in assay_observe::all() {
        list.extend(monitor.fields.iter().filter_map(|field| summed(monitor.name, field)));
    }
    list
}

/// Returns the quantity of a field that asks for an overlay, summed over the subjects that its
/// chart draws; `None` for any other field. Idle time is converted to time in use.
fn summed(monitor: &'static str, field: &'static Field) -> Option<Quantity> {
    let title = field.overlay?;
    let subject = field.chart.and_then(|(chart, _)| chart.subject);
    let (unit, times) = base(field.unit);
    let points = move |w: &OverlayTrial<'_>| {
        let mut sums = std::collections::BTreeMap::<u64, f64>::new();
        let of = |k: &&assay_model::SeriesKey| {
            k.monitor == monitor
                && k.field == field.name
                && subject.is_none_or(|subject| k.subject == subject)
        };
        for key in w.samples.series.iter().filter(of) {
            for (t, v) in w.samples.points(monitor, &key.subject, field.name) {
                *sums.entry(t).or_default() += v;
            }
        }
        if field.role == Some(FieldRole::Idle) {
            for v in sums.values_mut() {
                *v = 100.0 - *v;
            }
        }
        on_clock(w, &sums.into_iter().collect::<Vec<_>>(), times)
    };
    Some(Quantity { title: title.into(), unit: unit.into(), points: Box::new(points) })
}

fn on_clock(w: &OverlayTrial<'_>, points: &[(u64, f64)], times: f64) -> Vec<(f64, f64)> {
    points.iter().map(|(t, v)| (seconds(w.record, *t), v * times)).collect()
}

/// Draws one chart for a group; `None` unless at least two trials have points and some value is not
/// zero.
fn chart(id: String, quantity: &Quantity, group: &[&OverlayTrial<'_>]) -> Option<Markup> {
    let series: Vec<LineSeries> = group
        .iter()
        .map(|w| LineSeries { label: w.label.clone(), points: (quantity.points)(w) })
        .filter(|s| s.points.iter().any(|p| p.1.is_finite()))
        .take(MAX_LINES)
        .collect();
    let anything = series.iter().flat_map(|s| &s.points).any(|p| p.1.is_finite() && p.1 != 0.0);
    if series.len() < 2 || !anything {
        return None;
    }
    let title = &quantity.title;
    let names: Vec<&str> = series.iter().map(|s| s.label.as_str()).collect();
    let svg = lines::render(&LineChart {
        head: Head {
            id,
            title: format!("{title} over time, run by run"),
            desc: format!("{title} of {}.", names.join("; ")),
        },
        name: title.clone(),
        unit: quantity.unit.clone(),
        series,
        phases: same_phases(group),
        note: String::new(),
    });
    Some(figure(&svg, format!("{title}, one axis for all.")))
}

/// Returns the phases of the first trial if all others have the same, else none.
fn same_phases(group: &[&OverlayTrial<'_>]) -> Vec<assay_chart::PhaseSpan> {
    let of: Vec<_> = group.iter().map(|w| phases(w.record)).collect();
    let Some((first, rest)) = of.split_first() else { return Vec::new() };
    let slack = first.last().map_or(0.0, |p| p.to_s) * SAME;
    let same = rest.iter().all(|other| {
        other.len() == first.len()
            && other.iter().zip(first).all(|(a, b)| {
                a.name == b.name
                    && (a.from_s - b.from_s).abs() <= slack
                    && (a.to_s - b.to_s).abs() <= slack
            })
    });
    if same { first.clone() } else { Vec::new() }
}

/// Draws curves of the same name and units over one another.
fn curves(views: &[&RunView]) -> Vec<Markup> {
    let gates: Vec<Gate> = views.iter().map(|v| Gate::from_view(v)).collect();
    let mut all: Vec<(String, &CurveSummary)> = Vec::new();
    for (i, (view, gate)) in views.iter().zip(&gates).enumerate() {
        let curve = |c: &&CurveSummary| !c.points.is_empty() && c.matrix_row().is_none();
        let shown = gate.analysis.curves.iter().filter(curve);
        all.extend(shown.map(|c| (format!("#{} {}", i + 1, view.label(c.treatment)), c)));
    }
    let kinds = distinct(all.iter().map(|(_, c)| (&*c.name, &*c.x_unit, &*c.unit)));
    let confidence = views.first().map_or(0.95, |v| v.analysis.confidence);
    let mut charts = Vec::new();
    for (name, x_unit, unit) in kinds {
        let same = |c: &CurveSummary| c.name == name && c.x_unit == x_unit && c.unit == unit;
        let of: Vec<(String, &CurveSummary)> =
            all.iter().filter(|(_, c)| same(c)).cloned().collect();
        if of.len() < 2 {
            continue;
        }
        for (i, part) in of.chunks(MAX_LINES).take(MAX_CHARTS).enumerate() {
            let head = Head {
                id: format!("curves-{}-{i}", slug(name)),
                title: format!("{name} of every run"),
                desc: String::new(),
            };
            let Some(svg) = named_curves(head, part, Vec::new(), confidence) else { continue };
            let x = part[0].1.x_noun();
            charts.push(figure(&svg, format!("{name} over {x}, one axis for all.")));
        }
    }
    charts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn runs_share_an_axis() {
        let view = fixtures::block_size();
        let mut quicker = view.clone();
        for set in quicker.samples.values_mut() {
            set.rows.iter_mut().for_each(|r| r.value *= 0.5);
        }
        let made = fixtures::across(&view);
        let page = overlay(&[&view, &quicker], &made).into_string();
        assert!(page.contains("CPU time in use, all CPUs over time, run by run"), "{page}");
        for line in ["#1 ", "#2 "] {
            assert!(page.contains(&format!("data-label=\"{line}")), "{line}");
        }
        assert!(page.contains("curves-throughput-0"));
        assert!(!page.contains("NaN"));
    }

    #[test]
    fn what_is_withheld_is_not_laid_over_anything() {
        let view = fixtures::withheld();
        let made = fixtures::across(&view);
        assert_eq!(overlay(&[&view, &view], &made).into_string(), "");
    }
}
