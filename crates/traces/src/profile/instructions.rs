//! Compares the instructions that callgrind counted per function in two sets of trials. Counts have
//! no sampling error: only the program itself varies. They do not measure time.

use std::collections::HashMap;

use assay_stats::comparison::estimate::{Estimate, adjust, variance_at_least};

use crate::profile::{Profile, ProfileSide, functions};

/// Minimum number of trials per side for an interval and a p-value.
const LEAST_TRIALS: usize = 3;
/// Functions with a smaller share of the instructions of both sides are not compared.
const LEAST_SHARE: f64 = 0.001;

/// Difference in the instructions of one function by itself, or of the whole program.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct InstructionChange {
    /// Name of the function; empty for the whole program.
    pub function: String,
    /// File that holds the function, without its directory.
    pub module: String,
    /// Mean instructions per trial of the first and second side.
    pub instructions: [f64; 2],
    /// Difference of the means, second minus first.
    pub difference: f64,
    /// Confidence interval of the difference, for this function alone (uncorrected); `null` below
    /// three trials.
    pub interval: Option<[f64; 2]>,
    /// p-value, corrected by Holm's method for all compared functions.
    pub p: Option<f64>,
    /// True if the difference is significant after the correction.
    pub clear: bool,
}

impl InstructionChange {
    fn new(function: &str, module: &str, values: &[Vec<f64>; 2], confidence: f64) -> Self {
        let estimate = Estimate::welch(&values[0], &values[1], |v| variance_at_least(v, 0.0));
        let tested = values.iter().all(|v| v.len() >= LEAST_TRIALS);
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
        let p = if tested { estimate.p_beyond(0.0) } else { None };
        InstructionChange {
            function: function.to_owned(),
            module: module.to_owned(),
            instructions: [mean(&values[0]), mean(&values[1])],
            difference: estimate.value,
            interval: estimate.interval(confidence).filter(|_| tested).map(|i| [i.low, i.high]),
            p,
            clear: p.is_some_and(|p| p <= 1.0 - confidence),
        }
    }

    /// Returns the difference in words: `3.1 % more instructions`.
    pub fn words(&self) -> String {
        let [first, second] = self.instructions;
        let change = (second / first - 1.0) * 100.0;
        match change {
            c if !c.is_finite() => "instructions of one side alone".to_owned(),
            c if self.difference == 0.0 || c.abs() < 5e-4 => "as many instructions".to_owned(),
            c => {
                let digits = if c.abs() < 0.1 { 3 } else { 1 };
                let word = if c > 0.0 { "more" } else { "fewer" };
                format!("{:.digits$} % {word} instructions", c.abs())
            }
        }
    }
}

/// Comparison of the instructions of two sets of trials.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Instructions {
    /// Number of trials on each side in which instructions were counted.
    pub trials: [usize; 2],
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Difference of the whole program.
    pub all: InstructionChange,
    /// Compared functions: clear ones first, then by the size of the difference.
    pub functions: Vec<InstructionChange>,
}

/// Compares two sets of trials; returns `None` if one side is empty.
pub fn instructions(
    first: &[&Profile],
    second: &[&Profile],
    confidence: f64,
) -> Option<Instructions> {
    let sides = [first, second];
    let n = sides.map(<[&Profile]>::len);
    if n.contains(&0) {
        return None;
    }
    let empty = || [vec![0.0; n[0]], vec![0.0; n[1]]];
    let mut by: HashMap<(String, String), [Vec<f64>; 2]> = HashMap::new();
    let mut all = empty();
    for (side, trials) in sides.iter().enumerate() {
        for (at, profile) in trials.iter().enumerate() {
            for f in functions(profile, ProfileSide::OnCpu, None) {
                // Keyed by name and file name without directory: the compared programs may be in
                // different directories.
                let key = (f.frame.label(), f.frame.module_name().to_owned());
                by.entry(key).or_insert_with(empty)[side][at] += f.self_count as f64;
                all[side][at] += f.self_count as f64;
            }
        }
    }
    let sum = |v: &[Vec<f64>; 2]| v.iter().flatten().sum::<f64>();
    let least = LEAST_SHARE * sum(&all);
    let mut functions: Vec<InstructionChange> = by
        .iter()
        .filter(|(_, values)| sum(values) >= least)
        .map(|((function, module), values)| {
            InstructionChange::new(function, module, values, confidence)
        })
        .collect();
    adjust(functions.iter_mut().map(|c| &mut c.p));
    for c in &mut functions {
        c.clear = c.p.is_some_and(|p| p <= 1.0 - confidence);
    }
    functions.sort_by(|a, b| {
        b.clear
            .cmp(&a.clear)
            .then_with(|| b.difference.abs().total_cmp(&a.difference.abs()))
            .then_with(|| (&a.function, &a.module).cmp(&(&b.function, &b.module)))
    });
    Some(Instructions {
        trials: n,
        confidence,
        all: InstructionChange::new("", "", &all, confidence),
        functions,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(work: u64, libc: u64) -> Profile {
        let text = format!(
            "# callgrind format\nversion: 1\nevents: Ir\nob=(1) /tmp/a\nfn=(1) work\n1 {work}\n\
            ob=(2) /l/libc.so\nfn=(2) puts\n1 {libc}\n"
        );
        crate::profile::read(text.as_bytes(), "x").unwrap()
    }

    #[test]
    fn exact_counts_differ_or_do_not() {
        let a = [counted(1000, 500), counted(1000, 500), counted(1000, 500)];
        let b = [counted(1031, 500), counted(1031, 500), counted(1031, 500)];
        let of = |x: &[Profile], y: &[Profile]| {
            instructions(&x.iter().collect::<Vec<_>>(), &y.iter().collect::<Vec<_>>(), 0.95)
                .unwrap()
        };
        let d = of(&a, &b);
        assert_eq!((d.functions[0].function.as_str(), d.functions[0].clear), ("work", true));
        assert_eq!(d.functions[0].words(), "3.1 % more instructions");
        assert_eq!((d.functions[1].difference, d.functions[1].clear), (0.0, false));
        assert_eq!((d.all.difference, d.all.interval), (31.0, Some([31.0, 31.0])));
        let same = of(&a, &a);
        assert!(same.functions.iter().all(|c| !c.clear));
        assert_eq!(same.all.words(), "as many instructions");
        // One trial has no interval, so nothing is clear.
        let one = of(&a[..1], &b[..1]);
        assert!(one.all.interval.is_none() && one.functions.iter().all(|c| !c.clear));
        assert!(instructions(&[], &[&a[0]], 0.95).is_none());
    }
}
