//! Whether all that a clause says is known of a table. A claim that fails is wrong only then: any other
//! word may be a condition, another metric, or another thing that the table does not show.

use std::ops::Range;

use super::amount::Dimension;
use super::bind::{Sentence, around, foreign, is_metric};
use super::grid::Grid;
use super::name::is_plain;
use super::statement;
use crate::detect::pointing::way;

/// Words that say of any table's values that they are so.
const SAYING: &str = "is are was were be been being has have had do does did take takes took taken need needs needed \
    use uses used using run runs ran running reach reaches reached serve serves served handle handles handled process \
    processes processed deliver delivers delivered achieve achieves achieved get gets got perform performs move moves \
    moved give gives gave make makes show shows consume consumes draw draws drew require requires required allocate \
    allocates finish finishes finished complete completes completed answer answers answered respond responds execute \
    executes executed sustain sustains sustained score scores scored become becomes became went goes comes benchmark benchmarks test tests case change changed \
    regressed manages managed hits \
    time times value values result results number numbers mean average median total geometric arithmetic percent unit \
    units wall clock \
    only just still now already also about around nearly almost roughly approximately again here so too much many \
    long very both clearly actually exactly well overall thus therefore however yet respectively about up down \
    it its they their them this that these those which what we our one all each every other others same \
    by of in on at to for from with and or but than over as per s an a the while where whereas against versus vs compared \
    relative behind ahead before after old new previously magnitude order orders";

/// What stands in a clause that the table does not know, if anything.
pub(crate) fn unknown(
    grid: &Grid,
    sentence: &Sentence<'_>,
    clause: Range<usize>,
    superlatives: bool,
) -> Option<String> {
    if let Some(words) = foreign(grid, sentence, around(sentence, clause.clone())) {
        return Some(words);
    }
    let known = |w: &String| grid.knows(w);
    for i in clause {
        let token = &sentence.tokens[i];
        let lower = token.lower.as_str();
        if sentence.pieces[i].iter().any(known) {
            continue;
        }
        let per = i > 0 && matches!(sentence.lower(i - 1), "per" | "a" | "each" | "/");
        if per && matches!(lower, "second" | "sec" | "s" | "minute" | "hour") {
            continue;
        }
        // "xml without asan" is not about "asan".
        let denied = matches!(lower, "without" | "no" | "not" | "except" | "excluding");
        if denied {
            return Some(lower.to_owned());
        }
        let previous = i.checked_sub(1).map_or("", |p| sentence.lower(p));
        if token.number().is_some() {
            let compared = matches!(
                sentence.lower(i + 1),
                "times" | "x" | "percent" | "fold" | "orders" | "order"
            );
            let amount = super::amount::at(sentence.text, sentence.tokens, i)
                .is_some_and(|(a, _)| a.dimension() != Dimension::Count);
            let share = matches!(previous, "of" | "the" | "all") && superlatives;
            // A version or a count of something is no value.
            if (amount && token.quantity().is_some_and(|n| !n.spelled)) || compared || share {
                continue;
            }
            return Some(lower.to_owned());
        }
        if !token.is_word() {
            continue;
        }
        let behind = i > 0 && sentence.tokens[i - 1].number().is_some();
        let unit = behind && super::amount::measure(lower).is_some();
        let most = super::rank::is_superlative(lower) || lower == "cheapest";
        if !(unit
            || most
            || lower.len() > 4 && lower.ends_with("ly")
            || is_plain(lower) && !matches!(lower, "worst" | "best")
            || way(lower).is_some()
            || is_metric(lower)
            || SAYING.split_whitespace().any(|w| w == lower)
            || statement::is_multiple(lower))
        {
            return Some(lower.to_owned());
        }
    }
    None
}
