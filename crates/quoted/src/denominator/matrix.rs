//! Matrix of systems by denominators: every number, its rank, and where a ranking reverses.

use std::cmp::Ordering;

use assay_model::Better;
use serde::Serialize;

use super::{Basis, Denominator, SystemResult};
use crate::quantity::Quantity;

/// Matrix of systems (rows, in the given order) and bases (columns, the total first). A basis that
/// no system has recorded is listed in `missing` instead of being a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Matrix {
    pub bases: Vec<Basis>,
    pub rows: Vec<MatrixRow>,
    /// Denominators that no system has recorded.
    pub missing: Vec<Denominator>,
}

/// Row of one system.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixRow {
    /// Label of the system.
    pub label: String,
    /// Cells in the order of the columns; `None` where the denominator is not recorded.
    pub cells: Vec<Option<MatrixCell>>,
    /// Number of recorded columns in which the system has rank 1.
    pub leads: usize,
    /// Number of columns that are recorded for the system.
    pub of: usize,
    /// True if there are other systems, and the system is ahead of each of them in every column
    /// that both have recorded (at least two columns).
    pub dominates: bool,
}

/// One number of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixCell {
    /// The number with its derivation.
    pub quantity: Quantity,
    /// Rank in the column, from 1; equal numbers share a rank. `None` where the column has no order
    /// (no direction, or different units).
    pub rank: Option<usize>,
    /// True if the system is behind another one here that it is ahead of in total.
    pub reversed: bool,
}

/// Builds the matrix of `entries`.
pub fn matrix(entries: &[SystemResult]) -> Matrix {
    let (bases, absent): (Vec<Basis>, Vec<Basis>) =
        Basis::all().partition(|b| entries.iter().any(|e| e.number(*b).is_some()));
    let mut rows: Vec<MatrixRow> = entries
        .iter()
        .map(|e| MatrixRow {
            label: e.label.clone(),
            cells: Vec::with_capacity(bases.len()),
            leads: 0,
            of: 0,
            dominates: false,
        })
        .collect();
    for &basis in &bases {
        let ranks = ranks(entries, basis);
        let reversed = reversed(entries, basis);
        for (i, (row, entry)) in rows.iter_mut().zip(entries).enumerate() {
            let cell = entry.quantity(basis).map(|quantity| MatrixCell {
                quantity,
                rank: ranks[i],
                reversed: reversed[i],
            });
            row.of += usize::from(cell.is_some());
            row.leads += usize::from(ranks[i] == Some(1));
            row.cells.push(cell);
        }
    }
    let missing = absent
        .into_iter()
        .filter_map(|b| if let Basis::Per(d) = b { Some(d) } else { None })
        .collect();
    // Only a system that leads in each of its columns can be ahead of all others everywhere.
    for i in 0..rows.len() {
        rows[i].dominates = rows.len() > 1
            && rows[i].leads == rows[i].of
            && (0..entries.len())
                .filter(|j| *j != i)
                .all(|j| super::ranking(&entries[i], &entries[j]).dominates);
    }
    Matrix { bases, rows, missing }
}

/// Returns the rank of each entry under `basis`.
pub(crate) fn ranks(entries: &[SystemResult], basis: Basis) -> Vec<Option<usize>> {
    let mut ranks = vec![None; entries.len()];
    if !has_order(entries, basis) {
        return ranks;
    }
    let mut order: Vec<(usize, f64)> =
        entries.iter().enumerate().filter_map(|(i, e)| Some((i, e.number(basis)?))).collect();
    order.sort_by(|a, b| better_first(entries[a.0].better, a.1, b.1));
    let mut place = 0;
    for (n, (i, value)) in order.iter().enumerate() {
        if n == 0 || order[n - 1].1 != *value {
            place = n + 1;
        }
        ranks[*i] = Some(place);
    }
    ranks
}

/// Compares two numbers so that the better one sorts first.
pub(crate) fn better_first(better: Better, a: f64, b: f64) -> Ordering {
    match better {
        Better::Higher => b.total_cmp(&a),
        Better::Lower => a.total_cmp(&b),
        Better::Neither => Ordering::Equal,
    }
}

/// Returns true if the numbers of a column can be ordered: one direction, one unit.
fn has_order(entries: &[SystemResult], basis: Basis) -> bool {
    let unit = |e: &SystemResult| match basis {
        Basis::Total => e.value.unit.clone(),
        Basis::Per(d) => format!("{}/{}", e.value.unit, e.counts.unit(d)),
    };
    let mut recorded = entries.iter().filter(|e| e.number(basis).is_some());
    let Some(first) = recorded.next() else { return false };
    let of_first = unit(first);
    first.better != Better::Neither
        && recorded.all(|e| e.better == first.better && unit(e) == of_first)
}

/// Returns for each entry whether it is behind another one under `basis` that it is ahead of in
/// total.
fn reversed(entries: &[SystemResult], basis: Basis) -> Vec<bool> {
    let mut out = vec![false; entries.len()];
    if basis == Basis::Total || !has_order(entries, Basis::Total) || !has_order(entries, basis) {
        return out;
    }
    let mut order: Vec<(usize, f64, f64)> = entries
        .iter()
        .enumerate()
        .filter_map(|(i, e)| Some((i, e.number(Basis::Total)?, e.number(basis)?)))
        .collect();
    let Some(better) = entries.first().map(|e| e.better) else { return out };
    // Scan from the worst total upwards and keep the best number among the entries that are
    // strictly behind in total.
    order.sort_by(|a, b| better_first(better, a.1, b.1).reverse());
    let ahead = |a: f64, b: f64| better_first(better, a, b) == Ordering::Less;
    let (mut behind, mut pending): (Option<f64>, Option<f64>) = (None, None);
    let better_of = |a: Option<f64>, b: f64| a.map_or(b, |a| if ahead(a, b) { a } else { b });
    for (n, (i, total, number)) in order.iter().enumerate() {
        if n > 0 && order[n - 1].1 != *total {
            behind = pending;
        }
        out[*i] = behind.is_some_and(|best| ahead(best, *number));
        pending = Some(better_of(pending, *number));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::{entry, two};
    use super::*;

    #[test]
    fn ranks_and_reversals_stand_in_the_matrix() {
        let (a, b) = two();
        let m = matrix(&[a, b]);
        assert_eq!(m.bases.len(), 7);
        assert_eq!(m.missing, [Denominator::Instance, Denominator::CoreGhz]);
        let ranks: Vec<usize> =
            m.rows[0].cells.iter().map(|c| c.as_ref().unwrap().rank.unwrap()).collect();
        assert_eq!(ranks, [1, 1, 2, 2, 1, 2, 2]);
        let marks: Vec<bool> =
            m.rows[0].cells.iter().map(|c| c.as_ref().unwrap().reversed).collect();
        assert_eq!(marks, [false, false, true, true, false, true, true]);
        assert!(m.rows[1].cells.iter().flatten().all(|c| !c.reversed));
        assert_eq!((m.rows[0].leads, m.rows[0].of, m.rows[0].dominates), (3, 7, false));
        assert_eq!((m.rows[1].leads, m.rows[1].of), (4, 7));
    }

    #[test]
    fn what_is_missing_is_not_ranked() {
        let a = entry("A", 3.0, [Some(1.0), None, None, Some(100.0), None, None]);
        let b = entry("B", 2.0, [Some(1.0), None, None, None, None, None]);
        let c = entry("C", 2.0, [Some(1.0), None, None, Some(50.0), None, None]);
        let m = matrix(&[a, b, c]);
        let watt = m.bases.iter().position(|b| *b == Basis::Per(Denominator::Watt)).unwrap();
        assert_eq!(m.rows[1].cells[watt], None);
        let rank = |r: usize| m.rows[r].cells[watt].as_ref().unwrap().rank;
        assert_eq!((rank(0), rank(2)), (Some(2), Some(1)));
        assert_eq!((m.rows[1].cells[0].as_ref().unwrap().rank, m.rows[1].of), (Some(2), 2));
        assert_eq!(m.rows[2].cells[0].as_ref().unwrap().rank, Some(2), "equals share a place");
    }

    #[test]
    fn one_that_leads_everywhere_dominates() {
        let a = entry("A", 4.0, [Some(1.0), Some(2.0), None, None, None, None]);
        let b = entry("B", 3.0, [Some(1.0), Some(2.0), None, None, None, None]);
        let m = matrix(&[a, b]);
        assert!(m.rows[0].dominates && !m.rows[1].dominates);
        assert!(!matrix(&[two().0]).rows[0].dominates, "alone there is nobody to dominate");
    }

    proptest::proptest! {
        /// The marks agree with a comparison of every pair.
        #[test]
        fn marks_are_those_of_all_pairs(raw in proptest::collection::vec((1u8..6, 1u8..5), 1..12)) {
            let entries: Vec<SystemResult> = raw
                .iter()
                .map(|(v, c)| {
                    entry("x", f64::from(*v), [Some(f64::from(*c)), None, None, None, None, None])
                })
                .collect();
            let basis = Basis::Per(Denominator::Chip);
            let marks = reversed(&entries, basis);
            for (i, a) in entries.iter().enumerate() {
                let slow = entries.iter().any(|b| {
                    a.ahead_of(b, Basis::Total) == Some(true) && a.ahead_of(b, basis) == Some(false)
                });
                proptest::prop_assert_eq!(marks[i], slow);
            }
        }
    }
}
