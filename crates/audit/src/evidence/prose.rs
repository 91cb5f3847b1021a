//! Judges a comparison by two amounts of its own sentence: "from 30 ms to 12 ms, 60 % less", "1.2 s
//! instead of 3.0 s", "80 ms -> 40 ms (50% faster)".

use std::collections::BTreeSet;

use super::amount::{Agreement, Amount, Dimension};
use super::bind::{Side, at};
use super::cells::{clause, readings};
use super::grid::At;
use super::scene::Scene;
use super::statement::{Much, Statement};
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::pointing::{Way, way};
use crate::judge::reading::Bound;
use crate::read::source::Span;

/// Two amounts of a sentence: which is the subject's.
struct Pair {
    subject: usize,
    baseline: usize,
    /// What links them leaves no doubt.
    sure: bool,
}

/// Judges the `k`th comparison; the tokens of the amounts that it used are put into `used`.
pub(crate) fn judge(scene: &Scene<'_>, k: usize, used: &mut BTreeSet<usize>) -> Option<Claim> {
    let statement = scene.statements[k];
    if statement.much == Much::Orders {
        return None;
    }
    let pair = pair(scene, k)?;
    let (a, b) = (scene.amounts[pair.subject], scene.amounts[pair.baseline]);
    // "The 8 GB machine is slower": sizes are no speeds.
    let speed =
        matches!(scene.sentence.lower(statement.word), "faster" | "slower" | "quicker" | "sooner");
    if speed && matches!(a.2.dimension(), Dimension::Bytes | Dimension::Power) {
        return None;
    }
    let less = match direction(scene, &statement, a.2) {
        Some(less) => less,
        None => a.2.value < b.2.value,
    };
    let readings = readings(&statement, a.2, b.2, less);
    let best = readings.first()?.clone();
    let (start, end) = clause(scene, &statement);
    let tokens = scene.sentence.tokens;
    let from = start.min(a.0).min(b.0);
    let to = end.max(a.1).max(b.1).min(tokens.len());
    let span = Span::new(tokens[from].span.start, tokens[to - 1].span.end);
    let kind = if statement.much == Much::Percent { ClaimKind::Percent } else { ClaimKind::Times };
    let mut claim = scene.context.claim_at(kind, span, "");
    claim.claimed = Some(statement.value);
    claim.computed = Some(best.value).filter(|v| v.is_finite());
    claim.inputs = vec![
        scene.context.input_at("in the sentence", a.2.printed, tokens[a.0].span),
        scene.context.input_at("in the sentence", b.2.printed, tokens[b.0].span),
    ];
    claim.reason = format!("{} ({}), from the two values in the sentence", best.formula, best.name);
    claim.verdict = best.verdict;
    if best.verdict == ClaimVerdict::Wrong {
        // The other way to read "N % faster" or "N % less" of the same two values.
        let swapped = super::cells::readings(&statement, b.2, a.2, less);
        let other = swapped.iter().any(|r| r.verdict != ClaimVerdict::Wrong);
        let exact = matches!(statement.bound, Bound::Exact | Bound::AtLeast);
        if !pair.sure && !other {
            return None;
        }
        // Of more than two values other ones may be meant.
        let like = |m: &&(usize, usize, Amount)| m.2.dimension().fits(a.2.dimension());
        let several = scene
            .amounts
            .iter()
            .filter(like)
            .any(|m| [a.2, b.2].iter().all(|own| m.2.is(own, Bound::Exact) == Agreement::None));
        let open = several
            || super::cells::loose(&statement, a.2, b.2, less)
            || other && (!pair.sure || statement.way == Way::Of)
            || apart(scene, &statement, &pair);
        if !exact || open || scene.statements.len() > 1 && !alone(scene, k, &pair) {
            claim.verdict = ClaimVerdict::Ambiguous;
        }
    }
    if claim.verdict == ClaimVerdict::Holds && statement.understates(best.value) {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{}, which lies far beyond that", claim.reason);
    } else if claim.verdict == ClaimVerdict::Holds && contradicted(scene, a.2, b.2) {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{}, but a table prints another value", claim.reason);
    }
    claim.readings = readings;
    used.insert(a.0);
    used.insert(b.0);
    Some(claim)
}

/// Whether words between a claim and its amounts may begin to speak of something else: "from 5 s to
/// 30 s, and errors fell by 90%".
fn apart(scene: &Scene<'_>, statement: &Statement, pair: &Pair) -> bool {
    let (first, second) = (
        scene.amounts[pair.subject].0.min(scene.amounts[pair.baseline].0),
        scene.amounts[pair.subject].1.max(scene.amounts[pair.baseline].1),
    );
    let between = if second <= statement.at {
        second..statement.at
    } else if statement.end <= first {
        statement.end..first
    } else {
        return false;
    };
    let other = |t: &crate::read::token::Token| {
        t.is_mark(';')
            || t.is_word()
                && (!super::name::is_plain(&t.lower) || matches!(t.lower.as_str(), "and" | "but"))
                && way(&t.lower).is_none()
                && !matches!(
                    t.lower.as_str(),
                    "which"
                        | "making"
                        | "thus"
                        | "hence"
                        | "nearly"
                        | "almost"
                        | "roughly"
                        | "around"
                        | "factor"
                        | "now"
                        | "means"
                        | "second"
                        | "seconds"
                        | "s"
                        | "sec"
                        | "day"
                        | "each"
                        | "every"
                        | "them"
                        | "just"
                        | "or"
                )
    };
    // "so 5% more requests pass": what is more is another thing.
    let tokens = scene.sentence.tokens;
    let end = (statement.end..tokens.len())
        .find(|t| {
            matches!(tokens[*t].kind, crate::read::token::Kind::Mark(_))
                || matches!(scene.sentence.lower(*t), "than" | "as" | "of" | "and" | "but" | "or")
        })
        .unwrap_or(tokens.len());
    let thing = |t: &crate::read::token::Token| other(t) && !t.is_mark(';');
    tokens[between].iter().any(other)
        || tokens[statement.end..end].iter().any(|t| {
            thing(t) && !matches!(t.lower.as_str(), "time" | "memory" | "space" | "latency")
        })
}

/// Whether a table prints one of two values under a name of the sentence, and another one in the place of the other.
fn contradicted(scene: &Scene<'_>, a: Amount, b: Amount) -> bool {
    scene.named.iter().any(|(g, named)| {
        let grid = scene.grid(*g);
        let is = |m: &Amount, v: &Amount| {
            m.dimension() == v.dimension() && m.is(v, Bound::Exact) != Agreement::None
        };
        let printed = |v: &Amount| {
            (0..grid.rows.names.len()).any(|row| {
                grid.valued()
                    .any(|column| grid.amount(At { row, column }).is_some_and(|m| is(&m, v)))
            })
        };
        [Side::Rows, Side::Columns].into_iter().any(|side| {
            named.side(side).iter().filter_map(super::name::Mention::only).any(|who| {
                let others = match side {
                    Side::Rows => grid.columns.names.len(),
                    Side::Columns => grid.rows.names.len(),
                };
                let cells: Vec<Amount> = (0..others)
                    .filter_map(|o| grid.amount(at(side, who, o)))
                    .filter(|m| m.dimension() == a.dimension())
                    .collect();
                let has = |v: &Amount| cells.iter().any(|m| is(m, v));
                cells.len() > 1 && has(&a) != has(&b)
            })
        }) && !(printed(&a) && printed(&b))
    })
}

/// Whether no other comparison stands between a claim and its two amounts.
fn alone(scene: &Scene<'_>, k: usize, pair: &Pair) -> bool {
    let statement = &scene.statements[k];
    let places = [scene.amounts[pair.subject].0, scene.amounts[pair.baseline].0, statement.at];
    let (low, high) = (places.iter().min(), places.iter().max());
    let (Some(low), Some(high)) = (low, high) else { return false };
    !scene.statements.iter().any(|s| s.at != statement.at && s.at > *low && s.at < *high)
}

/// Whether less is better of what is compared; `None` where the values themselves say which is better.
fn direction(scene: &Scene<'_>, statement: &Statement, a: Amount) -> Option<bool> {
    match a.dimension() {
        Dimension::Time | Dimension::Bytes => Some(true),
        Dimension::Rate | Dimension::ByteRate | Dimension::BitRate => Some(false),
        _ if matches!(statement.way, Way::More | Way::Less | Way::Of) => Some(false),
        _ => {
            let has = |set: &[&str]| {
                scene.sentence.tokens.iter().any(|t| set.contains(&t.lower.as_str()))
            };
            if has(&["throughput", "score", "requests", "queries", "ops", "rate"]) {
                Some(false)
            } else if has(&["time", "latency", "errors", "misses", "cost"]) {
                Some(true)
            } else {
                None
            }
        }
    }
}

/// The two amounts that a comparison is about, of one dimension, both before it or around it.
fn pair(scene: &Scene<'_>, k: usize) -> Option<Pair> {
    let statement = &scene.statements[k];
    let sentence = &scene.sentence;
    let previous = if k > 0 { scene.statements[k - 1].end } else { 0 };
    let next = scene.next(statement.at);
    let fits = |i: usize, j: usize| {
        let (a, b) = (scene.amounts[i].2, scene.amounts[j].2);
        let dimension = |m: Amount| {
            !matches!(m.dimension(), Dimension::Count | Dimension::Times | Dimension::Frequency)
        };
        a.dimension().fits(b.dimension())
            && dimension(a)
            && dimension(b)
            && a.value > 0.0
            && b.value > 0.0
            && !(a.dimension() == Dimension::Percent)
            && !(a.dimension() == Dimension::Plain
                && b.dimension() == Dimension::Plain
                && (versioned(scene, i) || versioned(scene, j)))
    };
    let open: Vec<usize> = (0..scene.amounts.len()).collect();
    let near: Vec<usize> = open
        .iter()
        .copied()
        .filter(|i| scene.amounts[*i].0 >= previous && scene.amounts[*i].0 < next)
        .collect();
    let mut best: Option<Pair> = None;
    for w in near.windows(2) {
        let (i, j) = (w[0], w[1]);
        if !fits(i, j) {
            continue;
        }
        let (first, second) = (scene.amounts[i], scene.amounts[j]);
        let between: Vec<&str> = (first.1..second.0).map(|t| sentence.lower(t)).collect();
        let spans_claim = statement.at > first.0 && statement.at < second.0;
        let before = first.0.checked_sub(1).map_or("", |t| sentence.lower(t));
        let has = |word: &str| between.contains(&word);
        // Not "took 840 ms; the new one takes 210 ms" of two things in a list.
        let found = if !spans_claim
            && (before == "from" && has("to")
                || has("->")
                || has("→")
                || (has("-") && has(">"))
                || has(">")
                || has("⇒"))
        {
            Some(Pair { subject: j, baseline: i, sure: true })
        } else if !spans_claim
            && (has("instead")
                || has("against")
                || has("down") && has("from")
                || has("up") && has("from")
                || has("compared")
                || has("vs")
                || has("versus"))
        {
            Some(Pair {
                subject: i,
                baseline: j,
                sure: has("instead") || has("down") || has("up") || has("compared"),
            })
        } else if !spans_claim && has("to") && between.len() <= 3 {
            Some(Pair { subject: j, baseline: i, sure: true })
        } else if !spans_claim
            && sentence.tokens[first.1..second.0].iter().any(|t| t.is_mark(';') || t.is_mark(','))
        {
            Some(in_order(scene, i, j))
        } else if spans_claim
            && (has("instead")
                && sentence.tokens[statement.at..second.0].iter().any(|t| t.is_mark(':'))
                || (has("than") || has("of") && statement.way == Way::Of)
                    && than(scene, statement, second.0))
        {
            Some(Pair { subject: i, baseline: j, sure: true })
        } else {
            None
        };
        // The pair before the claim goes before one behind it.
        let before = |p: &Pair| scene.amounts[p.subject.min(p.baseline)].0 < statement.at;
        if let Some(found) = found
            && best
                .as_ref()
                .is_none_or(|b| (!b.sure || found.sure) && (before(&found) || !before(b)))
        {
            best = Some(found);
        }
    }
    // "is 20% slower: 1.44 s instead of 1.20 s": both behind it.
    best
}

/// Whether a number without a unit stands behind a name, as a version does.
fn versioned(scene: &Scene<'_>, i: usize) -> bool {
    let at = scene.amounts[i].0;
    at.checked_sub(1).is_some_and(|p| {
        let t = &scene.sentence.tokens[p];
        t.is_word() && (t.capital && p > 0 || matches!(t.lower.as_str(), "version" | "v"))
            || p == 0 && t.is_word()
    })
}

/// "64% more than the 365 MB of": the amount stands right behind "than".
fn than(scene: &Scene<'_>, statement: &Statement, at: usize) -> bool {
    let than = (statement.at..at).rev().find(|i| matches!(scene.sentence.lower(*i), "than" | "of"));
    than.is_some_and(|t| at - t <= 3)
}

/// Two statements one behind the other: the words of time say which was before.
fn in_order(scene: &Scene<'_>, i: usize, j: usize) -> Pair {
    let tokens = scene.sentence.tokens;
    let (first, second) = (scene.amounts[i], scene.amounts[j]);
    let past = |from: usize, to: usize| {
        tokens[from..to].iter().any(|t| {
            matches!(
                t.lower.as_str(),
                "took"
                    | "was"
                    | "were"
                    | "needed"
                    | "used"
                    | "old"
                    | "before"
                    | "previously"
                    | "had"
                    | "did"
            )
        })
    };
    let start = i.checked_sub(1).map_or(0, |p| scene.amounts[p].1);
    let now = tokens[first.1..second.0.max(first.1)]
        .iter()
        .chain(tokens[second.1..].iter().take(2))
        .any(|t| {
            matches!(t.lower.as_str(), "now" | "takes" | "is" | "needs" | "uses" | "after" | "new")
        });
    let (old_first, old_second) = (past(start, first.0), past(first.1, second.0));
    match (old_first, old_second) {
        (true, false) if !now => Pair { subject: j, baseline: i, sure: false },
        (true, false) => Pair {
            subject: j,
            baseline: i,
            sure: !scene.sentence.tokens[first.1..second.0].iter().any(|t| t.is_mark(';')),
        },
        (false, true) => Pair { subject: i, baseline: j, sure: false },
        _ => Pair { subject: j, baseline: i, sure: false },
    }
}
