//! Judges results that stand again outside of their table: in the disclosure, in prose. The value
//! must be one of those printed, and the system, its chips, cores and clock those of its row.

use std::collections::BTreeSet;

use crate::bind::context::Context;
use crate::bind::quantity::{Origin, Quantity, models};
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::mention;
use crate::detect::processor;
use crate::read::document::BlockKind;
use crate::read::source::Span;
use crate::read::token::{Number, Token, tokens};
use crate::read::unit::Unit;

/// The claims of a sentence that restates results; `taken` says that it compares already.
pub(crate) fn judge(context: &Context<'_>, sentence: usize, taken: bool) -> Option<Claim> {
    let tokens = &context.reading.tokens[sentence];
    let place = context.document.sentences[sentence];
    let block = &context.document.blocks[place.block];
    let values: Vec<usize> = (0..tokens.len()).filter(|i| is_result(context, tokens, *i)).collect();
    if values.is_empty() || (taken && !block.disclosure) || block.kind == BlockKind::Heading {
        return None;
    }
    let mut claim = context.claim_at(
        ClaimKind::Restatement,
        place.span,
        "the value stands in no table and is quoted nowhere",
    );
    let mut worst = ClaimVerdict::Holds;
    let mut reasons = Vec::new();
    let mut start = 0;
    for at in &values {
        let Some(n) = tokens[*at].quantity() else { continue };
        let (verdict, reason, quantity) = value(context, tokens, start..*at, n, block.disclosure);
        if let Some(q) = quantity {
            claim.inputs.push(context.input(q));
        }
        claim.claimed.get_or_insert(n.value);
        if rank(verdict) > rank(worst) || reasons.is_empty() {
            worst = if reasons.is_empty() { verdict } else { worst.max_by_rank(verdict) };
            reasons.insert(0, reason);
        }
        if tokens[start..*at].iter().any(|t| mention::is_model(&mention::form(&t.lower))) {
            start = *at + 1;
        }
    }
    claim.verdict = worst;
    claim.computed = claim.inputs.first().map(|i| i.value);
    claim.reason = reasons.into_iter().next().unwrap_or_default();
    Some(claim)
}

fn rank(verdict: ClaimVerdict) -> usize {
    match verdict {
        ClaimVerdict::Holds => 0,
        ClaimVerdict::OffByRounding => 1,
        ClaimVerdict::Unsupported => 2,
        ClaimVerdict::Ambiguous => 3,
        ClaimVerdict::Wrong => 4,
    }
}

impl ClaimVerdict {
    fn max_by_rank(self, other: ClaimVerdict) -> ClaimVerdict {
        if rank(other) > rank(self) { other } else { self }
    }
}

/// Words that name a metric behind a number.
fn is_metric(lower: &str) -> bool {
    (lower.starts_with("spec") && lower.bytes().any(|b| b.is_ascii_digit()))
        || lower.contains("bops")
        || lower.ends_with("ops")
        || lower.ends_with("ops/sec")
        || lower.ends_with("ops/s")
        || lower.ends_with("tpmc")
        || lower == "transactions"
}

/// Whether the number at a place is a result: it has a metric behind it, or it is in a table and
/// has digits enough to be no accident.
fn is_result(context: &Context<'_>, tokens: &[Token], at: usize) -> bool {
    let Some(n) = tokens[at].quantity() else { return false };
    if n.spelled || !matches!(n.unit, None | Some(Unit::ByteRate)) {
        return false;
    }
    let next = tokens.get(at + 1).map_or("", |t| t.lower.as_str());
    let fourth = n.value >= 1000.0 || (n.step < 1.0 && n.value >= 10.0);
    is_metric(next)
        || (fourth
            && context
                .quantities
                .with_value(n.value)
                .iter()
                .any(|q| context.quantities.all[*q].step == n.step))
}

/// One value: the verdict, why, and the result it is.
fn value(
    context: &Context<'_>,
    tokens: &[Token],
    before: std::ops::Range<usize>,
    n: &Number,
    disclosure: bool,
) -> (ClaimVerdict, String, Option<usize>) {
    let all = &context.quantities.all;
    let same = context.quantities.with_value(n.value).to_vec();
    let printed: Vec<usize> =
        same.iter().copied().filter(|i| matches!(all[*i].origin, Origin::Cell { .. })).collect();
    let candidates = if printed.is_empty() { &same } else { &printed };
    let phrase = &tokens[before];
    let stated = mention::read(phrase, &context.quantities.systems);
    let text = match (phrase.first(), phrase.last()) {
        (Some(a), Some(b)) => context.text(Span::new(a.span.start, b.span.end)),
        _ => "",
    };
    let named = models(text);
    let Some(first) = candidates.first().copied() else {
        let figure = crate::judge::reading::figure(n.value);
        return (
            ClaimVerdict::Unsupported,
            format!("{figure} stands in no table and is quoted nowhere"),
            None,
        );
    };
    let agrees = |q: &Quantity| {
        named.is_empty() || q.models.is_empty() || !q.models.is_disjoint(&stated.words)
    };
    let Some(row) = candidates
        .iter()
        .copied()
        .find(|i| agrees(&all[*i]) && all[*i].attributes.agreement(&stated.attributes).1 == 0)
    else {
        return mismatch(
            context,
            candidates,
            first,
            n,
            &named,
            disclosure,
            &stated.attributes,
            &agrees,
        );
    };
    if let Some((here, table)) = other_processor(context, phrase, row) {
        let sure =
            disclosure && !named.is_empty() && matches!(all[row].origin, Origin::Cell { .. });
        let verdict = if sure { ClaimVerdict::Wrong } else { ClaimVerdict::Ambiguous };
        return (verdict, format!("{here} here, {table} in the table"), Some(row));
    }
    let (here, table) = (generations(text), generations(&all[row].label));
    if !here.is_empty() && !table.is_empty() && here.is_disjoint(&table) {
        let sure = disclosure && telling(n) && matches!(all[row].origin, Origin::Cell { .. });
        let verdict = if sure { ClaimVerdict::Wrong } else { ClaimVerdict::Ambiguous };
        let name = all[row].label.clone();
        return (verdict, format!("{} here, {name} in the table", text.trim()), Some(row));
    }
    (ClaimVerdict::Holds, format!("as in {}", all[row].name), Some(row))
}

/// Digits enough that a value is of one result only.
fn telling(n: &Number) -> bool {
    n.value >= 1000.0 && n.value % 100.0 != 0.0
}

/// The generations in a system's name: "G6", "M2", "S4".
fn generations(name: &str) -> BTreeSet<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|w| {
            w.len() == 2
                && w.starts_with(['G', 'M', 'S'])
                && w.ends_with(|c: char| c.is_ascii_digit())
        })
        .map(str::to_owned)
        .collect()
}

/// The processor that is stated and the one of the row, where they surely differ.
fn other_processor(
    context: &Context<'_>,
    phrase: &[Token],
    row: usize,
) -> Option<(String, String)> {
    let Origin::Cell { table, row, .. } = context.quantities.all[row].origin else { return None };
    let own = tokens(context.document.text, context.document.tables[table].rows[row].span);
    let (stated, printed) = (processor::designations(phrase), processor::designations(&own));
    let (Some(here), Some(there)) = (stated.first(), printed.first()) else { return None };
    let one = stated.len() == 1 && printed.len() == 1;
    (one && processor::differ(here, there)).then(|| (here.to_uppercase(), there.to_uppercase()))
}

/// The digits of a model: "X6270" and "6270" may be one.
fn digits(model: &str) -> String {
    model.chars().filter(char::is_ascii_digit).collect()
}

/// No row with this value has the system, chips, cores and clock that are stated.
#[allow(clippy::too_many_arguments)]
fn mismatch(
    context: &Context<'_>,
    candidates: &[usize],
    first: usize,
    n: &Number,
    named: &BTreeSet<String>,
    disclosure: bool,
    stated: &mention::Attributes,
    agrees: &dyn Fn(&Quantity) -> bool,
) -> (ClaimVerdict, String, Option<usize>) {
    let all = &context.quantities.all;
    let telling = telling(n);
    if let Some(row) = candidates.iter().copied().find(|i| agrees(&all[*i])) {
        let own = &all[row].attributes;
        let differs = [
            ("chips", own.chips, stated.chips),
            ("cores", own.cores, stated.cores),
            ("threads", own.threads, stated.threads),
            ("GHz", own.ghz, stated.ghz),
        ]
        .into_iter()
        .find_map(|(what, table, here)| {
            table
                .zip(here)
                .filter(|(t, h)| (t - h).abs() > 0.006 * t.max(*h))
                .map(|(t, h)| format!("{h} {what} here, {t} in the table"))
        });
        // With one count alike the columns were surely read right.
        let (same, different) = own.agreement(stated);
        let sure = disclosure
            && telling
            && matches!(all[row].origin, Origin::Cell { .. })
            && !named.is_empty()
            && same >= 1
            && different == 1;
        let verdict = if sure { ClaimVerdict::Wrong } else { ClaimVerdict::Ambiguous };
        return (
            verdict,
            differs.unwrap_or_else(|| "another configuration than in the table".into()),
            Some(row),
        );
    }
    let row = &all[first];
    let alike = named.iter().any(|m| {
        row.models.iter().any(|r| {
            r.starts_with(m.as_str()) || m.starts_with(r.as_str()) || digits(r) == digits(m)
        })
    });
    let sure = disclosure
        && telling
        && !alike
        && named.len() == 1
        && matches!(row.origin, Origin::Cell { .. });
    let here: Vec<String> = named.iter().map(|m| m.to_uppercase()).collect();
    (
        if sure { ClaimVerdict::Wrong } else { ClaimVerdict::Ambiguous },
        format!("{} here, {} in the table with the same value", here.join(" "), row.label),
        Some(first),
    )
}
