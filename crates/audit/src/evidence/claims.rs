//! The claims of a sentence that have evidence, each kind by its judge, and what the sentences after
//! it may call "it".

use std::collections::BTreeSet;
use std::ops::Range;

use super::bind::{Named, Sentence, Side};
use super::former::{self, Two};
use super::scene::{Scene, Subject, named};
use super::sides::Bound2;
use super::{change, compare, count, prose, rank, statement, value};
use crate::bind::context::Context;
use crate::claim::{Claim, ClaimVerdict};
use crate::read::document::BlockKind;

/// What is known while a text is read.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The subject of the sentence before.
    pub subject: Option<Subject>,
    pub block: usize,
    /// The last two names that stood in one sentence.
    pub two: Option<Two>,
}

/// What was decided in a sentence: the claims, and the tokens whose numbers they took.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    pub claims: Vec<Claim>,
    pub taken: Vec<Range<usize>>,
}

/// Judges a sentence.
pub(crate) fn judge(context: &Context<'_>, index: usize, memory: &mut Memory) -> Decided {
    let place = context.document.sentences[index];
    let tokens = &context.reading.tokens[index];
    let mut decided = Decided::default();
    if memory.block != place.block {
        let list =
            |b: usize| context.document.blocks.get(b).map(|b| b.kind) == Some(BlockKind::Item);
        if !(list(place.block) && list(memory.block)) {
            memory.subject = None;
        }
        memory.block = place.block;
    }
    if context.document.blocks[place.block].disclosure {
        return decided;
    }
    let text = context.document.text;
    let sentence = Sentence::new(text, tokens, place.span);
    let mut named = named(context, &sentence);
    former::resolve(context, &sentence, &mut named, memory.two);
    // The digits of a name are no number: "9.4" of "DuskDB 9.4".
    let mut free = vec![true; tokens.len()];
    for mention in named.iter().flat_map(|(_, n)| n.rows.iter().chain(&n.columns)) {
        free[mention.start..mention.end].fill(false);
    }
    let statements = statement::all(text, tokens, &free);
    let amounts = statement::amounts(text, tokens, &statements, &free);
    let scene =
        Scene { context, index, sentence, statements, amounts, named, before: memory.subject };
    let mut bound: Vec<Option<Bound2>> = vec![None; scene.statements.len()];
    let mut used: BTreeSet<usize> = BTreeSet::new();
    for k in 0..scene.statements.len() {
        let statement = scene.statements[k];
        let found = prose::judge(&scene, k, &mut used).or_else(|| {
            let (claim, pair) = compare::judge(&scene, k, &bound)?;
            bound[k] = pair;
            Some(claim)
        });
        if let Some(claim) = found {
            decided.taken.push(statement.at..statement.end);
            decided.claims.push(settled(&scene, statement.at, claim));
        }
    }
    let amounts = scene.amounts.clone();
    for k in 0..amounts.len().saturating_sub(1) {
        if !used.contains(&amounts[k].0)
            && let Some(claim) = change::from_to(&scene, &amounts, k)
        {
            used.extend([amounts[k].0, amounts[k + 1].0]);
            decided.claims.push(settled(&scene, amounts[k].0, claim));
        }
    }
    for (k, (at, end, amount)) in amounts.iter().enumerate() {
        if used.contains(at) {
            decided.taken.push(*at..*end);
            continue;
        }
        if let Some(claim) = value::judge(&scene, &amounts, k, amount) {
            decided.taken.push(*at..*end);
            decided.claims.push(settled(&scene, *at, claim));
        }
    }
    for (at, claim) in rank::judge(&scene, &decided.taken) {
        decided.taken.push(at..at + 1);
        decided.claims.push(settled(&scene, at, claim));
    }
    for (at, claim) in count::judge(&scene) {
        decided.taken.push(at..at + 1);
        decided.claims.push(settled(&scene, at, claim));
    }
    memory.subject = subject(&scene, &bound).or(memory.subject);
    memory.two = former::two(&scene.named).or(memory.two);
    decided
}

/// What is stated under a condition or by others has no verdict of its own.
fn settled(scene: &Scene<'_>, at: usize, mut claim: Claim) -> Claim {
    if let Some(why) = scene.open(at)
        && claim.verdict != ClaimVerdict::Unsupported
    {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{why}; {}", claim.reason);
    }
    claim
}

/// What "it" means in the next sentence: the subject of this one's first claim, else its first name.
fn subject(scene: &Scene<'_>, bound: &[Option<Bound2>]) -> Option<Subject> {
    let first = |named: &Named, side: Side| {
        named.side(side).iter().find(|m| m.whole).and_then(super::name::Mention::only)
    };
    if let Some(pair) = bound.iter().flatten().next() {
        return Some(Subject { grid: pair.grid, side: pair.side, who: pair.subject });
    }
    let (grid, named) = scene.named.first()?;
    let side = if first(named, Side::Rows).is_some() { Side::Rows } else { Side::Columns };
    Some(Subject { grid: *grid, side, who: first(named, side)? })
}
