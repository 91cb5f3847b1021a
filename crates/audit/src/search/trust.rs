//! How far a verdict can be trusted: what is known of the reading that it rests on, and of its rivals.

use super::book::{Book, Place};
use super::decide::Choice;
use super::model::{self, F};
use super::reading::{Fit, Reading, age};
use super::say::{Say, What};
use super::words::Zone;
use crate::evidence::amount::{Amount, Dimension};
use crate::evidence::name::{is_plain, related, words};
use crate::judge::reading::Bound;
use crate::read::token::Token;

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
    TableSame, TableFar, TableAfter, Says, Direction, NoWay, LastPair, OldNew, Tie, UnitDiffers, Negated, Fraction, Turned, ValueSame, ValueOther, Derived, ProseCell, IsTwo, Stated, Misnamed, TurnedTwo, OtherName, Guessed, Contrary, Reversed, MagnitudeNear, MagnitudeNone, PerUnknown, Blind, BlindRival, AgeDiffers,
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

/// Words of claims that no table has to know.
const SPEECH: [&str; 96] = [
    "almost", "nearly", "about", "around", "roughly", "only", "just", "even", "still", "now",
    "then", "here", "there", "also", "too", "well", "bit", "little", "lot", "far", "much", "many",
    "some", "any", "same", "other", "both", "every", "while", "whereas", "which", "what", "who",
    "does", "did", "do", "done", "make", "makes", "made", "take", "takes", "took", "need", "needs",
    "needed", "use", "uses", "used", "give", "gives", "get", "gets", "got", "goes", "went", "come",
    "comes", "keep", "keeps", "spend", "spends", "run", "runs", "ran", "show", "shows", "see",
    "saw", "means", "mean", "words", "exactly", "percent", "times", "factor", "twice", "half",
    "third", "quarter", "compared", "against", "versus", "relative", "behind", "ahead", "cuts",
    "cut", "saves", "saved", "drops", "dropped", "falls", "fell", "rises", "rose",
];

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
    set(K::Prior, ln(r.prior));
    set(K::Agree, ln(agree));
    set(K::Near, ln(near));
    set(K::Alone, ln(r.prior / agree.max(1e-9)).clamp(-7.0, 1.0));
    set(K::Rival, ln(r.prior / top.max(1e-9)));
    let blind = choice.readings.iter().map(|r| r.blind).fold(0.0, f64::max);
    set(K::Blind, ln(r.blind));
    set(K::BlindRival, ln(r.blind / blind.max(1e-9)));
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
    ] {
        set(key, e(x));
    }
    set(K::MetricYes, e(F::MetricYes) + e(F::SpeedYes));
    set(K::MetricNo, e(F::MetricNo) + e(F::SpeedNo));
    set(K::Statistic, e(F::Statistic) + 2.0 * e(F::StatisticUnnamed));
    let (clause, sentence, condition) = unknown(book, choice, r);
    set(K::UnknownClause, f64::from(clause.min(5)));
    set(K::UnknownSentence, f64::from(sentence.min(8)) / 2.0);
    set(K::Condition, f64::from(condition.min(3)));
    set(K::Says, (book.says[choice.sentence].len() as f64).min(6.0) / 3.0);
    set(K::NoWay, f64::from(u8::from(say.way.is_none() && say.what.is_pair())));
    set(K::Direction, f64::from(u8::from(direction(say, r))));
    let twins = choice
        .readings
        .iter()
        .enumerate()
        .filter(|(i, o)| *i != at && o.places != r.places && o.prior > 0.5 * r.prior)
        .count();
    set(K::Tie, (twins as f64).min(4.0));
    set(K::Derived, f64::from(u8::from(r.derived.is_some())));
    set(K::ProseCell, e(F::ProseCell));
    let flag = |b: bool| f64::from(u8::from(b));
    set(K::Stated, flag(stated_otherwise(book, choice, r)));
    set(K::Misnamed, flag(misnamed(book, choice, r)));
    set(K::TurnedTwo, flag(book.says[choice.sentence].iter().any(super::fit::is_turned)));
    let is_named = |slot: usize| (0..3).any(|z| f[model::slot(slot, z, 2)] > 0.0);
    let other = f[model::slot(0, Zone::Clause as usize, 3)] > 0.0;
    set(K::OtherName, flag(other && r.derived.is_none()));
    let unnamed = r.places.len() == 2 && e(F::Prose) == 0.0 && !is_named(0) && !is_named(1);
    let ordered = [F::OldNew, F::FirstIsB, F::Adjacent].into_iter().any(|x| e(x) > 0.0);
    set(K::Reversed, flag(choice.fits[at] == Fit::No && super::fit::reversed(say, r)));
    set(K::MagnitudeNear, e(F::MagnitudeNear));
    set(K::MagnitudeNone, e(F::MagnitudeNone));
    set(K::PerUnknown, flag(by_each(book, choice, r)));
    set(K::Guessed, flag(unnamed && !ordered));
    set(K::Contrary, flag(r.b.is_some() && e(F::PrintedOther) > 0.0 && e(F::PrintedA) == 0.0));
    let turned = turned(choice, r);
    set(
        K::Turned,
        if r.places.len() == 2 {
            ((r.prior + 1e-4) / (turned + 1e-4)).ln().clamp(-3.0, 3.0)
        } else {
            0.0
        },
    );
    match beside(book, choice, r) {
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
    set(K::AgeDiffers, flag(age_differs(tokens, say, r)));
    set(K::Negated, f64::from(u8::from(no)));
    set(
        K::Fraction,
        f64::from(u8::from(tokens[say.own.start].is_word() || say.step >= 0.15 * say.value)),
    );
    k
}

/// Whether the clause speaks of so much per something that the reading's names do not have.
pub(crate) fn by_each(book: &Book<'_>, choice: &Choice, r: &Reading) -> bool {
    if r.derived.is_some() {
        return false;
    }
    let say = &book.says[choice.sentence][choice.say];
    let tokens = &book.context.reading.tokens[choice.sentence];
    let own: Vec<String> = r.names.iter().flat_map(|n| words(n)).collect();
    say.clause.clone().any(|i| {
        matches!(tokens[i].lower.as_str(), "per" | "each" | "every" | "apiece")
            && tokens.get(i + 1).is_some_and(|t| {
                let unit = crate::evidence::amount::measure(&t.lower)
                    .is_some_and(|m| m.dimension == Dimension::Time);
                let ranks = matches!(say.what, What::Most(_));
                !unit && (ranks || !words(&t.lower).iter().any(|w| own.contains(w)))
            })
    })
}

/// "takes 3.1 µs now" of a column of what was before, or the other way round.
fn age_differs(tokens: &[Token], say: &Say, r: &Reading) -> bool {
    if r.b.is_some() {
        return false;
    }
    let has =
        |set: &[&str]| tokens[say.clause.clone()].iter().any(|t| set.contains(&t.lower.as_str()));
    let then =
        has(&["was", "were", "before", "used", "previously", "formerly", "had", "earlier", "old"]);
    let now = has(&["now", "after", "today", "new"]);
    let of = r.names.iter().map(|n| age(&words(n))).find(|a| *a != 0).unwrap_or(0);
    then != now && (of > 0 && then || of < 0 && now)
}

/// How likely the same two values are the other way round.
pub(crate) fn turned(choice: &Choice, r: &Reading) -> f64 {
    let other = |o: &&Reading| {
        o.places.len() == 2
            && r.places.len() == 2
            && o.places[0] == r.places[1]
            && o.places[1] == r.places[0]
    };
    choice.readings.iter().filter(other).map(|o| o.prior).fold(0.0, f64::max)
}

/// "the slowest, with 88 ms": whether the value beside a rank is that of the cell.
fn beside(book: &Book<'_>, choice: &Choice, r: &Reading) -> Option<bool> {
    r.rank?;
    let says = &book.says[choice.sentence];
    let say = &says[choice.say];
    says.iter().find_map(|s| {
        let What::Value(v) = s.what else { return None };
        let near = s.own.start > say.own.end && s.own.start < say.own.end + 12
            || s.own.end <= say.own.start && say.own.start < s.own.end + 6;
        let fits = v.dimension().fits(r.a.dimension()) || r.a.dimension() == Dimension::Plain;
        let same = (v.printed - r.a.printed).abs() <= 1e-9 * v.printed.abs()
            || (v.value - r.a.value).abs() <= v.step.max(r.a.step);
        (near && fits).then_some(same)
    })
}

/// "Model 13" is not the row "Model 8": a word of a name with a number beside it that the name does not have, where the
/// name's own number is nowhere.
pub(crate) fn misnamed(book: &Book<'_>, choice: &Choice, r: &Reading) -> bool {
    let say = &book.says[choice.sentence][choice.say];
    let tokens = &book.context.reading.tokens[choice.sentence];
    let numbered = |w: &String| w.bytes().any(|b| b.is_ascii_digit());
    let said: Vec<String> = tokens.iter().flat_map(|t| words(&t.lower)).collect();
    r.names.iter().any(|name| {
        let own = words(name);
        let lacks = own.iter().any(|w| numbered(w) && !said.contains(w));
        lacks
            && say.clause.clone().any(|i| {
                let here = tokens[i].is_word()
                    && words(&tokens[i].lower).iter().any(|w| own.contains(w) && !is_plain(w));
                let other = |j: Option<usize>| {
                    j.and_then(|j| Some((j, tokens.get(j)?))).is_some_and(|(j, t)| {
                        let bare = t.number().is_some_and(|n| n.unit.is_none() || n.label);
                        bare && !say.own.contains(&j)
                            && !words(&t.lower).iter().any(|w| own.contains(w))
                    })
                };
                here && (other(Some(i + 1)) || other(i.checked_sub(1)))
            })
    })
}

/// Whether words of the clause point up and down: "dropped even more, by 83%".
pub(crate) fn points_both_ways(book: &Book<'_>, choice: &Choice) -> bool {
    use crate::detect::pointing::Way;
    let say = &book.says[choice.sentence][choice.say];
    let tokens = &book.context.reading.tokens[choice.sentence];
    let has = |up: bool| {
        tokens[say.clause.clone()].iter().any(|t| match super::way::way(&t.lower) {
            Some(Way::More) => up,
            Some(Way::Less) => !up,
            _ => false,
        })
    };
    has(true) && has(false)
}

/// Whether a value right beside the claim is of the unit of the two that it would compare, and neither of them.
pub(crate) fn stated_otherwise(book: &Book<'_>, choice: &Choice, r: &Reading) -> bool {
    let (a, Some(b)) = (r.a, r.b) else { return false };
    let says = &book.says[choice.sentence];
    let own = &says[choice.say].own;
    says.iter().any(|s| {
        let What::Value(v) = s.what else { return false };
        let near = s.own.end <= own.start && own.start - s.own.end < 5
            || s.own.start >= own.end && s.own.start - own.end < 4;
        let is = |x: Amount| (x.value - v.value).abs() <= v.step.max(x.step) * 1.01;
        // "29.8G" says no unit.
        let unit = v.dimension() == a.dimension() && v.dimension() != Dimension::Plain
            || v.dimension() == Dimension::Plain && v.value > 1e6;
        near && unit && !is(a) && !is(b)
    })
}

/// Whether the values differ in the direction that the words state, as far as they state one.
fn direction(say: &Say, r: &Reading) -> bool {
    use crate::detect::pointing::Way;
    use crate::evidence::grid::Better;
    let (Some(way), Some(b)) = (say.way, r.b) else { return false };
    let more = r.a.value > b.value;
    match (way, r.better) {
        (Way::More, _) | (Way::Faster, Better::More) | (Way::Slower, Better::Less) => more,
        (Way::Less, _) | (Way::Faster, Better::Less) | (Way::Slower, Better::More) => !more,
        _ => false,
    }
}

/// The words of a reading's names and of its table.
struct Known<'a> {
    own: Vec<String>,
    grid: Option<&'a crate::evidence::grid::Grid>,
}

impl<'a> Known<'a> {
    fn of(book: &'a Book<'_>, r: &Reading) -> Known<'a> {
        let grid = r.places.iter().find_map(|p| match p {
            Place::Cell { grid, .. } => book.grids.get(*grid),
            Place::Prose { .. } => None,
        });
        Known { own: r.names.iter().flat_map(|n| words(n)).collect(), grid }
    }

    fn has(&self, stem: &str) -> bool {
        self.own.iter().any(|w| w == stem || related(w, stem))
            || self.grid.is_some_and(|g| {
                g.context.iter().any(|w| related(w, stem))
                    || g.rows.knows(stem)
                    || g.columns.knows(stem)
            })
    }
}

/// Whether the claim is of a metric or a version that the reading and its table do not have: "4% more lines".
pub(crate) fn of_something_else(book: &Book<'_>, choice: &Choice, r: &Reading) -> bool {
    let say = &book.says[choice.sentence][choice.say];
    let tokens = &book.context.reading.tokens[choice.sentence];
    let e = |x: F| r.features[model::extra(x)] > 0.0;
    if e(F::MetricNo) || e(F::SpeedNo) {
        return true;
    }
    let known = Known::of(book, r);
    let has = |lower: &str| words(lower).iter().any(|w| is_plain(w) || known.has(w));
    let more = |i: usize| matches!(tokens[i].lower.as_str(), "more" | "less" | "fewer");
    let noun = |i: usize| {
        tokens.get(i).is_some_and(|t| {
            t.is_word()
                && t.lower.len() > 3
                && !SPEECH.contains(&t.lower.as_str())
                && !has(&t.lower)
                && crate::evidence::amount::measure(&t.lower).is_none()
                && !crate::evidence::metric::is_metric(&t.lower)
        })
    };
    let version = |i: usize| {
        matches!(tokens[i].lower.as_str(), "version" | "release")
            && tokens.get(i + 1).is_some_and(|t| t.number().is_some() && !has(&t.lower))
    };
    say.word.is_some_and(|w| more(w) && noun(w + 1)) || say.clause.clone().any(version)
}

/// Words that the reading's names and table do not explain: in the clause, in the sentence, and behind words that set a
/// condition.
fn unknown(book: &Book<'_>, choice: &Choice, r: &Reading) -> (u8, u8, u8) {
    let say = &book.says[choice.sentence][choice.say];
    let tokens = &book.context.reading.tokens[choice.sentence];
    let known = Known::of(book, r);
    let knows = |stem: &String| known.has(stem);
    let (mut clause, mut sentence, mut condition) = (0u8, 0u8, 0u8);
    for (i, t) in tokens.iter().enumerate() {
        if say.own.contains(&i) || !t.is_word() && t.number().is_none() {
            continue;
        }
        if t.quantity().is_some_and(|n| n.unit.is_some()) {
            continue;
        }
        let plain = t.lower.len() < 3
            || SPEECH.contains(&t.lower.as_str())
            || crate::evidence::metric::is_metric(&t.lower)
            || crate::detect::pointing::way(&t.lower).is_some()
            || crate::evidence::amount::measure(&t.lower).is_some();
        let stems = words(&t.lower);
        if t.is_word() && (plain || stems.iter().all(|s| is_plain(s))) || stems.iter().any(knows) {
            continue;
        }
        let before = (i.saturating_sub(3)..i)
            .rev()
            .map(|j| tokens[j].lower.as_str())
            .take_while(|w| *w != ",");
        let conditional = before.into_iter().any(|w| {
            matches!(
                w,
                "on" | "with"
                    | "under"
                    | "after"
                    | "during"
                    | "without"
                    | "using"
                    | "when"
                    | "in"
                    | "at"
                    | "for"
                    | "once"
                    | "until"
                    | "previous"
                    | "another"
                    | "other"
            )
        });
        if say.clause.contains(&i) {
            clause = clause.saturating_add(1);
        }
        sentence = sentence.saturating_add(1);
        if conditional {
            condition = condition.saturating_add(1);
        }
    }
    (clause, sentence, condition)
}
