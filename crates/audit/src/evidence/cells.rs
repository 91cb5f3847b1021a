//! Which cells a comparison of two rows or columns is about: those of the metric that its words name, or
//! whose value they print, or of the kind of unit that they speak of.

use super::amount::{Agreement, Amount, Dimension};
use super::bind::{Side, at};
use super::grid::{At, Better, Grid};
use super::metric::{Metric, metric, statistic};
use super::name::{Kind, Mention};
use super::scene::Scene;
use super::sides::{Bound2, is_average};
use super::statement::{Much, Statement};
use crate::claim::{ClaimVerdict, Reading};
use crate::detect::pointing::Way;
use crate::judge::reading::{Bound, Claimed, Formula, Operand, read};

/// A pair of cells that a claim may be about.
pub(crate) struct Candidate {
    pub a: At,
    pub b: At,
    pub verdict: ClaimVerdict,
    pub readings: Vec<Reading>,
    /// Which way the metric is better is known, as far as it matters.
    pub known: bool,
}

/// The cells that the two sides of a comparison share a field of: the field with both cells.
type Fields = Vec<(usize, At, At)>;

/// All fields in which two rows or columns have values of one unit.
fn fields(grid: &Grid, pair: Bound2) -> Fields {
    let both = |o: usize| {
        let (a, b) = (at(pair.side, pair.subject, o), at(pair.side, pair.baseline, o));
        let (x, y) = (grid.amount(a)?, grid.amount(b)?);
        x.dimension().fits(y.dimension()).then_some((o, a, b))
    };
    match pair.side {
        Side::Rows => grid.valued().filter_map(both).collect(),
        Side::Columns => (0..grid.rows.names.len()).filter_map(both).collect(),
    }
}

/// Whether somebody who reads a comparison loosely would agree: the other base of a percentage, "3 times more" as
/// four times as much.
pub(crate) fn loosely(grid: &Grid, statement: &Statement, candidates: &[Candidate]) -> bool {
    candidates.iter().any(|c| {
        let (Some(x), Some(y)) = (grid.amount(c.a), grid.amount(c.b)) else { return false };
        loose(statement, x, y, grid.better[c.a.column] == Better::Less)
    })
}

/// Whether a looser reading of a comparison fits two amounts, in the direction that it states.
pub(crate) fn loose(statement: &Statement, a: Amount, b: Amount, less: bool) -> bool {
    let operand = |m: Amount| Operand { value: m.value, step: m.step };
    statement.loose_formulas(less).into_iter().any(|f| {
        read(f, statement.claimed(), operand(a), operand(b)).verdict == ClaimVerdict::Holds
    })
}

/// The pairs of cells that a claim's metric leaves, and whether its words or a value beside it name the field.
pub(crate) fn candidates(scene: &Scene<'_>, pair: Bound2, k: usize) -> (Vec<Candidate>, bool) {
    let statement = &scene.statements[k];
    let grid = scene.grid(pair.grid);
    let other = match pair.side {
        Side::Rows => Side::Columns,
        Side::Columns => Side::Rows,
    };
    let mentions: &[Mention] =
        scene.named.iter().find(|(n, _)| *n == pair.grid).map_or(&[], |(_, n)| n.side(other));
    let start = if k > 0 { scene.statements[k - 1].end } else { 0 };
    let stop = clause(scene, statement).1;
    let all = fields(grid, pair);
    let is_there = |named: &[usize]| all.iter().any(|(o, ..)| named.contains(o));
    let whole = clause_start(scene, k, start);
    // "12% more requests and lowers the p95 by 18%": what stands behind the conjunction is its own.
    let from = (whole.max(1)..statement.at)
        .rev()
        .filter(|_| k > 0)
        .find(|i| {
            let t = &scene.sentence.tokens[*i];
            t.is_mark(',') || t.lower == "and"
        })
        .map_or(whole, |i| i + 1);
    // "three times as many as B, at a p95 of 9 ms": what a comma sets apart is of something else.
    let near =
        (statement.end..stop).find(|i| scene.sentence.tokens[*i].is_mark(',')).unwrap_or(stop);
    let words = [from..near, whole..stop, start..stop]
        .into_iter()
        .map(|range| metric(&scene.sentence.tokens[range]))
        .find(|found| *found != Metric::Any)
        .unwrap_or(Metric::Any);
    let words = match (statement.way, words) {
        (Way::Faster | Way::Slower, Metric::Any) => Metric::Speed,
        (_, w) => w,
    };
    // Named in the clause, else before it in the sentence.
    let within = |range: std::ops::Range<usize>| -> Vec<usize> {
        mentions
            .iter()
            .filter(|m| range.contains(&m.start))
            // "allocate half the bytes" is of the bytes.
            .filter(|m| !m.slight || words != Metric::Size)
            .flat_map(|m| m.who.iter().copied())
            .collect()
    };
    let own = within(from..near);
    let own = if is_there(&own) || metric(&scene.sentence.tokens[from..near]) != Metric::Any {
        own
    } else {
        within(whole..stop)
    };
    let mentioned = is_there(&own);
    // A metric of its own is not that of an earlier claim; the row of a clause may stand before it.
    let inherits =
        k == 0 || other == Side::Rows || metric(&scene.sentence.tokens[from..near]) == Metric::Any;
    let explicit = if mentioned || !inherits { own } else { within(0..statement.at) };
    let explicit = if is_there(&explicit) { explicit } else { Vec::new() };
    let anchored: Vec<usize> =
        if explicit.is_empty() { anchors(scene, pair, statement, &all) } else { Vec::new() };
    // "draws 246 W, 23% less": only watts are evidence.
    if let Some(unit) = stated_unit(scene, statement)
        && !all.iter().any(|(_, a, _)| grid.amount(*a).is_some_and(|m| m.dimension() == unit))
    {
        return (Vec::new(), false);
    }
    let averaged = scene.sentence.tokens[start..stop].iter().any(|t| is_average(&t.lower));
    let summed =
        averaged && other == Side::Rows && (0..grid.summary.len()).any(|r| grid.summary[r]);
    let name = |o: usize| {
        let (row, column) =
            if other == Side::Columns { (None, o) } else { (Some(o), pair.subject) };
        (row, column)
    };
    let mut kept: Vec<(usize, At, At)> = all
        .iter()
        .copied()
        .filter(|(o, a, _)| {
            if !anchored.is_empty() {
                return anchored.contains(o);
            }
            if summed {
                return grid.summary[*o];
            }
            if !explicit.is_empty() {
                return explicit.contains(o);
            }
            let (row, column) = name(*o);
            let Some(amount) = grid.amount(*a) else { return false };
            let mut kind = grid.columns.names[column].kind;
            if let Some(r) = row {
                kind |= grid.rows.names[r].kind;
            }
            let ratio = matches!(amount.dimension(), Dimension::Times | Dimension::Percent);
            !ratio
                && row.is_none_or(|r| !grid.summary[r])
                && words.takes(amount.dimension(), grid.better[a.column], kind)
        })
        .collect();
    // "5% faster" is of no bytes, and a time of none either.
    let bytes = |m: Amount| matches!(m.dimension(), Dimension::Bytes | Dimension::Bits);
    let speed = is_speed(scene.sentence.lower(statement.word));
    kept.retain(|(_, a, _)| {
        grid.amount(*a).is_some_and(|m| {
            let other = match words {
                Metric::Time => bytes(m),
                Metric::Size => matches!(m.dimension(), Dimension::Time | Dimension::Rate),
                _ => false,
            };
            !(speed && (bytes(m) || matches!(m.dimension(), Dimension::Power | Dimension::Energy)))
                && !(pair.side == Side::Columns && other)
        })
    });
    // Values with a unit go before those without.
    let plain = |a: &At| grid.amount(*a).is_some_and(|m| m.dimension() == Dimension::Plain);
    let sized = matches!(words, Metric::Size | Metric::Power);
    if sized && explicit.is_empty() && kept.iter().any(|(_, a, _)| !plain(a)) {
        kept.retain(|(_, a, _)| !plain(a));
    }
    // Among several explicit ones the words of the metric decide.
    if explicit.len() > 1 {
        let narrower: Vec<_> = kept
            .iter()
            .copied()
            .filter(|(_, a, _)| {
                grid.amount(*a).is_some_and(|m| {
                    words.takes(
                        m.dimension(),
                        grid.better[a.column],
                        grid.columns.names[a.column].kind,
                    )
                })
            })
            .collect();
        if !narrower.is_empty() {
            kept = narrower;
        }
    }
    if other == Side::Columns && explicit.is_empty() {
        let least = kept.iter().map(|(o, ..)| statistic(&grid.columns.names[*o].text)).min();
        kept.retain(|(o, ..)| Some(statistic(&grid.columns.names[*o].text)) == least);
    }
    // What only an earlier part of the sentence names is not sure.
    let inherited = !explicit.is_empty() && !mentioned;
    let named = !inherited && !explicit.is_empty() || !anchored.is_empty() || summed;
    (kept.into_iter().filter_map(|(_, a, b)| candidate(grid, statement, a, b)).collect(), named)
}

/// A claim's clause begins behind the one before, or at the last comma, "and" or "but" between.
fn clause_start(scene: &Scene<'_>, k: usize, start: usize) -> usize {
    let statement = &scene.statements[k];
    (start..statement.at)
        .rev()
        .find(|i| {
            let t = &scene.sentence.tokens[*i];
            t.is_mark(';') || matches!(t.lower.as_str(), "but" | "while" | "whereas")
        })
        .map_or(start, |i| i + 1)
}

/// Columns whose value of the subject stands before the claim: "reaches 612,000 IOPS, 6.6 times as many".
fn anchors(
    scene: &Scene<'_>,
    pair: Bound2,
    statement: &Statement,
    all: &[(usize, At, At)],
) -> Vec<usize> {
    let grid = scene.grid(pair.grid);
    let speed = is_speed(scene.sentence.lower(statement.word));
    let Some((_, _, amount)) = scene.amounts.iter().rfind(|(at, ..)| *at < statement.at) else {
        return Vec::new();
    };
    let hits = |a: At| {
        grid.amount(a).is_some_and(|own| {
            own.dimension().fits(amount.dimension())
                && own.is(amount, Bound::Exact) != Agreement::None
        })
    };
    let (from, to) = clause(scene, statement);
    let own = metric(&scene.sentence.tokens[from..to]);
    let other = !matches!(own, Metric::Any | Metric::Speed)
        && !own.takes(amount.dimension(), Better::Unknown, Kind::default());
    if other {
        return Vec::new();
    }
    if speed
        && !matches!(amount.dimension(), Dimension::Time | Dimension::Rate | Dimension::ByteRate)
    {
        return Vec::new();
    }
    let own: Vec<usize> = all.iter().filter(|(_, a, _)| hits(*a)).map(|(o, ..)| *o).collect();
    if own.is_empty() && !speed && beside(scene, statement).is_some() {
        // The value before it is wrong or rounded otherwise: its unit still names the metric.
        return all
            .iter()
            .filter(|(_, a, _)| {
                grid.amount(*a).is_some_and(|m| {
                    m.dimension() == amount.dimension() && m.dimension() != Dimension::Plain
                })
            })
            .map(|(o, ..)| *o)
            .collect();
    }
    own
}

/// The unit of the value right before a comparison, which is of the same thing: "draws 246 W, 23% less".
fn stated_unit(scene: &Scene<'_>, statement: &Statement) -> Option<Dimension> {
    let unit = beside(scene, statement)?.dimension();
    let telling = !matches!(
        unit,
        Dimension::Plain
            | Dimension::Count
            | Dimension::Percent
            | Dimension::Times
            | Dimension::Frequency
    );
    let speed = is_speed(scene.sentence.lower(statement.word));
    (telling && !speed).then_some(unit)
}

/// Words that compare times and rates only.
pub(crate) fn is_speed(lower: &str) -> bool {
    matches!(lower, "faster" | "slower" | "quicker" | "fast" | "slow" | "quick")
}

/// The value right before a comparison.
pub(crate) fn beside(scene: &Scene<'_>, statement: &Statement) -> Option<Amount> {
    let (_, end, amount) = scene.amounts.iter().rfind(|(at, ..)| *at < statement.at)?;
    let joins = |i: usize| {
        let t = &scene.sentence.tokens[i];
        !t.is_word() && !t.is_mark(';')
            || matches!(
                t.lower.as_str(),
                "which"
                    | "is"
                    | "that"
                    | "or"
                    | "a"
                    | "an"
                    | "almost"
                    | "about"
                    | "exactly"
                    | "nearly"
                    | "only"
            )
    };
    (*end..statement.at).all(joins).then_some(*amount)
}

fn candidate(grid: &Grid, statement: &Statement, a: At, b: At) -> Option<Candidate> {
    let (x, y) = (grid.amount(a)?, grid.amount(b)?);
    let better = grid.better[a.column];
    // In a table of states the row says what is measured.
    let better = match (better, x.dimension()) {
        (Better::Unknown, Dimension::Time | Dimension::Bytes) => Better::Less,
        (Better::Unknown, Dimension::Rate | Dimension::ByteRate) => Better::More,
        _ => better,
    };
    let points = matches!(statement.way, Way::Faster | Way::Slower);
    let known = !points || better != Better::Unknown;
    let readings = readings(statement, x, y, better == Better::Less);
    let verdict = readings.first()?.verdict;
    Some(Candidate { a, b, verdict, readings, known })
}

/// The readings of a comparison for two amounts, the best first.
pub(crate) fn readings(statement: &Statement, a: Amount, b: Amount, less: bool) -> Vec<Reading> {
    let operand = |m: Amount| Operand { value: m.value, step: m.step };
    if statement.much == Much::Orders {
        return statement
            .formulas(less)
            .into_iter()
            .map(|f| orders(statement.claimed(), f, a, b))
            .collect();
    }
    let mut all: Vec<Reading> = statement
        .formulas(less)
        .into_iter()
        .map(|f| read(f, statement.claimed(), operand(a), operand(b)))
        .collect();
    // "2x" for 1.2 is within one unit of its only digit, and no rounding.
    for reading in &mut all {
        let off = (reading.value - statement.value).abs() > 0.14 * statement.value;
        if statement.much == Much::Times && reading.verdict == ClaimVerdict::OffByRounding && off {
            reading.verdict = ClaimVerdict::Wrong;
        }
    }
    crate::judge::compare::sort(&mut all);
    all
}

/// Orders of magnitude: the decimal logarithm of the ratio.
fn orders(claimed: Claimed, formula: Formula, a: Amount, b: Amount) -> Reading {
    let value = (formula.compute)(a.value, b.value).log10();
    let verdict = claimed.fit(value, value, value);
    let figure = crate::judge::reading::figure;
    Reading {
        name: formula.name,
        formula: format!(
            "log10 of {} and {} = {}",
            figure(a.printed),
            figure(b.printed),
            figure(value)
        ),
        value,
        verdict: if verdict == ClaimVerdict::OffByRounding { ClaimVerdict::Holds } else { verdict },
    }
}

/// The tokens of a claim: from the end of the one before to the start of the next.
pub(crate) fn clause(scene: &Scene<'_>, statement: &Statement) -> (usize, usize) {
    let start =
        scene.statements.iter().filter(|s| s.at < statement.at).map(|s| s.end).max().unwrap_or(0);
    let start = start.max(scene.part(statement.at));
    let tokens = scene.sentence.tokens;
    let mut end = scene.next(statement.at);
    if end < tokens.len() {
        end = (statement.end..end)
            .rev()
            .find(|i| {
                tokens[*i].is_mark(',')
                    || tokens[*i].is_mark(';')
                    || matches!(tokens[*i].lower.as_str(), "and" | "but")
            })
            .unwrap_or(end);
    }
    let start = (start..statement.at)
        .find(|i| {
            start > 0
                && (tokens[*i].is_mark(',')
                    || tokens[*i].is_mark(';')
                    || matches!(tokens[*i].lower.as_str(), "and" | "but"))
        })
        .map_or(start, |i| i + 1);
    (start.min(statement.at), end.max(statement.at + 1))
}
