//! Pieces that every section uses: figures, tables in boxes, numbers that lead to their trials.

use assay_model::{CurveSummary, HistogramSummary, TrialRecord};
use maud::{Markup, html};

use crate::view::RunView;

/// A chart in a figure, with its caption, a place for the read-out, and what is under it.
pub(crate) fn figure(chart: &Markup, caption: &Markup, under: &Markup) -> Markup {
    html! {
        figure {
            figcaption { (caption) }
            // The box scrolls on a narrow screen, so that text in the chart stays readable.
            div class="chart-box" { (chart) }
            output class="readout" aria-live="off" {}
            (under)
        }
    }
}

/// A table in a box of its own that scrolls when the screen is narrow.
pub(crate) fn table_box(caption: &str, head: &Markup, rows: &Markup) -> Markup {
    html! {
        div class="table-box" tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { (head) } }
                tbody { (rows) }
            }
        }
    }
}

/// The trials that a number comes from.
#[derive(Debug, Clone, Default)]
pub(super) struct Behind {
    run: String,
    trials: Vec<u32>,
}

impl Behind {
    /// The counted trials of these treatments that have a value of this metric.
    pub(super) fn metric(view: &RunView, treatments: &[u32], metric: &str) -> Self {
        Behind::those(view, treatments, |r| r.metric(metric).is_some())
    }

    /// The counted trials of a treatment that measured this curve.
    pub(super) fn curve(view: &RunView, curve: &CurveSummary) -> Self {
        Behind::those(view, &[curve.treatment], |r| r.curve(&curve.name).is_some())
    }

    /// The counted trials of a treatment that have this histogram.
    pub(super) fn histogram(view: &RunView, of: &HistogramSummary) -> Self {
        Behind::those(view, &[of.treatment], |r| r.histograms.contains_key(&of.name))
    }

    fn those(view: &RunView, treatments: &[u32], keep: impl Fn(&TrialRecord) -> bool) -> Self {
        let counted = treatments.iter().flat_map(|t| view.counted(*t));
        let mut trials: Vec<u32> = counted.filter(|r| keep(r)).map(|r| r.number).collect();
        trials.sort_unstable();
        Behind { run: view.summary.id.to_string(), trials }
    }

    fn title(&self) -> String {
        let shown: Vec<String> = self.trials.iter().take(12).map(u32::to_string).collect();
        let more = if self.trials.len() > 12 {
            format!(" and {} more", self.trials.len() - 12)
        } else {
            String::new()
        };
        let word = if self.trials.len() == 1 { "trial" } else { "trials" };
        format!("from {word} {}{more} of run {}", shown.join(", "), self.run)
    }

    fn data(&self) -> String {
        self.trials.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
    }

    /// The text as a link to the trials that it comes from; plain where there is none.
    pub(super) fn link(&self, text: &str) -> Markup {
        html! {
            @if let Some(first) = self.trials.first() {
                a class="from" href={ "#trial-" (first) } data-trials=(self.data()) title=(self.title()) { (text) }
            } @else {
                (text)
            }
        }
    }

    /// A field of a table with a number.
    pub(super) fn cell(&self, text: &str) -> Markup {
        html! { td class="num" { (self.link(text)) } }
    }

    /// Links to each trial; of many, to the first ones and to the table.
    pub(super) fn list(&self) -> Markup {
        html! {
            @for (i, n) in self.trials.iter().take(16).enumerate() {
                @if i > 0 { " " }
                a href={ "#trial-" (n) } { (n) }
            }
            @if self.trials.len() > 16 { " … " a href="#trials" { "all " (self.trials.len()) } }
        }
    }
}

/// A field that says that its number is withheld.
pub(super) fn withheld(columns: usize, text: &str) -> Markup {
    html! { td class="withheld" colspan=(columns) { (text) } }
}

/// A verdict as a badge: sign, word and colour.
pub(super) fn badge(verdict: assay_model::Verdict) -> Markup {
    use assay_model::Verdict::{Better, Equivalent, Inconclusive, Invalid, Worse};
    let sign = match verdict {
        Better => "▲",
        Worse => "▼",
        Equivalent => "=",
        Inconclusive => "?",
        Invalid => "✕",
    };
    html! { span class={ "badge verdict-" (verdict.name()) } { span aria-hidden="true" { (sign) } " " (verdict.name()) } }
}
