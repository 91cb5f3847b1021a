//! What a result file of SPEC CPU says.

use std::collections::BTreeMap;
use std::fmt;

/// One timed run of a benchmark.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecRun {
    /// Its name, such as `505.mcf_r`.
    pub benchmark: String,
    /// `base` or `peak`.
    pub tune: String,
    /// The reported time in seconds.
    pub time: Option<f64>,
    /// The ratio (rate suites call it rate).
    pub ratio: Option<f64>,
    /// Copies or threads, by their name.
    pub parallel: Option<(&'static str, i64)>,
    /// Whether this run stands for the benchmark in the result.
    pub selected: bool,
    /// `S` for a success; else what went wrong.
    pub status: String,
    /// What the tools say went wrong, in their words.
    pub errors: Vec<String>,
}

/// A result file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecResult {
    /// The suite's version, where the file tells.
    pub version: Option<String>,
    /// The runs that were made, in the order of the file; never empty.
    pub runs: Vec<SpecRun>,
    /// The overall metrics under SPEC's own names.
    pub overall: Vec<(String, f64)>,
    /// The description of the system, by SPEC's names.
    pub facts: Vec<(String, String)>,
    /// Why the tools do not call it a valid result, in their words.
    pub errors: Vec<String>,
    /// Whether it is not a reportable run; SPEC calls its numbers estimates.
    pub estimate: bool,
    /// Whether the tools marked it as invalid.
    pub invalid: bool,
}

impl SpecRun {
    /// Whether the tools accepted its output.
    pub fn succeeded(&self) -> bool {
        self.status == "S"
    }

    /// The status in words.
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
    /// Adds a run; one that was not made (`NR`, `NC`) is nothing.
    pub(crate) fn add(&mut self, run: SpecRun) {
        if run.status != "NR" && run.status != "NC" {
            self.runs.push(run);
        }
    }

    /// For each benchmark of that tuning, by name, the run that stands for it: the one that the tools
    /// selected; where they selected none, the median by time, of two the slower.
    pub fn selected(&self, tune: &str) -> BTreeMap<&str, &SpecRun> {
        let mut by_name: BTreeMap<&str, Vec<&SpecRun>> = BTreeMap::new();
        for run in self.runs.iter().filter(|r| r.tune == tune) {
            by_name.entry(&run.benchmark).or_default().push(run);
        }
        by_name.into_iter().map(|(name, runs)| (name, stands_for(runs))).collect()
    }
}

/// The one of a benchmark's runs, at least one, that stands for it.
fn stands_for(mut runs: Vec<&SpecRun>) -> &SpecRun {
    let time = |r: &SpecRun| r.time.unwrap_or(f64::INFINITY);
    runs.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let selected = runs.iter().position(|r| r.selected);
    runs[selected.unwrap_or(runs.len() / 2)]
}

/// What is wrong inside a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The line, from 1; `None` when it is of the whole file.
    pub line: Option<u64>,
    /// What, as a sentence.
    pub message: String,
}

impl Flaw {
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Flaw { line: None, message: message.into() }
    }

    pub(crate) fn line(line: u64, message: impl Into<String>) -> Self {
        Flaw { line: Some(line), message: message.into() }
    }
}

impl fmt::Display for Flaw {
    /// `:4: …` or `: …`: what follows the file's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, ":{line}: {}", self.message),
            None => write!(f, ": {}", self.message),
        }
    }
}

impl std::error::Error for Flaw {}

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
