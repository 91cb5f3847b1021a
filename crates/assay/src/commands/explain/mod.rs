//! `assay explain`: ranks the observations that differ along with the metric between two treatments
//! of a run.

pub mod args;

use anyhow::Result;
use assay_lab::Question;

use crate::arguments::Global;
use crate::commands::open::open_archive;
use crate::exit::{Exit, usage};
use crate::screen::{answer_styled, style};
use crate::view;

/// Explains the comparison of the given treatment, or the only one.
pub fn explain(global: &Global, asked: &args::Explain) -> Result<Exit> {
    let archive = open_archive(global)?;
    let run = view::load(&archive, &archive.resolve(&asked.run)?)?;
    let label = |id: u32| {
        let of = run.analysis.summaries.iter().find(|s| s.treatment == id);
        of.map_or_else(|| id.to_string(), |s| s.label.clone())
    };
    let comparisons = &run.analysis.comparisons;
    let key = |id: u32| run.plan.treatment(id).map(assay_model::Treatment::key);
    let fits = |wanted: &str, id: u32| {
        label(id).contains(wanted) || key(id).is_some_and(|key| key.contains(wanted))
    };
    let chosen: Vec<_> = comparisons
        .iter()
        .filter(|c| asked.treatment.as_ref().is_none_or(|t| fits(t, c.treatment)))
        .collect();
    let names = || comparisons.iter().map(|c| label(c.treatment)).collect::<Vec<_>>().join("; ");
    let comparison = match chosen.as_slice() {
        [only] => *only,
        [] if comparisons.is_empty() => {
            let text = format!(
                "{} compares nothing: it has one treatment; give the run two, as with --vs",
                run.summary.id
            );
            return usage(text);
        }
        [] => return usage(format!("no treatment matches; the treatments are: {}", names())),
        _ => {
            let text = format!("name one of the treatments with --treatment: {}", names());
            return usage(text);
        }
    };
    let question = Question {
        records: &run.records,
        samples: &run.samples,
        traces: &run.traces,
        analysis: &run.analysis,
        comparison,
    };
    let explanation = assay_lab::explain(&question);
    answer_styled(global.json, &explanation, || {
        assay_report::terminal::explain(&run.analysis, &explanation, style())
    })?;
    Ok(if explanation.observations.is_empty() { Exit::Nothing } else { Exit::Fine })
}
