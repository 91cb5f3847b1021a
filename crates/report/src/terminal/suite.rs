//! The results of a suite: its scores, every member, and what the means hide.

use assay_model::SuiteResults;

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::{NO_VALUE, percent};
use crate::suite::{
    HOW, comparison_cells, geomean_text, member_text, short_label, spread_sentence, total_text,
};

/// How many scores stand side by side in the table of members.
const SIDE_BY_SIDE: usize = 4;

/// The scores with the comparisons, then the members, at most four scores side by side.
pub fn suite(suite: &SuiteResults, confidence: f64, style: Style) -> String {
    let mut w = Writer::new(style);
    let what = format!(
        "{} to the reference: geometric mean over {} and {} interval, higher is better",
        suite.metric,
        suite.scores.first().map_or(0, |s| s.members.len()).to_string() + " members",
        percent(confidence)
    );
    w.wrapped(0, &what, Paint::Strong);
    w.blank();
    w.raw(&scores(suite, style));
    for part in suite.scores.chunks(SIDE_BY_SIDE) {
        w.blank();
        let mut table = Table::default().label(&suite.member);
        for score in part {
            table = table.number(&short_label(score));
        }
        for member in suite.scores.first().map_or(&[][..], |s| &s.members) {
            let mut row = vec![cell(member.name.clone())];
            for score in part {
                let own = score.members.iter().find(|m| m.name == member.name);
                row.push(cell(own.map_or_else(|| NO_VALUE.to_owned(), member_text)));
            }
            table.row(row);
        }
        w.raw(&table.render(style));
    }
    w.blank();
    let mut said = "";
    for comparison in &suite.comparisons {
        if let Some(text) = spread_sentence(suite, comparison) {
            w.wrapped(2, &text, Paint::Soft);
        }
        let reason = comparison.geomean.reason.as_str();
        if reason != said {
            w.wrapped(4, reason, Paint::Soft);
            said = reason;
        }
    }
    w.wrapped(2, HOW, Paint::Soft);
    w.finish()
}

fn scores(suite: &SuiteResults, style: Style) -> String {
    let compared = suite.scores.len() > 1;
    let mut table = Table::default().label("setting").number("geometric mean");
    table = if compared {
        table.number("ratio").word("verdict").number("totals")
    } else {
        table.number("total time")
    };
    for (i, score) in suite.scores.iter().enumerate() {
        let mut row = vec![cell(score.label.clone()), cell(geomean_text(score))];
        if compared {
            let comparison = suite.comparisons.iter().find(|c| c.score == i);
            let [ratio, verdict, totals] = comparison_cells(comparison);
            let paint = comparison.map_or(Paint::Soft, |c| Paint::of(c.geomean.verdict));
            row.extend([cell(ratio), (verdict, paint), cell(totals)]);
        } else {
            row.push(cell(total_text(score)));
        }
        table.row(row);
    }
    table.render(style)
}
