//! The words and cells of a suite's results, which terminal, page and Markdown share.

use assay_model::units::{format_ratio, significant};
use assay_model::{SuiteComparison, SuiteMember, SuiteResults, SuiteScore};

use crate::figures::{NO_VALUE, ratio_text, value_text};

/// What the suite's tables show of a ratio to the reference: three digits.
const DIGITS: usize = 3;

/// A member's ratio, or why there is none.
pub(crate) fn member_text(member: &SuiteMember) -> String {
    match member.ratio {
        Some(ratio) => significant(ratio, DIGITS),
        None if member.wrong => "wrong output".to_owned(),
        None => NO_VALUE.to_owned(),
    }
}

/// The geometric mean, with its interval where there is one.
pub(crate) fn geomean_text(score: &SuiteScore) -> String {
    match (score.geomean, score.interval) {
        (Some(g), Some(i)) => format_ratio(g, i.low, i.high),
        (Some(g), None) => significant(g, DIGITS),
        (None, _) => NO_VALUE.to_owned(),
    }
}

/// The comparison with the first score, as three cells: ratio, verdict, ratio of totals.
pub(crate) fn comparison_cells(comparison: Option<&SuiteComparison>) -> [String; 3] {
    match comparison {
        None => ["1".into(), "baseline".into(), "1".into()],
        Some(c) => [
            ratio_text(&c.geomean),
            c.geomean.verdict.name().to_owned(),
            c.totals.map_or_else(|| NO_VALUE.to_owned(), |t| significant(t, DIGITS)),
        ],
    }
}

/// What one comparison hides: the best and the worst member, and whether the mean decides who leads.
pub(crate) fn spread_sentence(
    suite: &SuiteResults,
    comparison: &SuiteComparison,
) -> Option<String> {
    let ((best, high), (worst, low)) = (comparison.best.as_ref()?, comparison.worst.as_ref()?);
    let label = suite.scores.get(comparison.score).map_or("", |s| s.label.as_str());
    let mut text = format!(
        "{label}: best {best} {}, worst {worst} {}",
        significant(*high, DIGITS),
        significant(*low, DIGITS)
    );
    if comparison.means_disagree {
        text.push_str(
            "; the ratio of totals says the other side leads: the choice of the mean decides",
        );
    }
    Some(text)
}

/// How the ratios were chosen and averaged.
pub(crate) const HOW: &str = "Of each member the median trial counts, of two the slower; the suite is the geometric \
     mean over all members. Intervals are over blocks: the mean of each block is one value.";

/// The levels without their factors' names, for a column's head: `gcc peak`.
pub(crate) fn short_label(score: &SuiteScore) -> String {
    let levels: Vec<String> = score.levels.values().map(assay_model::Scalar::to_text).collect();
    if levels.is_empty() { score.label.clone() } else { levels.join(" ") }
}

/// The total time of a score.
pub(crate) fn total_text(score: &SuiteScore) -> String {
    value_text(score.total_s, "s")
}
