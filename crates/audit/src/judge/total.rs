//! Judges totals and averages that stand in tables: in a row of their own, or in a column.

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::judge::derived::claim_of;
use crate::judge::reading::{Bound, Claimed, figure};
use crate::read::table::Table;

/// Several columns of one name, the last of which is the sum of the others in every row: one claim
/// for the table.
pub(crate) fn same_names(context: &Context<'_>, table: &Table, values: &[usize]) -> Option<Claim> {
    let last = *values.last()?;
    let name = &table.columns[last];
    let others: Vec<usize> =
        values.iter().copied().filter(|c| *c != last && table.columns[*c] == *name).collect();
    if name.is_empty() || others.len() < 2 || table.rows.len() < 2 {
        return None;
    }
    let mut worst = ClaimVerdict::Holds;
    let mut furthest = 0.0f64;
    for row in &table.rows {
        let (total, step) = row.cells[last].number?;
        let parts: Option<Vec<(f64, f64)>> = others.iter().map(|c| row.cells[*c].number).collect();
        let parts = parts?;
        let sum: f64 = parts.iter().map(|(v, _)| v).sum();
        let room: f64 = parts.iter().map(|(_, s)| s / 2.0).sum();
        if (sum - total).abs() > room + step / 2.0 + 1e-9 {
            worst = ClaimVerdict::Ambiguous;
        }
        furthest = furthest.max((sum - total).abs());
    }
    let mut claim = context.claim_at(ClaimKind::Sum, table.span, "");
    claim.quote = format!(
        "[table] {} {name} columns against the total {name}, {} rows",
        others.len(),
        table.rows.len()
    );
    claim.verdict = worst;
    claim.reason = format!("the columns {name} add up to the last one within {}", figure(furthest));
    Some(claim)
}

/// Rows that are called total, sum, average or mean.
pub(crate) fn totals(context: &Context<'_>, table: &Table, values: &[usize]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (r, row) in table.rows.iter().enumerate() {
        let label = row.label.to_lowercase();
        let words: Vec<&str> = label.split(|c: char| !c.is_alphanumeric()).collect();
        let has = |list: &[&str]| {
            words.first().is_some_and(|w| list.contains(w))
                || (words.len() <= 2 && words.iter().any(|w| list.contains(w)))
        };
        let geometric = has(&["geomean", "geometric"]);
        let mean = has(&["average", "mean", "avg"]) || geometric;
        let sum = has(&["total", "sum"]);
        if !mean && !sum || r < 2 {
            continue;
        }
        for column in values {
            let Some((value, step)) = row.cells[*column].number else { continue };
            let above: Vec<f64> =
                (0..r).filter_map(|i| table.number(i, *column)).map(|(v, _)| v).collect();
            if above.len() < 2 {
                continue;
            }
            let n = above.len() as f64;
            let total: f64 = above.iter().sum();
            let (what, computed) = if geometric && above.iter().all(|v| *v > 0.0) {
                ("geometric mean", (above.iter().map(|v| v.ln()).sum::<f64>() / n).exp())
            } else if mean {
                ("mean", total / n)
            } else {
                ("sum", total)
            };
            let kind = if mean { ClaimKind::Mean } else { ClaimKind::Sum };
            let mut claim = claim_of(context, kind, table, row, &[*column]);
            claim.claimed = Some(value);
            claim.computed = Some(computed);
            let rounding = step * n.max(1.0) / 2.0;
            let slack = if mean { step / 2.0 } else { rounding };
            claim.verdict = Claimed { value, step, bound: Bound::Exact }.fit(
                computed,
                computed - slack,
                computed + slack,
            );
            if claim.verdict == ClaimVerdict::Wrong {
                // The rows above may be more than what is added up.
                claim.verdict = ClaimVerdict::Ambiguous;
            }
            claim.reason =
                format!("the {what} of the {} values above is {}", above.len(), figure(computed));
            claims.push(claim);
        }
    }
    claims
}
