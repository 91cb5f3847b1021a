//! Charts of every treatment of every run on one scale: in total, or per denominator.

use assay_chart::Head;
use assay_chart::bars::{self, Bar, Bars};
use assay_chart::intervals::absolute::{self, Absolute, TreatmentRow};
use assay_model::{Across, Better, Interval, MetricKind};
use assay_quoted::denominator::{Basis, Denominator, SystemResult};
use assay_quoted::landscape::measured;
use assay_quoted::quantity::Quantity;
use maud::{Markup, html};

use crate::document::html::figure;
use crate::figures::{NO_VALUE, centre, count, percent, summary_text, with_interval};
use crate::gate::Gate;
use crate::parts::draw::absolute_row;
use crate::view::RunView;

/// Prices of the systems, as entered by the reader: no run records them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prices {
    /// Price of each run's system, in the order of the runs.
    pub amounts: Vec<f64>,
    /// Currency of the prices, such as `EUR`.
    pub currency: String,
}

/// Boundaries at which power is measured, widest first.
const BOUNDARIES: [&str; 3] = ["wall", "node", "package"];

/// Renders every treatment of every run on one scale: in total with its trials, or per denominator.
/// Results that are withheld in a run are not shown.
pub fn comparable(
    views: &[&RunView],
    across: &Across,
    per: Option<Denominator>,
    prices: &Prices,
) -> Markup {
    match per {
        None => in_total(views, across),
        Some(Denominator::Watt) => per_watt(views, across),
        Some(per) => under(views, across, per, prices),
    }
}

fn in_total(views: &[&RunView], across: &Across) -> Markup {
    let rows: Vec<TreatmentRow> =
        views.iter().enumerate().flat_map(|(i, v)| rows(i, v, across)).collect();
    if rows.is_empty() {
        return html! {};
    }
    let trials = rows.iter().map(|r| r.dots.len()).sum::<usize>();
    let level = views.first().map_or(0.95, |v| v.analysis.confidence);
    let sentences: Vec<String> = rows.iter().map(|r| format!("{}: {}.", r.label, r.text)).collect();
    let chart = absolute::render(&Absolute {
        head: Head {
            id: "compared".into(),
            title: format!("{} of every treatment in every run", across.metric),
            desc: sentences.join(" "),
        },
        name: across.metric.clone(),
        unit: across.unit.clone(),
        better: across.better,
        rows,
        note: format!("{}; {} intervals", count(trials, "trial"), percent(level)),
    });
    figure(&chart, "One scale for all: mean with its interval, every trial beneath.")
}

fn rows(i: usize, view: &RunView, across: &Across) -> Vec<TreatmentRow> {
    let gate = Gate::from_view(view);
    let shown = |treatment| gate.run().is_none() && gate.treatment(treatment).is_none();
    let of = gate.analysis.summaries.iter().filter(|s| s.metric == across.metric);
    of.filter(|s| shown(s.treatment))
        .map(|s| {
            let label = format!("#{} {}", i + 1, view.label(s.treatment));
            let text = centre(s)
                .map_or_else(|| NO_VALUE.to_owned(), |v| with_interval(v, s.interval(), &s.unit));
            absolute_row(view, s, label, text, &|_| String::new())
        })
        .collect()
}

/// Renders the metric per watt as each trial measured it, at the boundary that most runs have (the
/// widest of several). Watts at different boundaries are not comparable.
fn per_watt(views: &[&RunView], across: &Across) -> Markup {
    if across.better != Better::Higher {
        return html! { p.notice {
        (across.metric) " per watt says nothing, since more of it is not better; compare the "
        "metric " code { "energy (wall)" } ", " code { "energy (node)" } " or "
        code { "energy (package)" } "." } };
    }
    let name = |boundary: &str| format!("{} per watt ({boundary})", across.metric);
    let has = |boundary: &str| {
        let metric = name(boundary);
        views.iter().filter(|v| v.analysis.summaries.iter().any(|s| s.metric == metric)).count()
    };
    // `max_by_key` returns the last of equal elements; the order is reversed to prefer the widest.
    let Some(boundary) = BOUNDARIES.into_iter().rev().max_by_key(|b| has(b)).filter(|b| has(b) > 0)
    else {
        return html! { p.notice { "No run measured its power: name the monitor " code { "power" }
        " or a meter in the experiment." } };
    };
    let metric = name(boundary);
    let (mut bars, mut missing, mut unit) = (Vec::new(), Vec::new(), String::new());
    for (i, view) in views.iter().enumerate() {
        let gate = Gate::from_view(view);
        for treatment in view.treatments() {
            let label = format!("#{} {}", i + 1, view.label(treatment));
            let shown = gate.run().is_none() && gate.treatment(treatment).is_none();
            let of = gate.analysis.summaries.iter();
            let found = of
                .filter(|s| shown && s.treatment == treatment && s.metric == metric)
                .find_map(|s| Some((s, centre(s)?)));
            let Some((s, value)) = found else {
                missing.push(label);
                continue;
            };
            unit.clone_from(&s.unit);
            bars.push(bar(label, value, s.interval(), summary_text(s)));
        }
    }
    let caption = html! { (metric) ", as each trial measured it." };
    drawn(&metric, &unit, across.better, bars, &missing, &caption)
}

fn under(views: &[&RunView], across: &Across, per: Denominator, prices: &Prices) -> Markup {
    let basis = Basis::Per(per);
    let (mut bars, mut missing, mut unit) = (Vec::new(), Vec::new(), String::new());
    for (i, view) in views.iter().enumerate() {
        let s = &view.summary;
        let gate = Gate::from_view(view);
        let mut analysis = gate.analysis.clone();
        analysis.metric.clone_from(&across.metric);
        let withheld = gate.run().is_some();
        analysis.summaries.retain(|s| !withheld && gate.treatment(s.treatment).is_none());
        let id = s.id.to_string();
        let kind =
            view.plan.workload.metric(&across.metric).map_or(MetricKind::Measured, |m| m.kind);
        for m in measured(&id, &s.workload, &s.host, &s.started_at, &analysis, &view.system, kind) {
            let label = format!("#{} {}", i + 1, m.system);
            let mut value = Quantity::given(m.value, &m.unit, m.kind, &label, &id);
            value.interval = m.interval;
            let mut counts = m.counts;
            counts.price = prices.amounts.get(i).copied();
            counts.currency = Some(prices.currency.clone()).filter(|c| !c.is_empty());
            let entry = SystemResult { label: label.clone(), value, better: m.better, counts };
            match entry.quantity(basis) {
                Some(q) => {
                    unit.clone_from(&q.unit);
                    bars.push(bar(label, q.value, q.interval, q.text()));
                }
                None => missing.push(label),
            }
        }
    }
    let title = format!("{} {basis}", across.metric);
    let caption = html! {
        (title) "; verdicts and ratios are in total."
        @if per == Denominator::Price { " Prices are as typed in, without an interval." }
    };
    drawn(&title, &unit, across.better, bars, &missing, &caption)
}

fn bar(label: String, value: f64, interval: Option<Interval>, text: String) -> Bar {
    Bar {
        value,
        low: interval.map_or(f64::NAN, |i| i.low),
        high: interval.map_or(f64::NAN, |i| i.high),
        text,
        reference: label.starts_with("#1 "),
        quoted: false,
        label,
    }
}

fn drawn(
    title: &str,
    unit: &str,
    better: Better,
    bars: Vec<Bar>,
    missing: &[String],
    caption: &Markup,
) -> Markup {
    let sentences: Vec<String> = bars.iter().map(|b| format!("{}: {}.", b.label, b.text)).collect();
    let head = Head { id: "compared".into(), title: title.to_owned(), desc: sentences.join(" ") };
    let some = !bars.is_empty();
    let chart = || {
        bars::render(&Bars {
            head,
            name: title.to_owned(),
            unit: unit.to_owned(),
            better,
            bars,
            note: String::new(),
        })
    };
    html! {
        @if some { (figure(&chart(), caption)) }
        @if !missing.is_empty() {
            p.notice { "Not recorded, so not shown as " (title) ": " (missing.join(", ")) "." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn none() -> Prices {
        Prices::default()
    }

    #[test]
    fn what_is_not_recorded_is_named_and_not_drawn() {
        let view = fixtures::commands();
        let made = fixtures::across(&view);
        let both = [&view, &view];
        let total = comparable(&both, &made, None, &none()).into_string();
        assert!(total.contains("id=\"compared\"") && total.contains("#2 "));
        let price = comparable(&both, &made, Some(Denominator::Price), &none()).into_string();
        assert!(price.contains("Not recorded") && !price.contains("<svg"), "{price}");
        let given = Prices { amounts: vec![1000.0, 500.0], currency: "EUR".into() };
        let price = comparable(&both, &made, Some(Denominator::Price), &given).into_string();
        assert!(price.contains("<svg") && price.contains("EUR"), "{price}");
    }

    #[test]
    fn per_watt_is_what_the_trials_measured_at_one_boundary() {
        let view = fixtures::block_size();
        let mut made = fixtures::across(&view);
        made.metric.clone_from(&view.analysis.metric);
        made.better = Better::Higher;
        let nothing = comparable(&[&view, &view], &made, Some(Denominator::Watt), &none());
        assert!(nothing.into_string().contains("No run measured its power"));
        let mut metered = view.clone();
        let mut own = metered.analysis.summaries[0].clone();
        own.metric = format!("{} per watt (wall)", made.metric);
        own.unit = "GB/s/W".into();
        metered.analysis.summaries.push(own);
        let page = comparable(&[&view, &metered], &made, Some(Denominator::Watt), &none());
        let page = page.into_string();
        assert!(page.contains("per watt (wall)") && page.contains("<svg"), "{page}");
        assert!(page.contains("Not recorded") && page.contains("#1 "), "{page}");
        made.better = Better::Lower;
        let time = comparable(&[&metered], &made, Some(Denominator::Watt), &none()).into_string();
        assert!(time.contains("says nothing") && !time.contains("<svg"), "{time}");
    }
}
