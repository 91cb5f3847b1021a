//! Runs that measure only some benchmarks of a suite, with the filter of its tool.

use std::ffi::OsString;

use assay_model::{Experiment, Plan, Scalar, TrialRecord};
use assay_workloads::readers::{self, AUTO, READ_AS};
use assay_workloads::{quote_words, split_words};

/// Returns the command line with the tool's filter for these benchmarks; `None` if the tool has
/// none.
fn filtered(
    plan: &Plan,
    records: &[TrialRecord],
    line: &[String],
    names: &[String],
) -> Option<Vec<String>> {
    let named = plan.treatments.first()?.params.get("reader")?.to_text();
    // The recognized reader is in the notes of the trials.
    let found = || {
        let mut notes = records.iter().flat_map(|r| &r.notes);
        notes.find_map(|n| n.strip_prefix(READ_AS)).map(str::to_owned)
    };
    let name = if named == AUTO { found()? } else { named };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    readers::format(&name)?.filter?(line, &names)
}

/// Makes an experiment run only the benchmarks that it compares, if its tool has a filter. The plan
/// and the records are of a run of the whole suite.
pub fn narrow(experiment: &mut Experiment, plan: &Plan, records: &[TrialRecord]) {
    let text = |name: &str| experiment.params.get(name).map(Scalar::to_text).unwrap_or_default();
    if !text("shell").is_empty() {
        return;
    }
    let words = split_words(&text("command")).unwrap_or_default();
    let words: Option<Vec<String>> = words.into_iter().map(|w| w.into_string().ok()).collect();
    let only = &experiment.compare.only;
    if let Some(line) = words.and_then(|words| filtered(plan, records, &words, only)) {
        let line: Vec<OsString> = line.into_iter().map(Into::into).collect();
        experiment.params.insert("command".into(), quote_words(&line).as_str().into());
    }
}
