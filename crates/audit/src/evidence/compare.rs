//! Judges a comparison of two rows or two columns of a table.

use super::amount::{Agreement, Dimension};
use super::bind::{Side, around, foreign};
use super::cells::{Candidate, beside, candidates, clause, loosely, readings};
use super::grid::{At, Better, Grid};
use super::known::unknown;
use super::metric::{Metric, metric};
use super::scene::Scene;
use super::sides::{Bound2, is_average, opener, sides, tables};
use super::statement::{Much, Statement};
use crate::claim::{Claim, ClaimKind, ClaimVerdict, Input, Reading};
use crate::detect::pointing::Way;
use crate::judge::reading::Bound;
use crate::read::source::Span;

/// Judges the `k`th comparison of a sentence; the pair is what later ones go on from.
pub(crate) fn judge(
    scene: &Scene<'_>,
    k: usize,
    before: &[Option<Bound2>],
) -> Option<(Claim, Option<Bound2>)> {
    let statement = scene.statements[k];
    let mut best: Vec<(usize, Bound2)> = Vec::new();
    for g in tables(scene, before) {
        for side in [Side::Rows, Side::Columns] {
            if let Some((score, pair)) = sides(scene, g, side, k, before) {
                best.push((score, pair));
            }
        }
    }
    let top = best.iter().map(|(score, _)| *score).max()?;
    let pairs: Vec<Bound2> = best.into_iter().filter(|(s, _)| *s == top).map(|(_, p)| p).collect();
    let mut tried: Vec<(Bound2, Vec<Candidate>, bool)> = pairs
        .into_iter()
        .map(|pair| (pair, candidates(scene, pair, k)))
        .filter(|(_, (found, _))| !found.is_empty())
        .map(|(pair, (found, named))| (pair, found, named))
        .collect();
    // Values with a unit go before those without.
    tried.sort_by_key(|(pair, found, _)| {
        let grid = scene.grid(pair.grid);
        let bare =
            |c: &Candidate| grid.amount(c.a).is_some_and(|m| m.dimension() == Dimension::Plain);
        found.iter().all(bare)
    });
    // The nearest table of which a field is named; else the nearest with a fitting metric.
    let at = tried.iter().position(|(.., named)| *named).unwrap_or(0);
    let (pair, candidates, named) = tried.get(at)?;
    let mut claim = decide(scene, *pair, &statement, candidates, *named);
    let holds = |all: &[Candidate]| all.iter().any(|c| c.verdict != ClaimVerdict::Wrong);
    let mut others = tried.iter().enumerate().filter(|(i, _)| *i != at);
    if claim.verdict == ClaimVerdict::Wrong && others.any(|(_, (_, found, _))| holds(found)) {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{}, but in another table it holds", claim.reason);
    }
    Some((claim, Some(*pair)))
}

fn decide(
    scene: &Scene<'_>,
    pair: Bound2,
    statement: &Statement,
    candidates: &[Candidate],
    named: bool,
) -> Claim {
    let (start, end) = clause(scene, statement);
    let tokens = scene.sentence.tokens;
    let shown = own(scene, start, statement);
    let span = Span::new(tokens[shown].span.start, tokens[end - 1].span.end);
    let kind = if statement.much == Much::Percent { ClaimKind::Percent } else { ClaimKind::Times };
    let mut claim = scene.context.claim_at(kind, span, "");
    claim.claimed = Some(statement.value);
    let grid = scene.grid(pair.grid);
    let right = |c: &&Candidate| c.verdict != ClaimVerdict::Wrong;
    let holding = candidates.iter().filter(right).count();
    let average =
        if candidates.len() > 1 { mean(scene, pair, statement, candidates) } else { None };
    if let Some((reading, verdict)) = average {
        claim.verdict = verdict;
        claim.computed = Some(reading.value);
        claim.reason = format!("{}, the mean over {} rows", reading.formula, candidates.len());
        claim.readings = vec![reading];
        claim.inputs = candidates.iter().take(2).flat_map(|c| inputs(scene, grid, c)).collect();
        return claim;
    }
    let elsewhere = candidates.len() > 1
        && foreign(grid, &scene.sentence, around(&scene.sentence, start..end)).is_some();
    let columns_first = pair.side == Side::Rows && !elsewhere;
    let (chosen, verdict) = if statement.bound == Bound::AtMost && candidates.len() > 1 {
        // "up to 48%": the largest of them.
        let top = candidates.iter().max_by(|x, y| {
            let v = |c: &Candidate| c.readings.first().map_or(f64::NEG_INFINITY, |r| r.value);
            v(x).total_cmp(&v(y))
        });
        let exact = Statement { bound: Bound::Exact, ..*statement };
        let Some(top) = top else { return claim };
        let fits = (|| {
            let (x, y) = (grid.amount(top.a)?, grid.amount(top.b)?);
            let less = grid.better[top.a.column] == Better::Less;
            readings(&exact, x, y, less).first().map(|r| r.verdict)
        })();
        let verdict = match fits {
            Some(ClaimVerdict::Wrong) | None => ClaimVerdict::Ambiguous,
            Some(v) => v,
        };
        (top, verdict)
    } else if holding == candidates.len() || columns_first && right(&&candidates[0]) {
        (&candidates[0], candidates[0].verdict)
    } else if holding > 0 {
        let Some(one) = candidates.iter().find(right) else { return claim };
        (one, ClaimVerdict::Ambiguous)
    } else {
        (&candidates[0], ClaimVerdict::Wrong)
    };
    let best = chosen.readings[0].clone();
    claim.inputs = inputs(scene, grid, chosen);
    claim.computed = Some(best.value).filter(|v| v.is_finite());
    claim.reason = format!("{} ({})", best.formula, best.name);
    claim.readings.clone_from(&chosen.readings);
    let verdict =
        if elsewhere && verdict != ClaimVerdict::Wrong { ClaimVerdict::Ambiguous } else { verdict };
    claim.verdict = verdict;
    if verdict == ClaimVerdict::Holds && statement.understates(best.value) {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{}, which lies far beyond that", claim.reason);
    } else if verdict == ClaimVerdict::Wrong
        && let Some(why) = doubt(scene, pair, statement, candidates, named)
    {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{}, but {why}", claim.reason);
    } else if matches!(verdict, ClaimVerdict::Holds | ClaimVerdict::OffByRounding)
        && contradicted(scene, grid, statement, chosen)
    {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{}, but the value beside it is another", claim.reason);
    } else if verdict == ClaimVerdict::Ambiguous {
        claim.reason = format!(
            "{}; other rows or columns that it may be about give other numbers",
            claim.reason
        );
    }
    claim
}

/// Where the words of a comparison begin: what stands before another value is a claim of its own.
fn own(scene: &Scene<'_>, start: usize, statement: &Statement) -> usize {
    let tokens = scene.sentence.tokens;
    let edge =
        |i: usize| tokens[i].is_mark(',') || tokens[i].is_mark(';') || tokens[i].lower == "and";
    (start + 1..statement.at)
        .rev()
        .find(|i| edge(*i) && tokens[start..*i].iter().any(|t| t.quantity().is_some()))
        .map_or(start, |i| i + 1)
}

/// Whether the value right before a comparison is of its unit, and neither of the two that it holds for.
fn contradicted(scene: &Scene<'_>, grid: &Grid, statement: &Statement, c: &Candidate) -> bool {
    let Some(stated) = beside(scene, statement) else { return false };
    let (Some(x), Some(y)) = (grid.amount(c.a), grid.amount(c.b)) else { return false };
    x.dimension() == stated.dimension()
        && [x, y].iter().all(|m| m.is(&stated, Bound::About) == Agreement::None)
}

/// "On average 1.5 times faster": the mean of what the rows give.
fn mean(
    scene: &Scene<'_>,
    pair: Bound2,
    statement: &Statement,
    candidates: &[Candidate],
) -> Option<(Reading, ClaimVerdict)> {
    let says =
        scene.sentence.tokens[..scene.next(statement.at)].iter().any(|t| is_average(&t.lower));
    if !says || pair.side != Side::Columns || statement.much == Much::Orders {
        return None;
    }
    let values: Vec<f64> =
        candidates.iter().filter_map(|c| c.readings.last().map(|r| r.value)).collect();
    let name = candidates.first()?.readings.last()?.name;
    let arithmetic = values.iter().sum::<f64>() / values.len() as f64;
    let ratios: Vec<f64> = values
        .iter()
        .map(|v| if statement.much == Much::Percent { 1.0 + v / 100.0 } else { *v })
        .collect();
    let geometric = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let geometric =
        if statement.much == Much::Percent { (geometric - 1.0) * 100.0 } else { geometric };
    let mut best: Option<(Reading, ClaimVerdict)> = None;
    for (value, what) in [(arithmetic, "mean"), (geometric, "geometric mean")] {
        let verdict = statement.claimed().fit(value, value, value);
        let verdict =
            if verdict == ClaimVerdict::Wrong { ClaimVerdict::Ambiguous } else { verdict };
        let reading = Reading {
            name,
            formula: format!("{what} of {name} = {}", crate::judge::reading::figure(value)),
            value,
            verdict,
        };
        if best.as_ref().is_none_or(|(_, v)| {
            *v == ClaimVerdict::Ambiguous && verdict != ClaimVerdict::Ambiguous
        }) {
            best = Some((reading, verdict));
        }
    }
    best
}

/// Why a claim that fails may still be about something else.
fn doubt(
    scene: &Scene<'_>,
    pair: Bound2,
    statement: &Statement,
    candidates: &[Candidate],
    field: bool,
) -> Option<String> {
    let below = statement.bound == Bound::AtMost
        && statement.at.checked_sub(1).is_some_and(|i| scene.sentence.lower(i) == "than");
    if !below && !matches!(statement.bound, Bound::Exact | Bound::AtLeast) {
        return Some("it is stated as approximate".into());
    }
    if !pair.named {
        return Some("what it compares is not named in its sentence".into());
    }
    if candidates.iter().any(|c| !c.known) {
        return Some("whether more or less is better is not stated".into());
    }
    let grid = scene.grid(pair.grid);
    let (start, end) = clause(scene, statement);
    let last = opener(&scene.sentence, statement, scene.next(statement.at))
        .unwrap_or(statement.end.max(statement.word + 1));
    let points = !matches!(statement.way, Way::Faster | Way::Slower);
    if points
        && !field
        && candidates.len() > 1
        && metric(&scene.sentence.tokens[start..end]) == Metric::Any
    {
        return Some("what of them it compares is not named".into());
    }
    // "2514.7 ms of user time, a mere 4% less": what says the metric counts too.
    let from = own(scene, start, statement);
    let silent = !field && metric(&scene.sentence.tokens[from..end]) == Metric::Any;
    if silent && scene.statements.iter().any(|s| s.at < statement.at) {
        return Some("its metric is not named beside it".into());
    }
    let own = (if silent { start } else { from })..breaks(scene, last, end);
    if let Some(words) = unknown(scene, grid, own, false, false) {
        return Some(format!("\"{words}\" is not in the table"));
    }
    let swapped = |c: &&Candidate| {
        let (Some(x), Some(y)) = (grid.amount(c.a), grid.amount(c.b)) else { return false };
        let less = grid.better[c.a.column] == Better::Less;
        readings(statement, y, x, less).iter().any(|r| r.verdict != ClaimVerdict::Wrong)
    };
    let turned = Statement { way: statement.way.opposite(), ..*statement };
    let other_way = |c: &&Candidate| {
        let (Some(x), Some(y)) = (grid.amount(c.a), grid.amount(c.b)) else { return false };
        let less = grid.better[c.a.column] == Better::Less;
        readings(&turned, x, y, less).iter().any(|r| r.verdict != ClaimVerdict::Wrong)
    };
    let plain = statement.way == Way::Of && statement.much == Much::Times;
    if plain && candidates.iter().any(|c| swapped(&c)) {
        return Some("the other way round it holds".into());
    }
    let reversed = candidates.iter().any(|c| swapped(&c) || other_way(&c));
    if reversed && !pair.opened && candidates.len() > 1 {
        return Some("the other way round it holds".into());
    }
    if loosely(grid, statement, candidates) {
        return Some("a looser reading agrees with it".into());
    }
    if candidates.len() > 3 && pair.side == Side::Rows {
        return Some("several columns could be meant".into());
    }
    None
}

/// Where the words of a comparison end: at the first mark or conjunction behind what opens its baseline.
fn breaks(scene: &Scene<'_>, from: usize, end: usize) -> usize {
    (from..end)
        .find(|i| {
            let t = &scene.sentence.tokens[*i];
            [',', ';', ':', '(', ')', '—', '–'].iter().any(|m| t.is_mark(*m))
                || matches!(t.lower.as_str(), "and" | "but" | "because" | "while" | "whereas")
        })
        .unwrap_or(end)
}

fn inputs(scene: &Scene<'_>, grid: &Grid, c: &Candidate) -> Vec<Input> {
    [c.a, c.b].into_iter().filter_map(|at| input(scene, grid, at)).collect()
}

/// A cell as an input of a claim.
pub(crate) fn input(scene: &Scene<'_>, grid: &Grid, at: At) -> Option<Input> {
    let amount = grid.amount(at)?;
    let (row, column) = (&grid.rows.names[at.row].text, &grid.columns.names[at.column].text);
    let name = match (row.is_empty(), column.is_empty()) {
        (false, false) => format!("{row} ({column})"),
        (true, _) => column.clone(),
        _ => row.clone(),
    };
    let span =
        scene.context.document.tables[grid.table].rows.get(at.row)?.cells.get(at.column)?.span;
    Some(scene.context.input_at(&name, amount.printed, span))
}
