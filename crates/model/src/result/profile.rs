//! Differences between the profiles of two sets of trials.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Difference in the self time of one function between two sets of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionChange {
    /// Name of the function as shown.
    pub function: String,
    /// File that holds the function, without its directory; if several do, one of them.
    pub module: String,
    /// True for functions of the kernel.
    pub kernel: bool,
    /// Mean self time per trial of the first and second side, nanoseconds.
    pub own_ns: [f64; 2],
    /// Mean time per trial in the function and its callees, nanoseconds.
    pub total_ns: [f64; 2],
    /// Share of each side's time that is the function's self time.
    pub share: [f64; 2],
    /// Difference of the mean self times, second minus first, nanoseconds.
    pub difference_ns: f64,
    /// Confidence interval of the difference for this function alone (uncorrected), nanoseconds.
    pub interval_ns: Option<[f64; 2]>,
    /// The difference divided by its standard error.
    pub standard_errors: Option<f64>,
    /// Smallest difference that this number of trials and samples would detect in 80 of 100
    /// repeats, nanoseconds.
    pub detectable_ns: Option<f64>,
    /// p-value, corrected by Holm's method for all compared functions, weighted by their time.
    pub p: Option<f64>,
    /// True if the difference is significant after the correction.
    pub clear: bool,
}

/// Comparison of all functions of two sets of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionDifferences {
    /// Number of trials on each side.
    pub trials: [usize; 2],
    /// Confidence level of the intervals. `1 - confidence` bounds the probability that any function
    /// is marked clear by mistake.
    pub confidence: f64,
    /// Number of functions that were compared.
    pub compared: usize,
    /// Number of functions with less than half a percent of the time, which were not compared.
    pub too_small: usize,
    /// Compared functions: clear ones first, then by the size of the difference.
    pub changes: Vec<FunctionChange>,
}
