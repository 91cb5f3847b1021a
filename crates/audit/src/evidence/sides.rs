//! Which two rows or columns a comparison is of: what stands before the comparing word is its subject,
//! what "than" and its like open is its baseline; the rest of the sentence, "it", and tables of two
//! states tell what is left out.

use super::amount::Dimension;
use super::bind::{Sentence, Side};
use super::grid::Grid;
use super::name::Mention;
use super::scene::Scene;
use super::statement::Statement;
use crate::detect::pointing::Way;

/// The two sides of a comparison, by their places on an axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound2 {
    pub grid: usize,
    pub side: Side,
    pub subject: usize,
    pub baseline: usize,
    /// Both are named in the sentence.
    pub named: bool,
    /// "than", "over" or their like stands between them.
    pub opened: bool,
}

/// The tables that are named here, or went before in the sentence.
pub(crate) fn tables(scene: &Scene<'_>, before: &[Option<Bound2>]) -> Vec<usize> {
    let mut all: Vec<usize> = scene.named.iter().map(|(g, _)| *g).collect();
    let earlier = before.iter().flatten().map(|p| p.grid).chain(scene.before.map(|s| s.grid));
    for g in earlier {
        if !all.contains(&g) {
            all.push(g);
        }
    }
    // "The geometric mean went down": the table with a row of means.
    if all.is_empty() && scene.sentence.tokens.iter().any(|t| is_average(&t.lower)) {
        let at = scene.sentence.span.start;
        let summed = |g: &usize| scene.grid(*g).summary.contains(&true);
        all.extend(
            (0..scene.context.grids.len())
                .filter(summed)
                .min_by_key(|g| scene.grid(*g).start.abs_diff(at)),
        );
    }
    all
}

/// Where the baseline is opened behind a claim: "than", "over", the second "as", "of".
fn opener(sentence: &Sentence<'_>, statement: &Statement, stop: usize) -> Option<usize> {
    let from = statement.end.min(statement.word.max(statement.at));
    (from.max(statement.at + 1)..stop.min(statement.end + 14)).find(|i| match sentence.lower(*i) {
        "than" | "vs" | "versus" | "against" | "compared" | "relative" | "behind" => true,
        "over" => *i >= statement.end,
        "as" => (statement.at..*i).any(|j| sentence.lower(j) == "as"),
        "of" => {
            statement.way == Way::Of
                || i.checked_sub(1).is_some_and(|p| sentence.lower(p) == "ahead")
        }
        "above" | "below" => *i == statement.word,
        _ => false,
    })
}

/// Words for what was before, which name no row.
fn is_past(sentence: &Sentence<'_>, opener: usize) -> bool {
    (opener + 1..opener + 4).any(|i| {
        matches!(
            sentence.lower(i),
            "before" | "previously" | "earlier" | "old" | "baseline" | "previous" | "ever"
        )
    })
}

/// The two sides of a claim on an axis, and how surely they are meant.
pub(crate) fn sides(
    scene: &Scene<'_>,
    g: usize,
    side: Side,
    k: usize,
    before: &[Option<Bound2>],
) -> Option<(usize, Bound2)> {
    let sentence = &scene.sentence;
    let statement = &scene.statements[k];
    let stop = scene.next(statement.at);
    let grid = scene.grid(g);
    let empty = Vec::new();
    let mentions =
        scene.named.iter().find(|(n, _)| *n == g).map_or(&empty[..], |(_, n)| n.side(side));
    let only = |m: &&Mention| m.only().is_some_and(|w| usable(grid, side, w));
    let pair = |subject: &Mention, baseline: &Mention, opened| {
        let (s, b) = (subject.only()?, baseline.only()?);
        (s != b).then_some(Bound2 { grid: g, side, subject: s, baseline: b, named: true, opened })
    };
    // "Compared to B, A is ..."
    if matches!(sentence.lower(0), "compared" | "versus" | "relative" | "against" | "unlike")
        && let Some(comma) = (1..statement.at).find(|i| sentence.tokens[*i].is_mark(','))
    {
        let b = mentions.iter().filter(only).find(|m| m.start < comma)?;
        let s = mentions.iter().filter(only).find(|m| m.start > comma && m.start < stop)?;
        return pair(s, b, true).map(|p| (6, p));
    }
    let opened = opener(sentence, statement, stop).filter(|o| {
        let follows =
            mentions.iter().any(|m| m.start > *o && m.start <= *o + 4 && m.only().is_some());
        follows || !is_past(sentence, *o)
    });
    let baselines: Vec<usize> = before
        .iter()
        .flatten()
        .filter(|p| p.grid == g && p.side == side)
        .map(|p| p.baseline)
        .collect();
    let earlier = before[..k].iter().rev().flatten().find(|p| p.grid == g && p.side == side);
    let subject = |limit: usize, not: Option<usize>| {
        mentions.iter().filter(only).rfind(|m| {
            let than = (m.start.saturating_sub(2)..m.start).any(|i| {
                matches!(sentence.lower(i), "than" | "over" | "vs" | "versus" | "against")
            });
            m.end <= limit
                && !than
                && m.only() != not
                && m.only().is_none_or(|w| !baselines.contains(&w))
        })
    };
    if let Some(o) = opened {
        let baseline = mentions
            .iter()
            .filter(only)
            .find(|m| m.start > o && m.start < stop && m.start <= o + 8)
            .filter(|m| {
                !(o..m.start).any(|i| {
                    sentence.tokens[i].is_mark(',') || matches!(sentence.lower(i), "and" | "but")
                })
            });
        let b = baseline?;
        // "A beats B" has its subject before the verb.
        let s = subject(o, b.only())
            .filter(|m| m.end <= statement.at.max(statement.word) || m.end <= o);
        if let Some(s) = s {
            return pair(s, b, true).map(|p| (6, p));
        }
        let s = earlier.map(|p| p.subject).filter(|s| Some(*s) != b.only());
        if let (Some(s), Some(b)) = (s, b.only()) {
            return Some((
                5,
                Bound2 { grid: g, side, subject: s, baseline: b, named: true, opened: true },
            ));
        }
        let known = scene.before.filter(|m| m.grid == g && m.side == side).map(|m| m.who);
        let (s, b) = (known?, b.only()?);
        let named = (0..statement.at).any(|i| matches!(sentence.lower(i), "it" | "its"));
        return (s != b).then_some((
            4,
            Bound2 { grid: g, side, subject: s, baseline: b, named, opened: true },
        ));
    }
    // "A beats B by 5%"
    if statement.word < statement.at
        && matches!(
            sentence.lower(statement.word),
            "beats" | "beat" | "outperforms" | "outperformed" | "leads"
        )
        && let Some(b) =
            mentions.iter().filter(only).find(|m| m.start > statement.word && m.end <= statement.at)
        && let Some(s) = mentions.iter().filter(only).rfind(|m| m.end <= statement.word)
    {
        return pair(s, b, true).map(|p| (6, p));
    }
    // "from v6.6 to v6.12"
    if let Some((b, s)) = from_to(sentence, mentions) {
        return pair(s, b, true).map(|p| (6, p));
    }
    if let Some(p) = earlier {
        let s = subject(stop, Some(p.baseline))
            .filter(|m| m.start >= scene.statements[k.saturating_sub(1)].end);
        let subject = s.and_then(Mention::only).unwrap_or(p.subject);
        return Some((5, Bound2 { subject, opened: false, ..*p }));
    }
    let unopened = opener(sentence, statement, stop).is_none() || opened.is_none();
    if !unopened {
        return None;
    }
    let (first, second) = two(grid, side)?;
    let here = mentions.iter().filter(only).rfind(|m| m.start < stop).and_then(Mention::only);
    let both: Vec<usize> = mentions.iter().filter_map(Mention::only).collect();
    // "went down by 72% with B", "2x faster with B": the other one is meant as the baseline.
    let s = match here {
        Some(s) if s == first || s == second => s,
        Some(_) => return None,
        None => later(grid, side, first, second),
    };
    let b = if s == first { second } else { first };
    let other = match side {
        Side::Rows => Side::Columns,
        Side::Columns => Side::Rows,
    };
    let averaged = sentence.tokens.iter().any(|t| is_average(&t.lower));
    let context =
        scene.named.iter().find(|(n, _)| *n == g).is_some_and(|(_, n)| !n.side(other).is_empty())
            || averaged && side == Side::Columns && grid.summary.contains(&true);
    if here.is_none() && !context {
        return None;
    }
    let named = context && both.len() <= 2;
    Some((
        if here.is_some() && context { 3 } else { 2 },
        Bound2 { grid: g, side, subject: s, baseline: b, named, opened: false },
    ))
}

pub(crate) fn is_average(lower: &str) -> bool {
    matches!(
        lower,
        "average" | "averages" | "averaged" | "geomean" | "geometric" | "overall" | "mean"
    )
}

fn usable(grid: &Grid, side: Side, who: usize) -> bool {
    match side {
        Side::Rows => !grid.summary[who],
        Side::Columns => grid.valued().any(|c| c == who),
    }
}

/// The two rows, or the two columns of one unit, that a table compares.
pub(crate) fn two(grid: &Grid, side: Side) -> Option<(usize, usize)> {
    let all: Vec<usize> = match side {
        Side::Rows => grid.bodies().collect(),
        Side::Columns => {
            let counts = |d| grid.valued().filter(|c| grid.dimension(*c) == Some(d)).count();
            let fits = |c: &usize| {
                grid.dimension(*c).is_some_and(|d| {
                    !matches!(d, Dimension::Times | Dimension::Percent) && counts(d) >= 2
                })
            };
            let derived = |c: &usize| {
                let name = grid.columns.names[*c].text.to_lowercase();
                ["change", "delta", "vs", "speed", "ratio", "diff", "improvement"]
                    .iter()
                    .any(|w| name.contains(w))
            };
            grid.valued().filter(fits).filter(|c| !derived(c)).collect()
        }
    };
    match all.as_slice() {
        [a, b] => Some((*a, *b)),
        _ => None,
    }
}

/// Of a pair of states the later one: the second, unless its name says that it came before.
pub(crate) fn later(grid: &Grid, side: Side, first: usize, second: usize) -> usize {
    let axis = match side {
        Side::Rows => &grid.rows,
        Side::Columns => &grid.columns,
    };
    let says =
        |i: usize, set: &[&str]| axis.names[i].words.iter().any(|w| set.contains(&w.as_str()));
    let past =
        ["befor", "before", "old", "off", "bas", "base", "baselin", "without", "master", "main"];
    if says(second, &past) && !says(first, &past) { first } else { second }
}

/// "from X to Y" with two names.
fn from_to<'m>(
    sentence: &Sentence<'_>,
    mentions: &'m [Mention],
) -> Option<(&'m Mention, &'m Mention)> {
    mentions.windows(2).find_map(|w| {
        let from = w[0].start.checked_sub(1).is_some_and(|i| {
            sentence.lower(i) == "from"
                || i > 0 && sentence.lower(i) == "the" && sentence.lower(i - 1) == "from"
        });
        let to = (w[0].end..w[1].start).any(|i| sentence.lower(i) == "to");
        (from && to).then_some((&w[0], &w[1]))
    })
}
