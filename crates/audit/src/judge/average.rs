//! Judges averages, sums and differences that prose states of numbers in tables: "on average 20.7 %",
//! "2.5 points less" where the averages of two columns differ by that.

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict, Input};
use crate::detect::Found;
use crate::judge::reading::{Claimed, figure};
use crate::read::column::Column;
use crate::read::source::Span;
use crate::read::token::Token;
use crate::read::unit::Unit;

/// "on average", "in total" with a number: a column of a table has that mean or sum.
pub(crate) fn stated(context: &Context<'_>, found: &Found) -> Option<Claim> {
    let tokens = context.tokens(found);
    let has = |words: &[&str]| {
        tokens[found.clause.clone()].iter().any(|t| words.contains(&t.lower.as_str()))
    };
    let mean = has(&["average", "averages", "averaged", "mean", "avg"]);
    if !mean && !has(&["total", "totals", "sum", "altogether"]) {
        return None;
    }
    let (value, step) = found.value?;
    let claimed = Claimed { value, step, bound: found.bound };
    // The nearest table before the words goes first.
    let mut all: Vec<&Column> = context.columns.iter().collect();
    all.sort_by_key(|c| {
        if c.span.end <= found.span.start {
            found.span.start - c.span.end
        } else {
            c.span.start + (1 << 30)
        }
    });
    let hit = all.iter().find(|c| {
        let computed = if mean { c.mean } else { c.sum };
        computed != 0.0
            && claimed.fit(computed, computed, computed) == ClaimVerdict::Holds
            && telling(value, step)
    })?;
    let kind = if mean { ClaimKind::Mean } else { ClaimKind::Sum };
    let mut claim = context.claim(kind, found);
    claim.verdict = ClaimVerdict::Holds;
    claim.computed = Some(if mean { hit.mean } else { hit.sum });
    claim.inputs = vec![input(context, hit, if mean { hit.mean } else { hit.sum })];
    claim.reason = format!(
        "the {} of {} in {} rows is {}",
        if mean { "mean" } else { "sum" },
        hit.name,
        hit.rows,
        figure(claim.computed.unwrap_or(f64::NAN))
    );
    Some(claim)
}

/// Whether a number has digits enough that it is no accident when it comes out.
fn telling(value: f64, step: f64) -> bool {
    value / step >= 20.0
}

fn input(context: &Context<'_>, column: &Column, value: f64) -> Input {
    context.input_at(&format!("{} over {} rows", column.name, column.rows), value, column.span)
}

/// A percentage that is the difference of two others that the text prints, or of the means of two
/// columns of one name.
pub(crate) fn difference(context: &Context<'_>, found: &Found) -> Option<Claim> {
    let (value, step) = found.value?;
    if !telling(value, step) && step >= 1.0
        || !context.tokens(found)[found.at].quantity()?.is(&Unit::Percent)
    {
        return None;
    }
    let claimed = Claimed { value, step, bound: found.bound };
    let mut claim = context.claim(ClaimKind::Difference, found);
    let printed = percentages(context, found);
    for (i, (a, at)) in printed.iter().enumerate() {
        for (b, bt) in &printed[i + 1..] {
            let computed = (a - b).abs();
            if claimed.fit(computed, computed, computed) == ClaimVerdict::Holds {
                claim.inputs = vec![
                    context.input_at("printed here", *a, *at),
                    context.input_at("printed here", *b, *bt),
                ];
                return Some(done(
                    claim,
                    computed,
                    &format!(
                        "{} - {} = {}",
                        figure(a.max(*b)),
                        figure(a.min(*b)),
                        figure(computed)
                    ),
                ));
            }
        }
    }
    let all = &context.columns;
    for (i, a) in all.iter().enumerate() {
        for b in all[i + 1..]
            .iter()
            .filter(|b| b.name == a.name && b.span != a.span && !a.name.is_empty())
            .take(8)
        {
            let computed = (a.mean - b.mean).abs();
            if claimed.fit(computed, computed, computed) == ClaimVerdict::Holds {
                claim.inputs = vec![input(context, a, a.mean), input(context, b, b.mean)];
                return Some(done(
                    claim,
                    computed,
                    &format!("the means of {} differ by {}", a.name, figure(computed)),
                ));
            }
        }
    }
    None
}

fn done(mut claim: Claim, computed: f64, reason: &str) -> Claim {
    claim.verdict = ClaimVerdict::Holds;
    claim.computed = Some(computed);
    reason.clone_into(&mut claim.reason);
    claim
}

/// Percentages that prose prints with two decimals or more, before the claim: at most 40.
fn percentages(context: &Context<'_>, found: &Found) -> Vec<(f64, Span)> {
    context.reading.tokens[found.sentence.saturating_sub(1)..=found.sentence]
        .iter()
        .rev()
        .flatten()
        .filter(|t| t.span.start < context.tokens(found)[found.at].span.start)
        .filter_map(|t: &Token| {
            t.quantity().filter(|n| n.is(&Unit::Percent) && n.step < 0.5).map(|n| (n.value, t.span))
        })
        .take(40)
        .collect()
}
