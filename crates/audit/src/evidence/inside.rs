//! Judges ratios that stand in the cells themselves, `0.84s (2.05x)` or a column of `1.64`: each against
//! the cell of its column whose ratio is one.

use super::amount::Dimension;
use super::grid::{At, Grid};
use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::judge::reading::{Bound, Claimed, figure};
use crate::read::source::Span;

/// The ratios of a table that do not come out, and one claim for those that do.
pub(crate) fn judge(context: &Context<'_>, grid: &Grid) -> Vec<Claim> {
    let mut claims = Vec::new();
    for column in grid.valued() {
        claims.extend(of_column(context, grid, column));
        if grid.dimension(column) == Some(Dimension::Times) {
            claims.extend(beside(context, grid, column));
        }
    }
    claims
}

/// A ratio with its cell, the amount that it is of, and where it is printed.
type Printed = (At, (f64, f64), f64);

fn of_column(context: &Context<'_>, grid: &Grid, column: usize) -> Vec<Claim> {
    let printed: Vec<Printed> = grid
        .bodies()
        .filter_map(|row| {
            let at = At { row, column };
            let cell = grid.cell(at)?;
            Some((at, cell.ratio?, cell.amount.value))
        })
        .collect();
    settle(context, grid, &printed)
}

/// A column of ratios with the amounts of the one column that it can be of.
fn beside(context: &Context<'_>, grid: &Grid, column: usize) -> Vec<Claim> {
    let of: Vec<usize> = grid
        .valued()
        .filter(|c| {
            *c < column
                && matches!(
                    grid.dimension(*c),
                    Some(
                        Dimension::Time | Dimension::Rate | Dimension::ByteRate | Dimension::Bytes
                    )
                )
                && super::metric::statistic(&grid.columns.names[*c].text) < 3
        })
        .collect();
    let [one] = of.as_slice() else { return Vec::new() };
    let printed: Vec<Printed> = grid
        .bodies()
        .filter_map(|row| {
            let at = At { row, column };
            let ratio = grid.amount(at)?;
            Some((at, (ratio.value, ratio.step), grid.amount(At { row, column: *one })?.value))
        })
        .collect();
    settle(context, grid, &printed)
}

/// Where all ratios but one or two come out of one reference and one formula, those are wrong.
fn settle(context: &Context<'_>, grid: &Grid, printed: &[Printed]) -> Vec<Claim> {
    let ones: Vec<&Printed> = printed.iter().filter(|(_, (v, _), _)| *v == 1.0).collect();
    let ([reference], true) = (ones.as_slice(), printed.len() >= 4) else { return Vec::new() };
    let verdicts = |inverse: bool| -> Vec<(f64, ClaimVerdict)> {
        printed
            .iter()
            .map(|(_, (value, step), own)| {
                let ratio = if inverse { reference.2 / own } else { own / reference.2 };
                let claimed = Claimed { value: *value, step: *step, bound: Bound::Exact };
                (ratio, claimed.fit(ratio, ratio * 0.99, ratio * 1.01))
            })
            .collect()
    };
    let wrong =
        |all: &[(f64, ClaimVerdict)]| all.iter().filter(|(_, v)| *v == ClaimVerdict::Wrong).count();
    let (up, down) = (verdicts(false), verdicts(true));
    let (fits, inverse) = if wrong(&up) <= wrong(&down) { (up, false) } else { (down, true) };
    let misses = wrong(&fits);
    // The reference itself proves nothing.
    if misses == 0 || misses * 3 >= printed.len() || printed.len() - misses < 3 {
        return Vec::new();
    }
    let table = &context.document.tables[grid.table];
    printed
        .iter()
        .zip(&fits)
        .filter(|(_, (_, v))| *v == ClaimVerdict::Wrong)
        .filter_map(|((at, (value, _), own), (ratio, _))| {
            let cell = table.rows.get(at.row)?.cells.get(at.column)?;
            let span = Span::new(cell.span.start, cell.span.end);
            let mut claim = context.claim_at(ClaimKind::DerivedColumn, span, "");
            claim.quote = format!("[table] {}: {}", grid.rows.names[at.row].text, cell.text);
            claim.claimed = Some(*value);
            claim.computed = Some(*ratio).filter(|r| r.is_finite());
            claim.verdict = ClaimVerdict::Wrong;
            let name = grid.rows.names[reference.0.row].text.clone();
            claim.inputs = vec![
                context.input_at(&grid.rows.names[at.row].text, *own, span),
                context.input_at(&name, reference.2, span),
            ];
            let sides = if inverse { (reference.2, *own) } else { (*own, reference.2) };
            claim.reason = format!(
                "{}/{} = {}, as the other rows are to {name}",
                figure(sides.0),
                figure(sides.1),
                figure(*ratio)
            );
            Some(claim)
        })
        .collect()
}
