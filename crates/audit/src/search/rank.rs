//! Words that rank or compare without a number: "the slowest", "comes last", "beats", "is unchanged".

use crate::detect::pointing::{self, Way};
use crate::evidence::extreme::{Most, superlative};
use crate::read::token::Token;

use super::alone;
use super::say::{Ranked, What};
use super::way::{back, ends, lower};

/// What words without a number say: what they rank or compare, which way they point, and where they end.
pub(super) struct Heard {
    pub what: What,
    pub way: Option<Way>,
    pub end: usize,
    pub ranked: Ranked,
}

/// "leads the Basalt X": one other, and not all.
fn beats_one(tokens: &[Token], i: usize) -> bool {
    let article = usize::from(matches!(lower(tokens, i + 1), "the" | "its" | "our"));
    tokens.get(i + 1 + article).is_some_and(|t| {
        t.is_word()
            && !matches!(
                t.lower.as_str(),
                "list" | "table" | "field" | "pack" | "chart" | "ranking" | "way" | "all"
            )
            && (t.capital || article == 1)
    })
}

/// "comes last", "is first", "puts Java second": no "last year", no "is first compiled", no "in a second".
fn is_placed(tokens: &[Token], i: usize) -> bool {
    let places = (1..4).any(|by| {
        matches!(
            back(tokens, i, by),
            "comes"
                | "come"
                | "came"
                | "is"
                | "was"
                | "are"
                | "puts"
                | "finishes"
                | "finished"
                | "ends"
                | "ranks"
                | "ranked"
        )
    });
    let next = tokens.get(i + 1);
    let ends = next.is_none_or(|t| {
        !t.is_word()
            || matches!(
                t.lower.as_str(),
                "by" | "with" | "at" | "in" | "and" | "here" | "on" | "overall" | "there"
            )
    });
    let counted = i.checked_sub(1).is_some_and(|p| tokens[p].number().is_some());
    let of_time = matches!(back(tokens, i, 1), "the" | "a" | "per" | "each" | "every" | "one");
    places && ends && !counted && !of_time
}

/// The place that an ordinal names, from nought.
fn ordinal(word: &str) -> Option<usize> {
    Some(match word {
        "first" => 0,
        "second" | "next" => 1,
        "third" => 2,
        "fourth" => 3,
        "fifth" => 4,
        _ => return None,
    })
}

/// "comes second", "takes third place", "is the runner-up", "the next best", "second to last": which place of what, and
/// where the words end.
fn nth(tokens: &[Token], i: usize) -> Option<(Most, usize, usize)> {
    let word = lower(tokens, i);
    let next = lower(tokens, i + 1);
    if word == "runner-up" || word == "runner" && next == "up" {
        return Some((Most::Best, 1, i + if next == "up" { 2 } else { 1 }));
    }
    let place = ordinal(word)?;
    if place > 0 && next == "to" && lower(tokens, i + 2) == "last" {
        return Some((Most::Worst, place, i + 3));
    }
    if matches!(next, "place" | "spot") {
        let takes = (1..4).any(|by| {
            matches!(
                back(tokens, i, by),
                "takes" | "took" | "take" | "holds" | "in" | "gets" | "on" | "to" | "is"
            )
        });
        // "in the first place"
        return (takes && word != "next" && back(tokens, i, 1) != "the").then_some((
            Most::Best,
            place,
            i + 2,
        ));
    }
    if place > 0
        && !is_no_rank(tokens, i + 1)
        && let Some(most) = most(tokens, i + 1)
    {
        return Some((most, place, i + 2));
    }
    (word != "next" && is_placed(tokens, i)).then_some((Most::Best, place, i + 1))
}

/// "takes the lead", "heads both lists", "brings up the rear".
fn figure(tokens: &[Token], i: usize) -> Option<Most> {
    match lower(tokens, i) {
        "lead" | "crown"
            if back(tokens, i, 1) == "the"
                && matches!(
                    back(tokens, i, 2),
                    "takes" | "took" | "in" | "holds" | "has" | "keeps" | "into"
                ) =>
        {
            Some(Most::Best)
        }
        "heads"
            if matches!(lower(tokens, i + 1), "the" | "both" | "all" | "our" | "this")
                && matches!(
                    lower(tokens, i + 2),
                    "list" | "lists" | "table" | "tables" | "field" | "ranking" | "rankings"
                ) =>
        {
            Some(Most::Best)
        }
        "rear" if back(tokens, i, 2) == "up" && back(tokens, i, 1) == "the" => Some(Most::Worst),
        _ => None,
    }
}

/// What is more than all the others: "less power than any other system", "faster than all the others".
fn than_any(tokens: &[Token], i: usize) -> Option<Most> {
    let near = |t: &&Token| !ends(t) && !t.is_mark(',') && t.number().is_none();
    let after = tokens.get(i + 1..)?.iter().take(6).take_while(near);
    let than = after.map(|t| t.lower.as_str()).position(|w| w == "than")? + i + 1;
    let all = match (lower(tokens, than + 1), lower(tokens, than + 2)) {
        ("any" | "every", "other")
        | ("anything" | "everything" | "anyone", "else")
        | ("all", "others" | "other") => true,
        ("all", "the") => matches!(lower(tokens, than + 3), "others" | "other"),
        _ => false,
    };
    // "12% less than any other": how much.
    let counted = tokens[i.saturating_sub(4)..i].iter().any(|t| t.number().is_some());
    if !all || counted {
        return None;
    }
    Some(match pointing::way(lower(tokens, i))? {
        Way::More => Most::Greatest,
        Way::Less => Most::Least,
        Way::Faster => Most::Best,
        Way::Slower => Most::Worst,
        Way::Of => return None,
    })
}

/// "is unchanged", "takes about the same time", "did not change".
fn is_same(tokens: &[Token], i: usize) -> bool {
    let not = (1..4).any(|by| matches!(back(tokens, i, by), "not" | "n't" | "didn't" | "doesn't"));
    match lower(tokens, i) {
        "unchanged" | "identical" => true,
        "change" | "changed" => not,
        "same" => {
            // "went down at the same time"
            let at_once = back(tokens, i, 2) == "at" && lower(tokens, i + 1) == "time";
            back(tokens, i, 1) == "the"
                && !at_once
                && matches!(
                    back(tokens, i, 2),
                    "practically"
                        | "about"
                        | "roughly"
                        | "nearly"
                        | "almost"
                        | "much"
                        | "exactly"
                        | "is"
                        | "are"
                        | "was"
                        | "were"
                        | "takes"
                        | "take"
                        | "took"
                        | "needs"
                        | "stays"
                        | "stayed"
                        | "remains"
                        | "does"
                        | "gets"
                        | "at"
                )
        }
        _ => false,
    }
}

/// What a word asks for, if it is a superlative.
fn most(tokens: &[Token], i: usize) -> Option<Most> {
    let word = lower(tokens, i);
    let most = superlative(word).or(match word {
        "cheapest" | "lightest" | "leanest" | "tightest" | "fewest" | "quietest" | "coolest"
        | "thriftiest" => Some(Most::Least),
        "dearest" | "heaviest" | "priciest" | "costliest" | "loudest" | "hottest"
        | "thirstiest" | "hungriest" | "noisiest" | "busiest" | "greediest" => Some(Most::Greatest),
        "leads" | "tops" if beats_one(tokens, i) => None,
        "leads" | "wins" | "tops" => Some(Most::Best),
        "last" if is_placed(tokens, i) => Some(Most::Worst),
        _ => None,
    })?;
    Some(match (word, lower(tokens, i + 1)) {
        ("most", "efficient") => Most::Best,
        ("least", "efficient") => Most::Worst,
        ("most", "frugal" | "economical" | "compact" | "modest" | "lightweight") => Most::Least,
        ("least", "frugal" | "economical" | "compact" | "modest") => Most::Greatest,
        _ => most,
    })
}

/// Whether a superlative ranks nothing of a table: "at most", "its slowest run".
fn is_no_rank(tokens: &[Token], i: usize) -> bool {
    let (word, next) = (lower(tokens, i), lower(tokens, i + 1));
    let at_most = matches!(word, "most" | "least" | "best" | "worst")
        && (matches!(back(tokens, i, 1), "at" | "of" | "by")
            || back(tokens, i, 2) == "at" && matches!(back(tokens, i, 1), "its" | "the" | "their"));
    // "its slowest run took 3 s": one of its own.
    let of_runs = matches!(next, "run" | "runs" | "iteration" | "sample" | "attempt");
    let of = matches!(word, "most" | "best")
        && matches!(next, "of" | "practice" | "practices" | "likely")
        // "the best of the three": no "best of five", no "most of the time".
        && !(word == "best"
            && back(tokens, i, 1) == "the"
            && matches!(lower(tokens, i + 2), "the" | "all" | "these"));
    at_most || of_runs || of
}

/// Whether a superlative is no first place, as "the second highest" is none.
fn ranks_nothing(tokens: &[Token], i: usize) -> bool {
    let other = matches!(back(tokens, i, 1), "second" | "third" | "next" | "fourth" | "fifth")
        || lower(tokens, i) == "last" && back(tokens, i, 1) == "to";
    other || is_no_rank(tokens, i)
}

/// Whether what is compared stands behind a noun or two: "more writes per second than B".
fn than_behind(tokens: &[Token], i: usize) -> bool {
    let counts = matches!(
        lower(tokens, i),
        "more" | "less" | "fewer" | "higher" | "lower" | "better" | "larger" | "smaller" | "worse"
    );
    let noun = |t: &&Token| {
        t.is_word()
            && !matches!(
                t.lower.as_str(),
                "than" | "and" | "or" | "is" | "was" | "are" | "but" | "if" | "it" | "that"
            )
    };
    let nouns = tokens.iter().skip(i + 1).take(4).take_while(noun).count();
    counts && nouns > 0 && lower(tokens, i + 1 + nouns) == "than"
}

/// "is a little slower at it", "is a tad higher": compared with what was spoken of.
fn by_degree(tokens: &[Token], i: usize) -> bool {
    let little =
        matches!(back(tokens, i, 1), "little" | "bit" | "tad") && back(tokens, i, 2) == "a";
    let degree = little || matches!(back(tokens, i, 1), "slightly" | "somewhat" | "marginally");
    let verb = back(tokens, i, if little { 3 } else { 2 });
    let is = matches!(verb, "is" | "are" | "was" | "were" | "gets" | "got" | "runs");
    let noun = tokens.get(i + 1).is_some_and(|t| {
        t.is_word()
            && !matches!(
                t.lower.as_str(),
                "at" | "in" | "on" | "for" | "with" | "and" | "but" | "here" | "there"
            )
    });
    degree && is && !noun
}

/// What a word ranks or compares without a number, and which way it points.
pub(super) fn rank(tokens: &[Token], i: usize) -> Option<Heard> {
    let heard = |what, way, end, ranked| Some(Heard { what, way, end, ranked });
    if let Some((way, end)) = alone::says(tokens, i) {
        return heard(What::Most(Most::Best), None, end, Ranked::Alone(way));
    }
    if let Some((most, place, end)) = nth(tokens, i) {
        let ranked = if place > 0 { Ranked::Nth(place) } else { Ranked::First };
        return heard(What::Most(most), None, end, ranked);
    }
    if let Some(most) = figure(tokens, i).or_else(|| than_any(tokens, i)) {
        return heard(What::Most(most), None, i + 1, Ranked::First);
    }
    if let Some(most) = most(tokens, i) {
        let nothing = ranks_nothing(tokens, i);
        return heard(What::Most(most), None, i + 1, Ranked::First).filter(|_| !nothing);
    }
    if is_same(tokens, i) {
        return heard(What::Same, None, i + 1, Ranked::First);
    }
    let word = lower(tokens, i);
    let beats = match word {
        "beats" | "outperforms" | "beat" | "outperformed" | "outruns" => Some(Way::Faster),
        "trails" => Some(Way::Slower),
        "leads" | "tops" if beats_one(tokens, i) => Some(Way::Faster),
        "ahead" if lower(tokens, i + 1) == "of" => Some(Way::Faster),
        "behind" if tokens.get(i + 1).is_some_and(Token::is_word) => Some(Way::Slower),
        _ if lower(tokens, i + 1) == "than"
            || than_behind(tokens, i)
            || by_degree(tokens, i)
            || alone::each(tokens, i) =>
        {
            pointing::way(word)
        }
        _ => None,
    };
    heard(What::Beats, Some(beats?), i + 1, Ranked::First)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::source::Span;
    use crate::read::token::tokens;

    /// What a sentence ranks, and how.
    fn ranks(text: &str) -> Vec<(Most, Ranked)> {
        let tokens = tokens(text, Span::new(0, text.len()));
        let heard = (0..tokens.len()).filter_map(|i| rank(&tokens, i));
        heard
            .filter_map(
                |h| if let What::Most(most) = h.what { Some((most, h.ranked)) } else { None },
            )
            .collect()
    }

    #[test]
    fn places_are_ranks() {
        for (text, most, place) in [
            ("The blade comes second in int_rate.", Most::Best, Ranked::Nth(1)),
            ("The blade takes third place.", Most::Best, Ranked::Nth(2)),
            ("hugin is the runner-up.", Most::Best, Ranked::Nth(1)),
            ("The next fastest is 32.", Most::Best, Ranked::Nth(1)),
            ("It has the second largest heap.", Most::Greatest, Ranked::Nth(1)),
            ("The N64 is second to last.", Most::Worst, Ranked::Nth(1)),
            ("It is also first in fp_rate.", Most::Best, Ranked::First),
            ("With three keys DuckDB takes the lead.", Most::Best, Ranked::First),
            ("The p750 heads both lists.", Most::Best, Ranked::First),
            ("tiered brings up the rear.", Most::Worst, Ranked::First),
            ("Leveled is the best of the three here.", Most::Best, Ranked::First),
            ("It uses less power than any other system.", Most::Least, Ranked::First),
        ] {
            assert_eq!(ranks(text), [(most, place)], "{text}");
        }
    }

    #[test]
    fn what_is_no_place_is_no_rank() {
        for text in [
            "It serves 40 requests in a second.",
            "The image is first compiled, then run.",
            "In the first place it was slow.",
            "It took the best of five runs.",
            "It is 12% less than any other system.",
            "CPU use went down at the same time.",
        ] {
            assert_eq!(ranks(text), [], "{text}");
        }
    }

    #[test]
    fn comparisons_may_leave_out_with_what() {
        let beats = |text: &str| {
            let tokens = tokens(text, Span::new(0, text.len()));
            let heard = (0..tokens.len()).filter_map(|i| rank(&tokens, i));
            heard.filter(|h| h.what == What::Beats).map(|h| h.way).collect::<Vec<_>>()
        };
        assert_eq!(beats("capnp is a little slower at it."), [Some(Way::Slower)]);
        assert_eq!(beats("Math is a tad higher."), [Some(Way::More)]);
        assert_eq!(beats("It gets more writes per second than sdb."), [Some(Way::More)]);
        assert_eq!(beats("It falls in each of the workloads."), [Some(Way::Less)]);
        assert_eq!(beats("A slightly slower disk would do."), []);
        assert_eq!(beats("It has more writes and is older than sdb."), []);
    }

    #[test]
    fn one_that_goes_a_way_alone_is_a_rank() {
        let alone = |way| [(Most::Best, Ranked::Alone(way))];
        assert_eq!(ranks("Upload is the only figure that got worse."), alone(Way::Slower));
        assert_eq!(ranks("s3 is the only store to improve."), alone(Way::Faster));
        assert_eq!(ranks("It is the only one that is faster than mmap."), []);
    }
}
