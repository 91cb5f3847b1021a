//! Judges a value for each instance beside the total: "bops/JVM" beside "bops".

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::judge::derived::claim_of;
use crate::judge::reading::{Bound, Claimed, figure};
use crate::read::table::{Row, Table};

/// For a column "m/JVM" or "m per JVM": the column "m".
pub(crate) fn per_instance_of(table: &Table, column: usize, values: &[usize]) -> Option<usize> {
    let name = table.columns[column].to_lowercase();
    let (metric, _) = name.split_once('/').or_else(|| name.split_once(" per "))?;
    let metric = metric.trim();
    let instances = ["jvm", "instance", "process", "copy", "node", "vm", "blade", "server"];
    if !instances.iter().any(|i| name.ends_with(i)) {
        return None;
    }
    if metric.is_empty()
        || matches!(name.as_str(), "r/s" | "w/s" | "kr/s" | "kw/s")
        || name.ends_with("/s")
        || name.ends_with("/sec")
    {
        return None;
    }
    values
        .iter()
        .copied()
        .find(|c| *c != column && table.columns[*c].to_lowercase().trim().ends_with(metric))
}

/// The total divided by the value for each instance is a whole number of instances.
pub(crate) fn per_instance(
    context: &Context<'_>,
    table: &Table,
    row: &Row,
    total: usize,
    each: usize,
) -> Option<Claim> {
    let (sum, _) = row.cells[total].number?;
    let (one, step) = row.cells[each].number?;
    let mut claim = claim_of(context, ClaimKind::PerInstance, table, row, &[total, each]);
    claim.claimed = Some(one);
    let count = (sum / one).round();
    if one <= 0.0 || !(1.0..=1e6).contains(&count) {
        claim.reason = "a value for each instance that is larger than the total".into();
        claim.verdict = ClaimVerdict::Ambiguous;
        return Some(claim);
    }
    let computed = sum / count;
    claim.computed = Some(computed);
    claim.verdict =
        Claimed { value: one, step, bound: Bound::Exact }.fit(computed, computed, computed);
    claim.reason = format!("{}/{count} = {}: {count} instances", figure(sum), figure(computed));
    if claim.verdict == ClaimVerdict::Wrong {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!(
            "{}/{} = {}: no whole number of instances gives both",
            figure(sum),
            figure(one),
            figure(sum / one)
        );
    }
    Some(claim)
}
