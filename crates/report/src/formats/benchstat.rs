//! The text format of Go's benchmarks, which `benchstat` and `benchseries` compare: one line for
//! each trial that counts, named by the levels of its factors. The format is specified in
//! golang.org/design/14313-benchmark-format.

use std::fmt::Write;

use assay_model::{Better, TrialRecord};

use crate::gate::Gate;
use crate::view::RunView;

/// Writes configuration lines, the direction of each unit, and a line for each trial that counts
/// and is not withheld. The unit of a metric is its name and its own unit (`elapsed-s`), so that no
/// two metrics share one; metrics without a value are left out.
pub fn write(view: &RunView) -> String {
    let gate = Gate::from_view(view);
    let shown: Vec<&TrialRecord> =
        view.records.iter().filter(|r| r.counts() && gate.trial(r).is_none()).collect();
    let mut out = format!(
        "run: {}\nexperiment: {}\nworkload: {}\nhost: {}\n",
        view.summary.id, view.summary.experiment, view.summary.workload, view.summary.host
    );
    let mut printed: Vec<String> = Vec::new();
    for m in shown.iter().flat_map(|r| &r.metrics) {
        let unit = unit(&m.name, &m.unit);
        let better = match m.better {
            Better::Higher => "higher",
            Better::Lower => "lower",
            Better::Neither => continue,
        };
        if !printed.contains(&unit) {
            let _ = writeln!(out, "Unit {unit} better={better}");
            printed.push(unit);
        }
    }
    for record in shown {
        let values: Vec<String> = record
            .metrics
            .iter()
            .filter_map(|m| {
                let value = m.value.filter(|v| v.is_finite())?;
                Some(format!("{value} {}", unit(&m.name, &m.unit)))
            })
            .collect();
        if !values.is_empty() {
            let _ = writeln!(out, "Benchmark{} 1 {}", name(view, record), values.join(" "));
        }
    }
    out
}

/// Returns a benchmark name such as `Command/command=sleep_0.1`. The format requires a capital
/// first letter; each level is a sub-benchmark with a key.
fn name(view: &RunView, record: &TrialRecord) -> String {
    let words = view.summary.workload.split(|c: char| !c.is_ascii_alphanumeric());
    let mut name = words.fold(String::new(), |name, word| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        name + &first.to_ascii_uppercase() + rest
    });
    if name.is_empty() {
        "Run".clone_into(&mut name);
    }
    let levels = view.plan.treatment(record.treatment).map(|t| &t.levels);
    for factor in &view.plan.factors {
        if let Some(level) = levels.and_then(|l| l.get(factor)) {
            let _ = write!(name, "/{}={}", one_word(factor), one_word(&level.to_string()));
        }
    }
    name
}

fn unit(metric: &str, unit: &str) -> String {
    if unit == "1" { one_word(metric) } else { format!("{}-{}", one_word(metric), one_word(unit)) }
}

/// Replaces white space, which would end a word of the format, and slashes, which would begin
/// another sub-benchmark.
fn one_word(text: &str) -> String {
    text.replace(|c: char| c.is_whitespace() || c == '/', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn every_trial_that_counts_is_a_line_with_its_values() {
        let view = fixtures::commands();
        let text = write(&view);
        let lines: Vec<&str> = text.lines().filter(|l| l.starts_with("Benchmark")).collect();
        assert_eq!(lines.len(), view.records.iter().filter(|r| r.counts()).count());
        assert!(text.contains("\nUnit elapsed-s better=lower\n"), "{text}");
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(words[1], "1", "{line}");
            assert!(words.len() > 3 && words.len().is_multiple_of(2), "{line}");
            assert!(words[2].parse::<f64>().is_ok(), "{line}");
        }
    }

    #[test]
    fn what_is_withheld_is_not_written() {
        let mut view = fixtures::commands();
        let all = write(&view).lines().count();
        let counted = view.records.iter_mut().find(|r| r.counts()).unwrap();
        counted.outcome = assay_model::TrialOutcome::Failed;
        assert_eq!(write(&view).lines().count(), all - 1);
    }
}
