//! Judges words in the cells of a table: "Previous Best", "New Record", "Best POWER6" beside a row.

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::role::{Role, role};
use crate::read::table::{Row, Shape, Table};

/// The claims in a table's notes.
pub(crate) fn judge(context: &Context<'_>, table: &Table) -> Vec<Claim> {
    if table.shape != Shape::Grid || table.rows.len() > 500 {
        return Vec::new();
    }
    let Some(column) = (0..table.columns.len()).find(|c| role(table, *c) == Role::Value) else {
        return Vec::new();
    };
    let note = |row: &Row| {
        row.cells
            .iter()
            .skip(1)
            .find(|c| {
                c.number.is_none()
                    && c.text.split_whitespace().any(|w| {
                        matches!(
                            w.to_lowercase().as_str(),
                            "best" | "record" | "fastest" | "leader" | "highest"
                        )
                    })
            })
            .map(|c| c.text.to_lowercase())
    };
    let mut claims = Vec::new();
    for (r, row) in table.rows.iter().enumerate() {
        let (Some(note), Some((value, _))) = (note(row), table.number(r, column)) else { continue };
        let mut claim = context.claim_at(ClaimKind::Rank, row.span, "");
        let previous = note.contains("previous") || note.contains("prior");
        let class: Vec<&str> = note
            .split_whitespace()
            .filter(|w| {
                !matches!(
                    *w,
                    "best"
                        | "record"
                        | "new"
                        | "previous"
                        | "prior"
                        | "fastest"
                        | "world"
                        | "the"
                        | "highest"
                        | "leader"
                )
            })
            .collect();
        let rivals: Vec<f64> = table
            .rows
            .iter()
            .enumerate()
            .filter(|(i, other)| {
                let words = format!(
                    "{} {}",
                    other.label,
                    other.cells.iter().map(|c| c.text.as_str()).collect::<Vec<_>>().join(" ")
                )
                .to_lowercase();
                *i != r
                    && class.iter().all(|c| words.contains(c))
                    && !(previous
                        && self::note(other)
                            .is_some_and(|n| n.contains("record") && !n.contains("previous")))
            })
            .filter_map(|(i, _)| table.number(i, column).map(|(v, _)| v))
            .collect();
        claim.inputs = vec![context.input_at(&row.label, value, row.cells[column].span)];
        if rivals.is_empty() {
            claim.reason = format!("no other row of its class is printed ({note})");
        } else if rivals.iter().all(|v| *v <= value) {
            claim.verdict = ClaimVerdict::Holds;
            claim.computed = Some(1.0);
            claim.reason =
                format!("{value} is the greatest of the {} rows of its class", rivals.len() + 1);
        } else {
            claim.verdict = ClaimVerdict::Ambiguous;
            claim.reason = format!(
                "{value} is not the greatest of the {} rows that may be of its class",
                rivals.len() + 1
            );
        }
        claims.push(claim);
    }
    claims
}

fn note(row: &Row) -> Option<String> {
    row.cells
        .iter()
        .skip(1)
        .find(|c| c.number.is_none() && c.text.to_lowercase().contains("record"))
        .map(|c| c.text.to_lowercase())
}

/// One system in two tables with other counts of chips or cores.
pub(crate) fn consistency(context: &Context<'_>) -> Vec<Claim> {
    let all = &context.quantities.all;
    let mut claims: Vec<Claim> = Vec::new();
    let own = |q: &crate::bind::quantity::Quantity| match q.origin {
        crate::bind::quantity::Origin::Cell { table, row, .. } => Some((table, row)),
        crate::bind::quantity::Origin::Quoted(_) => None,
    };
    let mut seen: Vec<(usize, usize)> = Vec::new();
    for q in all.iter().take(2000) {
        let Some((table, row)) = own(q) else { continue };
        if seen.contains(&(table, row)) || seen.len() > 300 {
            continue;
        }
        seen.push((table, row));
        let other = all.iter().find(|o| {
            own(o).is_some_and(|(t, r)| t > table && seen.len() < 300 && (t, r) != (table, row))
                && o.models == q.models
                && !q.models.is_empty()
                && o.attributes.ghz == q.attributes.ghz
                && (o.attributes.chips, o.attributes.cores)
                    != (q.attributes.chips, q.attributes.cores)
                && o.attributes.chips.is_some() == q.attributes.chips.is_some()
        });
        // The same system may stand in both tables with several configurations.
        let alike = all.iter().any(|o| {
            own(o).is_some_and(|(t, _)| t != table)
                && o.models == q.models
                && o.attributes == q.attributes
        });
        if let (Some(other), false) = (other, alike) {
            let line = context.document.tables[table].rows[row].span;
            let mut claim = context.claim_at(ClaimKind::Scope, line, "");
            claim.verdict = ClaimVerdict::Ambiguous;
            claim.reason = format!("{} here, {} in another table", q.name, other.name);
            claims.push(claim);
        }
    }
    claims
}
