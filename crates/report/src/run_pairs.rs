//! Treatments that several runs have, and how much of their differences is shown.

use assay_model::{AcrossRow, Verdict};

use crate::view::RunView;

/// Smallest and largest number of functions or calls that a terminal lists.
const SHOWN: std::ops::RangeInclusive<usize> = 4..=12;

/// Returns the runs in which a treatment may be compared, each with its index and the treatment's
/// number in it: the runs that have the treatment, except those whose comparison with the first is
/// invalid.
pub(crate) fn comparable_runs<'a>(
    views: &[&'a RunView],
    row: &AcrossRow,
) -> Vec<(usize, &'a RunView, u32)> {
    let compared = |i: usize| {
        let c = row.comparisons.get(i).and_then(Option::as_ref);
        c.is_some_and(|c| c.verdict != Verdict::Invalid)
    };
    if !(1..views.len()).any(compared) {
        return Vec::new();
    }
    let of = |(i, view): (usize, &&'a RunView)| {
        let treatment = treatment(view, row).filter(|_| i == 0 || compared(i))?;
        Some((i, *view, treatment))
    };
    views.iter().enumerate().filter_map(of).collect()
}

/// Returns the number of a row's treatment in a run.
pub(crate) fn treatment(view: &RunView, row: &AcrossRow) -> Option<u32> {
    let all = &view.plan.treatments;
    all.iter().find(|t| all.len() == 1 || t.key() == row.key).map(|t| t.id)
}

/// Returns the number of lines to show if `clear` of them differ clearly.
pub(crate) fn shown(clear: usize) -> usize {
    clear.clamp(*SHOWN.start(), *SHOWN.end())
}
