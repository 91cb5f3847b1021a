//! Whose an amount of a sentence is: a name in its clause, one of several in their order, or one of two states.

use super::bind::Side;
use super::grid::Grid;
use super::name::Mention;
use super::scene::Scene;
use super::sides::{later, two};

/// The names that an amount may belong to, whether that is sure, and where the name stands.
type Owner = (Vec<usize>, bool, usize);

/// The name on an axis that an amount belongs to, and whether its own clause names it.
pub(crate) fn owner(
    scene: &Scene<'_>,
    mentions: &[Mention],
    (place, end): (usize, usize),
    clause: &std::ops::Range<usize>,
) -> Option<Owner> {
    // "from 41% with A to 53% with B": the name right behind a value is its own.
    let joins =
        |i: usize| matches!(scene.sentence.lower(i), "with" | "for" | "on" | "in" | "under" | "by");
    let of = |m: &Mention| (m.who.clone(), !m.slight, m.start);
    if let Some(m) = mentions.iter().find(|m| m.start == end + 1 && joins(end)) {
        return Some(of(m));
    }
    if let Some(listed) = listed(scene, mentions, place) {
        return Some(listed);
    }
    let near = mentions
        .iter()
        .rfind(|m| clause.contains(&m.start) && m.end <= place && !scene.sentence.compared(m.start))
        .or_else(|| mentions.iter().find(|m| clause.contains(&m.start) && m.start > place));
    if let Some(m) = near {
        return Some(of(m));
    }
    let earlier = mentions.iter().rfind(|m| m.end <= place && !scene.sentence.compared(m.start))?;
    Some((earlier.who.clone(), false, earlier.start))
}

/// "A and B take 12 ms and 30 ms": as many names as amounts, in their order. Where there are not as many, none is sure.
fn listed(scene: &Scene<'_>, mentions: &[Mention], place: usize) -> Option<Owner> {
    let joined = |from: usize, to: usize| {
        let link = |i: usize| {
            let t = &scene.sentence.tokens[i];
            t.is_mark(',') || matches!(t.lower.as_str(), "and" | "or" | "the" | "both")
        };
        from < to && (from..to).all(link)
    };
    let run = |i: &usize| joined(scene.amounts[*i - 1].1, scene.amounts[*i].0);
    let own = scene.amounts.iter().position(|(at, ..)| *at == place)?;
    let first = (1..=own).rev().take_while(run).last().map_or(own, |i| i - 1);
    let last = (own + 1..scene.amounts.len()).take_while(run).last().unwrap_or(own);
    let before: Vec<&Mention> =
        mentions.iter().filter(|m| m.end <= scene.amounts[first].0).collect();
    let linked = |i: &usize| joined(before[*i].end, before[*i + 1].start);
    let count = 1 + (0..before.len().saturating_sub(1)).rev().take_while(linked).count();
    if count < 2 || before.len() < 2 {
        return None;
    }
    let names = &before[before.len() - count..];
    let (a, b) = (names[count - 2].end, names[count - 1].start);
    if !(a..b).any(|i| matches!(scene.sentence.lower(i), "and" | "or")) {
        return None;
    }
    if names.len() == last - first + 1 {
        let name = names[own - first];
        return Some((name.who.clone(), true, name.start));
    }
    let name = names.last()?;
    Some((name.who.clone(), false, name.start))
}

/// "now takes", "took before": the later or the earlier of two states.
pub(crate) fn state(
    scene: &Scene<'_>,
    grid: &Grid,
    clause: &std::ops::Range<usize>,
) -> Option<(Vec<usize>, bool, usize)> {
    let has = |set: &[&str]| {
        scene.sentence.tokens[clause.clone()].iter().any(|t| set.contains(&t.lower.as_str()))
    };
    let states = two(grid, Side::Columns);
    let [(first, second)] = states[..] else { return None };
    let (last, _) = later(grid, Side::Columns, first, second);
    if has(&["now", "new", "after", "afterwards"]) {
        Some((vec![last], true, 0))
    } else if has(&["before", "previously", "took", "used", "was", "old", "earlier"]) {
        Some((vec![if last == first { second } else { first }], true, 0))
    } else {
        None
    }
}

/// The same of a table of two rows whose names tell which is the later.
pub(crate) fn state_row(
    scene: &Scene<'_>,
    grid: &Grid,
    clause: &std::ops::Range<usize>,
) -> Option<(Vec<usize>, bool, usize)> {
    let now = |t: &crate::read::token::Token| matches!(t.lower.as_str(), "now" | "afterwards");
    let states = two(grid, Side::Rows);
    let [(first, second)] = states[..] else { return None };
    let (last, ordered) = later(grid, Side::Rows, first, second);
    (ordered && scene.sentence.tokens[clause.clone()].iter().any(now))
        .then(|| (vec![last], true, 0))
}
