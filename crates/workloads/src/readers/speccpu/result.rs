//! Content of a result file of SPEC CPU.

use std::collections::BTreeMap;

/// One timed run of a benchmark.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecRun {
    /// Name of the benchmark, such as `505.mcf_r`.
    pub benchmark: String,
    /// Tuning: `base` or `peak`.
    pub tune: String,
    /// Reported time in seconds.
    pub time: Option<f64>,
    /// Ratio to the reference (rate suites call it rate).
    pub ratio: Option<f64>,
    /// Number of copies or threads, with the word for which of them it is.
    pub parallel: Option<(&'static str, i64)>,
    /// True if this run represents the benchmark in the result.
    pub selected: bool,
    /// `S` for success, else a code for the error.
    pub status: String,
    /// Error messages of the tools.
    pub errors: Vec<String>,
}

/// Content of a result file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecResult {
    /// Version of the suite, if the file states it.
    pub version: Option<String>,
    /// The runs that took place, in file order; never empty.
    pub runs: Vec<SpecRun>,
    /// The overall metrics under SPEC's own names.
    pub overall: Vec<(String, f64)>,
    /// Description of the system, by SPEC's names.
    pub facts: Vec<(String, String)>,
    /// Reasons of the tools for not accepting the result as valid.
    pub errors: Vec<String>,
    /// True if the run is not reportable; SPEC calls its numbers estimates.
    pub estimate: bool,
    /// True if the tools marked the result as invalid.
    pub invalid: bool,
}

impl SpecRun {
    /// True if the tools accepted the output of the run.
    pub fn succeeded(&self) -> bool {
        self.status == "S"
    }

    /// Describes the status in words.
    pub fn status_in_words(&self) -> &str {
        match self.status.as_str() {
            "CE" => "it could not be compiled (CE)",
            "RE" => "it failed while running (RE)",
            "VE" => "its output was wrong (VE)",
            "TE" => "it took too long (TE)",
            other => other,
        }
    }
}

impl SpecResult {
    /// Adds a run, unless it did not take place (`NR`, `NC`).
    pub(crate) fn add(&mut self, run: SpecRun) {
        if run.status != "NR" && run.status != "NC" {
            self.runs.push(run);
        }
    }

    /// Returns the run that represents each benchmark in this tuning, by name: the one that the
    /// tools selected, or else the median by time (the slower one of two).
    pub fn selected(&self, tune: &str) -> BTreeMap<&str, &SpecRun> {
        let mut by_name: BTreeMap<&str, Vec<&SpecRun>> = BTreeMap::new();
        for run in self.runs.iter().filter(|r| r.tune == tune) {
            by_name.entry(&run.benchmark).or_default().push(run);
        }
        by_name.into_iter().map(|(name, runs)| (name, stands_for(runs))).collect()
    }
}

/// Returns the run that represents a benchmark; `runs` must not be empty.
fn stands_for(mut runs: Vec<&SpecRun>) -> &SpecRun {
    let time = |r: &SpecRun| r.time.unwrap_or(f64::INFINITY);
    runs.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let selected = runs.iter().position(|r| r.selected);
    runs[selected.unwrap_or(runs.len() / 2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(time: f64, selected: bool) -> SpecRun {
        SpecRun {
            benchmark: "1.a".into(),
            tune: "base".into(),
            time: Some(time),
            selected,
            status: "S".into(),
            ..SpecRun::default()
        }
    }

    #[test]
    fn the_median_or_the_slower_of_two_stands_for_a_benchmark() {
        let chosen = |runs: Vec<SpecRun>| {
            let result = SpecResult { runs, ..SpecResult::default() };
            result.selected("base")["1.a"].time
        };
        assert_eq!(chosen(vec![run(3.0, false), run(1.0, false), run(2.0, false)]), Some(2.0));
        assert_eq!(chosen(vec![run(3.0, false), run(1.0, false)]), Some(3.0));
        assert_eq!(chosen(vec![run(3.0, false), run(1.0, true)]), Some(1.0));
    }
}
