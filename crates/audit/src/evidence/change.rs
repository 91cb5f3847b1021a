//! Judges a change of a value that a sentence states by both ends: "fell from 9.12 ms to 2.40 ms".

use super::amount::{Agreement, Amount};
use super::bind::{Side, at};
use super::compare::input;
use super::known::unknown;
use super::name::Mention;
use super::scene::Scene;
use super::sides::{later, two};
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::pointing::{Way, way};
use crate::judge::reading::{Bound, figure};
use crate::read::source::Span;

/// "fell from 9.12 ms to 2.40 ms": two cells of one column, or of one row.
pub(crate) fn from_to(
    scene: &Scene<'_>,
    amounts: &[(usize, usize, Amount)],
    k: usize,
) -> Option<Claim> {
    let ((i, from_end, first), (j, end, second)) = (amounts[k], amounts[k + 1]);
    let sentence = &scene.sentence;
    let from = i > 0 && sentence.lower(i - 1) == "from";
    if !from
        || !(from_end..j).any(|t| sentence.lower(t) == "to")
        || !first.dimension().fits(second.dimension())
    {
        return None;
    }
    for (g, named) in &scene.named {
        let grid = scene.grid(*g);
        for (side, mentions) in [(Side::Columns, &named.columns), (Side::Rows, &named.rows)] {
            let Some(field) = mentions
                .iter()
                .filter(|m| m.end <= i)
                .rfind(|m| m.only().is_some())
                .and_then(Mention::only)
            else {
                continue;
            };
            let other = if side == Side::Columns { Side::Rows } else { Side::Columns };
            let Some((a, b)) = two(grid, other).into_iter().find(|(a, _)| {
                grid.amount(at(side, field, *a))
                    .is_some_and(|m| m.dimension().fits(first.dimension()))
            }) else {
                continue;
            };
            let (last, ordered) = later(grid, other, a, b);
            let (old, new) = if last == b { (a, b) } else { (b, a) };
            let (old, new) = (at(side, field, old), at(side, field, new));
            let (Some(x), Some(y)) = (grid.amount(old), grid.amount(new)) else { continue };
            if !x.dimension().fits(first.dimension()) || !y.dimension().fits(second.dimension()) {
                continue;
            }
            let tokens = sentence.tokens;
            let span = Span::new(tokens[0].span.start, tokens[end - 1].span.end);
            let mut claim = scene.context.claim_at(ClaimKind::Difference, span, "");
            claim.claimed = Some(first.printed);
            claim.inputs = [old, new].into_iter().filter_map(|c| input(scene, grid, c)).collect();
            claim.reason = format!("{} and {} are printed", figure(x.printed), figure(y.printed));
            let fits = [x.is(&first, Bound::Exact), y.is(&second, Bound::Exact)];
            let reversed = x.is(&second, Bound::Exact) != Agreement::None
                && y.is(&first, Bound::Exact) != Agreement::None;
            let up = sentence.tokens[..i].iter().rev().find_map(|t| way(&t.lower));
            let against = match up {
                Some(Way::More) => second.value < first.value,
                Some(Way::Less) => second.value > first.value,
                _ => false,
            };
            claim.verdict = if fits.contains(&Agreement::None) || against {
                let open = unknown(scene, grid, 0..end, false, true).is_some();
                if open || !ordered || reversed || fits[0] == fits[1] && !against {
                    ClaimVerdict::Ambiguous
                } else {
                    ClaimVerdict::Wrong
                }
            } else {
                ClaimVerdict::Holds
            };
            return Some(claim);
        }
    }
    None
}
