//! What the judges of one sentence look at: its words, its comparisons and amounts, and what it names in
//! the tables around it.

use std::collections::BTreeSet;

use super::amount::Amount;
use super::bind::{Named, Sentence, Side};
use super::grid::Grid;
use super::statement::Statement;
use super::voice;
use crate::bind::context::Context;
use crate::read::token::Token;

/// A row or column that was spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject {
    pub grid: usize,
    pub side: Side,
    pub who: usize,
}

/// All that judges of one sentence look at.
pub(crate) struct Scene<'a> {
    pub context: &'a Context<'a>,
    pub index: usize,
    pub sentence: Sentence<'a>,
    pub statements: Vec<Statement>,
    pub amounts: Vec<(usize, usize, Amount)>,
    /// The tables that it names something of, the nearest first.
    pub named: Vec<(usize, Named)>,
    pub before: Option<Subject>,
}

impl Scene<'_> {
    pub(crate) fn grid(&self, index: usize) -> &Grid {
        &self.context.grids[index]
    }

    /// What "it" is on an axis of a table: the subject of the sentence before, also where another table has its name.
    pub(crate) fn it(&self, g: usize, side: Side) -> Option<usize> {
        let before = self.before?;
        if before.grid == g {
            return (before.side == side).then_some(before.who);
        }
        let own = &self.grid(before.grid).axis(before.side).names[before.who].words;
        let names = &self.grid(g).axis(side).names;
        let mut same = (0..names.len()).filter(|n| names[*n].words == *own);
        same.next().filter(|_| same.next().is_none())
    }

    /// The tables that have what "it" is, the nearest first, where the sentence says so.
    pub(crate) fn of_it(&self) -> Vec<usize> {
        let says = |t: &Token| matches!(t.lower.as_str(), "it" | "its" | "they" | "their" | "this");
        let Some(before) = self.before else { return Vec::new() };
        let grids = &self.context.grids;
        if !self.sentence.tokens.iter().any(says) || grids.len() > 40 {
            return vec![before.grid];
        }
        let at = self.sentence.span.start;
        let has = |g: &usize| [Side::Rows, Side::Columns].iter().any(|s| self.it(*g, *s).is_some());
        let mut all: Vec<usize> = (0..grids.len()).filter(has).collect();
        all.sort_by_key(|g| (*g != before.grid, grids[*g].start.abs_diff(at)));
        all
    }

    /// Where the part of the sentence begins that a token stands in.
    pub(crate) fn part(&self, at: usize) -> usize {
        let starts = |i: usize| {
            self.named.iter().any(|(_, n)| n.rows.iter().chain(&n.columns).any(|m| m.start == i))
        };
        self.sentence.part(at, starts)
    }

    /// Where the claim after the one at `at` begins.
    pub(crate) fn next(&self, at: usize) -> usize {
        self.statements.iter().map(|s| s.at).find(|a| *a > at).unwrap_or(self.sentence.tokens.len())
    }

    /// Why the words at a token state nothing of the printed results, if so.
    pub(crate) fn open(&self, at: usize) -> Option<&'static str> {
        voice::open(line_before(self), self.sentence.tokens, at)
    }
}

/// What stands before the sentence in its line.
fn line_before<'a>(scene: &'a Scene<'_>) -> &'a str {
    let start = scene.sentence.span.start;
    let text = scene.sentence.text;
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    &text[line..start]
}

/// The tables that a sentence names something of, the nearest before it first.
pub(crate) fn named(context: &Context<'_>, sentence: &Sentence<'_>) -> Vec<(usize, Named)> {
    let mut which: BTreeSet<usize> = BTreeSet::new();
    for word in sentence.pieces.iter().flatten() {
        if let Some(grids) = context.naming.get(word) {
            which.extend(grids.iter().copied());
        }
    }
    let at = sentence.span.start;
    // "On the laptop" picks the table under that heading.
    let matching = |g: usize| {
        let own: BTreeSet<&String> = context.grids[g].context.iter().collect();
        let known = |w: &&String| w.len() > 2 && !super::name::is_plain(w) && own.contains(w);
        sentence.pieces.iter().flatten().filter(known).count()
    };
    let mut found: Vec<(usize, usize, Named)> = which
        .into_iter()
        .map(|g| (g, Named::read(&context.grids[g], sentence)))
        .filter(|(_, named)| !named.is_empty())
        .map(|(g, named)| {
            let start = context.grids[g].start;
            // A table that follows is as good as one twice as far before.
            (g, if start <= at { at - start } else { 2 * (start - at) }, named)
        })
        .collect();
    found.sort_by_key(|(g, distance, _)| (std::cmp::Reverse(matching(*g)), *distance, *g));
    found.into_iter().take(12).map(|(g, _, named)| (g, named)).collect()
}
