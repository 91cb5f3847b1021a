//! A text as readings look it up: its tables, what it says, the amounts that its prose states.

use std::collections::BTreeSet;

use super::called::{Called, Names};
use super::facts::{Fact, Twin, facts, tells, told, twins};
use super::labels::Labels;
use super::say::Say;
use super::spoken::Spoken;
use super::words::{self, Bag};
use crate::bind::context::Context;
use crate::evidence::bind::Side;
use crate::evidence::grid::{At, Grid};
use crate::read::document::BlockKind;
use crate::read::table::{Table, side_by_side, together};
use crate::read::token::Token;

/// Where an amount stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Cell { grid: usize, at: At },
    Prose { sentence: usize, at: usize },
}

/// Which metric over which a claim was of: what follows may be of the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ratio {
    pub over: Called,
    pub per: Called,
}

/// What was chosen for the claim before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Last {
    pub names: [Called; 3],
    pub places: Vec<Place>,
    pub grid: Option<usize>,
    pub block: usize,
    /// It gave a difference of two values.
    pub difference: bool,
    /// It, or one before in its paragraph, was of so much for each.
    pub(super) ratio: Option<Ratio>,
}

/// Sentences of more say nothing.
const MAX_TOKENS: usize = 200;
/// Tables beyond so many are not read.
const MAX_TABLES: usize = 300;
/// Tables beyond the nearest are not looked at.
const MAX_GRIDS: usize = 7;
/// A text as readings look it up.
pub(crate) struct Book<'a> {
    pub context: &'a Context<'a>,
    /// Tables that were put together of several.
    merged: Vec<Table>,
    /// Of the last grids, which are several tables side by side, the table that each column is of.
    beside: Vec<Vec<usize>>,
    pub grids: Vec<Grid>,
    /// What is known of the names of the rows and of the columns of each table.
    pub labels: Vec<[Labels; 2]>,
    /// What rows and columns are called.
    pub names: Names,
    /// The words over each table that tell something.
    pub titles: Vec<Vec<String>>,
    /// What the tokens of each sentence say.
    pub spoken: Vec<Vec<Spoken>>,
    pub says: Vec<Vec<Say>>,
    pub facts: Vec<Fact>,
    pub twins: Vec<Twin>,
    /// The stems of each sentence.
    pub bags: Vec<Bag>,
}

impl<'a> Book<'a> {
    pub(crate) fn new(context: &'a Context<'a>) -> Book<'a> {
        let document = context.document;
        let tables = &document.tables[..document.tables.len().min(MAX_TABLES)];
        let (mut merged, parts): (Vec<Table>, Vec<Vec<usize>>) =
            together(document.text, tables).into_iter().unzip();
        let rows_of_several = merged.len();
        let columns_of_several = side_by_side(tables);
        merged.extend(columns_of_several.iter().map(|(t, _)| t.clone()));
        let part = |i: usize| parts.iter().flatten().any(|p| *p == i);
        let alone = tables.iter().enumerate().filter(|(i, _)| !part(*i));
        let of_several = (document.tables.len()..).zip(&merged);
        let grids: Vec<Grid> =
            alone.chain(of_several).filter_map(|(i, t)| Grid::read_wide(document, i, t)).collect();
        let first = document.tables.len() + rows_of_several;
        let beside = grids
            .iter()
            .filter_map(|g| Some(columns_of_several[g.table.checked_sub(first)?].1.clone()))
            .collect();
        let tokens = &context.reading.tokens;
        // "3.3" and "16 threads" may be names of rows.
        let mut named: BTreeSet<&String> = BTreeSet::new();
        for axis in grids.iter().flat_map(|g| [&g.rows, &g.columns]).filter(|a| a.names.len() <= 60)
        {
            let numbers = axis
                .names
                .iter()
                .flat_map(|n| &n.words)
                .filter(|w| w.bytes().any(|b| b.is_ascii_digit()));
            named.extend(numbers.filter(|w| words::weight(axis, w) > 0.0));
        }
        let spoken: Vec<Vec<Spoken>> =
            tokens.iter().map(|t| t.iter().take(MAX_TOKENS).map(Spoken::of).collect()).collect();
        let says: Vec<Vec<Say>> = tokens
            .iter()
            .map(|t| {
                if t.len() > MAX_TOKENS {
                    Vec::new()
                } else {
                    super::hear::all(document.text, t, &named)
                }
            })
            .collect();
        let facts = facts(tokens, &spoken, &says);
        let bags = tokens.iter().zip(&spoken).map(|(t, s)| words::bag(t, s)).collect();
        let mut twins = twins(&facts);
        // Beside tables one word alone tells little.
        twins.extend(told(&says, &facts, if grids.is_empty() { 1 } else { 2 }));
        let mut names = Names::new();
        let labels = grids
            .iter()
            .map(|g| [&g.rows, &g.columns].map(|axis| Labels::new(axis, &mut names)))
            .collect();
        let title = |g: &Grid| {
            let words: BTreeSet<&String> = g.context.iter().collect();
            words.into_iter().filter(|w| tells(w)).cloned().collect()
        };
        let titles = grids.iter().map(title).collect();
        Book {
            context,
            merged,
            beside,
            grids,
            labels,
            names,
            titles,
            spoken,
            says,
            facts,
            twins,
            bags,
        }
    }

    /// What a row or a column is called.
    pub(super) fn called(&self, grid: usize, side: Side, i: usize) -> Called {
        self.labels_of(grid, side).called[i]
    }

    /// What is known of the names of the rows or of the columns of a table.
    pub(super) fn labels_of(&self, grid: usize, side: Side) -> &Labels {
        &self.labels[grid][usize::from(side == Side::Columns)]
    }

    /// The table that each column of a grid is of, if it is several side by side.
    pub(super) fn parts(&self, grid: usize) -> Option<&Vec<usize>> {
        self.beside.get(grid.checked_sub(self.grids.len() - self.beside.len())?)
    }

    /// The table of a grid.
    pub(super) fn table(&self, grid: usize) -> &Table {
        let (own, at) = (&self.context.document.tables, self.grids[grid].table);
        own.get(at).unwrap_or_else(|| &self.merged[at - own.len()])
    }

    pub(super) fn tokens(&self, sentence: usize) -> &'a [Token] {
        &self.context.reading.tokens[sentence]
    }

    pub(super) fn block(&self, sentence: usize) -> usize {
        self.context.document.sentences[sentence].block
    }

    /// What stands before a sentence: the one right before it in its paragraph or list, and what is further up.
    pub(super) fn before(&self, sentence: usize) -> (Bag, Bag) {
        let blocks = &self.context.document.blocks;
        let block = self.block(sentence);
        let mut previous = Bag::new();
        let mut around = Bag::new();
        let mut near = true;
        let mut steps = 0;
        for s in (0..sentence).rev() {
            let b = self.block(s);
            let heading = blocks[b].kind == BlockKind::Heading;
            steps += 1;
            if heading || steps > 6 {
                if heading {
                    around.extend(self.bags[s].iter().map(|(k, v)| (k.clone(), *v)));
                }
                if heading || steps > 30 {
                    break;
                }
                continue;
            }
            let list = blocks[b].kind == BlockKind::Item && blocks[block].kind == BlockKind::Item;
            if near && (b == block || list || b + 1 == block) {
                previous = self.bags[s].clone();
                near = false;
            } else {
                around.extend(self.bags[s].iter().map(|(k, v)| (k.clone(), *v)));
            }
        }
        (previous, around)
    }

    /// The tables that a sentence may be about, the nearest first.
    pub(super) fn tables(&self, sentence: usize) -> Vec<usize> {
        let start = self.context.document.sentences[sentence].span.start;
        let mut all: Vec<(usize, usize)> = self
            .grids
            .iter()
            .enumerate()
            .filter(|(g, _)| self.parts(*g).is_none())
            .map(|(g, grid)| {
                let away = if grid.start <= start {
                    start - grid.start
                } else {
                    2 * (grid.start - start) + 200
                };
                (away, g)
            })
            .collect();
        all.sort_unstable();
        let mut near: Vec<usize> = all.iter().take(MAX_GRIDS).map(|(_, g)| *g).collect();
        // Tables further off whose names are spoken of.
        let bag = &self.bags[sentence];
        for (_, g) in all.iter().skip(MAX_GRIDS).take(60) {
            let grid = &self.grids[*g];
            let named = |axis: &crate::evidence::name::Axis| {
                axis.names.len() <= 60
                    && axis.names.iter().any(|n| {
                        let telling: Vec<&String> =
                            n.words.iter().filter(|w| words::weight(axis, w) >= 1.0).collect();
                        !telling.is_empty() && telling.iter().all(|w| bag.contains_key(w.as_str()))
                    })
            };
            if near.len() < MAX_GRIDS + 3 && (named(&grid.rows) || named(&grid.columns)) {
                near.push(*g);
            }
        }
        near.extend((0..self.grids.len()).filter(|g| self.parts(*g).is_some()).take(3));
        near
    }
}
