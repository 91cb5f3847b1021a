//! Judges ranks that have a table: "the fastest of the three", "has the lowest latency", "A is faster
//! than B". Without a name and a metric of a table they are no claims.

use super::amount::Dimension;
use super::bind::{Side, around, at, foreign};
use super::compare::input;
use super::extreme::{Most, scoped, superlative};
use super::grid::{At, Better, Grid};
use super::known::unknown;
use super::metric::{Metric, metric, statistic};
use super::name::Mention;
use super::scene::Scene;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::pointing::{Way, way};
use crate::read::source::Span;

/// The ranks of a sentence, each with its token.
pub(crate) fn judge(scene: &Scene<'_>, taken: &[std::ops::Range<usize>]) -> Vec<(usize, Claim)> {
    let tokens = scene.sentence.tokens;
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        if found.len() >= 4 {
            break;
        }
        if let Some(most) = superlative(&token.lower) {
            let at_most = i > 0
                && matches!(scene.sentence.lower(i - 1), "at" | "of" | "by")
                && matches!(token.lower.as_str(), "most" | "least" | "best" | "worst");
            let of = scene.sentence.lower(i + 1) == "of" && token.lower == "most";
            if !at_most
                && !of
                && let Some(claim) = extreme(scene, i, most)
            {
                found.push((i, claim));
            }
        } else if let Some(claim) = plain(scene, i, taken) {
            found.push((i, claim));
        }
    }
    found
}

/// The clause around a token.
fn clause(scene: &Scene<'_>, i: usize) -> std::ops::Range<usize> {
    let tokens = scene.sentence.tokens;
    let ends = |j: usize| {
        tokens[j].is_mark(',')
            || tokens[j].is_mark(';')
            || tokens[j].is_mark(':')
            || matches!(tokens[j].lower.as_str(), "but" | "while" | "whereas" | "and")
    };
    // "the slowest with 1,120 ms": the value is a claim of its own.
    let value = |j: usize| {
        matches!(tokens[j].lower.as_str(), "with" | "at" | "in" | "(")
            && scene.amounts.iter().any(|(at, ..)| *at == j + 1)
    };
    let start = (0..i).rev().find(|j| ends(*j)).map_or(0, |j| j + 1);
    let end = (i + 1..tokens.len()).find(|j| ends(*j) || value(*j)).unwrap_or(tokens.len());
    start..end
}

/// The cells that a clause's metric leaves of an axis's name, each with all its rivals.
fn fields(
    scene: &Scene<'_>,
    g: usize,
    side: Side,
    who: usize,
    range: std::ops::Range<usize>,
) -> Vec<usize> {
    let grid = scene.grid(g);
    let other = side.other();
    let mentions: &[Mention] =
        scene.named.iter().find(|(n, _)| *n == g).map_or(&[], |(_, n)| n.side(other));
    let named: Vec<usize> = mentions
        .iter()
        .filter(|m| range.contains(&m.start))
        .flat_map(|m| m.who.iter().copied())
        .collect();
    let usable = |o: &usize| {
        grid.amount(at(side, who, *o))
            .is_some_and(|m| m.dimension() != Dimension::Times || named.contains(o))
    };
    let explicit: Vec<usize> = named.iter().copied().filter(usable).collect();
    if !explicit.is_empty() {
        return explicit;
    }
    let words = metric(&scene.sentence.tokens[range]);
    if words == Metric::Any {
        return Vec::new();
    }
    let all: Vec<usize> = match other {
        Side::Columns => grid.valued().collect(),
        Side::Rows => grid.bodies().collect(),
    };
    let fits: Vec<usize> = all
        .into_iter()
        .filter(usable)
        .filter(|o| {
            let a = at(side, who, *o);
            let mut kind = grid.columns.names[a.column].kind;
            if side == Side::Columns {
                kind |= grid.rows.names[a.row].kind;
            }
            grid.amount(a).is_some_and(|m| words.takes(m.dimension(), grid.better[a.column], kind))
        })
        .collect();
    let least = fits
        .iter()
        .filter(|_| other == Side::Columns)
        .map(|o| statistic(&grid.columns.names[*o].text))
        .min();
    fits.into_iter()
        .filter(|o| {
            other != Side::Columns || Some(statistic(&grid.columns.names[*o].text)) == least
        })
        .collect()
}

fn extreme(scene: &Scene<'_>, i: usize, most: Most) -> Option<Claim> {
    let range = clause(scene, i);
    let mut first: Option<Claim> = None;
    for (g, named) in &scene.named {
        for side in [Side::Rows, Side::Columns] {
            let only = |m: &&Mention| range.contains(&m.start) && m.only().is_some();
            let subject =
                named.side(side).iter().filter(only).rfind(|m| m.end <= i).or_else(|| {
                    named.side(side).iter().filter(only).find(|m| {
                        m.start > i
                            && scene.sentence.tokens[i..m.start].iter().any(|t| t.lower == "is")
                    })
                });
            let Some(who) = subject.and_then(Mention::only) else { continue };
            if let Some(claim) = ranked(scene, *g, side, who, i, most, range.clone())
                && settled(&mut first, claim)
            {
                return first;
            }
        }
    }
    first
}

/// Keeps the claim of the nearest table; where it is wrong there and holds in another it is open.
fn settled(first: &mut Option<Claim>, claim: Claim) -> bool {
    let Some(before) = first else {
        let done = claim.verdict != ClaimVerdict::Wrong;
        *first = Some(claim);
        return done;
    };
    if claim.verdict == ClaimVerdict::Wrong {
        return false;
    }
    before.verdict = ClaimVerdict::Ambiguous;
    before.reason = format!("{}, but in another table it holds", before.reason);
    true
}

fn ranked(
    scene: &Scene<'_>,
    g: usize,
    side: Side,
    who: usize,
    i: usize,
    most: Most,
    range: std::ops::Range<usize>,
) -> Option<Claim> {
    let grid = scene.grid(g);
    let fields = fields(scene, g, side, who, range.clone());
    let first = *fields.first()?;
    let own_at = at(side, who, first);
    let own = grid.amount(own_at)?;
    let rivals: Vec<At> = match side {
        Side::Rows => grid.bodies().map(|r| At { row: r, column: first }).collect(),
        Side::Columns => grid
            .valued()
            .map(|c| At { row: first, column: c })
            .filter(|a| grid.amount(*a).is_some_and(|m| m.dimension() == own.dimension()))
            .collect(),
    };
    let mut rivals: Vec<At> = rivals.into_iter().filter(|a| grid.amount(*a).is_some()).collect();
    if side == Side::Rows {
        let shared = shared(scene, grid, g, who, &range);
        rivals.retain(|a| shared.iter().all(|w| grid.rows.names[a.row].words.contains(w)));
    }
    // Of changes with signs "the largest" may mean either end.
    let signed = rivals.iter().any(|a| grid.amount(*a).is_some_and(|m| m.value < 0.0));
    if rivals.len() < 2 || signed {
        return None;
    }
    let greater = most.is_greatest(grid.better[own_at.column])?;
    let beaten = rivals.iter().copied().find(|a| {
        grid.amount(*a)
            .is_some_and(|m| if greater { m.value > own.value } else { m.value < own.value })
    });
    let mut claim = made(scene, range.clone());
    claim.inputs = input(scene, grid, own_at).into_iter().collect();
    match beaten {
        None => {
            let others = fields[1..].iter().all(|o| leads(grid, side, who, *o, greater));
            let elsewhere =
                foreign(grid, &scene.sentence, around(&scene.sentence, range)).is_some();
            claim.verdict = if !elsewhere && (fields.len() == 1 || others) {
                ClaimVerdict::Holds
            } else {
                ClaimVerdict::Ambiguous
            };
            claim.computed = Some(1.0);
            claim.reason = format!(
                "{} of the {} printed in {}; what is not printed is not known",
                if greater { "the greatest" } else { "the least" },
                rivals.len(),
                title(grid, side, first)
            );
        }
        Some(rival) => {
            claim.inputs.extend(input(scene, grid, rival));
            let name = claim.inputs.last().map_or(String::new(), |i| i.name.clone());
            let value = grid.amount(rival).map_or(f64::NAN, |m| m.printed);
            claim.reason = format!(
                "{} against {} of {name}",
                crate::judge::reading::figure(own.printed),
                crate::judge::reading::figure(value)
            );
            let scoped = scoped(scene, i, range.end, rivals.len())
                || unknown(scene, grid, range, true, false).is_some();
            claim.verdict = if scoped || fields.len() > 1 {
                ClaimVerdict::Ambiguous
            } else {
                ClaimVerdict::Wrong
            };
        }
    }
    Some(claim)
}

/// The words of a row's name that stand in a clause beside the name itself: "insert" of "ahx has the fastest insert"
/// for `insert/ahx`. Its rivals have them too.
fn shared(
    scene: &Scene<'_>,
    grid: &Grid,
    g: usize,
    who: usize,
    range: &std::ops::Range<usize>,
) -> Vec<String> {
    let own = &grid.rows.names[who].words;
    let named = scene.named.iter().find(|(n, _)| *n == g).map(|(_, n)| n.side(Side::Rows));
    let inside = |i: usize| {
        named.unwrap_or(&[]).iter().any(|m| m.only() == Some(who) && (m.start..m.end).contains(&i))
    };
    let several = |w: &String| grid.rows.names.iter().filter(|n| n.words.contains(w)).count() > 1;
    range
        .clone()
        .filter(|i| !inside(*i))
        .flat_map(|i| &scene.sentence.pieces[i])
        .filter(|w| own.contains(w) && several(w))
        .cloned()
        .collect()
}

/// Whether a row or column has the greatest or least value of a field.
fn leads(grid: &Grid, side: Side, who: usize, field: usize, greater: bool) -> bool {
    let Some(own) = grid.amount(at(side, who, field)) else { return false };
    let all: Vec<usize> = match side {
        Side::Rows => grid.bodies().collect(),
        Side::Columns => grid.valued().collect(),
    };
    all.into_iter().filter_map(|o| grid.amount(at(side, o, field))).all(|m| {
        m.dimension() != own.dimension()
            || if greater { m.value <= own.value } else { m.value >= own.value }
    })
}

fn title(grid: &Grid, side: Side, field: usize) -> String {
    match side {
        Side::Rows => grid.columns.names[field].text.clone(),
        Side::Columns => grid.rows.names[field].text.clone(),
    }
}

fn made(scene: &Scene<'_>, range: std::ops::Range<usize>) -> Claim {
    let tokens = scene.sentence.tokens;
    let span = Span::new(
        tokens[range.start].span.start,
        tokens[range.end.max(range.start + 1) - 1].span.end,
    );
    scene.context.claim_at(ClaimKind::Rank, span, "")
}

/// "A is faster than B", "A beats B", without a number.
fn plain(scene: &Scene<'_>, i: usize, taken: &[std::ops::Range<usize>]) -> Option<Claim> {
    let word = scene.sentence.lower(i);
    let verb = matches!(word, "beats" | "beat" | "outperforms" | "outperformed");
    let way = if verb { Way::Faster } else { way(word)? };
    let range = clause(scene, i);
    let numbered = taken.iter().any(|t| range.contains(&t.start))
        || scene.statements.iter().any(|s| range.contains(&s.at) || s.word == i);
    let than = if verb {
        i
    } else {
        (i + 1..(i + 4).min(range.end)).find(|j| scene.sentence.lower(*j) == "than")?
    };
    if numbered || !verb && !word.ends_with("er") && !matches!(word, "less" | "more" | "worse") {
        return None;
    }
    if scene
        .sentence
        .tokens
        .get(than + 1)
        .is_some_and(|t| t.quantity().is_some_and(|n| n.unit.is_some()))
    {
        return None;
    }
    let mut first: Option<Claim> = None;
    for (g, named) in &scene.named {
        for side in [Side::Rows, Side::Columns] {
            let only = |m: &&Mention| range.contains(&m.start) && m.only().is_some();
            let mentions = named.side(side);
            let (Some(s), Some(b)) = (
                mentions.iter().filter(only).rfind(|m| m.end <= i),
                mentions.iter().filter(only).find(|m| m.start > than && m.start < than + 8),
            ) else {
                continue;
            };
            let (Some(s), Some(b)) = (s.only(), b.only()) else { continue };
            if s != b
                && let Some(claim) = against(scene, *g, side, (s, b), way, range.clone())
                && settled(&mut first, claim)
            {
                return first;
            }
        }
    }
    first
}

fn against(
    scene: &Scene<'_>,
    g: usize,
    side: Side,
    (s, b): (usize, usize),
    way: Way,
    range: std::ops::Range<usize>,
) -> Option<Claim> {
    let grid = scene.grid(g);
    let outcomes: Vec<(bool, At, At)> = fields(scene, g, side, s, range.clone())
        .into_iter()
        .filter_map(|o| {
            let (a, c) = (at(side, s, o), at(side, b, o));
            let (x, y) = (grid.amount(a)?, grid.amount(c)?);
            if !x.dimension().fits(y.dimension()) {
                return None;
            }
            let less = match (way, grid.better[a.column]) {
                (Way::Faster, Better::Less) | (Way::Slower, Better::More) | (Way::Less, _) => true,
                (Way::Faster, Better::More) | (Way::Slower, Better::Less) | (Way::More, _) => false,
                _ => return None,
            };
            Some((if less { x.value < y.value } else { x.value > y.value }, a, c))
        })
        .collect();
    let (first, a, c) = *outcomes.first()?;
    let mut claim = made(scene, range.clone());
    claim.inputs = [a, c].into_iter().filter_map(|p| input(scene, grid, p)).collect();
    let values: Vec<String> =
        claim.inputs.iter().map(|i| crate::judge::reading::figure(i.value)).collect();
    claim.reason = format!("{} against {}", values.first()?, values.last()?);
    let agree = outcomes.iter().all(|(o, ..)| *o == first);
    claim.verdict = match (first, agree) {
        (true, true)
            if foreign(grid, &scene.sentence, around(&scene.sentence, range.clone())).is_none() =>
        {
            ClaimVerdict::Holds
        }
        (false, true)
            if outcomes.len() == 1 && unknown(scene, grid, range, true, false).is_none() =>
        {
            ClaimVerdict::Wrong
        }
        _ => ClaimVerdict::Ambiguous,
    };
    Some(claim)
}
