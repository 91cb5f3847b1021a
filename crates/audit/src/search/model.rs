//! What tells one reading of a claim from another, and how much each of it weighs.

use super::phrase::{self, PHRASES, SLOTS};

macro_rules! features {
    ($($name:ident),* $(,)?) => {
        /// What is known of a reading beside the match of its names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(clippy::upper_case_acronyms)]
        pub(crate) enum F { $($name),* }
        const EXTRA: &[&str] = &[$(stringify!($name)),*];
    };
}

features! {
    Columns, MetricYes, MetricNo, SpeedYes, SpeedNo, Two, LaterNamed, Adjacent, FirstIsA, LastIsA, FirstIsB, LastIsB, OldNew, NewOld, OldNewNamed,
    PrintedA, PrintedB, PrintedOther, TableNear, TableAfter, TableSame, TableFar, TableRank, TableWords, TableSection, TableLast, TableNext,
    LastA, LastAOther, LastAIt, LastB, LastBOther, LastShared, LastSharedOther, LastPair, LastPairThat, LastSwapped, ChainB, ChainBAgain,
    Statistic, StatisticUnnamed, Summary, Against, Hardware, HardwareUnnamed, BetterUnknown, PercentCells, PlainCells, OrderAB, OrderBA, FromBToA, FromAToB,
    SharedOnly, FieldFirst, FieldLast,
    Prose, ProseSame, ProseBefore, ProseTogether, ProseApart, ProseNext, ProseOrder, ProseFromTo, ProseFromB, ProseFromA, ProseWords, ProseInstead, ProseFar,
    ProseNow, ProseThan, ProseClause, ProseNoun,
    ValueUnit, ValuePlain, ValueNoun, MostUnit, MostPrinted, MostColumns, SubjectNearest, BaselineNearest, FieldNearest,
    ColumnsUneven, ColumnsUnits, MetricBefore, MetricNotBefore, FarApart, Zero, MoneyBoth, MoneyUnsaid, MoneyElsewhere, ProseThough, Quotient, QuotientPair, PerNoun, Sum, Mean, SumAll, SumSome, ProseCell, ProseCellSame, Both, MagnitudeNear, MagnitudeFar, MagnitudeNone,
    BarePercent, Change, ChangeRatio, ProseTwin, ValueApart, Newer, NewerNamed, MoreOf, MoreOfNamed, RatioAgain, RatioRows, MostEvery, ShareTotal, ShareOther, ProseBare, Minus, Plus, Over, TimesOf,
    BesideFieldBefore, BesideFieldAfter, BesideField, BesideBaseline, BesideSubjectNear, BesideSubject, BesideSameNear, BesideSame,
}

/// The zones of a slot, what a match can be.
const PER_ZONE: usize = 4;
const PER_SLOT: usize = 5 * PER_ZONE + 1;
/// Zones of a slot's name, with nowhere.
const AT: usize = 6;
/// Pairs of slots of which the zones are looked at together: subject with baseline, with field; baseline with field.
const CROSSED: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];
const CROSS: usize = SLOTS.len() * PER_SLOT + EXTRA.len();
/// How many features a reading has.
pub(crate) const COUNT: usize = CROSS + CROSSED.len() * AT * AT;
/// Claims of several kinds have weights of their own beside those that all share.
pub(crate) const KINDS: usize = 4;
/// Where the weights of phrases begin.
pub(crate) const SPOKEN: usize = COUNT * (KINDS + 1);
/// How many weights there are.
pub(crate) const ALL: usize = SPOKEN + PHRASES * (KINDS + 1);

/// Sets the features of two slots together.
pub(crate) fn cross(f: &mut [f64; COUNT]) {
    let at = |f: &[f64; COUNT], s: usize| -> Option<usize> {
        let named = |z: usize| f[slot(s, z, 0)] > 0.0 || f[slot(s, z, 1)] > 0.0;
        (0..5).find(|z| named(*z)).or((f[nowhere(s)] > 0.0).then_some(5))
    };
    for (i, (a, b)) in CROSSED.into_iter().enumerate() {
        if let (Some(x), Some(y)) = (at(f, a), at(f, b)) {
            f[CROSS + i * AT * AT + x * AT + y] = 1.0;
        }
    }
}

/// The place of a slot's feature.
pub(crate) fn slot(slot: usize, zone: usize, what: usize) -> usize {
    slot * PER_SLOT + zone * PER_ZONE + what
}

/// That a slot's name is nowhere.
pub(crate) fn nowhere(slot: usize) -> usize {
    slot * PER_SLOT + 5 * PER_ZONE
}

/// The place of another feature.
pub(crate) fn extra(f: F) -> usize {
    SLOTS.len() * PER_SLOT + f as usize
}

/// The name of a feature, for those who learn.
pub(crate) fn name(i: usize) -> String {
    let (kind, i, phrase) = match i.checked_sub(SPOKEN) {
        Some(i) => (i / PHRASES, i % PHRASES, true),
        None => (i / COUNT, i % COUNT, false),
    };
    let own = if phrase { phrase::names().swap_remove(i) } else { feature(i) };
    match ["compared", "value", "rank", "two"].get(kind.wrapping_sub(1)) {
        Some(kind) => format!("{kind}, {own}"),
        None => own,
    }
}

fn feature(i: usize) -> String {
    if i >= CROSS {
        let (pair, rest) = ((i - CROSS) / (AT * AT), (i - CROSS) % (AT * AT));
        let zone = ["than", "clause", "sentence", "previous", "around", "nowhere"];
        let (a, b) = CROSSED[pair];
        return format!("{}.{} with {}.{}", SLOTS[a], zone[rest / AT], SLOTS[b], zone[rest % AT]);
    }
    if i >= SLOTS.len() * PER_SLOT {
        return EXTRA[i - SLOTS.len() * PER_SLOT].to_owned();
    }
    let (slot, rest) = (i / PER_SLOT, i % PER_SLOT);
    let slot = SLOTS[slot];
    if rest == 5 * PER_ZONE {
        return format!("{slot}.nowhere");
    }
    let zone = ["than", "clause", "sentence", "previous", "around"][rest / PER_ZONE];
    let what = ["only", "tie", "part", "other"][rest % PER_ZONE];
    format!("{slot}.{zone}.{what}")
}

/// The weights, by feature.
#[allow(clippy::approx_constant)] // they are learned
pub(crate) static WEIGHTS: [f64; ALL] = fixed(&include!("weights.in"));

/// Learned weights as an array; a feature that nothing was learned of weighs nothing.
pub(crate) const fn fixed<const N: usize>(from: &[f64]) -> [f64; N] {
    let mut all = [0.0; N];
    let mut i = 0;
    while i < N && i < from.len() {
        all[i] = from[i];
        i += 1;
    }
    all
}
