//! Judges shares: "more than half of the writes are between 64 and 128 KB" against the histogram
//! that has these bounds.

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict, Reading};
use crate::detect::{Found, vocabulary};
use crate::judge::reading::{Bound, Claimed, figure};
use crate::read::source::Span;
use crate::read::table::{Shape, Table};
use crate::read::token::Token;
use crate::read::unit::Unit;

/// "half of", "most", "the majority": a share without the sign of per cent.
pub(crate) fn in_words(context: &Context<'_>, sentence: usize) -> Option<Claim> {
    let tokens = &context.reading.tokens[sentence];
    let at = vocabulary::share(tokens)?;
    let more = at > 1 && tokens[at - 1].lower == "than";
    let (value, bound) = match tokens[at].lower.as_str() {
        "half" if !more => (50.0, Bound::About),
        _ => (50.0, Bound::AtLeast),
    };
    let place = context.document.sentences[sentence].span;
    let mut claim = context.claim_at(
        ClaimKind::Share,
        place,
        "the counts that it is a share of are not printed",
    );
    claim.claimed = Some(value);
    let claimed = Claimed { value, step: if more { 1e-6 } else { 1.0 }, bound };
    judge(context, tokens, claimed, &mut claim);
    Some(claim)
}

/// "43% of the writes".
pub(crate) fn judge_percent(context: &Context<'_>, found: &Found) -> Claim {
    let mut claim = context.claim(ClaimKind::Share, found);
    if let Some((value, step)) = found.value {
        judge(
            context,
            context.tokens(found),
            Claimed { value, step, bound: found.bound },
            &mut claim,
        );
    }
    claim
}

/// The buckets of a table from its first at or over `low` to before its first at or over `high`.
fn part(table: &Table, low: f64, high: f64) -> (f64, f64) {
    let mut inside = 0.0;
    let mut total = 0.0;
    for row in 0..table.rows.len() {
        let (Some((value, _)), Some((count, _))) = (table.number(row, 0), table.number(row, 1))
        else {
            continue;
        };
        total += count;
        if value >= low && value < high {
            inside += count;
        }
    }
    (inside, total)
}

fn judge(context: &Context<'_>, tokens: &[Token], claimed: Claimed, claim: &mut Claim) {
    let numbers: Vec<f64> = tokens
        .iter()
        .filter_map(Token::quantity)
        .filter(|n| !n.spelled && !matches!(n.unit, Some(Unit::Percent | Unit::Times)))
        .map(|n| n.value)
        .collect();
    let bounds = |table: &Table| -> Vec<f64> {
        (0..table.rows.len()).filter_map(|r| table.number(r, 0)).map(|(v, _)| v).collect()
    };
    let histograms: Vec<&Table> =
        context.document.tables.iter().filter(|t| t.shape == Shape::Histogram).take(50).collect();
    // A range names two bounds of one histogram.
    for low in &numbers {
        for high in numbers.iter().filter(|h| *h > low) {
            let fitting: Vec<&&Table> = histograms
                .iter()
                .filter(|t| {
                    let b = bounds(t);
                    b.contains(low) && (b.contains(high) || b.contains(&(high + 1.0)))
                })
                .collect();
            if let [table] = fitting.as_slice() {
                let high = if bounds(table).contains(high) { *high } else { high + 1.0 };
                let (inside, total) = part(table, *low, high);
                settle(context, claim, claimed, (inside, total), table.span, true);
                return;
            }
        }
    }
    // "under 8 ms": what lies below a bound, over all histograms that have it.
    let under = tokens
        .iter()
        .any(|t| matches!(t.lower.as_str(), "under" | "below" | "within") || t.lower == "less");
    if let (true, Some(bound)) = (under, numbers.first()) {
        let with: Vec<&&Table> = histograms.iter().filter(|t| bounds(t).contains(bound)).collect();
        let smallest =
            with.iter().filter_map(|t| bounds(t).last().copied()).fold(f64::INFINITY, f64::min);
        let alike: Vec<&&&Table> = with
            .iter()
            .filter(|t| bounds(t).last().is_some_and(|l| *l <= smallest * 64.0))
            .collect();
        let sums = alike
            .iter()
            .map(|t| part(t, f64::NEG_INFINITY, *bound))
            .fold((0.0, 0.0), |x, y| (x.0 + y.0, x.1 + y.1));
        if let Some(first) = alike.first() {
            settle(context, claim, claimed, sums, first.span, alike.len() == 1);
        }
    }
}

fn settle(
    context: &Context<'_>,
    claim: &mut Claim,
    claimed: Claimed,
    (inside, total): (f64, f64),
    span: Span,
    sure: bool,
) {
    if total <= 0.0 {
        return;
    }
    let share = inside / total * 100.0;
    claim.computed = Some(share);
    claim.inputs = vec![
        context.input_at("counts inside", inside, span),
        context.input_at("counts in all", total, span),
    ];
    let fit = claimed.fit(share, share, share);
    claim.verdict = match fit {
        ClaimVerdict::Wrong if !sure => ClaimVerdict::Ambiguous,
        verdict => verdict,
    };
    claim.reason = format!(
        "{} of {} is {} %",
        figure(inside),
        figure(total),
        figure((share * 10.0).round() / 10.0)
    );
    claim.readings =
        vec![Reading { name: "a/b", formula: claim.reason.clone(), value: share, verdict: fit }];
}
