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
    let Some(pair) = pair(scene, k) else { return super::back::judge(scene, &statement) };
    let (mut a, mut b) = (scene.amounts[pair.subject], scene.amounts[pair.baseline]);
    // "from 2,100 to 3,400 jobs per minute": the first is of the second's unit.
    match (a.2.dimension(), b.2.dimension()) {
        (Dimension::Plain, Dimension::Plain) => {}
        (Dimension::Plain, _) => a.2 = a.2.of(b.2.measure),
        (_, Dimension::Plain) => b.2 = b.2.of(a.2.measure),
        _ => {}
    }
    // "a factor of 13" points nowhere.
    let factor = statement.way == Way::Of
        && statement.at > 1
        && scene.sentence.lower(statement.at - 2) == "factor";
    if factor && a.2.value < b.2.value {
        std::mem::swap(&mut a, &mut b);
    }
    // "The 8 GB machine is slower": sizes are no speeds.
    let speed = super::cells::is_speed(scene.sentence.lower(statement.word));
    if speed && matches!(a.2.dimension(), Dimension::Bytes | Dimension::Power | Dimension::Energy) {
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
        let looser = |x: Amount, y: Amount| super::cells::loose(&statement, x, y, less);
        if !pair.sure && !other && (looser(b.2, a.2) || !lone(scene, &statement, a.2)) {
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
            || looser(a.2, b.2)
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
    // "rose from 1,412 to 571, a drop of 60%" says two things.
    let first = pair.subject.min(pair.baseline);
    if claim.verdict != ClaimVerdict::Wrong && reversed(scene, &scene.amounts, first) {
        claim.verdict = ClaimVerdict::Wrong;
        claim.reason = format!("{}, but its verb points the other way", claim.reason);
    }
    claim.readings = readings;
    used.insert(a.0);
    used.insert(b.0);
    Some(claim)
}

/// Whether the verb right before "from" points another way than the two values: "rose from 9 ms to 2 ms".
pub(crate) fn reversed(scene: &Scene<'_>, amounts: &[(usize, usize, Amount)], k: usize) -> bool {
    let (Some(x), Some(y)) = (amounts.get(k), amounts.get(k + 1)) else { return false };
    let lower = |back: usize| x.0.checked_sub(back).map_or("", |i| scene.sentence.lower(i));
    let to = (x.1..y.0).any(|i| scene.sentence.lower(i) == "to");
    let same = x.2.dimension() == y.2.dimension();
    // "sped up from 30 s to 12 s"
    let fast = lower(3).starts_with("sp") && lower(2) == "up";
    if lower(1) != "from" || !to || !same || fast {
        return false;
    }
    match way(lower(2)) {
        Some(Way::More) => y.2.value < x.2.value,
        Some(Way::Less) => y.2.value > x.2.value,
        _ => false,
    }
}

/// Whether a sentence has just one comparison, with nothing that opens a baseline, and just two amounts of a unit.
fn lone(scene: &Scene<'_>, statement: &Statement, own: Amount) -> bool {
    let like = |m: &&(usize, usize, Amount)| m.2.dimension().fits(own.dimension());
    let end = scene.sentence.tokens.len();
    scene.statements.len() == 1
        && own.dimension() != Dimension::Plain
        && scene.amounts.iter().filter(like).count() == 2
        && super::sides::opener(&scene.sentence, statement, end).is_none()
}

/// Whether words between a claim and its amounts may begin to speak of something else: "from 5 s to
/// 30 s, and errors fell by 90%".
fn apart(scene: &Scene<'_>, statement: &Statement, pair: &Pair) -> bool {
    let (first, second) = (
        scene.amounts[pair.subject].0.min(scene.amounts[pair.baseline].0),
        scene.amounts[pair.subject].1.max(scene.amounts[pair.baseline].1),
    );
    let between = if second <= statement.at {
        // "118 euros a month, which is": what a value counts is no other thing.
        let comma =
            (second..statement.at.min(second + 4)).find(|i| scene.sentence.tokens[*i].is_mark(','));
        comma.unwrap_or(second)..statement.at
    } else if statement.end <= first {
        statement.end..first
    } else {
        return false;
    };
    let fine = ["making", "hence", "factor", "means", "second", "seconds", "s", "sec", "day"];
    let other = |t: &crate::read::token::Token| {
        let lower = t.lower.as_str();
        t.is_mark(';')
            || matches!(lower, "and" | "but")
            || t.is_word()
                && !super::name::is_plain(lower)
                && way(lower).is_none()
                && !super::known::is_saying(lower)
                && !fine.contains(&lower)
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
pub(crate) fn direction(scene: &Scene<'_>, statement: &Statement, a: Amount) -> Option<bool> {
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
            && (sentence.tokens[first.1..second.0].iter().any(|t| t.is_mark(';') || t.is_mark(','))
                || has("and")
                    && between.len() < 8
                    && (scene.named.is_empty() || by_noun(scene, statement, i, j).is_some()))
        {
            Some(by_noun(scene, statement, i, j).unwrap_or_else(|| in_order(scene, i, j)))
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

/// "a saving of 66%", "a factor of 2.6": the noun says which of two values is the greater.
fn by_noun(scene: &Scene<'_>, statement: &Statement, i: usize, j: usize) -> Option<Pair> {
    let of = statement.at.checked_sub(1).filter(|p| scene.sentence.lower(*p) == "of")?;
    let greater = match statement.way {
        Way::More => true,
        Way::Less => false,
        _ => scene.sentence.lower(of.checked_sub(1)?) == "factor",
    };
    let first = scene.amounts[i].2.value > scene.amounts[j].2.value;
    let (subject, baseline) = if first == greater { (i, j) } else { (j, i) };
    Some(Pair { subject, baseline, sure: false })
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
