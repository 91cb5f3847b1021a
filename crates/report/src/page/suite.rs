//! The results of a suite on the page: scores, members, each number with the trials behind it.

use assay_model::{SuiteResults, SuiteScore};
use maud::{Markup, html};

use super::parts::{Behind, table_box};
use crate::figures::{NO_VALUE, percent};
use crate::gate::Gate;
use crate::suite::{HOW, comparison_cells, geomean_text, member_text, spread_sentence, total_text};
use crate::view::RunView;

pub(super) fn section(view: &RunView, gate: &Gate, suite: &SuiteResults) -> Markup {
    let head = html! {
        th scope="col" { "setting" }
        th scope="col" class="num" { "geometric mean" } th scope="col" class="num" { "total time" }
        th scope="col" class="num" { "ratio" } th scope="col" { "verdict" }
        th scope="col" class="num" { "ratio of totals" }
    };
    let rows = html! {
        @for (i, score) in suite.scores.iter().enumerate() {
            @let behind = behind(view, suite, score);
            @let [ratio, verdict, totals] = comparison_cells(suite.comparisons.iter().find(|c| c.score == i));
            tr {
                th scope="row" { (score.label) }
                (behind.cell(&geomean_text(score)))
                (behind.cell(&total_text(score)))
                td class="num" { (ratio) } td { (verdict) } td class="num" { (totals) }
            }
        }
    };
    let caption = format!(
        "{} to the reference: geometric mean over all members with {} intervals",
        suite.metric,
        percent(gate.analysis.confidence)
    );
    html! {
        h3 id="suite" { "The suite" }
        (table_box(&caption, &head, &rows))
        @for c in &suite.comparisons {
            @if let Some(text) = spread_sentence(suite, c) { p class="soft" { (text) "." } }
        }
        (members(view, suite))
        p class="soft" { (HOW) }
    }
}

fn behind(view: &RunView, suite: &SuiteResults, score: &SuiteScore) -> Behind {
    let all: Vec<u32> = score.members.iter().map(|m| m.treatment).collect();
    Behind::metric(view, &all, &suite.metric)
}

fn members(view: &RunView, suite: &SuiteResults) -> Markup {
    let head = html! {
        th scope="col" { (suite.member) }
        @for score in &suite.scores { th scope="col" class="num" { (score.label) } }
    };
    let first = suite.scores.first().map_or(&[][..], |s| &s.members);
    let rows = html! {
        @for member in first {
            tr {
                th scope="row" { (member.name) }
                @for score in &suite.scores {
                    @match score.members.iter().find(|m| m.name == member.name) {
                        Some(m) => ((Behind::metric(view, &[m.treatment], &suite.metric).cell(&member_text(m)))),
                        None => td class="num" { (NO_VALUE) },
                    }
                }
            }
        }
    };
    table_box("Every member: ratio to the reference", &head, &rows)
}
