//! The results of a suite: its scores, every member, and the spread that the means hide.

use assay_model::units::{common_reference, ratio, significant};
use assay_model::{SuiteComparison, SuiteMember, SuiteResults, SuiteScore};

use crate::document::table::ColumnKind;
use crate::document::{DocumentPart, Outputs, Parts, Table, TableCell, TrialLinks, cell};
use crate::figures::{NO_VALUE, percent, ratio_text, score_doubts, value_mark, value_on_scale};
use crate::view::RunView;

/// Significant digits of a ratio to the reference.
const DIGITS: usize = 3;

/// Number of scores per table on a terminal.
const SIDE_BY_SIDE: usize = 4;

/// Rule by which the ratios are chosen and averaged.
const HOW: &str = "Of each member the median trial counts, of two the slower; the suite is the \
     geometric mean over all members. Intervals are over blocks: the mean of each block is one \
     value.";

/// Returns the scores with their comparisons, then every member.
pub(crate) fn suite(view: &RunView, suite: &SuiteResults) -> Parts {
    let mut out = Parts::default();
    out.heading("suite", "The suite");
    out.table(scores(view, suite));
    for score in &suite.scores {
        for why in score_doubts(&view.analysis, score) {
            out.note(format!("doubtful: {why}"));
        }
    }
    let mut printed = "";
    for c in &suite.comparisons {
        if let Some(text) = spread_sentence(suite, c) {
            out.note(format!("{text}."));
        }
        if c.geomean.reason != printed {
            out.note(c.geomean.reason.clone());
            printed = &c.geomean.reason;
        }
    }
    let all: Vec<&SuiteScore> = suite.scores.iter().collect();
    let caption = "Every member: ratio to the reference";
    out.on(Outputs::Published, DocumentPart::Table(members(view, suite, &all, caption)));
    for (i, some) in all.chunks(SIDE_BY_SIDE).enumerate() {
        let caption = if i == 0 { caption } else { "" };
        out.on(Outputs::Terminal, DocumentPart::Table(members(view, suite, some, caption)));
    }
    out.note(HOW);
    out
}

fn scores(view: &RunView, suite: &SuiteResults) -> Table {
    let compared = if suite.scores.len() > 1 { Outputs::All } else { Outputs::Published };
    let alone = if suite.scores.len() > 1 { Outputs::Published } else { Outputs::All };
    let mut table = Table::captioned(format!(
        "{} to the reference: geometric mean over {} members with {} intervals, higher is better",
        suite.metric,
        suite.scores.first().map_or(0, |s| s.members.len()),
        percent(view.analysis.confidence)
    ))
    .label("setting")
    .number("geometric mean")
    .column(alone, ColumnKind::Number, "total time")
    .column(compared, ColumnKind::Number, "ratio")
    .column(compared, ColumnKind::Word, "verdict")
    .column(compared, ColumnKind::Number, "ratio of totals");
    let scale = common_reference(suite.scores.iter().filter_map(|s| s.total_s));
    let doubt =
        |i: usize| suite.scores.get(i).is_some_and(|s| !score_doubts(&view.analysis, s).is_empty());
    for (i, score) in suite.scores.iter().enumerate() {
        let of: Vec<u32> = score.members.iter().map(|m| m.treatment).collect();
        let behind = TrialLinks::metric(view, &of, &suite.metric);
        let mut row = vec![
            cell(score.label.clone()),
            TableCell::from(&behind, geomean_text(score) + value_mark(&view.analysis, doubt(i))),
            TableCell::from(
                &behind,
                value_on_scale(score.total_s, "s", scale) + value_mark(&view.analysis, doubt(i)),
            ),
        ];
        row.extend(match suite.comparisons.iter().find(|c| c.score == i) {
            None => ["1", "baseline", "1"].map(cell),
            Some(c) => [
                cell(ratio_text(&c.geomean) + value_mark(&view.analysis, doubt(0) || doubt(i))),
                TableCell::verdict(c.geomean.verdict),
                cell(c.totals.map_or_else(|| NO_VALUE.to_owned(), |t| significant(t, DIGITS))),
            ],
        });
        table.row(row);
    }
    table
}

fn members(view: &RunView, suite: &SuiteResults, scores: &[&SuiteScore], caption: &str) -> Table {
    let mut table = Table::captioned(caption).label(&suite.member);
    for score in scores {
        table = table.number(&short_label(score));
    }
    for member in suite.scores.first().map_or(&[][..], |s| &s.members) {
        let mut row = vec![cell(member.name.clone())];
        for score in scores {
            let own = score.members.iter().find(|m| m.name == member.name);
            row.push(own.map_or_else(
                || cell(NO_VALUE),
                |m| {
                    let behind = TrialLinks::metric(view, &[m.treatment], &suite.metric);
                    TableCell::from(&behind, member_text(m))
                },
            ));
        }
        table.row(row);
    }
    table
}

/// Returns a member's ratio, or the reason why it has none.
fn member_text(member: &SuiteMember) -> String {
    match member.ratio {
        Some(ratio) => significant(ratio, DIGITS),
        None if member.wrong => "wrong output".to_owned(),
        None => NO_VALUE.to_owned(),
    }
}

/// Formats the geometric mean, with its interval if it has one.
fn geomean_text(score: &SuiteScore) -> String {
    match (score.geomean, score.interval) {
        (Some(g), Some(i)) => ratio(g, i.low, i.high).to_string(),
        (Some(g), None) => significant(g, DIGITS),
        (None, _) => NO_VALUE.to_owned(),
    }
}

/// Describes the spread that a mean hides: the best and the worst member, and whether the choice of
/// the mean decides who leads.
fn spread_sentence(suite: &SuiteResults, comparison: &SuiteComparison) -> Option<String> {
    let ((best, high), (worst, low)) = (comparison.best.as_ref()?, comparison.worst.as_ref()?);
    let label = suite.scores.get(comparison.score).map_or("", |s| s.label.as_str());
    let (high, low) = (significant(*high, DIGITS), significant(*low, DIGITS));
    let mut text = format!("{label}: best {best} {high}, worst {worst} {low}");
    if comparison.means_disagree {
        text.push_str(
            "; by the ratio of totals the other side leads: the choice of the mean decides",
        );
    }
    Some(text)
}

/// Returns the levels without their factors' names, for the head of a column: `gcc peak`.
fn short_label(score: &SuiteScore) -> String {
    let levels: Vec<String> = score.levels.values().map(assay_model::Scalar::to_text).collect();
    if levels.is_empty() { score.label.clone() } else { levels.join(" ") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::fixtures;
    use crate::terminal::Style;

    #[test]
    fn a_score_with_a_doubtful_member_is_marked_and_so_is_its_ratio() {
        let mut view = fixtures::commands();
        let c = view.analysis.comparisons[0].clone();
        let score = |label: &str, treatment: u32| SuiteScore {
            label: label.to_owned(),
            levels: BTreeMap::new(),
            members: vec![SuiteMember {
                name: "one".to_owned(),
                treatment,
                ratio: Some(1.25),
                time_s: Some(1.0),
                n: 3,
                wrong: false,
            }],
            geomean: Some(1.25),
            interval: None,
            blocks: Vec::new(),
            total_s: Some(1.0),
        };
        let suite = SuiteResults {
            member: "member".to_owned(),
            metric: c.metric.clone(),
            scores: vec![score("base", c.baseline), score("peak", c.treatment)],
            comparisons: vec![SuiteComparison {
                score: 1,
                geomean: c.clone(),
                totals: None,
                best: None,
                worst: None,
                means_disagree: false,
            }],
        };
        view.analysis.suite = Some(suite);
        let outputs = |view: &RunView| {
            let style = Style { width: 200, ..Style::default() };
            [
                crate::terminal::run(view, style),
                crate::formats::markdown::write(view),
                crate::page::render(view),
            ]
        };
        for text in outputs(&view) {
            assert!(!text.contains("1.25 (doubtful)"), "{text}");
        }
        let first = view.analysis.summaries.iter_mut();
        first.filter(|s| s.treatment == c.baseline && s.metric == c.metric).for_each(|s| {
            s.doubts = vec!["assay was stopped".to_owned()];
        });
        for text in outputs(&view) {
            let text = text.replace("\\[", "[").replace("\\]", "]");
            assert!(text.contains("1.25 (doubtful)"), "{text}");
            let ratio = format!("{} (doubtful)", ratio_text(&c));
            assert!(text.contains(&ratio) && text.contains("assay was stopped"), "{text}");
        }
    }
}
