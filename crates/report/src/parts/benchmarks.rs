//! The benchmarks of a suite that a reader read: those that changed, and the number of the others;
//! without a comparison, all of them.

use std::collections::BTreeSet;

use assay_model::{Analysis, Comparison, Verdict};

use crate::document::{DocumentPart, Outputs, Parts, Table, TableCell, Tone, TrialLinks, cell};
use crate::figures::{count, percent, ratio_text, summary_text};
use crate::view::{RunView, analysis_label};

/// Largest number of benchmarks in a sentence and in the lines that end a run.
const NAMED: usize = 3;
const BRIEF: usize = 12;
/// Largest number of unchanged benchmarks that a page lists, folded away.
const FOLDED: usize = 200;

/// Returns one sentence for each treatment: how many benchmarks are worse or better than the
/// baseline's, and which. `None` without a suite.
pub fn sentence(a: &Analysis) -> Option<String> {
    let treatments: BTreeSet<u32> = a.family.iter().map(|c| c.treatment).collect();
    let sentences: Vec<String> = treatments.into_iter().map(|id| of_treatment(a, id)).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn of_treatment(a: &Analysis, treatment: u32) -> String {
    let of = || a.family.iter().filter(|c| c.treatment == treatment);
    let (all, label) = (of().count(), analysis_label(a, treatment));
    let some = |verdict: Verdict, [one, many]: [&str; 2]| {
        let found: Vec<&Comparison> = of().filter(|c| c.verdict == verdict).collect();
        if found.is_empty() {
            return None;
        }
        let named: Vec<String> =
            found.iter().take(NAMED).map(|c| format!("{} {}", c.metric, ratio_text(c))).collect();
        let more = if found.len() > NAMED { ", ..." } else { "" };
        let verb = if found.len() == 1 { one } else { many };
        Some(format!("{} {verb}: {}{more}", found.len(), named.join(", ")))
    };
    let worse = some(Verdict::Worse, ["is worse", "are worse"]);
    let better = some(Verdict::Better, ["is better", "are better"]);
    let found: Vec<String> = worse.into_iter().chain(better).collect();
    let found = if found.is_empty() { "none clearly changed".to_owned() } else { found.join("; ") };
    format!("{label}: of {}, {found}.", count(all, "benchmark"))
}

/// Returns the benchmarks that changed and those that only one side ran; on a published output, all
/// of them.
pub(crate) fn benchmarks(view: &RunView, a: &Analysis) -> Parts {
    let mut out = Parts::default();
    if a.family.is_empty() {
        return alone(view, a);
    }
    out.heading("benchmarks", "Benchmarks");
    let changed = |c: &&Comparison| matches!(c.verdict, Verdict::Worse | Verdict::Better);
    let clear: Vec<&Comparison> = a.family.iter().filter(changed).collect();
    let caption =
        format!("Benchmarks that changed: geometric mean and ratio [{} CI]", percent(a.confidence));
    let shown = if clear.len() > BRIEF { Outputs::Terminal } else { Outputs::All };
    if !clear.is_empty() {
        out.on(shown, DocumentPart::Table(table(view, a, &clear, caption)));
    }
    let others: Vec<&Comparison> = a.family.iter().filter(|c| !changed(c)).collect();
    if !others.is_empty() {
        let no_answer = others.iter().filter(|c| c.ratio.is_none()).count();
        let missing =
            if no_answer > 0 { format!(", {no_answer} without a ratio") } else { String::new() };
        out.note(format!(
            "{}: no clear difference among all of them (Holm){missing}.",
            count(others.len(), if clear.is_empty() { "benchmark" } else { "other benchmark" })
        ));
        if others.len() <= FOLDED {
            let parts =
                Parts::from_part(DocumentPart::Table(table(view, a, &others, String::new())));
            let summary = "The other benchmarks".to_owned();
            out.on(Outputs::Published, DocumentPart::Details { summary, open: false, parts });
        }
    }
    for line in only_one_side(a) {
        out.note(line);
    }
    out
}

fn table(view: &RunView, a: &Analysis, family: &[&Comparison], caption: String) -> Table {
    let several = family.iter().any(|c| c.treatment != family[0].treatment);
    let mut table = Table::captioned(caption).label("benchmark");
    if several {
        table = table.word("treatment");
    }
    let mut table = table.numbers(["baseline", "now", "ratio"]).word("verdict");
    for c in family {
        let links = TrialLinks::metric(view, &[c.baseline, c.treatment], &c.metric);
        let mean = |id: u32| {
            let found = a.summaries.iter().find(|s| s.treatment == id && s.metric == c.metric);
            found.map_or_else(String::new, |s| crate::figures::value_text(s.centre(), &s.unit))
        };
        let mut row = vec![cell(c.metric.clone())];
        if several {
            row.push(cell(view.label(c.treatment)));
        }
        row.extend([mean(c.baseline), mean(c.treatment)].map(|text| TableCell::from(&links, text)));
        row.push(TableCell::from(&links, ratio_text(c)));
        row.push(TableCell::verdict(c.verdict));
        table.row(row);
    }
    table
}

/// Names the benchmarks that only one of two treatments ran.
pub fn only_one_side(a: &Analysis) -> Vec<String> {
    let suite: BTreeSet<&str> = a.benchmarks.iter().map(String::as_str).collect();
    let of = |id: u32| -> BTreeSet<&str> {
        let own = a.summaries.iter().filter(|s| s.treatment == id && s.summary.n > 0);
        own.map(|s| s.metric.as_str()).filter(|m| suite.contains(m)).collect()
    };
    let mut out = Vec::new();
    for c in &a.comparisons {
        let (before, now) = (of(c.baseline), of(c.treatment));
        for (what, one, other) in [("new", &now, &before), ("gone", &before, &now)] {
            let names: Vec<&str> = one.difference(other).copied().collect();
            if !names.is_empty() {
                let listed = names.iter().take(BRIEF).copied().collect::<Vec<_>>().join(", ");
                let more = if names.len() > BRIEF { ", ..." } else { "" };
                out.push(format!("{what} in {}: {listed}{more}", analysis_label(a, c.treatment)));
            }
        }
    }
    out
}

/// Returns every benchmark of a suite that is compared with nothing.
fn alone(view: &RunView, a: &Analysis) -> Parts {
    let mut out = Parts::default();
    if a.benchmarks.is_empty() {
        return out;
    }
    out.heading("benchmarks", "Benchmarks");
    let level = percent(a.confidence);
    let several = view.plan.treatments.len() > 1;
    let mut table =
        Table::captioned(format!("Benchmarks: geometric mean [{level} CI] over the trials"))
            .label("benchmark");
    if several {
        table = table.word("treatment");
    }
    table = table.numbers(["n", "mean"]);
    let mut shown = 0;
    for name in &a.benchmarks {
        for s in a.summaries.iter().filter(|s| s.metric == *name) {
            let links = TrialLinks::metric(view, &[s.treatment], &s.metric);
            let mut row = vec![cell(name.clone())];
            if several {
                row.push(cell(view.label(s.treatment)));
            }
            row.push(cell(s.summary.n.to_string()));
            row.push(TableCell::from(&links, summary_text(s)));
            table.row(row);
            shown += 1;
        }
    }
    let on = if shown > BRIEF { Outputs::Full } else { Outputs::All };
    out.on(on, DocumentPart::Table(table));
    if on == Outputs::Full {
        let line = format!("{} were read; `assay show` lists them.", count(shown, "benchmark"));
        out.on(Outputs::Brief, DocumentPart::Paragraph(Tone::Soft, line.into()));
    }
    out
}
