//! How far a verdict can be trusted: what is known of the reading that it rests on, and of its rivals.

use super::book::Book;
use super::choice::{Choice, Named, values};
use super::doubt;
use super::model::{self, F};
use super::reading::Fit;
use super::say::What;
use super::words::Zone;
use crate::claim::ClaimVerdict;
use crate::judge::reading::Bound;

macro_rules! known {
    ($($name:ident),* $(,)?) => {
        /// What is known of a verdict.
        #[derive(Debug, Clone, Copy)]
        pub(crate) enum K { $($name),* }
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

known! {
    Always, Prior, Agree, Near, Alone, Rival, Chance, Digits, IsPercent, IsTimes, IsDelta, IsValue, IsMost, IsBeats, Exact, About, Limit,
    SubjectClause, SubjectSentence, SubjectElsewhere, SubjectNowhere, SubjectPart, BaselineThan, BaselineClause, BaselineElsewhere, BaselineNowhere,
    BaselinePart, FieldClause, FieldSentence, FieldElsewhere, FieldNowhere, FieldPart, FieldOnly, MetricYes, MetricNo, Prose, ProseSame, ProseFar,
    UnknownClause, UnknownSentence, Condition, PrintedA, PrintedB, PrintedOther, Statistic, BetterUnknown, PercentCells, PlainCells, TableNear,
    TableSame, TableFar, TableAfter, Says, Direction, NoWay, LastPair, OldNew, Tie, UnitDiffers, Negated, Fraction, Turned, ValueSame, ValueOther, Derived, ProseCell, IsTwo, Stated, Misnamed, TurnedTwo, OtherName, Guessed, Contrary, Reversed, MagnitudeNear, MagnitudeNone, PerUnknown, Blind, BlindRival, AgeDiffers, Pooled, PooledAlone, PooledRival, Around, Newer, Scoped, IsSame, BesideFieldBefore, BesideFieldAfter, BesideField, BesideBaseline, BesideSubjectNear, BesideSubject, Top, NamedHolds, NamedHoldsOther, NamedWrong, NamedWrongOther, NamedOpen,
}

/// How many there are.
pub(crate) const KNOWN: usize = NAMES.len();

/// The name of what is known, for those who learn.
pub(crate) fn name(i: usize) -> &'static str {
    NAMES[i]
}

/// Weights by what is known, for a verdict of holds and of wrong.
pub(crate) const HOLDS: [f64; KNOWN] = model::fixed(&include!("holds.in"));
pub(crate) const WRONG: [f64; KNOWN] = model::fixed(&include!("wrong.in"));

/// Probability by weights.
pub(crate) fn probability(known: &[f64; KNOWN], weights: &[f64; KNOWN]) -> f64 {
    let score: f64 = known.iter().zip(weights).map(|(k, w)| k * w).sum();
    1.0 / (1.0 + (-score).exp())
}

/// Whether a zone's match of a slot is its first one.
fn zone(f: &[f64; model::COUNT], slot: usize, zone: usize) -> f64 {
    if f[model::slot(slot, zone, 0)] > 0.0 {
        1.0
    } else if f[model::slot(slot, zone, 1)] > 0.0 {
        0.5
    } else {
        0.0
    }
}

fn part(f: &[f64; model::COUNT], slot: usize) -> f64 {
    (0..5).map(|z| f[model::slot(slot, z, 2)]).fold(0.0, f64::max)
}

/// What is known of a verdict that rests on a reading.
pub(crate) fn known(book: &Book<'_>, choice: &Choice, at: usize) -> [f64; KNOWN] {
    let say = &book.says[choice.sentence][choice.say];
    let r = &choice.readings[at];
    let f = &r.features;
    let mut k = [0.0; KNOWN];
    let mut set = |key: K, v: f64| k[key as usize] = v;
    let mass = |wanted: &dyn Fn(Fit) -> bool| -> f64 {
        choice
            .readings
            .iter()
            .zip(&choice.fits)
            .filter(|(_, f)| wanted(**f))
            .map(|(r, _)| r.prior)
            .sum()
    };
    let agree = mass(&|f| f == Fit::Yes);
    let near = mass(&|f| f != Fit::No);
    let top = choice.readings.iter().map(|r| r.prior).fold(0.0, f64::max);
    let count =
        choice.fits.iter().filter(|f| **f == Fit::Yes).count() as f64 / choice.fits.len() as f64;
    let ln = |v: f64| (v + 1e-3).ln();
    set(K::Always, 1.0);
    set(K::Top, top);
    set(K::Prior, ln(r.prior));
    set(K::Agree, ln(agree));
    set(K::Near, ln(near));
    set(K::Alone, ln(r.prior / agree.max(1e-9)).clamp(-7.0, 1.0));
    set(K::Rival, ln(r.prior / top.max(1e-9)));
    let blind = choice.readings.iter().map(|r| r.blind).fold(0.0, f64::max);
    set(K::Blind, ln(r.blind));
    set(K::BlindRival, ln(r.blind / blind.max(1e-9)));
    let most = choice.readings.iter().map(|r| r.pooled).fold(0.0, f64::max);
    set(K::Pooled, ln(r.pooled));
    set(K::PooledAlone, ln(r.pooled / agree.max(1e-9)).clamp(-7.0, 1.0));
    set(K::PooledRival, ln(r.pooled / most.max(1e-9)));
    // What would nearly agree, as much else could by chance.
    let around =
        choice.readings.iter().zip(&choice.fits).filter(|(r, fit)| {
            **fit == Fit::No && r.features[model::extra(F::MagnitudeNear)] > 0.0
        });
    set(K::Around, ln(around.map(|(r, _)| r.prior).sum()));
    set(K::Chance, ln(count));
    let digits = (say.value.abs() / say.step.max(1e-12)).max(1.0).log10().min(4.0);
    set(K::Digits, digits);
    match say.what {
        What::Percent => set(K::IsPercent, 1.0),
        What::Times | What::Orders => set(K::IsTimes, 1.0),
        What::Delta(_) => set(K::IsDelta, 1.0),
        What::Value(_) => set(K::IsValue, 1.0),
        What::Two(..) => set(K::IsTwo, 1.0),
        What::Most(_) => set(K::IsMost, 1.0),
        What::Beats => set(K::IsBeats, 1.0),
        What::Same => set(K::IsSame, 1.0),
    }
    set(
        match say.bound {
            Bound::Exact => K::Exact,
            Bound::About | Bound::Nearly => K::About,
            _ => K::Limit,
        },
        1.0,
    );
    // Zones: 0 than, 1 clause, 2 sentence, 3 previous, 4 around.
    set(K::SubjectClause, zone(f, 0, 1));
    set(K::SubjectSentence, zone(f, 0, 2));
    set(K::SubjectElsewhere, zone(f, 0, 3).max(zone(f, 0, 4)));
    set(K::SubjectNowhere, f[model::nowhere(0)]);
    set(K::SubjectPart, part(f, 0));
    set(K::BaselineThan, zone(f, 1, 0));
    set(K::BaselineClause, zone(f, 1, 1));
    set(K::BaselineElsewhere, zone(f, 1, 2).max(zone(f, 1, 3)).max(zone(f, 1, 4)));
    set(K::BaselineNowhere, f[model::nowhere(1)]);
    set(K::BaselinePart, part(f, 1));
    set(K::FieldClause, zone(f, 2, 1).max(zone(f, 2, 0)));
    set(K::FieldSentence, zone(f, 2, 2));
    set(K::FieldElsewhere, zone(f, 2, 3).max(zone(f, 2, 4)));
    set(K::FieldNowhere, f[model::nowhere(2)]);
    set(K::FieldPart, part(f, 2));
    let e = |x: F| f[model::extra(x)];
    for (key, x) in [
        (K::FieldOnly, F::SharedOnly),
        (K::Prose, F::Prose),
        (K::ProseSame, F::ProseSame),
        (K::ProseFar, F::ProseFar),
        (K::PrintedA, F::PrintedA),
        (K::PrintedB, F::PrintedB),
        (K::PrintedOther, F::PrintedOther),
        (K::BetterUnknown, F::BetterUnknown),
        (K::PercentCells, F::PercentCells),
        (K::PlainCells, F::PlainCells),
        (K::TableNear, F::TableNear),
        (K::TableSame, F::TableSame),
        (K::TableFar, F::TableFar),
        (K::TableAfter, F::TableAfter),
        (K::LastPair, F::LastPair),
        (K::OldNew, F::OldNew),
        (K::BesideFieldBefore, F::BesideFieldBefore),
        (K::BesideFieldAfter, F::BesideFieldAfter),
        (K::BesideField, F::BesideField),
        (K::BesideBaseline, F::BesideBaseline),
        (K::BesideSubjectNear, F::BesideSubjectNear),
        (K::BesideSubject, F::BesideSubject),
    ] {
        set(key, e(x));
    }
    set(K::Newer, e(F::Newer) + e(F::NewerNamed));
    set(K::MetricYes, e(F::MetricYes) + e(F::SpeedYes));
    set(K::MetricNo, e(F::MetricNo) + e(F::SpeedNo));
    set(K::Statistic, e(F::Statistic) + 2.0 * e(F::StatisticUnnamed));
    let (clause, sentence, condition) = doubt::unknown(book, choice, r);
    set(K::UnknownClause, f64::from(clause.min(5)));
    set(K::UnknownSentence, f64::from(sentence.min(8)) / 2.0);
    set(K::Condition, f64::from(condition.min(3)));
    set(K::Says, (book.says[choice.sentence].len() as f64).min(6.0) / 3.0);
    set(K::NoWay, f64::from(u8::from(say.way.is_none() && say.what.is_pair())));
    set(K::Direction, f64::from(u8::from(doubt::direction(say, r))));
    let twins = choice
        .readings
        .iter()
        .enumerate()
        .filter(|(i, o)| *i != at && o.places != r.places && o.prior > 0.5 * r.prior)
        .count();
    set(K::Tie, (twins as f64).min(4.0));
    set(K::Derived, f64::from(u8::from(r.derived.is_some())));
    set(K::ProseCell, e(F::ProseCell));
    let own = values(r);
    let flag = |b: bool| f64::from(u8::from(b));
    set(K::Stated, flag(doubt::stated_otherwise(book, choice, r)));
    set(K::Misnamed, flag(doubt::misnamed(book, choice, r)));
    set(K::TurnedTwo, flag(book.says[choice.sentence].iter().any(super::fit::is_turned)));
    let is_named = |slot: usize| (0..3).any(|z| f[model::slot(slot, z, 2)] > 0.0);
    let other = f[model::slot(0, Zone::Clause as usize, 3)] > 0.0;
    set(K::OtherName, flag(other && r.derived.is_none()));
    let unnamed = r.places.len() == 2 && e(F::Prose) == 0.0 && !is_named(0) && !is_named(1);
    let ordered = [F::OldNew, F::FirstIsB, F::Adjacent].into_iter().any(|x| e(x) > 0.0);
    set(K::Reversed, flag(choice.fits[at] == Fit::No && super::fit::reversed(say, r)));
    set(K::MagnitudeNear, e(F::MagnitudeNear));
    set(K::MagnitudeNone, e(F::MagnitudeNone));
    set(K::PerUnknown, flag(doubt::by_each(book, choice, r)));
    set(K::Guessed, flag(unnamed && !ordered));
    set(K::Contrary, flag(r.b.is_some() && e(F::PrintedOther) > 0.0 && e(F::PrintedA) == 0.0));
    let turned = doubt::turned(choice, r);
    set(
        K::Turned,
        if r.places.len() == 2 {
            ((r.prior + 1e-4) / (turned + 1e-4)).ln().clamp(-3.0, 3.0)
        } else {
            0.0
        },
    );
    match doubt::beside(book, choice, r) {
        Some(true) => set(K::ValueSame, 1.0),
        Some(false) => set(K::ValueOther, 1.0),
        None => {}
    }
    if let What::Value(v) = say.what {
        set(K::UnitDiffers, f64::from(u8::from(v.dimension() != r.a.dimension())));
    }
    let tokens = &book.context.reading.tokens[choice.sentence];
    let no = tokens[say.clause.clone()].iter().any(|t| {
        matches!(t.lower.as_str(), "not" | "never" | "no" | "without" | "nor" | "neither" | "n't")
    });
    set(K::Scoped, flag(r.rank.is_some() && doubt::scoped(tokens, say)));
    set(K::AgeDiffers, flag(doubt::age_differs(book, choice, r)));
    let named = |verdict: ClaimVerdict, same: Option<bool>| {
        let of = |n: &&Named| n.verdict == verdict && same.is_none_or(|s| n.rests_on(&own) == s);
        flag(choice.named.iter().any(|n| of(&n)))
    };
    set(K::NamedHolds, named(ClaimVerdict::Holds, Some(true)));
    set(K::NamedHoldsOther, named(ClaimVerdict::Holds, Some(false)));
    set(K::NamedWrong, named(ClaimVerdict::Wrong, Some(true)));
    set(K::NamedWrongOther, named(ClaimVerdict::Wrong, Some(false)));
    set(K::NamedOpen, named(ClaimVerdict::Ambiguous, None));
    set(K::Negated, f64::from(u8::from(no)));
    set(
        K::Fraction,
        f64::from(u8::from(tokens[say.own.start].is_word() || say.step >= 0.15 * say.value)),
    );
    k
}
