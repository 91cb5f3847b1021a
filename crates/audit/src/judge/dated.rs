//! Judges the dates stated for results: a text gives one, everywhere.

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::read::token::Token;

/// A day: year, month, day.
type Day = (u32, u32, u32);

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The sentences that say "as of" with a date, each a claim against the others.
pub(crate) fn judge(context: &Context<'_>) -> Vec<Claim> {
    let stated: Vec<(usize, Day)> = context
        .reading
        .tokens
        .iter()
        .enumerate()
        .filter_map(|(s, tokens)| as_of(tokens).map(|day| (s, day)))
        .take(200)
        .collect();
    stated
        .iter()
        .map(|(sentence, day)| {
            let span = context.document.sentences[*sentence].span;
            let mut claim =
                context.claim_at(ClaimKind::Restatement, span, "the only date stated for results");
            let others: Vec<&Day> =
                stated.iter().filter(|(s, _)| s != sentence).map(|(_, d)| d).collect();
            if !others.is_empty() && others.iter().all(|d| *d == day) {
                claim.verdict = ClaimVerdict::Holds;
                claim.reason =
                    format!("{}-{:02}-{:02} in {} places", day.0, day.1, day.2, stated.len());
            } else if let Some(other) = others.iter().find(|d| **d != day) {
                claim.verdict = ClaimVerdict::Ambiguous;
                claim.reason = format!(
                    "{}-{:02}-{:02} here, {}-{:02}-{:02} elsewhere",
                    day.0, day.1, day.2, other.0, other.1, other.2
                );
            }
            claim
        })
        .collect()
}

fn as_of(tokens: &[Token]) -> Option<Day> {
    let at = tokens.windows(2).position(|w| w[0].lower == "as" && w[1].lower == "of")?;
    (at + 2..(at + 6).min(tokens.len())).find_map(|i| day(&tokens[i..]))
}

/// `8/25/2009` (month first), `2009-08-25`, `25 August 2009`, `August 25, 2009`.
fn day(tokens: &[Token]) -> Option<Day> {
    let lower = tokens.first()?.lower.trim_end_matches('.');
    let parts: Vec<u32> = lower.split(['/', '-']).map_while(|p| p.parse().ok()).collect();
    if let [a, b, c] = parts.as_slice() {
        return if *a > 1900 {
            Some((*a, *b, *c))
        } else {
            Some((if *c < 100 { c + 2000 } else { *c }, *a, *b))
        };
    }
    let whole = |t: &Token| t.number().filter(|n| n.step == 1.0).map(|n| n.value as u32);
    let month =
        |t: &Token| MONTHS.iter().position(|m| t.lower.starts_with(m)).map(|m| m as u32 + 1);
    let rest: Vec<&Token> = tokens.iter().filter(|t| !t.is_mark(',')).take(3).collect();
    let [a, b, c] = rest.as_slice() else { return None };
    match (whole(a), month(a)) {
        (Some(d), _) => Some((whole(c)?, month(b)?, d)),
        (_, Some(m)) => Some((whole(c)?, m, whole(b)?)),
        _ => None,
    }
}
