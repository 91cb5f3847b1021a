//! Runs side by side, as parts of a page: the runs, ratios, what else differed, and all treatments on
//! one scale, in total or under a denominator.

use assay_chart::Head;
use assay_chart::bars::{self, Bar, Bars};
use assay_chart::intervals::absolute::{self, Absolute, Dot, Row};
use assay_model::{Across, Difference, Kind, RunSummary};
use assay_rules::denominator::{Basis, Denominator, Entry};
use assay_rules::landscape::measured;
use assay_rules::quantity::Quantity;
use maud::{Markup, html};

use super::findings;
use super::parts::{badge, figure, table_box};
use crate::figures::{NO_VALUE, count, percent, ratio_text, value_text, with_interval};
use crate::view::RunView;

/// What differences of a class do to a comparison.
const CLASSES: [(&str, &str); 5] = [
    ("hard", "explains results: with it there is no comparison"),
    ("unknown", "not readable in one of the systems: at least soft"),
    ("soft", "might explain a result"),
    ("factor", "meant to differ"),
    ("entailed", "follows from what is meant"),
];

/// The runs, their values and ratios by treatment, the findings and the differences. `link` is where a
/// run's own page is; `runs` are in the order of [`Across::runs`].
pub fn across(runs: &[RunSummary], across: &Across, link: &dyn Fn(&str) -> String) -> Markup {
    html! {
        (list(runs, link))
        (findings::list(&across.findings))
        h2 { "Values and ratios" }
        p { (across.metric) @if !across.better.words().is_empty() { ", " (across.better.words()) } @if !across.compared.is_empty() { "; compared: " (across.compared) } "." }
        (values(across))
        h2 { "What else differed" }
        (differences(&across.differences))
    }
}

fn list(runs: &[RunSummary], link: &dyn Fn(&str) -> String) -> Markup {
    let head = html! {
        th scope="col" { "" } th scope="col" { "run" } th scope="col" { "experiment" }
        th scope="col" { "host" } th scope="col" { "started (UTC)" } th scope="col" { "state" }
    };
    let rows = html! {
        @for (i, s) in runs.iter().enumerate() {
            tr {
                th scope="row" { "#" (i + 1) }
                td { a href=(link(s.id.as_str())) { (s.id) } }
                td { (s.experiment) } td { (s.host) }
                td { (s.started_at.replace('T', " ").trim_end_matches('Z')) }
                td { (s.state.name()) }
            }
        }
    };
    table_box("The runs; the first is the baseline", &head, &rows)
}

fn values(across: &Across) -> Markup {
    let head = html! {
        th scope="col" { "treatment" } th scope="col" { "run" } th scope="col" class="num" { "n" }
        th scope="col" class="num" { "geometric mean" }
        th scope="col" class="num" { "ratio to #1" } th scope="col" { "verdict" }
    };
    let rows = html! {
        @for row in &across.rows {
            @for (i, (summary, comparison)) in row.summaries.iter().zip(&row.comparisons).enumerate() {
                tr {
                    th scope="row" { (row.label) }
                    td { "#" (i + 1) }
                    td class="num" { @if let Some(s) = summary { (s.n) } }
                    td class="num" {
                        @match summary.as_ref().and_then(|s| Some((s.geomean.or(s.mean)?, s.interval))) {
                            Some((v, interval)) => { (with_interval(v, interval, &across.unit)) }
                            None => { (NO_VALUE) }
                        }
                    }
                    @if let Some(c) = comparison {
                        td class="num" { (ratio_text(c)) }
                        td { (badge(c.verdict)) @if !c.reason.is_empty() { " " span class="soft" { (c.reason) } } }
                    } @else { td {} td {} }
                }
            }
        }
    };
    table_box("Each later run against the first, by treatment", &head, &rows)
}

fn differences(all: &[Difference]) -> Markup {
    let head = html! {
        th scope="col" { "fact" } th scope="col" { "#1" } th scope="col" { "another" } th scope="col" { "run" }
    };
    html! {
        @if all.is_empty() { p { "No recorded fact of the systems differs." } }
        @for (class, meaning) in CLASSES {
            @let of: Vec<&Difference> = all.iter().filter(|d| d.class == class).collect();
            @if !of.is_empty() {
                @let rows = html! {
                    @for d in &of {
                        tr { th scope="row" { (d.path) } td class="text" { (d.a) } td class="text" { (d.b) } td { (d.run) } }
                    }
                };
                @let table = table_box(&format!("{class}: {meaning}"), &head, &rows);
                @if class == "hard" { (table) }
                @else { details { summary { (class) " (" (of.len()) "): " (meaning) } (table) } }
            }
        }
    }
}

/// Every treatment of every run on one scale: in total with its trials, or under a denominator.
pub fn comparable(views: &[&RunView], across: &Across, per: Option<Denominator>) -> Markup {
    let nothing = html! {};
    match per {
        None => {
            let rows: Vec<Row> =
                views.iter().enumerate().flat_map(|(i, v)| rows(i, v, across)).collect();
            if rows.is_empty() {
                return nothing;
            }
            let trials = rows.iter().map(|r| r.dots.len()).sum::<usize>();
            let level = views.first().map_or(0.95, |v| v.analysis.confidence);
            let chart = absolute::render(&Absolute {
                head: Head {
                    id: "compared".into(),
                    title: format!("{} of every treatment in every run", across.metric),
                    desc: rows
                        .iter()
                        .map(|r| format!("{}: {}.", r.label, r.text))
                        .collect::<Vec<_>>()
                        .join(" "),
                },
                name: across.metric.clone(),
                unit: across.unit.clone(),
                better: across.better,
                rows,
                note: format!("{}; {} intervals", count(trials, "trial"), percent(level)),
            });
            figure(
                &chart,
                &html! { "One scale for all: mean with its interval, every trial beneath." },
                &nothing,
            )
        }
        Some(per) => under(views, across, per),
    }
}

fn rows(i: usize, view: &RunView, across: &Across) -> Vec<Row> {
    let of = view.analysis.summaries.iter().filter(|s| s.metric == across.metric);
    of.map(|s| {
        let value = s.summary.geomean.or(s.summary.mean);
        let end = |f: fn(assay_model::Interval) -> f64| s.summary.interval.map_or(f64::NAN, f);
        Row {
            label: format!("#{} {}", i + 1, view.label(s.treatment)),
            value: value.unwrap_or(f64::NAN),
            low: end(|i| i.low),
            high: end(|i| i.high),
            text: value.map_or_else(
                || NO_VALUE.to_owned(),
                |v| with_interval(v, s.summary.interval, &s.unit),
            ),
            dots: view
                .counted(s.treatment)
                .into_iter()
                .filter_map(|r| {
                    let value = r.metric(&across.metric)?;
                    let label = format!("trial {}: {}", r.number, value_text(Some(value), &s.unit));
                    Some(Dot { value, label, href: String::new() })
                })
                .collect(),
        }
    })
    .collect()
}

fn under(views: &[&RunView], across: &Across, per: Denominator) -> Markup {
    let basis = Basis::Per(per);
    let (mut shown, mut missing) = (Vec::new(), Vec::new());
    for (i, view) in views.iter().enumerate() {
        let s = &view.summary;
        let mut analysis = view.analysis.clone();
        analysis.metric.clone_from(&across.metric);
        let id = s.id.to_string();
        let kind = view.plan.workload.metric(&across.metric).map_or(Kind::Measured, |m| m.kind);
        for m in measured(&id, &s.workload, &s.host, &s.started_at, &analysis, &view.system, kind) {
            let label = format!("#{} {}", i + 1, m.system);
            let mut value = Quantity::given(m.value, &m.unit, m.kind, &label, &id);
            value.interval = m.interval;
            let entry = Entry { label: label.clone(), value, better: m.better, counts: m.counts };
            match entry.quantity(basis) {
                Some(q) => shown.push((label, q)),
                None => missing.push(label),
            }
        }
    }
    let bars: Vec<Bar> = shown
        .iter()
        .map(|(label, q)| Bar {
            label: label.clone(),
            value: q.value,
            low: q.interval.map_or(f64::NAN, |i| i.low),
            high: q.interval.map_or(f64::NAN, |i| i.high),
            text: q.text(),
            reference: label.starts_with("#1 "),
            quoted: false,
        })
        .collect();
    let title = format!("{} {basis}", across.metric);
    let chart = html! {
        @if let Some((_, first)) = shown.first() {
            @let desc = bars.iter().map(|b| format!("{}: {}.", b.label, b.text)).collect::<Vec<_>>().join(" ");
            (bars::render(&Bars {
                head: Head { id: "compared".into(), title: title.clone(), desc },
                name: title.clone(), unit: first.unit.clone(), better: across.better, bars: bars.clone(), note: String::new(),
            }))
        }
    };
    html! {
        @if !shown.is_empty() { (figure(&chart, &html! { (title) "; verdicts and ratios are in total." }, &html! {})) }
        @if !missing.is_empty() { p class="notice" { "Not recorded, so not shown " (basis) ": " (missing.join(", ")) "." } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_page_says_what_the_terminal_says() {
        let view = fixtures::commands();
        let runs = [view.summary.clone(), view.summary.clone()];
        let made = fixtures::across(&view);
        let page = across(&runs, &made, &|id| format!("/runs/{id}")).into_string();
        let terminal = crate::terminal::across(&runs, &made, crate::terminal::Style::default());
        for c in made.rows.iter().flat_map(|r| r.comparisons.iter().flatten()) {
            let ratio = ratio_text(c);
            assert!(page.contains(&ratio) && terminal.contains(&ratio), "{ratio}");
        }
        for hard in made.differences.iter().filter(|d| d.class == "hard") {
            assert!(page.contains(&hard.path));
        }
    }

    #[test]
    fn what_is_not_recorded_is_named_and_not_drawn() {
        let view = fixtures::commands();
        let made = fixtures::across(&view);
        let total = comparable(&[&view, &view], &made, None).into_string();
        assert!(total.contains("id=\"compared\"") && total.contains("#2 "));
        let watts = comparable(&[&view, &view], &made, Some(Denominator::Watt)).into_string();
        assert!(watts.contains("Not recorded") && !watts.contains("<svg"), "{watts}");
    }
}
