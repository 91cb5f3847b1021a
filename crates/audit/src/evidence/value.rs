//! Judges a value that a sentence states of a name: "burrow takes 0.664 s".

use super::amount::{Agreement, Amount, Dimension, PLAIN};
use super::bind::{Side, at};
use super::compare::input;
use super::extreme::{denied, superlative};
use super::grid::{At, Grid};
use super::known::unknown;
use super::metric::{Metric, metric, statistic};
use super::name::Mention;
use super::owner::{owner, state, state_row};
use super::scene::Scene;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::pointing::{Way, way};
use crate::detect::trigger::bound;
use crate::judge::reading::{Bound, figure};
use crate::read::source::Span;

/// Judges the `k`th amount of a sentence.
pub(crate) fn judge(
    scene: &Scene<'_>,
    amounts: &[(usize, usize, Amount)],
    k: usize,
    amount: &Amount,
) -> Option<Claim> {
    let (place, end, _) = amounts[k];
    // "40% of its time" is a share of something else.
    // "DuskDB 8.0, 8.4 and 9.4": a number of a name is no value.
    let name = |w: &String| scene.named.iter().any(|(g, _)| scene.grid(*g).knows(w));
    if amount.dimension() == Dimension::Plain && scene.sentence.pieces[place].iter().any(name) {
        return None;
    }
    let share = amount.dimension() == Dimension::Percent
        && (scene.sentence.lower(amounts[k].1) == "of"
            || place > 0 && scene.sentence.lower(place - 1) == "the");
    if share || contradicted(scene, amounts, k) {
        return None;
    }
    let telling = amount.printed.abs() / (amount.step / amount.measure.scale) >= 20.0;
    // "9 high CVEs", "4,850 sessions": of what a column is called.
    let last = if amount.dimension() == Dimension::Count { end.saturating_sub(1) } else { end };
    let called = scene.named.iter().any(|(_, n)| {
        let behind = |m: &Mention| {
            (place + 1..=last).contains(&m.start) && scene.sentence.tokens[m.start].is_word()
        };
        n.columns.iter().any(behind)
    });
    let counted = Amount { measure: PLAIN, ..*amount };
    let amount = if called && amount.dimension() == Dimension::Count { &counted } else { amount };
    if matches!(amount.dimension(), Dimension::Count | Dimension::Times)
        || amount.dimension() == Dimension::Plain && !telling && !called
    {
        return None;
    }
    let from = if k > 0 { amounts[k - 1].1 } else { 0 };
    let to = amounts.get(k + 1).map_or(scene.sentence.tokens.len(), |a| a.0);
    let clause = cut(scene, from, place, end, to);
    let mut best: Option<(usize, Claim)> = None;
    let mut tables: Vec<usize> = scene.named.iter().map(|(g, _)| *g).collect();
    for g in scene.of_it() {
        if !tables.contains(&g) {
            tables.push(g);
        }
    }
    for g in tables {
        let Some((score, claim)) = in_table(scene, g, amount, place, end, clause.clone()) else {
            continue;
        };
        if best.as_ref().is_none_or(|(s, c)| {
            score > *s
                || score == *s
                    && c.verdict != ClaimVerdict::Holds
                    && claim.verdict == ClaimVerdict::Holds
        }) {
            best = Some((score, claim));
        }
    }
    best.map(|(_, claim)| claim)
}

/// "rose from 9 ms to 2 ms": the words say another way than the two values.
fn contradicted(scene: &Scene<'_>, amounts: &[(usize, usize, Amount)], k: usize) -> bool {
    let linked = |a: usize, b: usize| {
        let (Some(x), Some(y)) = (amounts.get(a), amounts.get(b)) else { return false };
        let from = x.0 > 0 && scene.sentence.lower(x.0 - 1) == "from";
        if !from || scene.sentence.lower(x.1) != "to" || !x.2.dimension().fits(y.2.dimension()) {
            return false;
        }
        let word = scene.sentence.tokens[..x.0].iter().rev().find_map(|t| way(&t.lower));
        match word {
            Some(Way::More) => y.2.value < x.2.value,
            Some(Way::Less) => y.2.value > x.2.value,
            _ => false,
        }
    };
    linked(k, k + 1) || k > 0 && linked(k - 1, k)
}

/// The words that belong to an amount: up to marks that end a clause.
fn cut(
    scene: &Scene<'_>,
    from: usize,
    place: usize,
    end: usize,
    to: usize,
) -> std::ops::Range<usize> {
    let tokens = scene.sentence.tokens;
    let ends = |i: usize| {
        tokens[i].is_mark(';')
            || tokens[i].is_mark(',')
            || matches!(tokens[i].lower.as_str(), "but" | "while" | "whereas")
    };
    let from = from.max(scene.part(place));
    let edge = |to: usize| (from..to).rev().find(|i| ends(*i)).map_or(from, |i| i + 1);
    let start = edge(place);
    // "the lowest median, 9.5 ms": set apart, it is of what stands before.
    let bare = start > from && !(start..place).any(|i| is_telling(&tokens[i]));
    let start = if bare { edge(start - 1) } else { start };
    let to =
        scene.statements.iter().map(|s| s.at).filter(|a| *a >= end).min().map_or(to, |a| a.min(to));
    let stop = (end..to)
        .find(|i| ends(*i) || tokens[*i].lower == "and" || tokens[*i].lower == "than")
        .unwrap_or(to);
    start..stop.max(end)
}

/// Whether a token says more than how exactly a number is meant.
fn is_telling(token: &crate::read::token::Token) -> bool {
    token.is_word()
        && !matches!(
            token.lower.as_str(),
            "only"
                | "just"
                | "about"
                | "around"
                | "roughly"
                | "almost"
                | "nearly"
                | "a"
                | "an"
                | "the"
                | "at"
                | "with"
        )
}

fn in_table(
    scene: &Scene<'_>,
    g: usize,
    amount: &Amount,
    place: usize,
    end: usize,
    clause: std::ops::Range<usize>,
) -> Option<(usize, Claim)> {
    let grid = scene.grid(g);
    let named = scene.named.iter().find(|(n, _)| *n == g).map(|(_, n)| n);
    let find = |side: Side| named.and_then(|n| owner(scene, n.side(side), (place, end), &clause));
    let remembered = |side: Side| {
        let pronoun = (clause.start..place)
            .any(|i| matches!(scene.sentence.lower(i), "it" | "its" | "this"))
            || clause.start == 0 && scene.sentence.lower(0) == "its";
        scene.it(g, side).filter(|_| pronoun).map(|who| (vec![who], true, 0))
    };
    let mut row = find(Side::Rows).or_else(|| remembered(Side::Rows));
    let column = find(Side::Columns)
        .or_else(|| remembered(Side::Columns))
        .or_else(|| state(scene, grid, &clause).filter(|_| row.is_some()));
    if row.is_none() && column.as_ref().is_some_and(|c| c.0.len() == 1) {
        row = state_row(scene, grid, &clause);
    }
    if row.is_none() && grid.bodies().count() == 1 {
        row = grid.bodies().next().map(|r| (vec![r], true, 0));
    }
    let span = grid_span(scene, g);
    if row.is_none() && column.is_none() || span.overlaps(scene.sentence.span) {
        return None;
    }
    let rows: Vec<usize> =
        row.as_ref().map_or_else(|| grid.bodies().collect(), |(who, ..)| who.clone());
    let words = metric(&scene.sentence.tokens[clause.clone()]);
    let fits = |a: At| grid.amount(a).is_some_and(|own| own.dimension().fits(amount.dimension()));
    let named_columns = column.as_ref().map(|(who, ..)| who.clone());
    let usable = |c: usize| rows.iter().any(|r| fits(At { row: *r, column: c }));
    let explicit: Option<Vec<usize>> = named_columns.filter(|who| who.iter().any(|c| usable(*c)));
    // A plain number needs its column's name or its metric beside it.
    let digits = amount.printed.abs() / (amount.step / amount.measure.scale);
    let bare = amount.dimension() == Dimension::Plain && explicit.is_none();
    if bare && digits < 1000.0 {
        return None;
    }
    let columns: Vec<usize> = match &explicit {
        Some(who) => who.clone(),
        None => grid
            .valued()
            .filter(|c| usable(*c))
            .filter(|c| {
                let own = grid.dimension(*c).unwrap_or(Dimension::Plain);
                // A bare column takes a rate only where the words or the caption say what it counts.
                own == amount.dimension()
                    || words != Metric::Any
                        && words.takes(own, grid.better[*c], grid.columns.names[*c].kind)
                    || column_words(grid, *c, scene, end)
            })
            .collect(),
    };
    let cells: Vec<At> = rows
        .iter()
        .flat_map(|r| columns.iter().map(move |c| at(Side::Rows, *r, *c)))
        .filter(|a| fits(*a))
        .collect();
    let hedge = bound(scene.sentence.tokens, place);
    let agrees = |a: &At| grid.amount(*a).map_or(Agreement::None, |own| own.is(amount, hedge));
    let (own_row, own_column) =
        (row.as_ref().is_some_and(|r| r.1), column.as_ref().is_some_and(|c| c.1));
    let sure_row = row.as_ref().is_some_and(|r| r.0.len() == 1);
    let sure_column = explicit.as_ref().is_some_and(|c| c.len() == 1);
    // A name for the row and one for the column, or a row alone: a column alone names no subject,
    // unless columns are what the table compares.
    if row.is_none() && !sure_column {
        return None;
    }
    let tokens = scene.sentence.tokens;
    let span = Span::new(tokens[clause.start].span.start, tokens[clause.end - 1].span.end);
    let mut claim = scene.context.claim_at(ClaimKind::Measurement, span, "");
    claim.claimed = Some(amount.printed);
    let score =
        2 * usize::from(own_row || sure_row) + usize::from(own_column || explicit.is_some());
    let bounded = matches!(hedge, Bound::AtLeast | Bound::AtMost);
    let kind = |a: &At| statistic(&grid.columns.names[a.column].text);
    let hit = cells
        .iter()
        .copied()
        .max_by_key(|a| (agrees(a), std::cmp::Reverse(kind(a))))
        .filter(|a| agrees(a) != Agreement::None);
    if let Some(hit) = hit {
        let alone = cells.len() == 1
            || cells.iter().filter(|a| agrees(a) == Agreement::Rounds).count() == 1
            || cells.iter().all(|a| agrees(a) != Agreement::None);
        if row.is_none()
            && cells.len() > 1
            && cells.iter().filter(|a| agrees(a) != Agreement::None).count() > 1
        {
            return None;
        }
        if bounded && cells.len() > 1 && (!alone || explicit.is_none()) {
            return None;
        }
        // Without the row's name only a value with digits enough is no accident.
        if row.is_none()
            && amount.printed.abs() / (amount.step / amount.measure.scale) < 100.0
            && cells.len() > 2
        {
            return None;
        }
        if row.is_none()
            && let Some(other) = unknown(scene, grid, clause.clone(), false, true)
        {
            claim.inputs = input(scene, grid, hit).into_iter().collect();
            claim.verdict = ClaimVerdict::Ambiguous;
            claim.reason = format!("\"{other}\" is not in the table");
            return Some((score, claim));
        }
        if against_statistic(scene, grid, hit.column, &clause) {
            claim.inputs = input(scene, grid, hit).into_iter().collect();
            claim.verdict = ClaimVerdict::Ambiguous;
            claim.reason = "the column is of the other extreme than the words".into();
            return Some((score, claim));
        }
        // The mean is meant unless an extreme is named.
        let extreme = |i: usize| superlative(scene.sentence.lower(i)).is_some();
        if explicit.is_none()
            && kind(&hit) == 3
            && cells.iter().any(|a| kind(a) < 3)
            && !clause.clone().any(extreme)
        {
            claim.inputs = input(scene, grid, hit).into_iter().collect();
            claim.verdict = ClaimVerdict::Ambiguous;
            claim.reason = "of several statistics one that is not named has this value".into();
            return Some((score, claim));
        }
        if denied(scene, grid, hit, clause) {
            claim.inputs = input(scene, grid, hit).into_iter().collect();
            claim.verdict = ClaimVerdict::Ambiguous;
            claim.reason = "another value of the table has the rank that it states".into();
            return Some((score, claim));
        }
        claim.verdict = if agrees(&hit) == Agreement::Rounds {
            ClaimVerdict::Holds
        } else {
            ClaimVerdict::OffByRounding
        };
        claim.inputs = input(scene, grid, hit).into_iter().collect();
        claim.computed = claim.inputs.first().map(|i| i.value);
        claim.reason = format!("as in {}", claim.inputs.first().map_or("", |i| i.name.as_str()));
        return Some((score + 4, claim));
    }
    if bare {
        return None;
    }
    let least = cells.iter().map(|a| statistic(&grid.columns.names[a.column].text)).min();
    let meant: Vec<At> = cells
        .iter()
        .copied()
        .filter(|a| {
            explicit.is_some() || Some(statistic(&grid.columns.names[a.column].text)) == least
        })
        .collect();
    let first = *meant.first()?;
    claim.inputs = input(scene, grid, first).into_iter().collect();
    claim.computed = grid.amount(first).map(|m| m.value / amount.measure.scale);
    claim.reason = format!(
        "{} has {}",
        claim.inputs.first().map_or("", |i| i.name.as_str()),
        figure(grid.amount(first).map_or(f64::NAN, |m| m.printed))
    );
    claim.verdict = ClaimVerdict::Ambiguous;
    // Where the table compares columns (versions, states) the row alone does not say whose value it is.
    let one = meant.len() == 1;
    // Of a few columns whichever is meant has another value, and neither their sum nor their mean is this one.
    let none_of_few = explicit.is_none()
        && meant.len() <= 3
        && meant.len() == cells.len()
        && !together(grid, &meant, amount);
    let certain = (one && (own_column || !many_arms(grid, first)) || none_of_few)
        && sure_row
        && own_row
        && !bounded
        && hedge == Bound::Exact;
    if !certain {
        return (score >= 2 && (sure_row || sure_column)).then_some((score, claim));
    }
    if let Some(why) = doubt(scene, grid, (amount, place), &cells, clause) {
        claim.reason = format!("{}, but {why}", claim.reason);
    } else if difference(scene, place, end) {
        return None;
    } else {
        claim.verdict = ClaimVerdict::Wrong;
    }
    Some((score, claim))
}

/// Why a value that differs may be of something that the table does not show: its words, or that the text prints it
/// elsewhere than in tables, as in the output of a tool.
fn doubt(
    scene: &Scene<'_>,
    grid: &Grid,
    (amount, place): (&Amount, usize),
    cells: &[At],
    clause: std::ops::Range<usize>,
) -> Option<String> {
    // With a word that the table does not know a value of another magnitude is of something else.
    let near = cells
        .iter()
        .filter_map(|a| grid.amount(*a))
        .all(|own| (0.2..=5.0).contains(&(amount.value / own.value)));
    if let Some(words) = unknown(scene, grid, clause, false, !near) {
        return Some(format!("\"{words}\" is not in the table"));
    }
    let printed = scene.sentence.tokens[place].span.of(scene.sentence.text);
    let digits = printed.trim_end_matches(|c: char| !c.is_ascii_digit());
    let text = scene.sentence.text;
    let tables = &scene.context.document.tables;
    let inside = |at: usize| {
        scene.sentence.span.start <= at && at < scene.sentence.span.end
            || scene.context.grids.iter().any(|g| {
                let span = tables[g.table].span;
                span.start <= at && at < span.end
            })
    };
    let part = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',');
    let whole = |at: usize| {
        let next = text[at + digits.len()..].chars().next();
        !text[..at].ends_with(part) && !next.is_some_and(|c| c.is_ascii_digit())
    };
    let telling = amount.printed.abs() / (amount.step / amount.measure.scale) >= 100.0;
    let elsewhere = telling && text.match_indices(digits).any(|(at, _)| whole(at) && !inside(at));
    elsewhere.then(|| "the text prints that value elsewhere".to_owned())
}

/// Whether the sum or the mean of some cells is an amount.
fn together(grid: &Grid, cells: &[At], amount: &Amount) -> bool {
    let all: Vec<Amount> = cells.iter().filter_map(|a| grid.amount(*a)).collect();
    let Some(first) = all.first() else { return false };
    let sum: f64 = all.iter().map(|m| m.value).sum();
    [sum, sum / all.len() as f64]
        .iter()
        .any(|value| Amount { value: *value, ..*first }.is(amount, Bound::Exact) != Agreement::None)
}

/// "The fastest run took" a value of the column of the largest times.
fn against_statistic(
    scene: &Scene<'_>,
    grid: &Grid,
    column: usize,
    clause: &std::ops::Range<usize>,
) -> bool {
    let has = |set: &[&str]| {
        scene.sentence.tokens[clause.clone()].iter().any(|t| set.contains(&t.lower.as_str()))
    };
    let named =
        |set: &[&str]| grid.columns.names[column].words.iter().any(|w| set.contains(&w.as_str()));
    let rate = grid.better[column] == super::grid::Better::More;
    let (least, greatest) = if rate {
        (["slowest", "lowest", "least", "minimum"], ["fastest", "highest", "most", "maximum"])
    } else {
        (["fastest", "lowest", "least", "minimum"], ["slowest", "highest", "most", "maximum"])
    };
    has(&least) && named(&["max", "maximum", "high"])
        || has(&greatest) && named(&["min", "minimum", "low"])
}

/// "48 MB more", "a budget of 20 ms": no value of the subject's.
fn difference(scene: &Scene<'_>, place: usize, end: usize) -> bool {
    let next = scene.sentence.lower(end);
    let before = place.checked_sub(1).map_or("", |i| scene.sentence.lower(i));
    way(next).is_some()
        || next == "of"
        || matches!(
            before,
            "by" | "plus" | "another" | "every" | "each" | "within" | "after" | "from"
        )
        || scene.sentence.tokens[place.saturating_sub(4)..place].iter().any(|t| {
            matches!(
                t.lower.as_str(),
                "budget"
                    | "limit"
                    | "goal"
                    | "input"
                    | "file"
                    | "timeout"
                    | "instead"
                    | "difference"
            )
        })
}

/// Whether several columns of a row have one dimension: it compares these.
fn many_arms(grid: &Grid, a: At) -> bool {
    let own = grid.dimension(a.column);
    grid.valued()
        .filter(|c| grid.dimension(*c) == own && statistic(&grid.columns.names[*c].text) < 3)
        .count()
        > 1
}

/// Whether the word behind an amount is in a column's name or its table's caption.
fn column_words(grid: &Grid, column: usize, scene: &Scene<'_>, end: usize) -> bool {
    let mut near =
        (end.saturating_sub(1)..=end).filter_map(|i| scene.sentence.pieces.get(i)).flatten();
    near.any(|w| {
        !super::name::is_plain(w)
            && w.len() > 1
            && (grid.columns.names[column].words.contains(w) || grid.context.contains(w))
    })
}

fn grid_span(scene: &Scene<'_>, g: usize) -> Span {
    scene.context.document.tables[scene.grid(g).table].span
}
