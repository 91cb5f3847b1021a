//! What is not there: results that are compared in the text and missing in its disclosure, and rows
//! that are not of the class that their table claims.

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::mention;
use crate::detect::role::{Role, role};
use crate::read::source::Span;
use crate::read::table::Shape;
use crate::read::token::{Token, tokens};

/// Results that a comparison used and that the disclosure does not name.
pub(crate) fn disclosures(context: &Context<'_>, judged: &[Claim]) -> Vec<Claim> {
    let text = context.document.text;
    let disclosed: Vec<f64> = context
        .document
        .blocks
        .iter()
        .filter(|b| b.disclosure)
        .flat_map(|b| tokens(text, b.span))
        .filter_map(|t| t.quantity().map(|n| n.value))
        .collect();
    // A disclosure without results is no list of them.
    let lists = context
        .quantities
        .all
        .iter()
        .filter(|q| q.value >= 10.0 && disclosed.contains(&q.value))
        .count();
    if lists < 2 {
        return Vec::new();
    }
    let mut claims: Vec<Claim> = Vec::new();
    let mut reported: Vec<u64> = Vec::new();
    let compared = judged.iter().filter(|c| {
        matches!(c.kind, ClaimKind::Percent | ClaimKind::Times | ClaimKind::PerDenominator)
    });
    for claim in compared {
        let Some(baseline) = claim.inputs.get(1) else { continue };
        if disclosed.contains(&baseline.value)
            || baseline.quoted.is_some()
            || reported.contains(&baseline.value.to_bits())
        {
            continue;
        }
        reported.push(baseline.value.to_bits());
        let mut missing = context.claim_at(ClaimKind::MissingDisclosure, claim.span, "");
        missing.quote =
            format!("[table] {} is compared but missing from the disclosure", baseline.name);
        missing.verdict = ClaimVerdict::Ambiguous;
        missing.inputs = vec![baseline.clone()];
        missing.reason = format!(
            "{} with {} is compared here and left out of the disclosure",
            baseline.name,
            crate::judge::reading::figure(baseline.value)
        );
        claims.push(missing);
    }
    claims
}

/// Rows with another count of chips than the table, or the text over it, says.
pub(crate) fn scopes(context: &Context<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for table in context.document.tables.iter().filter(|t| t.shape == Shape::Grid) {
        let Some(column) = (0..table.columns.len()).find(|c| role(table, *c) == Role::Chips) else {
            continue;
        };
        let own = tokens(context.document.text, table.title);
        let Some(chips) =
            class(&own).or_else(|| context.reading.tokens.iter().take(4).find_map(|t| class(t)))
        else {
            continue;
        };
        let counts: Vec<Option<f64>> =
            (0..table.rows.len()).map(|r| table.number(r, column).map(|(v, _)| v)).collect();
        let same = counts.iter().filter(|c| **c == Some(chips)).count();
        if same * 2 <= table.rows.len() {
            continue;
        }
        for (row, count) in table.rows.iter().zip(&counts) {
            let Some(count) = count.filter(|c| *c != chips) else { continue };
            let mut claim =
                context.claim_at(ClaimKind::Scope, Span::new(row.span.start, row.span.end), "");
            let value = row
                .cells
                .iter()
                .enumerate()
                .find(|(c, cell)| cell.number.is_some() && role(table, *c) == Role::Value)
                .map_or("", |(_, cell)| cell.text.as_str());
            claim.quote = format!(
                "[table] {chips}-chip table includes {} with {count} chips ({value})",
                row.label
            );
            claim.claimed = Some(chips);
            claim.computed = Some(count);
            claim.verdict = ClaimVerdict::Ambiguous;
            claim.reason = format!("{} has {count} chips, and the others {chips}", row.label);
            claims.push(claim);
        }
    }
    claims
}

/// The chips of a class: "single chip", "4-chip".
fn class(tokens: &[Token]) -> Option<f64> {
    let chips = mention::attributes(tokens).chips;
    tokens
        .windows(2)
        .any(|w| w[0].quantity().is_some() && matches!(w[1].lower.as_str(), "chip" | "socket"))
        .then_some(chips)
        .flatten()
}
