//! Which two rows or columns a comparison is of: what stands before the comparing word is its subject,
//! what "than" and its like open is its baseline; the rest of the sentence, "it", and tables of two
//! states tell what is left out.

use super::amount::Dimension;
use super::bind::{Sentence, Side};
use super::grid::Grid;
use super::metric::metric;
use super::name::{Mention, is_plain};
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
    let earlier = before.iter().flatten().map(|p| p.grid).chain(scene.of_it());
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
pub(crate) fn opener(sentence: &Sentence<'_>, statement: &Statement, stop: usize) -> Option<usize> {
    let from = statement.end.min(statement.word.max(statement.at));
    (from.max(statement.at + 1)..stop.min(statement.end + 14)).find(|i| match sentence.lower(*i) {
        "than" | "vs" | "versus" | "against" | "compared" | "relative" | "behind" => true,
        "over" => *i >= statement.end,
        "as" => (statement.at..*i).any(|j| sentence.lower(j) == "as"),
        "what" => statement.way == Way::Of,
        "that" => statement.way == Way::Of && *i == statement.end,
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
        let named = !subject.slight && !baseline.slight;
        (s != b).then_some(Bound2 { grid: g, side, subject: s, baseline: b, named, opened })
    };
    // "Compared to B, A is ...", also behind "Still," or a colon.
    let opens = |i: &usize| {
        matches!(sentence.lower(*i), "compared" | "versus" | "relative" | "against" | "unlike")
            && (*i == 0 || [',', ':'].iter().any(|m| sentence.tokens[*i - 1].is_mark(*m)))
    };
    let ahead = (0..statement.at).find(opens).and_then(|o| {
        let comma = (o + 1..statement.at).find(|i| sentence.tokens[*i].is_mark(','))?;
        mentions.iter().any(|m| m.start > o && m.start < comma).then_some((o, comma))
    });
    if let Some((o, comma)) = ahead {
        let b = mentions.iter().filter(only).find(|m| m.start > o && m.start < comma)?;
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
            m.end <= limit
                && !sentence.compared(m.start)
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
        let s = earlier.map(|p| (p.subject, p.named)).filter(|(s, _)| Some(*s) != b.only());
        if let (Some((s, named)), Some(b)) = (s, b.only()) {
            return Some((
                5,
                Bound2 { grid: g, side, subject: s, baseline: b, named, opened: true },
            ));
        }
        // "81% less than before": of the other of two states.
        let other = match side {
            Side::Rows => Side::Columns,
            Side::Columns => Side::Rows,
        };
        let context = scene.named.iter().any(|(n, own)| *n == g && !own.side(other).is_empty());
        let turned = |(x, y): (usize, usize)| match b.only() {
            Some(b) if b == x => Some(y),
            Some(b) if b == y => Some(x),
            _ => None,
        };
        let states = two(grid, side);
        let state = states.iter().copied().filter(|_| context).find_map(turned);
        if let (Some(s), Some(b)) = (state, b.only()) {
            // "spills 11% less than before": of the pair of columns that the clause names.
            let clause = super::cells::clause(scene, statement);
            let (first, second) =
                pick(scene, grid, side, &states, clause.0..clause.1).unwrap_or((b, s));
            let (subject, _) = later(grid, side, first, second);
            let other = if subject == first { second } else { first };
            let (s, b) = if states.len() > 1 { (subject, other) } else { (s, b) };
            let pair = Bound2 { grid: g, side, subject: s, baseline: b, named: true, opened: true };
            return Some((4, pair));
        }
        let known = scene.it(g, side);
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
        // "it lost 10%, and its p99 rose by 12%": other two columns of the same states.
        let states = if side == Side::Columns { two(grid, side) } else { Vec::new() };
        let clause = super::cells::clause(scene, statement);
        if states.len() > 1
            && let Some((first, second)) = pick(scene, grid, side, &states, clause.0..clause.1)
            && (first, second) != (p.subject, p.baseline)
            && (second, first) != (p.subject, p.baseline)
        {
            let (subject, ordered) = later(grid, side, first, second);
            let baseline = if subject == first { second } else { first };
            return Some((
                5,
                Bound2 { subject, baseline, named: p.named && ordered, opened: false, ..*p },
            ));
        }
        let subject = s.and_then(Mention::only).unwrap_or(p.subject);
        return Some((5, Bound2 { subject, opened: false, ..*p }));
    }
    let unopened = opener(sentence, statement, stop).is_none() || opened.is_none();
    if !unopened {
        return None;
    }
    let states = two(grid, side);
    let here = mentions.iter().filter(only).rfind(|m| m.start < stop).and_then(Mention::only);
    let both: Vec<usize> = mentions.iter().filter_map(Mention::only).collect();
    // "went down by 72% with B", "2x faster with B": the other one is meant as the baseline.
    let among = |s: usize| states.iter().copied().find(|(a, b)| s == *a || s == *b);
    let clause = super::cells::clause(scene, statement);
    let (first, second) = match here {
        Some(s) => among(s)?,
        None => pick(scene, grid, side, &states, clause.0..clause.1)?,
    };
    let (s, ordered) = match here {
        // Two columns of one unit are two states only where their names say so.
        Some(s) => (s, side == Side::Rows || later(grid, side, first, second).1),
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
    // Which of two was first is a guess where neither their names nor the sentence tell.
    let named = context && both.len() <= 2 && ordered;
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
pub(crate) fn two(grid: &Grid, side: Side) -> Vec<(usize, usize)> {
    if side == Side::Rows {
        let all: Vec<usize> = grid.bodies().take(3).collect();
        return if let [a, b] = all[..] { vec![(a, b)] } else { Vec::new() };
    }
    let derived = |c: &usize| {
        let name = grid.columns.names[*c].text.to_lowercase();
        ["change", "delta", "vs", "speed", "ratio", "diff", "improvement"]
            .iter()
            .any(|w| name.contains(w))
    };
    let fits = |c: &usize| {
        let ratio = |d| matches!(d, Dimension::Times | Dimension::Percent);
        grid.dimension(*c).is_some_and(|d| !ratio(d)) && !derived(c)
    };
    let mut of: Vec<(Dimension, Vec<usize>)> = Vec::new();
    for c in grid.valued().filter(fits) {
        let Some(d) = grid.dimension(c) else { continue };
        match of.iter_mut().find(|(known, _)| *known == d) {
            Some((_, all)) => all.push(c),
            None => of.push((d, vec![c])),
        }
    }
    of.into_iter()
        .filter_map(|(_, all)| if let [a, b] = all[..] { Some((a, b)) } else { None })
        .collect()
}

/// Of several such pairs the one whose unit the words of a clause ask for; else the first.
fn pick(
    scene: &Scene<'_>,
    grid: &Grid,
    side: Side,
    states: &[(usize, usize)],
    clause: std::ops::Range<usize>,
) -> Option<(usize, usize)> {
    if side == Side::Rows || states.len() < 2 {
        return states.first().copied();
    }
    let words = metric(&scene.sentence.tokens[clause.clone()]);
    let says = |c: usize| {
        let own = &grid.columns.names[c].words;
        scene.sentence.pieces[clause.clone()]
            .iter()
            .flatten()
            .any(|w| !is_plain(w) && own.contains(w))
    };
    let takes = |c: usize| {
        grid.dimension(c)
            .is_some_and(|d| words.takes(d, grid.better[c], grid.columns.names[c].kind))
    };
    let both = |(a, b): &&(usize, usize), f: &dyn Fn(usize) -> bool| f(*a) && f(*b);
    let named = states.iter().find(|p| both(p, &says));
    named.or_else(|| states.iter().find(|p| both(p, &takes))).copied()
}

/// Of a pair of states the later one, and whether their names tell: by a word for what was or is, or by a version.
pub(crate) fn later(grid: &Grid, side: Side, first: usize, second: usize) -> (usize, bool) {
    let axis = grid.axis(side);
    let says = |i: usize, set: &[&str]| {
        axis.names[i].words.iter().flat_map(|w| w.split('.')).any(|w| set.contains(&w))
    };
    let past =
        ["befor", "before", "old", "off", "bas", "base", "baselin", "without", "master", "main"];
    let now = ["now", "new", "after", "on", "with", "head", "patch", "current", "branch"];
    match (says(first, &past) || says(second, &now), says(second, &past) || says(first, &now)) {
        (true, false) => return (second, true),
        (false, true) => return (first, true),
        _ => {}
    }
    match (version(&axis.names[first].text), version(&axis.names[second].text)) {
        (Some(a), Some(b)) if a > b => (first, true),
        (Some(a), Some(b)) if a < b => (second, true),
        _ => (second, false),
    }
}

/// The numbers of a version, or of a month, in a name.
fn version(name: &str) -> Option<Vec<u64>> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let lower = name.trim().to_lowercase();
    if let Some(month) = MONTHS.iter().position(|m| lower.starts_with(m)) {
        return Some(vec![month as u64]);
    }
    let word = lower.split_whitespace().find(|w| {
        let digits = w.trim_start_matches(['v', 'r']);
        digits.starts_with(|c: char| c.is_ascii_digit())
    })?;
    word.trim_start_matches(['v', 'r']).split('.').map(|part| part.parse().ok()).collect()
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
