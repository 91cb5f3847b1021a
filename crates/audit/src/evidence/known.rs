//! Whether all that a clause says is known of a table. A claim that fails is wrong only then: any other
//! word may be a condition, another metric, or another thing that the table does not show.

use std::ops::Range;

use super::amount::Dimension;
use super::bind::{around, foreign};
use super::extreme::{Most, superlative};
use super::grid::Grid;
use super::metric::is_metric;
use super::name::{Mention, is_plain, stem, words};
use super::scene::Scene;
use super::statement;
use crate::detect::pointing::way;
use crate::read::document::BlockKind;

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
    only just still now already also about around nearly almost roughly approximately again here so too former latter much many \
    long very both clearly actually exactly well because overall thus therefore however yet respectively about up down \
    it its they their them this that these those which what we our one all each every other others same \
    by of in on at to for from with and or but than over as per s an a the while where whereas against versus vs compared \
    relative behind ahead before after old new previously magnitude order orders";

/// What in a clause, or before any name in its part of the sentence, may make it a statement about something that the
/// table does not show: a condition, another name, another metric. A word of everyday speech that is none of these
/// speaks against nothing, unless the reading is strict.
pub(crate) fn unknown(
    scene: &Scene<'_>,
    grid: &Grid,
    clause: Range<usize>,
    superlatives: bool,
    strict: bool,
) -> Option<String> {
    let sentence = &scene.sentence;
    if let Some(words) = foreign(grid, sentence, around(sentence, clause.clone())) {
        return Some(words);
    }
    let known = |w: &String| grid.knows(w);
    let called = |i: usize| {
        let is = |w: &String| !is_plain(w) && (grid.rows.knows(w) || grid.columns.knows(w));
        sentence.pieces[i].iter().any(is)
            || matches!(sentence.lower(i), "it" | "its" | "they" | "former" | "latter")
    };
    let part = sentence.part(clause.start.min(sentence.tokens.len()), called);
    let opening = part..subject(scene, grid, part..clause.end).unwrap_or(clause.start);
    let valued = |i: usize| {
        sentence.tokens[i].number().is_some() || super::amount::measure(sentence.lower(i)).is_some()
    };
    let telling = |i: usize| {
        let token = &sentence.tokens[i];
        let named = |w: &String| scene.context.naming.contains_key(w);
        // "user time" is another time, "Quantised to 4 bits" a condition; "there" is what went before.
        let metric = |i: usize| {
            sentence.pieces.get(i).is_some_and(|p| p.iter().any(|w| grid.columns.knows(w)))
                || is_metric(sentence.lower(i))
        };
        token.capital && i > part && !titled(scene, &token.lower)
            || token.lower.bytes().any(|b| b.is_ascii_digit())
            || sentence.pieces[i].iter().any(named)
            || matches!(token.lower.as_str(), "there" | "then" | "elsewhere" | "otherwise")
            || opening.contains(&i)
            || metric(i + 1) && !is_verb(&token.lower)
            || i > 0
                && matches!(superlative(sentence.lower(i - 1)), Some(Most::Greatest | Most::Least))
    };
    let rest = clause.start.max(opening.end)..clause.end;
    for i in opening.clone().chain(rest) {
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
        // "40 kB of binary size"
        if previous == "of" && i > 1 && valued(i - 2) && token.is_word() && !is_plain(lower) {
            return Some(lower.to_owned());
        }
        // "the old one"
        if lower == "one" && !grid.knows(&"1".to_owned()) {
            continue;
        }
        if token.number().is_some() {
            let compared = matches!(
                sentence.lower(i + 1),
                "times" | "x" | "percent" | "fold" | "orders" | "order"
            );
            let amount = super::amount::at(sentence.text, sentence.tokens, i)
                .is_some_and(|(a, _)| a.dimension() != Dimension::Count);
            let share = matches!(previous, "of" | "the" | "all") && superlatives;
            // A version or a count of something is no value, nor what has one: "10.6 has the lowest p95".
            let has = matches!(sentence.lower(i + 1), "has" | "is" | "was" | "takes" | "needs");
            if (amount && !has && token.quantity().is_some_and(|n| !n.spelled)) || compared || share
            {
                continue;
            }
            return Some(lower.to_owned());
        }
        if !token.is_word() {
            continue;
        }
        let behind = i > 0 && sentence.tokens[i - 1].number().is_some();
        let unit = behind && super::amount::measure(lower).is_some();
        let most = superlative(lower).is_some() || lower == "cheapest";
        if !(unit
            || most
            || !strict && !telling(i)
            || lower.len() > 4 && lower.ends_with("ly")
            || is_plain(lower) && !matches!(lower, "worst" | "best")
            || way(lower).is_some()
            || is_metric(lower)
            || is_saying(lower)
            || statement::is_multiple(lower))
        {
            return Some(lower.to_owned());
        }
    }
    None
}

/// Whether a word stands in the first heading: what the whole text is about.
fn titled(scene: &Scene<'_>, lower: &str) -> bool {
    let document = scene.context.document;
    let heading = document.blocks.iter().find(|b| b.kind == BlockKind::Heading);
    heading.is_some_and(|b| words(b.span.of(document.text)).contains(&stem(lower)))
}

/// Where the first name of a row stands in a range, else of a column, or "it" before these.
fn subject(scene: &Scene<'_>, grid: &Grid, range: Range<usize>) -> Option<usize> {
    let named =
        scene.named.iter().find(|(g, _)| scene.grid(*g).table == grid.table).map(|(_, n)| n);
    let first =
        |mentions: &[Mention]| mentions.iter().map(|m| m.start).filter(|s| range.contains(s)).min();
    let name = named.and_then(|n| first(&n.rows).or_else(|| first(&n.columns)));
    let it = range
        .clone()
        .find(|i| matches!(scene.sentence.lower(*i), "it" | "its" | "they" | "former" | "latter"));
    match (name, it) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Whether a word says of any table's values that they are so.
pub(crate) fn is_saying(lower: &str) -> bool {
    SAYING.split_whitespace().any(|w| w == lower)
}

/// Whether a word may be a verb of the third person.
fn is_verb(lower: &str) -> bool {
    lower.len() > 3 && lower.ends_with('s') && !lower.ends_with("ss")
}
