//! Judges a comparison that points back to two values before it: "It took 47 minutes. Today it takes 21. That is 55% less."

use super::amount::{Amount, Dimension};
use super::cells::{loose, readings};
use super::prose::direction;
use super::scene::Scene;
use super::statement::{self, Much, Statement};
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::judge::reading::Bound;
use crate::read::source::Span;

/// An amount of another sentence, with its place.
type Stated = (Span, Amount);

/// Judges "That is N% less". Wrong where neither of the two values as the baseline gives the number.
pub(crate) fn judge(scene: &Scene<'_>, statement: &Statement) -> Option<Claim> {
    let sentence = &scene.sentence;
    let points = matches!(sentence.lower(0), "that" | "this")
        && matches!(sentence.lower(1), "is" | "was" | "makes" | "means");
    let alone = scene.statements.len() == 1 && scene.amounts.is_empty();
    let opened = super::sides::opener(sentence, statement, sentence.tokens.len()).is_some();
    if !points || !alone || opened || statement.much == Much::Orders {
        return None;
    }
    let (old, new) = two_before(scene)?;
    let less = direction(scene, statement, new.1).unwrap_or(new.1.value < old.1.value);
    let all = readings(statement, new.1, old.1, less);
    let best = all.first()?.clone();
    let turned = readings(statement, old.1, new.1, less);
    let kind = if statement.much == Much::Percent { ClaimKind::Percent } else { ClaimKind::Times };
    let mut claim = scene.context.claim_at(kind, sentence.span, "");
    claim.claimed = Some(statement.value);
    claim.computed = Some(best.value).filter(|v| v.is_finite());
    claim.inputs = [new, old]
        .iter()
        .map(|(span, m)| scene.context.input_at("stated before", m.printed, *span))
        .collect();
    claim.reason = format!("{} ({}), from the two values before it", best.formula, best.name);
    claim.verdict = best.verdict;
    if best.verdict == ClaimVerdict::Wrong {
        let fits = turned.iter().any(|r| r.verdict != ClaimVerdict::Wrong)
            || loose(statement, new.1, old.1, less)
            || loose(statement, old.1, new.1, less);
        if fits || !matches!(statement.bound, Bound::Exact | Bound::AtLeast) {
            claim.verdict = ClaimVerdict::Ambiguous;
        }
    } else if statement.understates(best.value) {
        claim.verdict = ClaimVerdict::Ambiguous;
    }
    claim.readings = all;
    Some(claim)
}

/// The only two amounts of one unit in the sentence before, or one in each of the two before, in the same block.
fn two_before(scene: &Scene<'_>) -> Option<(Stated, Stated)> {
    let first = stated(scene, scene.index.checked_sub(1)?);
    match first[..] {
        [a, b] => (a.1.dimension() == b.1.dimension()).then_some((a, b)),
        [b] => {
            let before = stated(scene, scene.index.checked_sub(2)?);
            let [a] = before[..] else { return None };
            (a.1.dimension() == b.1.dimension()).then_some((a, b))
        }
        _ => None,
    }
}

/// The amounts with a unit that a sentence of the same block states.
fn stated(scene: &Scene<'_>, index: usize) -> Vec<Stated> {
    let sentences = &scene.context.document.sentences;
    let tokens = &scene.context.reading.tokens[index];
    if sentences[index].block != sentences[scene.index].block
        || tokens.len() > crate::detect::MAX_TOKENS
    {
        return Vec::new();
    }
    let text = scene.sentence.text;
    let free = vec![true; tokens.len()];
    let statements = statement::all(text, tokens, &free);
    let measured = |d| {
        matches!(
            d,
            Dimension::Time
                | Dimension::Bytes
                | Dimension::ByteRate
                | Dimension::BitRate
                | Dimension::Rate
                | Dimension::Power
                | Dimension::Energy
        )
    };
    statement::amounts(text, tokens, &statements, &free)
        .into_iter()
        .filter(|(.., m)| measured(m.dimension()))
        .map(|(at, _, m)| (tokens[at].span, m))
        .collect()
}
