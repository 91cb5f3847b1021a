//! Weighs the readings of a claim, looks at which of them agree with its number, and says what follows.

use std::ops::Range;

use super::beside::{self, Window};
use super::book::{Book, Last, Place};
use super::choice::{Choice, Named, has_same_values, values};
use super::model::{COUNT, F, SPOKEN, WEIGHTS, extra};
use super::phrase::PHRASES;
use super::reading::{Fit, Reading, is_bound};
use super::say::{Say, What};
use super::verdict::{claim, claimed, kind};
use super::words::is_part;
use super::{doubt, trust};
use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::judge::reading::Bound;
use crate::read::document::BlockKind;
use crate::read::source::Span;

use super::fit::fit;

/// The least probability of *holds* and of *wrong* that is said.
const HOLDS: f64 = 0.7;
const WRONG: f64 = 0.87;
/// The least probability of *holds* at which a verdict stays that the judges of names gave: on the same values, and on
/// others.
pub(crate) const KEEP: f64 = 0.3;
pub(crate) const KEEP_OTHER: f64 = 0.5;
/// Where they know the parts of which a system is made, which are not looked at here.
pub(crate) const KEEP_PARTS: f64 = 0.01;
/// And of *wrong*, on the same values.
pub(crate) const KEEP_WRONG: f64 = 0.7;

/// How likely, as a multiple of its own probability, its two values may be the other way round.
const TURNED: f64 = 1.5;

/// Which kind of claim something said is, of those that have weights of their own.
pub(crate) fn group(what: What) -> usize {
    match what {
        What::Value(_) => 1,
        What::Most(_) => 2,
        What::Two(..) => 3,
        _ => 0,
    }
}

/// The weight of a feature for a kind of claim: what all kinds share, and its own.
fn weight(weights: &[f64], what: What, i: usize) -> f64 {
    weights[i] + weights[COUNT * (group(what) + 1) + i]
}

/// The weight of a feature of phrases for a kind of claim.
fn weight_of_phrase(weights: &[f64], what: What, i: usize) -> f64 {
    weights[SPOKEN + i] + weights[SPOKEN + PHRASES * (group(what) + 1) + i]
}

/// Turns features into probabilities.
fn weigh(readings: &mut [Reading], what: What, weights: &[f64]) {
    let both: Vec<f64> = (0..COUNT).map(|i| weight(weights, what, i)).collect();
    let phrases: Vec<f64> = (0..PHRASES).map(|i| weight_of_phrase(weights, what, i)).collect();
    for r in readings.iter_mut() {
        let mut all: f64 = r.features.iter().zip(&both).map(|(f, w)| f * w).sum();
        r.phrased.each(|i| all += phrases[i]);
        let near: f64 = MAGNITUDE.iter().map(|f| r.features[extra(*f)] * both[extra(*f)]).sum();
        r.score = (all, all - near);
    }
    spread(readings);
}

/// Adds what is known of what is said beside.
fn weigh_again(readings: &mut [Reading], what: What, weights: &[f64]) {
    let own = beside::FEATURES.map(|f| (extra(f), weight(weights, what, extra(f))));
    for r in readings.iter_mut() {
        let more: f64 = own.iter().map(|(i, w)| r.features[*i] * w).sum();
        r.score = (r.score.0 + more, r.score.1 + more);
    }
    spread(readings);
    pool(readings);
}

/// Turns scores into probabilities.
fn spread(readings: &mut [Reading]) {
    let most = |of: fn(&(f64, f64)) -> f64| {
        let top = readings.iter().map(|r| of(&r.score)).fold(f64::NEG_INFINITY, f64::max);
        (top, readings.iter().map(|r| (of(&r.score) - top).exp()).sum::<f64>())
    };
    let ((top, sum), (top_blind, sum_blind)) = (most(|s| s.0), most(|s| s.1));
    for r in readings.iter_mut() {
        r.prior = (r.score.0 - top).exp() / sum;
        r.blind = (r.score.1 - top_blind).exp() / sum_blind;
    }
}

/// Adds up readings of the same values, which are one claim's evidence. What is unlikely adds nothing.
fn pool(readings: &mut [Reading]) {
    let likely: Vec<usize> = (0..readings.len()).filter(|i| readings[*i].prior > 1e-3).collect();
    let same = |x: &Reading, y: &Reading| x.rank == y.rank && has_same_values(x, y);
    let pooled: Vec<f64> = likely
        .iter()
        .map(|i| {
            let own = &readings[*i];
            let others = likely.iter().map(|j| &readings[*j]).filter(|r| same(own, r));
            others.map(|r| r.prior).sum()
        })
        .collect();
    for r in readings.iter_mut() {
        r.pooled = r.prior;
    }
    for (i, pooled) in likely.into_iter().zip(pooled) {
        readings[i].pooled = pooled;
    }
}

/// What tells how far a reading's value is from the claimed one.
const MAGNITUDE: [F; 3] = [F::MagnitudeNear, F::MagnitudeFar, F::MagnitudeNone];

/// Weighs all that a text says, one after the other, and once more when what is said beside it is known; what was taken
/// is not kept.
pub(crate) fn each(
    book: &Book<'_>,
    weights: &[f64],
    claims: &[Claim],
    mut take: impl FnMut(&Choice),
) {
    let mut last = Last::default();
    let mut window = Window::default();
    let mut again = |mut choice: Choice| {
        let what = book.says[choice.sentence][choice.say].what;
        weigh_again(&mut choice.readings, what, weights);
        take(&choice);
    };
    let blocks = &book.context.document.blocks;
    let mut section = 0;
    for sentence in 0..book.says.len() {
        let block = book.context.document.sentences[sentence].block;
        if blocks[block].disclosure {
            continue;
        }
        if blocks[block].kind == BlockKind::Heading && block != section {
            section = block;
        }
        if last.block != block && blocks[block].kind != BlockKind::Item {
            last.places.clear();
            last.ratio = None;
            last.block = block;
        }
        if book.says[sentence].is_empty() {
            continue;
        }
        let scene = book.scene(sentence);
        for k in 0..book.says[sentence].len() {
            let mut readings = book.readings(&scene, k, &last);
            if readings.is_empty() {
                continue;
            }
            let say = &book.says[sentence][k];
            weigh(&mut readings, say.what, weights);
            let fits: Vec<Fit> = readings.iter().map(|r| fit(say, r).1).collect();
            let best = readings
                .iter()
                .zip(&fits)
                .map(|(r, f)| {
                    r.prior
                        * match f {
                            Fit::Yes => 1.0,
                            Fit::Loose => 0.3,
                            Fit::No => 0.05,
                        }
                })
                .enumerate()
                .max_by(|x, y| x.1.total_cmp(&y.1))
                .map_or(0, |(i, _)| i);
            let r = &readings[best];
            let sure = fits[best] == Fit::Yes || r.prior > 0.5;
            if sure {
                last.names = r.names;
                last.ratio = r.ratio.or(last.ratio);
                last.grid = r
                    .places
                    .iter()
                    .find_map(|p| if let Place::Cell { grid, .. } = p { Some(*grid) } else { None })
                    .or(last.grid);
                if r.places.len() == 2 {
                    last.places.clone_from(&r.places);
                    last.difference = matches!(say.what, What::Delta(_));
                }
            }
            let of_it = |c: &&Claim| {
                c.claimed == claimed(say) && is_inside(book.context, sentence, &say.own, c)
            };
            let named = claims.iter().filter(of_it).map(Named::of).collect();
            window.push(Choice { sentence, say: k, readings, fits, named }).map(&mut again);
        }
    }
    while let Some(choice) = window.pop() {
        again(choice);
    }
}

/// Whether tokens of a sentence stand within a claim.
pub(super) fn is_inside(
    context: &Context<'_>,
    sentence: usize,
    own: &Range<usize>,
    claim: &Claim,
) -> bool {
    let tokens = &context.reading.tokens[sentence];
    let (from, to) = (tokens[own.start].span.start, tokens[own.end - 1].span.end);
    claim.span.start <= from && to <= claim.span.end + 1
}

/// What was found of something said.
pub(crate) struct Judged {
    pub sentence: usize,
    pub kind: ClaimKind,
    pub own: Range<usize>,
    /// The number that it states.
    pub claimed: Option<f64>,
    /// Probabilities.
    pub holds: f64,
    pub wrong: f64,
    /// The values of the reading that agrees, as printed.
    pub inputs: Vec<f64>,
    /// Those of the reading that *wrong* would rest on.
    pub against: Vec<f64>,
    /// If it is decided.
    pub claim: Option<Claim>,
    /// Its own words.
    pub span: Span,
    /// It compares or ranks.
    pub compares: bool,
    /// It is two values, one in the place of the other.
    pub two: bool,
    /// It is stated as the most or the least.
    pub is_bound: bool,
}

/// Judges all that a text says.
pub(crate) fn judge(book: &Book<'_>, claims: &[Claim]) -> Vec<Judged> {
    let mut all: Vec<Judged> = Vec::new();
    each(book, &WEIGHTS, claims, |choice| all.push(decide(book, choice)));
    // Two values that stand for each other are one claim: that one of them is right says little.
    for own in all.chunk_by_mut(|a, b| a.sentence == b.sentence) {
        let pairs: Vec<_> = own.iter().filter(|j| j.two).map(|j| j.own.clone()).collect();
        let part = |j: &Judged| {
            pairs.iter().any(|pair| pair.start <= j.own.start && j.own.end <= pair.end)
        };
        for j in own.iter_mut().filter(|j| j.kind == ClaimKind::Restatement && !j.two) {
            if part(j) {
                j.claim = None;
            }
        }
    }
    all
}

/// The reading that a verdict of holds rests on, and the one of wrong; with none that agrees the former is `None`.
pub(crate) fn rests(book: &Book<'_>, choice: &Choice) -> (Option<usize>, Option<usize>) {
    let best = |f: &dyn Fn(Fit) -> bool| {
        (0..choice.readings.len())
            .filter(|i| f(choice.fits[*i]))
            .max_by(|x, y| choice.readings[*x].prior.total_cmp(&choice.readings[*y].prior))
    };
    let say = &book.says[choice.sentence][choice.say];
    let exact = !matches!(say.bound, Bound::About | Bound::Nearly);
    let top = best(&|_| true).filter(|i| choice.fits[*i] == Fit::No && exact);
    // The number is right and the direction is not.
    let turned = top.and_then(|t| {
        (0..choice.readings.len())
            .filter(|i| {
                choice.fits[*i] == Fit::No
                    && choice.readings[*i].prior > 0.3 * choice.readings[t].prior
                    && super::fit::reversed(say, &choice.readings[*i])
            })
            .max_by(|x, y| choice.readings[*x].prior.total_cmp(&choice.readings[*y].prior))
    });
    (best(&|f| f == Fit::Yes), turned.or(top))
}

fn decide(book: &Book<'_>, choice: &Choice) -> Judged {
    let say = &book.says[choice.sentence][choice.say];
    let (yes, no) = rests(book, choice);
    let of = |i: Option<usize>, weights| {
        i.map_or(0.0, |i| trust::probability(&trust::known(book, choice, i), weights))
    };
    let (holds, wrong) = (of(yes, &trust::HOLDS), of(no, &trust::WRONG));
    let inputs = yes.map_or(Vec::new(), |i| values(&choice.readings[i]));
    let against = no.map_or(Vec::new(), |i| values(&choice.readings[i]));
    let each = |i: usize| doubt::by_each(book, choice, &choice.readings[i]);
    let mixed = doubt::points_both_ways(book, choice);
    let open = |i: usize| {
        let r = &choice.readings[i];
        let prose = r.features[extra(F::Prose)] > 0.0;
        // The same two agree in another column.
        let elsewhere = choice.readings.iter().zip(&choice.fits).any(|(o, fit)| {
            *fit == Fit::Yes
                && o.prior > 0.02
                && !r.names[0].is_nothing()
                && !r.names[1].is_nothing()
                && o.names[..2] == r.names[..2]
        });
        each(i)
            || elsewhere
            || r.features[extra(F::MagnitudeNone)] > 0.0
            || prose && r.features[extra(F::ProseBefore)] == 0.0
            || mixed && super::fit::reversed(say, r)
    };
    let wrong = if no.is_some_and(open) { 0.0 } else { wrong };
    let claim = match (yes, no) {
        (Some(i), _) if holds >= HOLDS && surest(choice, say, i) => {
            Some(claim(book, choice, say, &choice.readings[i], ClaimVerdict::Holds))
        }
        (_, Some(i))
            if wrong >= WRONG && !doubt::of_something_else(book, choice, &choice.readings[i]) =>
        {
            Some(claim(book, choice, say, &choice.readings[i], ClaimVerdict::Wrong))
        }
        _ => None,
    };
    let claim = claim.filter(|c| {
        c.kind != ClaimKind::Restatement
            || !yes.or(no).is_some_and(|i| of_part(book, &choice.readings[i]))
    });
    let tokens = &book.context.reading.tokens[choice.sentence];
    let (from, to) = (say.from.min(say.own.start), say.clause.end.max(say.own.end));
    let span = Span::new(tokens[from].span.start, tokens[to - 1].span.end);
    let compares = !matches!(say.what, What::Value(_) | What::Two(..) | What::Beats | What::Same);
    Judged {
        sentence: choice.sentence,
        kind: kind(say.what),
        own: say.own.clone(),
        claimed: claimed(say),
        holds,
        wrong,
        inputs,
        against,
        claim,
        span,
        compares,
        two: matches!(say.what, What::Two(..)),
        is_bound: is_bound(say.bound),
    }
}

/// Whether the same two values are not likelier the other way round, where the words point.
fn surest(choice: &Choice, say: &Say, at: usize) -> bool {
    let points = say.way.is_some() && say.what != What::Beats;
    let own = choice.readings[at].prior;
    !(points && doubt::turned(choice, &choice.readings[at]) > TURNED * own)
}

/// Whether a value is of a column that says what a row is made of: chips, cores, GHz.
fn of_part(book: &Book<'_>, r: &Reading) -> bool {
    matches!(r.places.as_slice(), [Place::Cell { grid, at }]
        if is_part(&book.grids[*grid].columns.names[at.column].text))
}
