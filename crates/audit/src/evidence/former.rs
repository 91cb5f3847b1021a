//! "The former" and "the latter": the two names of the sentence before, or the two rows of a table.

use super::bind::{Named, Sentence, Side};
use super::name::Mention;
use super::sides;
use crate::bind::context::Context;

/// Two names on an axis of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Two {
    grid: usize,
    side: Side,
    names: (usize, usize),
}

/// The two names of a sentence, if it has just two on an axis.
pub(crate) fn two(named: &[(usize, Named)]) -> Option<Two> {
    named.iter().find_map(|(grid, named)| {
        [Side::Rows, Side::Columns].into_iter().find_map(|side| {
            let mut all: Vec<usize> = Vec::new();
            for who in named.side(side).iter().filter_map(Mention::only) {
                if !all.contains(&who) {
                    all.push(who);
                }
            }
            let [a, b] = all[..] else { return None };
            Some(Two { grid: *grid, side, names: (a, b) })
        })
    })
}

/// Adds what "former" and "latter" are to the names of a sentence.
pub(crate) fn resolve(
    context: &Context<'_>,
    sentence: &Sentence<'_>,
    named: &mut Vec<(usize, Named)>,
    before: Option<Two>,
) {
    let places: Vec<usize> = (0..sentence.tokens.len())
        .filter(|i| matches!(sentence.lower(*i), "former" | "latter"))
        .collect();
    if places.is_empty() {
        return;
    }
    let at = sentence.span.start;
    let nearest = || {
        let all = context.grids.iter().enumerate();
        let (grid, names) = all
            .filter_map(|(g, grid)| Some((g, *sides::two(grid, Side::Rows).first()?)))
            .min_by_key(|(g, _)| context.grids[*g].start.abs_diff(at))?;
        Some(Two { grid, side: Side::Rows, names })
    };
    // Where the table has them in another order it is not sure which is the former.
    let ordered = before.is_none_or(|b| b.names.0 < b.names.1);
    let Some(two) = before.or_else(nearest) else { return };
    if !named.iter().any(|(g, _)| *g == two.grid) {
        named.insert(0, (two.grid, Named { rows: Vec::new(), columns: Vec::new() }));
    }
    let Some((_, own)) = named.iter_mut().find(|(g, _)| *g == two.grid) else { return };
    let mentions = match two.side {
        Side::Rows => &mut own.rows,
        Side::Columns => &mut own.columns,
    };
    for i in places {
        let who = if sentence.lower(i) == "former" { two.names.0 } else { two.names.1 };
        mentions.push(Mention {
            start: i,
            end: i + 1,
            who: vec![who],
            whole: true,
            slight: !ordered,
        });
    }
    mentions.sort_by_key(|m| m.start);
}
