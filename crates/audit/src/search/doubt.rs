//! What speaks for or against a reading in the words around a claim: other names, conditions, a subset, a direction.

use super::book::{Book, Place};
use super::choice::Choice;
use super::labels::age;
use super::model::{self, F};
use super::reading::Reading;
use super::say::{Say, What};
use super::spoken::is_speech;
use crate::evidence::amount::{Amount, Dimension};
use crate::evidence::name::{is_plain, related};
use crate::read::token::Token;

/// Whether a rank is among some alone: "among the plugins", "of our paths".
pub(super) fn scoped(tokens: &[Token], say: &Say) -> bool {
    let from = say.clause.start.saturating_sub(6);
    let to = (say.clause.end + 1).min(tokens.len());
    (from..to).any(|i| {
        let next = |n: usize| tokens.get(i + n).map_or("", |t| t.lower.as_str());
        match tokens[i].lower.as_str() {
            "among" | "besides" | "except" | "apart" => true,
            "of" if i >= say.own.start => {
                matches!(next(1), "our" | "its" | "those" | "these" | "both")
                    || next(1) == "the"
                        && !matches!(next(2), "list" | "table" | "lot" | "field" | "pack")
            }
            _ => false,
        }
    })
}

/// Whether the clause speaks of so much per something that the reading's names do not have.
pub(super) fn by_each(book: &Book<'_>, choice: &Choice, r: &Reading) -> bool {
    if r.derived.is_some() {
        return false;
    }
    let say = &book.says[choice.sentence][choice.say];
    let tokens = &book.context.reading.tokens[choice.sentence];
    let said = &book.spoken[choice.sentence];
    let own = |w: &String| r.names.iter().any(|n| book.names.words(*n).contains(w));
    say.clause.clone().any(|i| {
        matches!(tokens[i].lower.as_str(), "per" | "each" | "every" | "apiece")
            && tokens.get(i + 1).is_some_and(|t| {
                let unit = crate::evidence::amount::measure(&t.lower)
                    .is_some_and(|m| m.dimension == Dimension::Time);
                let ranks = matches!(say.what, What::Most(_));
                !unit && (ranks || !said[i + 1].stems.iter().any(own))
            })
    })
}

/// "takes 3.1 µs now" of a column of what was before, or the other way round.
pub(super) fn age_differs(book: &Book<'_>, choice: &Choice, r: &Reading) -> bool {
    if r.b.is_some() {
        return false;
    }
    let say = &book.says[choice.sentence][choice.say];
    let tokens = book.tokens(choice.sentence);
    let has =
        |set: &[&str]| tokens[say.clause.clone()].iter().any(|t| set.contains(&t.lower.as_str()));
    let then =
        has(&["was", "were", "before", "used", "previously", "formerly", "had", "earlier", "old"]);
    let now = has(&["now", "after", "today", "new"]);
    let of = r.names.iter().map(|n| age(book.names.words(*n))).find(|a| *a != 0).unwrap_or(0);
    then != now && (of > 0 && then || of < 0 && now)
}

/// How likely the same two values are the other way round.
pub(super) fn turned(choice: &Choice, r: &Reading) -> f64 {
    let other = |o: &&Reading| {
        o.places.len() == 2
            && r.places.len() == 2
            && o.places[0] == r.places[1]
            && o.places[1] == r.places[0]
    };
    choice.readings.iter().filter(other).map(|o| o.prior).fold(0.0, f64::max)
}

/// "the slowest, with 88 ms": whether the value beside a rank is that of the cell.
pub(super) fn beside(book: &Book<'_>, choice: &Choice, r: &Reading) -> Option<bool> {
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
pub(super) fn misnamed(book: &Book<'_>, choice: &Choice, r: &Reading) -> bool {
    let say = &book.says[choice.sentence][choice.say];
    let tokens = &book.context.reading.tokens[choice.sentence];
    let numbered = |w: &String| w.bytes().any(|b| b.is_ascii_digit());
    let spoken = &book.spoken[choice.sentence];
    let said = |w: &String| spoken.iter().any(|s| s.stems.contains(w));
    r.names.iter().any(|name| {
        let own = book.names.words(*name);
        let lacks =
            |j: Option<usize>| j.and_then(|j| own.get(j)).is_some_and(|w| numbered(w) && !said(w));
        let other = |j: Option<usize>| {
            j.and_then(|j| Some((j, tokens.get(j)?))).is_some_and(|(j, t)| {
                let bare = t.number().is_some_and(|n| n.unit.is_none() || n.label);
                bare && !say.own.contains(&j) && !spoken[j].stems.iter().any(|w| own.contains(w))
            })
        };
        say.clause.clone().filter(|i| tokens[*i].is_word()).any(|i| {
            let here = &spoken[i].stems;
            let at = own.iter().position(|w| here.contains(w) && !is_plain(w));
            at.is_some_and(|at| {
                lacks(Some(at + 1)) && other(Some(i + 1))
                    || lacks(at.checked_sub(1)) && other(i.checked_sub(1))
            })
        })
    })
}

/// Whether words of the clause point up and down: "dropped even more, by 83%".
pub(super) fn points_both_ways(book: &Book<'_>, choice: &Choice) -> bool {
    use crate::detect::pointing::Way;
    let say = &book.says[choice.sentence][choice.say];
    let spoken = &book.spoken[choice.sentence];
    let has = |up: bool| {
        spoken[say.clause.clone()].iter().any(|s| match s.way {
            Some(Way::More) => up,
            Some(Way::Less) => !up,
            _ => false,
        })
    };
    has(true) && has(false)
}

/// Whether a value right beside the claim is of the unit of the two that it would compare, and neither of them.
pub(super) fn stated_otherwise(book: &Book<'_>, choice: &Choice, r: &Reading) -> bool {
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
pub(super) fn direction(say: &Say, r: &Reading) -> bool {
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
    own: [&'a [String]; 3],
    grid: Option<&'a crate::evidence::grid::Grid>,
}

impl<'a> Known<'a> {
    fn of(book: &'a Book<'_>, r: &Reading) -> Known<'a> {
        let grid = r.places.iter().find_map(|p| match p {
            Place::Cell { grid, .. } => book.grids.get(*grid),
            Place::Prose { .. } => None,
        });
        Known { own: r.names.map(|n| book.names.words(n)), grid }
    }

    fn has(&self, stem: &str) -> bool {
        self.own.iter().copied().flatten().any(|w| w == stem || related(w, stem))
            || self.grid.is_some_and(|g| {
                g.context.iter().any(|w| related(w, stem))
                    || g.rows.knows(stem)
                    || g.columns.knows(stem)
            })
    }
}

/// Whether the claim is of a metric or a version that the reading and its table do not have: "4% more lines".
pub(super) fn of_something_else(book: &Book<'_>, choice: &Choice, r: &Reading) -> bool {
    let say = &book.says[choice.sentence][choice.say];
    let tokens = &book.context.reading.tokens[choice.sentence];
    let e = |x: F| r.features[model::extra(x)] > 0.0;
    if e(F::MetricNo) || e(F::SpeedNo) {
        return true;
    }
    let known = Known::of(book, r);
    let spoken = &book.spoken[choice.sentence];
    let has = |i: usize| spoken[i].stems.iter().any(|w| is_plain(w) || known.has(w));
    let more = |i: usize| matches!(tokens[i].lower.as_str(), "more" | "less" | "fewer");
    let noun = |i: usize| {
        tokens.get(i).is_some_and(|t| {
            t.is_word()
                && t.lower.len() > 3
                && !is_speech(&t.lower)
                && !has(i)
                && crate::evidence::amount::measure(&t.lower).is_none()
                && !crate::evidence::metric::is_metric(&t.lower)
        })
    };
    let version = |i: usize| {
        matches!(tokens[i].lower.as_str(), "version" | "release")
            && tokens.get(i + 1).is_some_and(|t| t.number().is_some() && !has(i + 1))
    };
    say.word.is_some_and(|w| more(w) && noun(w + 1)) || say.clause.clone().any(version)
}

/// Words that the reading's names and table do not explain: in the clause, in the sentence, and behind words that set a
/// condition.
pub(super) fn unknown(book: &Book<'_>, choice: &Choice, r: &Reading) -> (u8, u8, u8) {
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
        let spoken = &book.spoken[choice.sentence][i];
        if spoken.ordinary || spoken.stems.iter().any(knows) {
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
