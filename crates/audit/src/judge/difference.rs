//! Judges differences in a unit: "18 minutes less", "reduced from 30 to 15 minutes".

use crate::bind;
use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::Found;
use crate::judge::reading::{Claimed, POINTS, POINTS_LESS, figure, read};
use crate::read::token::Token;

/// Judges a difference.
pub(crate) fn judge(context: &Context<'_>, found: &Found) -> Claim {
    let tokens = context.tokens(found);
    let mut claim = context.claim(ClaimKind::Difference, found);
    if found.at > 0 && tokens[found.at - 1].lower == "from" {
        from_to(context, found, &mut claim);
        return claim;
    }
    let Some((value, step)) = found.value else { return claim };
    let scale = tokens[found.at].quantity().map_or(1.0, |n| n.scale);
    let claimed = Claimed { value: value * scale, step: step * scale, bound: found.bound };
    let (subject, baseline) = context.sides(found);
    for pair in bind::pairs(&context.quantities, &subject, &baseline).iter().take(20) {
        let (a, b) = (&context.quantities.all[pair.a], &context.quantities.all[pair.b]);
        let made = [POINTS, POINTS_LESS].map(|f| {
            read(f, claimed, crate::judge::compare::operand(a), crate::judge::compare::operand(b))
        });
        if let Some(fits) = made.into_iter().find(|r| r.verdict != ClaimVerdict::Wrong) {
            context.fill(&mut claim, pair, fits.value / scale);
            claim.verdict = fits.verdict;
            claim.reason.clone_from(&fits.formula);
            claim.readings = vec![fits];
            return claim;
        }
    }
    claim.reason = "the values that it is the difference of are not printed".into();
    claim
}

/// Both ends must be among the printed results.
fn from_to(context: &Context<'_>, found: &Found, claim: &mut Claim) {
    let tokens = context.tokens(found);
    let ends: Vec<&crate::read::token::Number> =
        tokens[found.at..].iter().take(5).filter_map(Token::quantity).collect();
    let known = |value: f64| context.quantities.with_value(value).first().copied();
    let [first, second, ..] = ends.as_slice() else { return };
    match (known(first.value), known(second.value)) {
        (Some(a), Some(b)) => {
            claim.verdict = ClaimVerdict::Holds;
            claim.inputs = vec![context.input(a), context.input(b)];
            claim.reason =
                format!("both {} and {} are printed", figure(first.value), figure(second.value));
        }
        _ => {
            claim.reason = format!(
                "{} and {} are printed nowhere else",
                figure(first.value),
                figure(second.value)
            );
        }
    }
}
