//! Counts of the answers of a run, and the wrong ones among them.

use assay_loadgen::latency::report::{Errors, OPERATIONS};
use assay_loadgen::{LoadReport, Operation};

/// Correct answers of a whole run, summed over its series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    by_operation: [u64; OPERATIONS.len()],
    /// Keys of multi-gets that were found, and those that were not.
    pub parts: [u64; 2],
}

impl Answers {
    /// Counts the answers of a run.
    pub fn new(report: &LoadReport) -> Self {
        let (mut by_operation, mut parts) = ([0; OPERATIONS.len()], [0; 2]);
        for bin in &report.series {
            by_operation.iter_mut().zip(bin.by_operation).for_each(|(s, n)| *s += n);
            parts.iter_mut().zip(bin.parts).for_each(|(s, n)| *s += n);
        }
        Answers { by_operation, parts }
    }

    #[cfg(test)]
    pub fn from_counts(counts: &[(Operation, u64)]) -> Self {
        let mut sum = [0; OPERATIONS.len()];
        for (operation, n) in counts {
            sum[*operation as usize] = *n;
        }
        Answers { by_operation: sum, parts: [0; 2] }
    }

    /// Returns the answers to one operation.
    pub fn count(&self, operation: Operation) -> u64 {
        self.by_operation[operation as usize]
    }

    /// Returns the answers to all operations.
    pub fn total(&self) -> u64 {
        self.by_operation.iter().sum()
    }
}

/// Describes the wrong answers besides `answered` correct ones; refusals count if they have more
/// than the share `max_errors`.
pub fn wrong_words(errors: &Errors, answered: u64, max_errors: f64) -> Option<String> {
    let share = errors.refused() as f64 / (answered + errors.total()).max(1) as f64;
    if share > max_errors {
        return errors.wrong_words();
    }
    errors.words_of(|kind| kind.is_wrong_answer() && !kind.is_refusal())
}
