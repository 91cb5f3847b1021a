//! Judges counts that the text itself can be counted for: "3 regressions" over a list of four, "wins
//! in 4 of 5 programs", and the average of a column.

use super::amount::{self, Agreement, Amount, Dimension};
use super::bind::Side;
use super::grid::{At, Better, Grid};
use super::name::Mention;
use super::scene::Scene;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::judge::reading::{Bound, figure};
use crate::read::document::BlockKind;
use crate::read::source::Span;

/// The counts and averages of a sentence.
pub(crate) fn judge(scene: &Scene<'_>) -> Vec<(usize, Claim)> {
    let mut found = listed(scene);
    found.extend(wins(scene));
    found.extend(averages(scene));
    found
}

fn claim(scene: &Scene<'_>, kind: ClaimKind, from: usize, to: usize) -> Claim {
    let tokens = scene.sentence.tokens;
    let span =
        Span::new(tokens[from].span.start, tokens[to.min(tokens.len()).max(from + 1) - 1].span.end);
    scene.context.claim_at(kind, span, "")
}

/// "There are 3 regressions in this release:" over a list, or a list under the noun's own heading.
fn listed(scene: &Scene<'_>) -> Vec<(usize, Claim)> {
    let tokens = scene.sentence.tokens;
    let mut found = Vec::new();
    for i in 0..tokens.len() {
        let Some(n) = tokens[i].quantity() else { continue };
        let whole =
            n.unit.is_none() && n.value >= 2.0 && n.value <= 200.0 && n.value.fract() == 0.0;
        let Some(noun) = tokens
            .get(i + 1)
            .filter(|t| t.is_word() && t.lower.len() > 3 && t.lower.ends_with('s'))
        else {
            continue;
        };
        if !whole
            || amount::measure(&noun.lower).is_some()
            || i > 0
                && matches!(scene.sentence.lower(i - 1), "of" | "the" | "than" | "least" | "last")
        {
            continue;
        }
        let ends = tokens.last().is_some_and(|t| t.is_mark(':'));
        let own = ends && only_count(scene, i);
        let items = if own { after(scene) } else { under(scene, &noun.lower) };
        let Some((count, span)) = items.filter(|(c, _)| *c >= 2) else { continue };
        let mut claim = claim(scene, ClaimKind::Count, i, i + 2);
        claim.claimed = Some(n.value);
        claim.computed = Some(count as f64);
        claim.inputs = vec![scene.context.input_at("entries of the list", count as f64, span)];
        claim.reason = format!("the list has {count} entries");
        // A list under a heading may leave entries out.
        claim.verdict = match (count as f64 == n.value, own) {
            (true, _) => ClaimVerdict::Holds,
            (false, true) => ClaimVerdict::Wrong,
            (false, false) => ClaimVerdict::Ambiguous,
        };
        found.push((i, claim));
    }
    found
}

/// Whether a sentence that ends in a colon counts one thing.
fn only_count(scene: &Scene<'_>, at: usize) -> bool {
    scene.sentence.tokens.iter().enumerate().all(|(i, t)| i == at || t.quantity().is_none())
}

/// How many list items follow the sentence's block.
fn after(scene: &Scene<'_>) -> Option<(usize, Span)> {
    let block = scene.context.document.sentences[scene.index].block;
    items(scene, block)
}

fn items(scene: &Scene<'_>, block: usize) -> Option<(usize, Span)> {
    let blocks = &scene.context.document.blocks;
    let from = blocks.get(block)?.span.end;
    let own = blocks[block + 1..].iter().take_while(|b| b.kind == BlockKind::Item);
    // Entries further in belong to the entry over them.
    let text = scene.sentence.text;
    let indent = |at: usize| at - text[..at].rfind('\n').map_or(0, |n| n + 1);
    let least = own.clone().map(|b| indent(b.span.start)).min()?;
    let first = blocks.get(block + 1)?.span;
    let count = own.filter(|b| indent(b.span.start) == least).count();
    // Nothing else may stand between: a table, a drawing.
    let between = text.get(from..first.start)?.trim().trim_matches(['-', '*', '+', '•']).trim();
    between.is_empty().then_some((count, first))
}

/// The list under a line that is the noun itself ("Regressions:"), if there is just one.
fn under(scene: &Scene<'_>, noun: &str) -> Option<(usize, Span)> {
    let blocks = &scene.context.document.blocks;
    let own = scene.context.document.sentences[scene.index].block;
    let mut titles = (own + 1..blocks.len().min(own + 200)).filter(|b| {
        let text =
            blocks[*b].span.of(scene.sentence.text).trim().trim_matches(['*', '#', ':', ' ']);
        blocks[*b].kind != BlockKind::Item && text.eq_ignore_ascii_case(noun)
    });
    let block = titles.next()?;
    if titles.next().is_some() {
        return None;
    }
    items(scene, block)
}

/// "wins in 4 of 5 programs".
fn wins(scene: &Scene<'_>) -> Option<(usize, Claim)> {
    let tokens = scene.sentence.tokens;
    let i = (1..tokens.len().saturating_sub(2)).find(|i| {
        tokens[*i].quantity().is_some_and(|n| n.unit.is_none())
            && matches!(scene.sentence.lower(*i + 1), "of" | "out")
    })?;
    let j = if scene.sentence.lower(i + 1) == "out" { i + 3 } else { i + 2 };
    let j = if scene.sentence.lower(j) == "the" { j + 1 } else { j };
    let (n, of) = (tokens[i].quantity()?.value, tokens.get(j)?.quantity()?.value);
    let won = tokens[..i]
        .iter()
        .any(|t| matches!(t.lower.as_str(), "wins" | "win" | "won" | "faster" | "ahead" | "beats"));
    if !won {
        return None;
    }
    for (g, named) in &scene.named {
        let grid = scene.grid(*g);
        let Some(who) = named.columns.iter().filter(|m| m.end <= i).find_map(Mention::only) else {
            continue;
        };
        let dimension = grid.dimension(who)?;
        let rivals: Vec<usize> =
            grid.valued().filter(|c| grid.dimension(*c) == Some(dimension)).collect();
        let less = match grid.better[who] {
            Better::Less => true,
            Better::More => false,
            Better::Unknown => continue,
        };
        let rows: Vec<usize> = grid.bodies().collect();
        if rows.len() as f64 != of || rivals.len() < 2 {
            continue;
        }
        let count = rows
            .iter()
            .filter(|r| {
                let value = |c: usize| grid.amount(At { row: **r, column: c }).map(|m| m.value);
                rivals.iter().all(|c| {
                    *c == who
                        || match (value(who), value(*c)) {
                            (Some(a), Some(b)) => {
                                if less {
                                    a < b
                                } else {
                                    a > b
                                }
                            }
                            _ => false,
                        }
                })
            })
            .count();
        let mut claim = claim(scene, ClaimKind::Count, 0, tokens.len());
        claim.claimed = Some(n);
        claim.computed = Some(count as f64);
        claim.inputs = vec![scene.context.input_at(
            &grid.columns.names[who].text,
            count as f64,
            scene.context.document.tables[grid.table].span,
        )];
        claim.reason = format!("{count} of {} rows", rows.len());
        claim.verdict = if count as f64 == n {
            ClaimVerdict::Holds
        } else if rivals.len() == 2 {
            ClaimVerdict::Wrong
        } else {
            ClaimVerdict::Ambiguous
        };
        return Some((i, claim));
    }
    None
}

/// "The average baseline time is 4.5 s", "mean of the speed-ups: 1.51x": the mean of a named column.
fn averages(scene: &Scene<'_>) -> Option<(usize, Claim)> {
    let tokens = scene.sentence.tokens;
    let word = tokens.iter().position(|t| {
        matches!(t.lower.as_str(), "average" | "mean" | "geomean" | "averages" | "total" | "sum")
    })?;
    let sum = matches!(scene.sentence.lower(word), "total" | "sum");
    for (g, named) in &scene.named {
        let grid = scene.grid(*g);
        if !named.side(Side::Rows).is_empty() {
            continue;
        }
        // A column of averages has none of its own: "the average latency went down".
        let near = |m: &&Mention| m.start.abs_diff(word) < 8 && !(m.start..m.end).contains(&word);
        for mention in named.columns.iter().filter(near) {
            let Some(column) = mention.only() else { continue };
            let Some((i, end, amount)) = stated(scene, mention.end.max(word)) else { continue };
            if let Some(claim) = settle(scene, grid, column, (end, amount), sum, word) {
                return Some((i, claim));
            }
        }
    }
    None
}

/// The first amount behind a place.
fn stated(scene: &Scene<'_>, from: usize) -> Option<(usize, usize, Amount)> {
    (from..scene.sentence.tokens.len().min(from + 10)).find_map(|i| {
        let (amount, used) = amount::at(scene.sentence.text, scene.sentence.tokens, i)?;
        Some((i, i + used, amount))
    })
}

fn settle(
    scene: &Scene<'_>,
    grid: &Grid,
    column: usize,
    (end, amount): (usize, Amount),
    sum: bool,
    word: usize,
) -> Option<Claim> {
    let values: Vec<Amount> =
        grid.bodies().filter_map(|r| grid.amount(At { row: r, column })).collect();
    let kind = if sum { ClaimKind::Sum } else { ClaimKind::Mean };
    let mut claim = claim(scene, kind, word, end);
    claim.claimed = Some(amount.printed);
    let total: f64 = values.iter().map(|v| v.value).sum();
    let n = values.len() as f64;
    let fits = values.len() >= 2 && values.iter().all(|v| v.dimension().fits(amount.dimension()));
    if !fits {
        return None;
    }
    let arithmetic = if sum { total } else { total / n };
    let geometric = (values.iter().map(|v| v.value.ln()).sum::<f64>() / n).exp();
    let named_geometric =
        scene.sentence.tokens.iter().any(|t| matches!(t.lower.as_str(), "geomean" | "geometric"));
    let agree = |value: f64| {
        let step = values.iter().map(|v| v.step).fold(0.0, f64::max);
        Amount { value, step, measure: amount.measure, printed: value }.is(&amount, Bound::Exact)
    };
    let computed = if named_geometric { geometric } else { arithmetic };
    let agreement = agree(computed).max(if sum || amount.dimension() != Dimension::Times {
        Agreement::None
    } else {
        agree(geometric)
    });
    claim.computed = Some(computed / amount.measure.scale).filter(|v| v.is_finite());
    let span = scene.context.document.tables[grid.table].span;
    let name = format!("{} over {} rows", grid.columns.names[column].text, values.len());
    claim.inputs = vec![scene.context.input_at(&name, computed / amount.measure.scale, span)];
    claim.reason = format!("{name}: {}", figure(computed / amount.measure.scale));
    claim.verdict = match agreement {
        Agreement::Rounds => ClaimVerdict::Holds,
        Agreement::Near => ClaimVerdict::OffByRounding,
        Agreement::None => ClaimVerdict::Ambiguous,
    };
    Some(claim)
}
