//! F43: the mean fits the values that it averages.

use crate::prelude::*;

pub const RIGHT_MEAN: CheckRow = CheckRow {
    id: "F43",
    name: "right-mean",
    section: CheckSection::Statistics,
    severity: INVALID,
    escalation: "",
    needs: "the values that each mean averages, and its formula",
    fires: "an arithmetic mean of normalised scores or of rates over equal work; a mean of ratios \
        for a ratio of totals",
    why: "the arithmetic mean of ratios makes the reference decide the winner",
    remedy: "geometric mean for scores, harmonic for rates over equal work, sums for totals",
    source: "Fleming and Wallace 1986; Heiser B5; Hoefler and Belli rules 3, 4",
    evidence: "the mean of a suite; `mean` in a post",
};

pub const CHECK: Check = Check::new(&RIGHT_MEAN, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    for m in e.means.need("the means, and the values that they average")? {
        let wrong = match (m.of, m.operator) {
            (None, MeanOperator::Arithmetic) => {
                lacking.push(format!("the kind of the rates in {} (equal work or not)", m.what));
                continue;
            }
            (Some(MeanOf::NormalisedScores), MeanOperator::Arithmetic) => {
                "an arithmetic mean of normalised scores: the winner depends on the reference"
            }
            (Some(MeanOf::RatesOverEqualWork), MeanOperator::Arithmetic) => {
                "an arithmetic mean of rates over equal work: the fast parts count too much"
            }
            (
                Some(MeanOf::RatiosForTotals),
                MeanOperator::Arithmetic | MeanOperator::Geometric | MeanOperator::Harmonic,
            ) => "a mean of ratios where a ratio of totals is claimed",
            _ => continue,
        };
        found.push(finding(format!("{} is {wrong}", m.what)));
    }
    found_or_missing(found, &lacking)
}
