//! Judges ranks: "record", "best", "beats", and tables described as ordered.

use crate::bind::context::Context;
use crate::bind::quantity::{Origin, Quantity};
use crate::bind::{self, MARGIN};
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::Found;
use crate::detect::role::{Role, role};
use crate::read::table::{Shape, Table};
use crate::read::token::Token;

/// Words that name the class among which something is best; what they mean is not in a table.
const CLASSES: [&str; 22] = [
    "x86",
    "x64",
    "blade",
    "rack",
    "unix",
    "linux",
    "windows",
    "risc",
    "single",
    "per",
    "price",
    "previous",
    "known",
    "published",
    "overall",
    "class",
    "socket",
    "node",
    "cluster",
    "entry",
    "opteron",
    "power6",
];

/// Judges a claim of rank.
pub(crate) fn judge(context: &Context<'_>, found: &Found) -> Claim {
    let tokens = context.tokens(found);
    let word = tokens[found.at].lower.as_str();
    match word {
        "beats" | "beat" | "tops" | "topped" | "outperforms" | "outperformed" | "outperforming"
        | "outpaces" | "surpasses" | "surpassed" | "than" | "wins" | "leads" => {
            beats(context, found)
        }
        _ => superlative(context, found),
    }
}

/// "A beats B": A's result is the better one.
fn beats(context: &Context<'_>, found: &Found) -> Claim {
    let mut claim = context.claim(ClaimKind::Rank, found);
    let (subject, baseline) = context.sides(found);
    let mut pairs = bind::pairs(&context.quantities, &subject, &baseline);
    let Some(best) = pairs.first().copied() else {
        claim.reason = "no results are printed for the two that are compared".into();
        return claim;
    };
    pairs.retain(|p| p.score >= best.score - MARGIN);
    let all = &context.quantities.all;
    let won = pairs.iter().find(|p| better(&all[p.a], &all[p.b])).copied();
    let shown = won.unwrap_or(best);
    context.fill(&mut claim, &shown, f64::NAN);
    let (a, b) = (&all[shown.a], &all[shown.b]);
    // Of several rows of the subject the best is meant.
    claim.verdict = match won {
        Some(_) => ClaimVerdict::Holds,
        None if surely_loses(context, found, &subject, &baseline) => ClaimVerdict::Wrong,
        None => ClaimVerdict::Ambiguous,
    };
    claim.reason = format!(
        "{} against {}",
        crate::judge::reading::figure(a.value),
        crate::judge::reading::figure(b.value)
    );
    claim
}

/// Whether it is certain that the subject does not beat the result whose value the words print: no
/// row of the subject's is better in any column that this value may be of, and nothing is divided by.
fn surely_loses(
    context: &Context<'_>,
    found: &Found,
    subject: &bind::Side,
    baseline: &bind::Side,
) -> bool {
    let tokens = context.tokens(found);
    let direct = matches!(
        tokens[found.at].lower.as_str(),
        "beats" | "beat" | "outperforms" | "outperformed" | "surpasses" | "surpassed" | "tops"
    );
    let divided = tokens[found.clause.clone()].iter().any(|t| {
        matches!(t.lower.as_str(), "per" | "price" | "watt" | "power" | "space" | "/")
            || t.lower.contains('/')
    });
    let (Some(_), true, false) = (baseline.explicit, direct, divided) else { return false };
    if subject.mention.models.is_empty() || subject.explicit.is_some() {
        return false;
    }
    let all = &context.quantities.all;
    let own = all.iter().filter(|q| !q.models.is_disjoint(&subject.mention.models));
    let theirs: Vec<&Quantity> =
        all.iter().filter(|q| baseline.explicit.is_some_and(|(v, _)| q.value == v)).collect();
    let mut compared = 0;
    for q in own {
        for other in theirs.iter().filter(|o| bind::comparable(q, o).is_some()) {
            compared += 1;
            if better(q, other) {
                return false;
            }
        }
    }
    compared > 0
}

fn better(a: &Quantity, b: &Quantity) -> bool {
    if a.lower_is_better { a.value < b.value } else { a.value > b.value }
}

/// "World record", "best": the best of the rows that are printed.
fn superlative(context: &Context<'_>, found: &Found) -> Claim {
    let mut claim = context.claim(ClaimKind::Rank, found);
    let tokens = context.tokens(found);
    let (mut subject, _) = context.sides(found);
    if subject.mention.models.is_empty() {
        subject.mention.models.extend(context.subject.models.iter().cloned());
        subject.mention.words.extend(context.subject.words.iter().cloned());
    }
    if subject.mention.models.is_empty() {
        claim.reason = "it names no result that would rank".into();
        return claim;
    }
    let candidates: Vec<&Quantity> = bind::candidates(&context.quantities, &subject)
        .iter()
        .map(|c| &context.quantities.all[c.quantity])
        .filter(|q| {
            subject.mention.models.is_empty() || !q.models.is_disjoint(&subject.mention.models)
        })
        .collect();
    let chips = scope_chips(tokens);
    let mut lost: Option<(&Quantity, &Quantity)> = None;
    for q in &candidates {
        let rivals: Vec<&Quantity> = rivals(context, q, chips);
        if q.is_each()
            || rivals.len() < 2
            || chips.is_some_and(|c| q.attributes.chips.is_some_and(|own| own != c))
        {
            continue;
        }
        match rivals.iter().find(|r| better(r, q)) {
            None => {
                claim.verdict = ClaimVerdict::Holds;
                claim.inputs = vec![context.input(position(context, q))];
                claim.computed = Some(1.0);
                claim.reason = format!(
                    "best of the {} results printed in its class; what is not printed is not known",
                    rivals.len()
                );
                return claim;
            }
            Some(rival) => {
                lost.get_or_insert((q, rival));
            }
        }
    }
    if let Some((own, rival)) = lost {
        let scoped = tokens.iter().any(|t| CLASSES.contains(&t.lower.as_str())) && chips.is_none();
        claim.inputs =
            vec![context.input(position(context, own)), context.input(position(context, rival))];
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!(
            "{} has {}, and {} has {}{}",
            own.name,
            crate::judge::reading::figure(own.value),
            rival.name,
            crate::judge::reading::figure(rival.value),
            if scoped { ", which may be of another class" } else { "" }
        );
    } else {
        claim.reason = "no results are printed among which it would rank".into();
    }
    claim
}

fn position(context: &Context<'_>, q: &Quantity) -> usize {
    context.quantities.all.iter().position(|other| std::ptr::eq(other, q)).unwrap_or(0)
}

/// The results that stand in the same column, of the class that was named; the claim's own with them.
fn rivals<'a>(context: &'a Context<'_>, q: &Quantity, chips: Option<f64>) -> Vec<&'a Quantity> {
    let same = |other: &Quantity| match (q.origin, other.origin) {
        (Origin::Cell { table: t, column: c, .. }, Origin::Cell { table: u, column: d, .. }) => {
            t == u && c == d
        }
        (Origin::Quoted(_), Origin::Quoted(_)) => q.family == other.family,
        _ => false,
    };
    context
        .quantities
        .all
        .iter()
        .filter(|other| same(other))
        .filter(|other| chips.is_none_or(|c| other.attributes.chips.is_none_or(|own| own == c)))
        .collect()
}

/// "single-chip", "4-chip", "two-socket".
fn scope_chips(tokens: &[Token]) -> Option<f64> {
    tokens.iter().enumerate().find_map(|(i, t)| {
        let n = t.quantity()?;
        let next = tokens.get(i + 1).map_or("", |t| t.lower.as_str());
        matches!(next, "chip" | "socket" | "way" | "processor").then_some(n.value)
    })
}

/// "Ordered by performance": the rows of the table that follows fall, or rise, in one of its columns.
pub(crate) fn order(context: &Context<'_>, found: &Found) -> Claim {
    let mut claim = context.claim(ClaimKind::Order, found);
    let table = context.document.tables.iter().find(|t| {
        t.shape == Shape::Grid
            && (t.title.overlaps(found.span)
                || (t.span.start >= found.span.start
                    && t.span.start - found.span.end.min(t.span.start) < 600))
    });
    match table {
        Some(table) => check_order(table, &mut claim),
        None => claim.reason = "no table follows".into(),
    }
    claim
}

pub(crate) fn check_order(table: &Table, claim: &mut Claim) {
    let mut broken: Option<String> = None;
    let mut whole = true;
    for column in 0..table.columns.len() {
        if role(table, column) != Role::Value {
            continue;
        }
        let values: Vec<f64> =
            (0..table.rows.len()).filter_map(|r| table.number(r, column)).map(|(v, _)| v).collect();
        whole &= values.len() == table.rows.len();
        if values.len() < 2 {
            continue;
        }
        let falls = values.windows(2).all(|w| w[0] >= w[1]);
        let rises = values.windows(2).all(|w| w[0] <= w[1]);
        if falls || rises {
            claim.verdict = ClaimVerdict::Holds;
            claim.reason = format!(
                "the {} rows {} in {}",
                values.len(),
                if falls { "fall" } else { "rise" },
                name(table, column)
            );
            return;
        }
        if broken.is_none() {
            let at = values.windows(2).position(|w| w[0] < w[1]).unwrap_or(0);
            broken = Some(format!(
                "{} stands over {} in {}",
                values[at],
                values[at + 1],
                name(table, column)
            ));
        }
    }
    match broken {
        Some(broken) => {
            claim.verdict = if whole && table.rows.len() >= 3 {
                ClaimVerdict::Wrong
            } else {
                ClaimVerdict::Ambiguous
            };
            claim.reason = broken;
        }
        None => claim.reason = "the table has no column of results".into(),
    }
}

fn name(table: &Table, column: usize) -> String {
    match table.columns.get(column) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => format!("column {}", column + 1),
    }
}
