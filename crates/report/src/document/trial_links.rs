//! The trials behind a number, and links to them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use assay_model::{CurveSummary, HistogramSummary, TrialRecord};
use maud::{Markup, html};

use crate::view::RunView;

/// Largest number of trials that a link lists by number; for more, it holds a bit set.
const NAMED: usize = 100;

/// The trials that a number was computed from, in ascending order, and their run.
#[derive(Debug, Clone, Default)]
pub struct TrialLinks {
    run: String,
    trials: Vec<u32>,
}

impl TrialLinks {
    /// Returns the counted trials of these treatments that have a value of this metric.
    pub fn metric(view: &RunView, treatments: &[u32], metric: &str) -> Self {
        TrialLinks::those(view, treatments, |r| r.metric(metric).is_some())
    }

    /// Returns the counted trials of a treatment that measured this curve.
    pub fn curve(view: &RunView, curve: &CurveSummary) -> Self {
        TrialLinks::those(view, &[curve.treatment], |r| r.curve(&curve.name).is_some())
    }

    /// Returns the counted trials of a treatment that have this histogram.
    pub fn histogram(view: &RunView, of: &HistogramSummary) -> Self {
        TrialLinks::those(view, &[of.treatment], |r| r.histograms.contains_key(&of.name))
    }

    fn those(view: &RunView, treatments: &[u32], keep: impl Fn(&TrialRecord) -> bool) -> Self {
        let counted = treatments.iter().flat_map(|t| view.counted(*t));
        let mut trials: Vec<u32> = counted.filter(|r| keep(r)).map(|r| r.number).collect();
        trials.sort_unstable();
        TrialLinks { run: view.summary.id.to_string(), trials }
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

    /// Returns the trial numbers, separated by spaces.
    pub fn numbers(&self) -> String {
        self.trials.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Renders the text as a link to the trials behind it, or as plain text without trials.
    pub fn link(&self, text: &str) -> Markup {
        html! {
            @if let Some(first) = self.trials.first() {
                @let many = self.trials.len() > NAMED;
                a.from href={ "#trial-" (first) } data-from=[many.then_some(first)]
                    data-bits=[many.then(|| self.bits(*first))]
                    data-trials=[(!many).then(|| self.numbers())] title=(self.title()) { (text) }
            } @else {
                (text)
            }
        }
    }

    /// Encodes the trial numbers as a bit set in base64 that starts at `first`, lowest bit first. A
    /// list of numbers would be long, and a page repeats it in many links.
    fn bits(&self, first: u32) -> String {
        let mut bytes: Vec<u8> = Vec::new();
        for n in self.trials.iter().map(|n| (n - first) as usize) {
            bytes.resize(bytes.len().max(n / 8 + 1), 0);
            bytes[n / 8] |= 1 << (n % 8);
        }
        STANDARD.encode(bytes)
    }

    /// Renders links to the first 16 trials and, if there are more, a link to the table of all
    /// trials.
    pub fn list(&self) -> Markup {
        html! {
            @for (i, n) in self.trials.iter().take(16).enumerate() {
                @if i > 0 { " " }
                a href={ "#trial-" (n) } { (n) }
            }
            @if self.trials.len() > 16 { " … " a href="#trials" { "all " (self.trials.len()) } }
        }
    }
}
