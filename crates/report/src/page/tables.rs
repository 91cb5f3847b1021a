//! The tables of the results.

use assay_model::units::format_value;
use assay_model::{Scaling, TreatmentSummary, Verdict};
use maud::{Markup, html};

use super::draw::speedup_text;
use super::parts::{Behind, badge, table_box, withheld};
use crate::figures::{NO_VALUE, percent, percentile_text, ratio_text, summary_text, value_text};
use crate::gate::Gate;
use crate::percentiles;
use crate::terminal::model_sentence;
use crate::view::{RunView, deciding};
use crate::words::{PERCENTILES, floor};

/// Every treatment in the deciding metric, against the baseline.
pub(super) fn comparisons(view: &RunView, gate: &Gate) -> Markup {
    let a = &gate.analysis;
    let level = percent(a.confidence);
    let compared = !a.comparisons.is_empty();
    let what = if compared { " and ratio to the baseline" } else { "" };
    let merged = deciding(a).iter().any(|s| s.percentile.is_some());
    let centre = if merged { "of merged histograms" } else { "geometric mean" };
    let caption = format!("{} by treatment: {centre}{what}, with {level} intervals", a.metric);
    let head = html! {
        th scope="col" { "treatment" } th scope="col" class="num" { "n" }
        th scope="col" class="num" { (a.metric) }
        @if compared {
            th scope="col" class="num" { "ratio" } th scope="col" { "verdict" } th scope="col" class="num" { "detectable" }
        }
        th scope="col" { "trials" }
    };
    let rows = html! { @for s in deciding(a) { (row(view, gate, s, compared)) } };
    html! {
        @if !deciding(a).is_empty() {
            h3 id="comparisons" { @if compared { "Comparisons" } @else { "Summary" } }
            (table_box(&caption, &head, &rows))
            @if compared {
                p class="soft" { "Detectable: the smallest difference that a run of this size and noise finds in 80 of 100 repeats." }
                @if let Some(known) = &a.floor { p class="soft" { (floor(known)) "." } }
            }
        }
    }
}

fn row(view: &RunView, gate: &Gate, s: &TreatmentSummary, compared: bool) -> Markup {
    let behind = Behind::metric(view, &[s.treatment], &s.metric);
    let columns = if compared { 4 } else { 1 };
    let comparison = gate.analysis.comparisons.iter().find(|c| c.treatment == s.treatment);
    html! {
        tr {
            th scope="row" { (view.label(s.treatment)) }
            td class="num" { (s.summary.n) }
            @if let Some(w) = gate.treatment(s.treatment) {
                (withheld(columns, &w.text()))
            } @else {
                (behind.cell(&summary_text(s)))
                @if compared {
                    @if let Some(c) = comparison {
                        @if c.verdict == Verdict::Invalid {
                            (withheld(3, &c.reason))
                        } @else {
                            @let both = Behind::metric(view, &[c.baseline, c.treatment], &c.metric);
                            (both.cell(&ratio_text(c)))
                            td { (badge(c.verdict)) }
                            td class="num" { @if let Some(d) = c.detectable { (percent(d - 1.0)) } @else { (NO_VALUE) } }
                        }
                    } @else {
                        td class="num" { "1" } td { "baseline" } td class="num" {}
                    }
                }
            }
            td class="trials" { (behind.list()) }
        }
    }
}

/// The scaling table and what the fits say.
pub(super) fn scaling(view: &RunView, gate: &Gate, s: &Scaling) -> Markup {
    let head = html! {
        th scope="col" class="num" { (s.factor) } th scope="col" class="num" { (s.metric) }
        th scope="col" class="num" { "speedup" } th scope="col" class="num" { "efficiency" } th scope="col" { "trials" }
    };
    let rows = html! {
        @for p in &s.points {
            @let behind = Behind::metric(view, &at_count(view, &s.factor, p.count), &s.metric);
            tr {
                th scope="row" class="num" { (p.count) }
                (behind.cell(&format_value(p.value, &gate.analysis.unit)))
                (behind.cell(&speedup_text(p)))
                (behind.cell(&percent((p.efficiency * 1000.0).round() / 1000.0)))
                td class="trials" { (behind.list()) }
            }
        }
    };
    html! {
        (table_box(&format!("{} over {}", s.metric, s.factor), &head, &rows))
        @for m in &s.models { p { (model_sentence(m)) "." } }
        @if !s.note.is_empty() { p class="soft" { (s.note) } }
    }
}

fn at_count(view: &RunView, factor: &str, count: f64) -> Vec<u32> {
    view.plan
        .treatments
        .iter()
        .filter(|t| t.levels.get(factor).and_then(assay_model::Scalar::as_f64) == Some(count))
        .map(|t| t.id)
        .collect()
}

/// The percentiles of each treatment, from merged histograms.
pub(super) fn percentiles(view: &RunView, gate: &Gate) -> Markup {
    let all = percentiles::rows(&gate.analysis);
    let head = html! {
        th scope="col" { "percentile" } th scope="col" { "treatment" } th scope="col" class="num" { "value" }
        th scope="col" class="num" { "samples" } th scope="col" class="num" { "beyond" } th scope="col" { "trials" }
    };
    let rows = html! {
        @for (h, p) in &all {
            @let behind = Behind::histogram(view, h);
            tr {
                th scope="row" { (percentiles::name(h, p)) }
                td { (view.label(h.treatment)) }
                (behind.cell(&percentile_text(p, &h.unit)))
                td class="num" { (p.samples) }
                td class="num" { (p.beyond) }
                td class="trials" { (behind.list()) }
            }
        }
    };
    html! {
        @if !all.is_empty() {
            h3 id="percentiles" { "Percentiles" }
            (table_box("Percentiles of the merged histograms of each treatment's trials", &head, &rows))
            p class="soft" { (PERCENTILES) }
        }
    }
}

/// Every treatment in every other metric, and the values of the run as a whole.
pub(super) fn metrics(view: &RunView, gate: &Gate) -> Markup {
    let a = &gate.analysis;
    let others: Vec<&TreatmentSummary> =
        // Percentiles have a table of their own, but for those of trials without histograms.
        a.summaries
            .iter()
            .filter(|s| s.metric != a.metric && s.percentile.as_ref().is_none_or(|p| p.trials == 0))
            .collect();
    let head = html! {
        th scope="col" { "metric" } th scope="col" { "treatment" } th scope="col" class="num" { "n" }
        th scope="col" class="num" { "geometric mean (interval)" } th scope="col" class="num" { "least" } th scope="col" class="num" { "greatest" }
        th scope="col" { "better" }
    };
    let rows = html! {
        @for s in &others {
            @let behind = Behind::metric(view, &[s.treatment], &s.metric);
            tr {
                th scope="row" { (s.metric) }
                td { (view.label(s.treatment)) }
                td class="num" { (s.summary.n) }
                @if let Some(w) = gate.treatment(s.treatment) { (withheld(3, &w.text())) } @else {
                    (behind.cell(&summary_text(s)))
                    (behind.cell(&value_text(s.summary.min, &s.unit)))
                    (behind.cell(&value_text(s.summary.max, &s.unit)))
                }
                td { (s.better.words().split(' ').next().unwrap_or("")) }
            }
        }
    };
    html! {
        @if !others.is_empty() {
            h3 { "Other metrics" }
            (table_box("Every treatment in every other metric", &head, &rows))
        }
        @if !a.run_metrics.is_empty() {
            ul { @for m in &a.run_metrics { li { (m.name) " of the whole run: " (value_text(m.value, &m.unit)) @if m.kind == assay_model::Kind::Quoted { ", quoted" } } } }
        }
    }
}
