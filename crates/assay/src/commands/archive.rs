//! `assay archive`.

use anyhow::{Context, Result};
use assay_archive::{DatasetSamples, Filter};
use assay_model::Severity;

use super::open_archive;
use crate::cli::{Archive as Verb, Cli};
use crate::exit::{Exit, Usage};
use crate::{print, style, view};

/// Does what was asked of the archive.
pub fn archive(cli: &Cli, verb: &Verb) -> Result<Exit> {
    let archive = open_archive(cli)?;
    match verb {
        Verb::List { workload, experiment, tag, text, limit } => {
            let runs = archive.list(&Filter {
                workload: workload.clone(),
                experiment: experiment.clone(),
                tag: tag.clone(),
                text: text.clone(),
                limit: Some(*limit),
                ..Filter::default()
            })?;
            for run in archive.unreadable()? {
                crate::say(&format!("run {} cannot be read: {}", run.id, run.reason));
            }
            if cli.json {
                print(&serde_json::to_string_pretty(&runs)?)?;
            } else {
                print(&assay_report::terminal::archive(&runs, style()))?;
            }
        }
        Verb::Show { run } => {
            let view = view::load(&archive, &archive.resolve(run)?)?;
            if cli.json {
                print(&assay_report::json::write(&view)?)?;
            } else {
                print(&assay_report::terminal::run(&view, style()))?;
                print("")?;
                print(&assay_report::terminal::system(&view.system, style()))?;
            }
        }
        Verb::Verify { run } => return verify(cli, &archive, run.as_deref()),
        Verb::Export { run, output, dataset } => match (run, dataset) {
            (Some(run), false) => {
                archive.export(&archive.resolve(run)?, output)?;
                print(&output.display().to_string())?;
            }
            (None, true) => {
                let report =
                    archive.export_dataset(output, &Filter::default(), DatasetSamples::Leave)?;
                for (run, reason) in &report.left_out {
                    crate::say(&format!("run {run} is left out: {reason}"));
                }
                print(&format!("{}: {} runs", output.display(), report.runs))?;
            }
            _ => return Err(Usage("give a run, or --dataset for all of them".into()).into()),
        },
        Verb::Import { file } => {
            let id = archive.import(file).with_context(|| format!("import {}", file.display()))?;
            print(id.as_str())?;
        }
        Verb::Reindex => print(&format!("{} runs indexed", archive.reindex()?))?,
        Verb::Remove { run } => {
            let id = archive.resolve(run)?;
            archive.remove(&id)?;
            print(&format!("removed {id}"))?;
        }
    }
    Ok(Exit::Fine)
}

fn verify(cli: &Cli, archive: &assay_archive::Archive, run: Option<&str>) -> Result<Exit> {
    let id = run.map(|r| archive.resolve(r)).transpose()?;
    let problems = archive.verify(id.as_ref())?;
    if cli.json {
        let rows: Vec<serde_json::Value> = problems
            .iter()
            .map(|p| {
                serde_json::json!({
                    "run": p.run, "path": p.path, "severity": p.kind.severity(),
                    "message": p.message,
                })
            })
            .collect();
        print(&serde_json::to_string_pretty(&rows)?)?;
    } else if problems.is_empty() {
        print("no problem found")?;
    } else {
        for p in &problems {
            let word = match p.kind.severity() {
                Severity::Note => "note",
                Severity::Warning => "warning",
                Severity::Invalid => "invalid",
            };
            print(&format!("{word}: {}: {}", p.path.display(), p.message))?;
        }
    }
    let invalid = problems.iter().any(|p| p.kind.severity() == Severity::Invalid);
    Ok(if invalid { Exit::Rule } else { Exit::Fine })
}
