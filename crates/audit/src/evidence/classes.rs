//! What a text calls the rows or columns of a table: a word that stands behind several of its names ("static routes",
//! "wildcard routes") is their class and names nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::bind::{Sentence, Side};
use super::name::is_plain;
use super::scene::named;
use crate::bind::context::Context;

/// Words that stand behind names: on which axis, and which those are.
type Behind = BTreeMap<String, BTreeSet<(bool, Vec<usize>)>>;

/// The classes of each table's names.
pub(crate) fn classes(context: &Context<'_>) -> Vec<BTreeSet<String>> {
    let mut behind: Vec<Behind> = vec![Behind::new(); context.grids.len()];
    for (place, tokens) in context.document.sentences.iter().zip(&context.reading.tokens) {
        if tokens.len() > crate::detect::MAX_TOKENS {
            continue;
        }
        let sentence = Sentence::new(context.document.text, tokens, place.span);
        for (g, named) in named(context, &sentence) {
            for side in [Side::Rows, Side::Columns] {
                for mention in named.side(side) {
                    let Some(words) = sentence.pieces.get(mention.end) else { continue };
                    for word in words.iter().filter(|w| !is_plain(w) && w.len() > 2) {
                        let known = behind[g].entry(word.clone()).or_default();
                        known.insert((side == Side::Rows, mention.who.clone()));
                    }
                }
            }
        }
    }
    let several = |(word, of): (String, BTreeSet<_>)| (of.len() > 1).then_some(word);
    behind.into_iter().map(|of| of.into_iter().filter_map(several).collect()).collect()
}
