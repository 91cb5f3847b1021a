//! Judges what is left over: values that were measured, things that were counted, limits that were
//! stated, and sentences that say something without a number.

use crate::bind::context::Context;
use crate::bind::quantity::Origin;
use crate::claim::{Claim, ClaimKind, ClaimVerdict, Input};
use crate::detect::mention;
use crate::detect::trigger::bound;
use crate::judge::reading::{Bound, Claimed, figure};
use crate::read::document::BlockKind;
use crate::read::token::Token;
use crate::read::unit::Unit;

/// The claim of a sentence in which nothing compares.
pub(crate) fn judge(
    context: &Context<'_>,
    sentence: usize,
    taken: &[std::ops::Range<usize>],
) -> Option<Claim> {
    let place = context.document.sentences[sentence];
    let tokens = &context.reading.tokens[sentence];
    let kind = context.document.blocks[place.block].kind;
    if kind == BlockKind::Heading || tokens.len() < 4 {
        return None;
    }
    let free = |i: usize| !taken.iter().any(|t| t.contains(&i));
    measured(context, sentence, tokens, &free).or_else(|| counted(context, sentence, tokens, &free))
}

/// A verb, by its ending or by name: what has none is a list of parts.
fn speaks(tokens: &[Token]) -> bool {
    tokens.iter().any(|t| {
        matches!(
            t.lower.as_str(),
            "is" | "are"
                | "was"
                | "were"
                | "has"
                | "have"
                | "had"
                | "can"
                | "we"
                | "takes"
                | "took"
                | "runs"
                | "ran"
                | "did"
                | "gives"
                | "gave"
                | "sees"
                | "saw"
                | "does"
                | "will"
                | "shows"
                | "gets"
                | "got"
                | "reads"
                | "uses"
        ) || (t.is_word() && !t.capital && t.lower.len() > 4 && t.lower.ends_with("ed"))
    })
}

/// "about 30 MB/s", "520 Watts", "15 minutes".
fn measured(
    context: &Context<'_>,
    sentence: usize,
    tokens: &[Token],
    free: &dyn Fn(usize) -> bool,
) -> Option<Claim> {
    let dimension = |i: usize| {
        free(i)
            && tokens[i].quantity().is_some_and(|n| {
                !n.spelled
                    && matches!(
                        n.unit,
                        Some(
                            Unit::Time
                                | Unit::ByteRate
                                | Unit::BitRate
                                | Unit::Power
                                | Unit::Bytes
                                | Unit::Bits
                        )
                    )
            })
    };
    let at = (0..tokens.len())
        .find(|i| {
            dimension(*i) && tokens[*i].quantity().is_some_and(|n| n.unit != Some(Unit::Bytes))
        })
        .or_else(|| (0..tokens.len()).find(|i| dimension(*i)).filter(|_| speaks(tokens)))?;
    let n = tokens[at].quantity()?;
    let place = context.document.sentences[sentence].span;
    let mut claim = context.claim_at(
        ClaimKind::Measurement,
        place,
        "a single value, without the data behind it",
    );
    claim.claimed = Some(n.value);
    let limit = bound(tokens, at) == Bound::AtMost
        && tokens[..at]
            .iter()
            .any(|t| matches!(t.lower.as_str(), "capable" | "limit" | "maximum" | "able"));
    let claimed = Claimed { value: n.base(), step: n.step * n.scale, bound: bound(tokens, at) };
    let same: Vec<usize> = (0..context.quantities.all.len())
        .filter(|i| {
            context.quantities.all[*i].unit == n.unit
                && matches!(context.quantities.all[*i].origin, Origin::Cell { .. })
        })
        .collect();
    let value = |i: usize| context.quantities.all[i].value * context.quantities.all[i].scale;
    let column = |i: usize| match context.quantities.all[i].origin {
        Origin::Cell { table, column, .. } => {
            context.document.tables[table].columns[column].to_lowercase()
        }
        Origin::Quoted(_) => String::new(),
    };
    if limit {
        // Only what is read or written is held against a limit of reading or writing.
        let verb = |stem: &str| tokens.iter().any(|t| t.lower.starts_with(stem));
        let wanted = if verb("writ") {
            "kw/s"
        } else if verb("read") {
            "kr/s"
        } else {
            return Some(claim);
        };
        let greatest = same
            .iter()
            .copied()
            .filter(|i| column(*i) == wanted)
            .max_by(|a, b| value(*a).total_cmp(&value(*b)))?;
        if value(greatest) > 5.0 * n.base() {
            claim.verdict = ClaimVerdict::Wrong;
            claim.computed = Some(value(greatest) / n.scale);
            claim.inputs = vec![context.input(greatest)];
            claim.reason = format!(
                "{} was observed: {}",
                figure(value(greatest) / n.scale),
                context.quantities.all[greatest].name
            );
            return Some(claim);
        }
    }
    if let Some(each) = per_operation(context, tokens, n.unit.as_ref(), claimed) {
        claim.verdict = ClaimVerdict::Holds;
        claim.computed = Some(each.bytes / n.scale);
        claim.reason = each.formula;
        claim.inputs = each.inputs;
        return Some(claim);
    }
    if let Some(found) = same.iter().copied().find(|i| {
        claimed.fit(value(*i), value(*i), value(*i)) == ClaimVerdict::Holds
            && claimed.bound != Bound::AtMost
    }) {
        claim.verdict = ClaimVerdict::Holds;
        claim.computed = Some(value(found) / n.scale);
        claim.inputs = vec![context.input(found)];
        claim.reason = format!("as in {}", context.quantities.all[found].name);
    }
    Some(claim)
}

/// The bytes of each operation, and what they were computed from.
struct Each {
    bytes: f64,
    formula: String,
    inputs: Vec<Input>,
}

/// Bytes for each operation: a column of data a second divided by the one of operations a second
/// beside it ("kw/s" and "w/s").
fn per_operation(
    context: &Context<'_>,
    tokens: &[Token],
    unit: Option<&Unit>,
    claimed: Claimed,
) -> Option<Each> {
    let each = tokens.iter().any(|t| {
        matches!(
            t.lower.as_str(),
            "each" | "per" | "average" | "size" | "sizes" | "i/o" | "i/os" | "read" | "write"
        )
    });
    if unit != Some(&Unit::Bytes) || !each {
        return None;
    }
    for table in &context.document.tables {
        for (data, operations) in [("kr/s", "r/s"), ("kw/s", "w/s")] {
            let column = |name: &str| table.columns.iter().position(|c| c == name);
            let (Some(d), Some(o)) = (column(data), column(operations)) else { continue };
            for row in 0..table.rows.len() {
                let (Some((kilobytes, _)), Some((count, _))) =
                    (table.number(row, d), table.number(row, o))
                else {
                    continue;
                };
                let size = kilobytes / count * 1e3;
                if count >= 1.0 && claimed.fit(size, size, size) == ClaimVerdict::Holds {
                    let input = |name: &str, value: f64, column: usize| {
                        let cell = table.rows.get(row)?.cells.get(column)?;
                        Some(context.input_at(name, value, cell.span))
                    };
                    let inputs = [input(data, kilobytes, d), input(operations, count, o)];
                    return Some(Each {
                        bytes: size,
                        formula: format!(
                            "{data} / {operations} = {}/{} = {} KB",
                            figure(kilobytes),
                            figure(count),
                            figure(kilobytes / count)
                        ),
                        inputs: inputs.into_iter().flatten().collect(),
                    });
                }
            }
        }
    }
    None
}

/// "used all 8 cores", "one JVM for each core".
fn counted(
    context: &Context<'_>,
    sentence: usize,
    tokens: &[Token],
    free: &dyn Fn(usize) -> bool,
) -> Option<Claim> {
    let at = (0..tokens.len()).find(|i| {
        free(*i) && tokens[*i].quantity().is_some_and(|n| matches!(n.unit, Some(Unit::Count(_))))
    })?;
    if !speaks(tokens) {
        return None;
    }
    let n = tokens[at].quantity()?;
    let place = context.document.sentences[sentence].span;
    let mut claim = context.claim_at(ClaimKind::Count, place, "the count is printed nowhere else");
    claim.claimed = Some(n.value);
    let mention = mention::read(tokens, &context.quantities.systems);
    if one_for_each(tokens) {
        instances(context, &mut claim);
        return Some(claim);
    }
    let rows: Vec<usize> = (0..context.quantities.all.len())
        .filter(|i| {
            let q = &context.quantities.all[*i];
            mention.models.is_empty() || !q.models.is_disjoint(&mention.models)
        })
        .collect();
    let agreements: Vec<(usize, usize)> = rows
        .iter()
        .map(|i| context.quantities.all[*i].attributes.agreement(&mention.attributes))
        .collect();
    if let Some(i) = agreements.iter().position(|(same, different)| *same > 0 && *different == 0) {
        claim.verdict = ClaimVerdict::Holds;
        claim.inputs = vec![context.input(rows[i])];
        claim.reason = format!("as in {}", context.quantities.all[rows[i]].name);
    } else if !mention.models.is_empty()
        && agreements.iter().any(|(_, different)| *different > 0)
        && agreements.iter().all(|(same, _)| *same == 0)
    {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = "the table gives another count".into();
    }
    Some(claim)
}

/// "each JVM on a processor with one core", "one JVM per core".
fn one_for_each(tokens: &[Token]) -> bool {
    let has = |words: &[&str]| tokens.iter().any(|t| words.contains(&t.lower.as_str()));
    has(&["jvm", "jvms", "instance", "instances"])
        && has(&["each", "per", "every"])
        && has(&["core", "cores"])
}

/// The instances that the table's values for each instance imply are as many as the cores of the
/// subject.
fn instances(context: &Context<'_>, claim: &mut Claim) {
    let all = &context.quantities.all;
    for each in all
        .iter()
        .filter(|q| q.family.contains("/jvm") && !q.models.is_disjoint(&context.subject.models))
    {
        let total = all.iter().find(|q| {
            q.label == each.label
                && q.attributes == each.attributes
                && !q.family.contains('/')
                && q.value >= each.value
        });
        let (Some(total), Some(cores)) = (total, each.attributes.cores) else { continue };
        let count = (total.value / each.value).round();
        claim.computed = Some(count);
        claim.reason = format!(
            "{}/{} = {count} instances on {cores} cores",
            figure(total.value),
            figure(each.value)
        );
        claim.verdict = if count == cores { ClaimVerdict::Holds } else { ClaimVerdict::Ambiguous };
        return;
    }
}
