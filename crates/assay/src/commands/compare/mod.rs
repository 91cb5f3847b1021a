//! `assay compare`.

pub mod args;

use anyhow::Result;
use assay_lab::{ComparedRun, DeclaredDifferences, across, across_io};
use assay_model::Severity;
use assay_report::terminal::Detail;
use assay_report::{RunView, page};

use crate::arguments::Global;
use crate::commands::open::open_archive;
use crate::commands::publish::{opened, whole};
use crate::exit::{Exit, Usage, usage};
use crate::screen::{print_json, print_json_text, print_styled, say, style, write_file};
use crate::view;

/// Compares runs: one run has its own comparison; several are shown side by side, with their other
/// differences.
pub fn compare(global: &Global, compare: &args::Compare) -> Result<Exit> {
    let archive = open_archive(global)?;
    let mut views: Vec<RunView> = Vec::new();
    let mut of: Vec<usize> = Vec::new();
    for (side, runs) in compare.runs.iter().enumerate() {
        of.extend(runs.split(',').map(|_| side));
    }
    let sides_of = of.iter().map(|side| of.iter().position(|s| s == side).unwrap_or(0)).collect();
    let named: Vec<&str> = compare.runs.iter().flat_map(|runs| runs.split(',')).collect();
    for run in &named {
        let id = archive.resolve(run)?;
        views.push(match &compare.output {
            Some(_) => {
                let run = opened(&archive, &id)?;
                whole(&archive, &run)?;
                let redactor = archive.publication(&run, view::own_names());
                view::published(&run.redacted(redactor))?
            }
            // A single run has its own comparison, made with this metric.
            None if named.len() == 1 => view::load_by(&archive, &id, compare.metric.as_deref())?,
            None => view::load(&archive, &id)?,
        });
    }
    if let Some(metric) = &compare.metric {
        measured(metric, &views[0])?;
    }
    if compare.output.is_some() && views.len() < 2 {
        return usage("-o needs two runs or more; `assay publish` writes a page of one");
    }
    let listed = !compare.factor.is_empty() || !compare.accept.is_empty();
    if views.len() < 2 && (listed || compare.reference.is_some() || compare.margin.is_some()) {
        return usage("--factor, --accept, --reference and --margin need two runs or more");
    }
    if let [only] = views.as_slice() {
        if global.json {
            print_json_text(&assay_report::formats::json::write(only)?)?;
        } else {
            let result = assay_report::terminal::result(only, Detail::Full, style());
            print_styled(&result)?;
        }
        let invalid = only.findings().iter().any(|(f, _)| f.severity == Severity::Invalid);
        return Ok(if invalid { Exit::Rule } else { Exit::Fine });
    }
    let margin =
        match &compare.margin {
            None => None,
            Some(text) => Some(assay_lab::parse_margin(text).ok_or_else(|| {
                Usage(format!("--margin {text}: write a percentage such as `2 %`"))
            })?),
        };
    let sides: Vec<ComparedRun<'_>> = views
        .iter()
        .map(|v| ComparedRun {
            id: &v.summary.id,
            experiment: &v.experiment,
            plan: &v.plan,
            records: &v.records,
            system: &v.system,
            analysis: &v.analysis,
        })
        .collect();
    let metric = compare.metric.as_ref().unwrap_or(&views[0].analysis.metric);
    let declared = DeclaredDifferences {
        factors: compare.factor.clone(),
        accepted: accepted(compare)?,
        sides: sides_of,
        reference: compare.reference.clone(),
    };
    let across = across(&sides, metric, margin, &declared).map_err(|e| Usage(e.to_string()))?;
    let io = across_io(&sides, &declared).map_err(|e| Usage(e.to_string()))?;
    let summaries: Vec<assay_model::RunSummary> = views.iter().map(|v| v.summary.clone()).collect();
    let views: Vec<&RunView> = views.iter().collect();
    if let Some(file) = &compare.output {
        let shown = page::ShownComparison::new(&views, &across, &io);
        let page = page::compared(&views, &shown, env!("CARGO_PKG_VERSION"));
        write_file(file, page)?;
        say(&format!("wrote {}", file.display()));
    }
    let inside = assay_report::inside(&views, &across);
    if global.json {
        let mut whole = serde_json::to_value(&across)?;
        whole["io"] = serde_json::to_value(&io)?;
        whole["inside"] = serde_json::to_value(&inside)?;
        print_json(&whole)?;
    } else {
        print_styled(&assay_report::terminal::across(&summaries, &across, &io, &inside, style()))?;
    }
    let invalid = across.findings.iter().any(|f| f.severity == Severity::Invalid);
    Ok(if invalid {
        Exit::Rule
    } else if margin.is_some() && assay_lab::any_worse(&across) {
        Exit::Worse
    } else {
        Exit::Fine
    })
}

/// Returns an error if a run does not have the metric.
fn measured(metric: &str, view: &RunView) -> Result<()> {
    // The summaries of a metric are adjacent.
    let present = view.analysis.summaries.iter().filter(|s| s.centre().is_some());
    let mut names: Vec<&str> = present.map(|s| s.metric.as_str()).collect();
    names.dedup();
    if names.contains(&metric) {
        return Ok(());
    }
    usage(format!("run {} has no metric `{metric}`; it has {}", view.summary.id, names.join(", ")))
}

/// Parses the `PATH=REASON` values of `--accept`.
fn accepted(compare: &args::Compare) -> Result<Vec<(String, String)>> {
    compare
        .accept
        .iter()
        .map(|text| match text.split_once('=') {
            Some((path, reason)) => Ok((path.trim().to_owned(), reason.trim().to_owned())),
            None => usage(format!("--accept {text}: write PATH=REASON")),
        })
        .collect()
}
