//! `assay archive`.

pub mod args;

use std::io::Read as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use assay_archive::{ForeignOptions, ImportedRuns};
use assay_archive::{ImportLimits, Search};
use assay_model::Severity;
use assay_model::nouns::count;
use assay_workloads::readers;

use crate::arguments::Global;
use crate::commands::copies::Copies;
use crate::commands::open::open_archive;
use crate::exit::{Exit, usage};
use crate::screen::{
    answer, answer_styled, print, print_json, print_json_text, print_styled, style,
};
use crate::view;
use args::Archive as Verb;

/// Runs a subcommand of `assay archive`.
pub fn archive(global: &Global, verb: &Verb) -> Result<Exit> {
    let archive = open_archive(global)?;
    match verb {
        Verb::List { deleted: true, .. } => return deleted(global, &archive),
        Verb::List { workload, experiment, tag, text, limit, deleted: false } => {
            let mut runs = archive.list(&Search {
                workload: workload.clone(),
                experiment: experiment.clone(),
                tag: tag.clone(),
                text: text.clone(),
                // One run more than the limit shows that there are more.
                limit: Some(limit.saturating_add(1)),
                ..Search::default()
            })?;
            let more = runs.len() > *limit;
            runs.truncate(*limit);
            for run in archive.unreadable()? {
                crate::screen::say(&format!("run {} cannot be read: {}", run.id, run.reason));
            }
            let said = archive.headlines(&runs, |id| {
                assay_report::headline(&view::load(&archive, id).ok()?.analysis)
            });
            let mut rows = serde_json::to_value(&runs)?;
            for (row, run) in rows.as_array_mut().into_iter().flatten().zip(&runs) {
                row["headline"] = said.get(&run.id).filter(|s| !s.is_empty()).cloned().into();
            }
            answer_styled(global.json, &rows, || {
                assay_report::terminal::archive(&runs, &said, std::time::SystemTime::now(), style())
            })?;
            if more {
                let more = limit.saturating_mul(2).max(1);
                crate::screen::say(&format!(
                    "only the newest {limit} are listed; --limit {more} lists more, --text WORD, \
                    --workload, --experiment and --tag filter"
                ));
            }
        }
        Verb::Show { run } => {
            let mut view = view::load(&archive, &archive.resolve(run)?)?;
            view.summary = archive.annotated(view.summary);
            if global.json {
                print_json_text(&assay_report::formats::json::write(&view)?)?;
            } else {
                print_styled(&assay_report::terminal::run(&view, style()))?;
                print("")?;
                print_styled(&assay_report::terminal::system(&view.system, style()))?;
            }
        }
        Verb::Verify { run } => return verify(global, &archive, run.as_deref()),
        Verb::Export { run, output, dataset, redact } => match (run, dataset) {
            (Some(run), false) => {
                let id = archive.resolve(run)?;
                if *redact {
                    let copies = Copies::new()?;
                    copies.add(&archive, &archive.run(&id)?)?;
                    copies.archive().export(&id, output)?;
                } else {
                    archive.export(&id, output)?;
                }
                print(&output.display().to_string())?;
            }
            (None, true) => {
                let report = archive.export_dataset(output, &Search::default())?;
                for (run, reason) in &report.excluded {
                    crate::screen::say(&format!("skipped run {run}: {reason}"));
                }
                print(&format!("{}: {} runs", output.display(), report.runs))?;
            }
            _ => return usage("give a run, or --dataset for all of them"),
        },
        Verb::Import { files, format, name, tag, again, max_size, max_files, max_ratio } => {
            let options = ForeignOptions { name: name.clone(), tags: tag.clone(), again: *again };
            let limits = ImportLimits { bytes: *max_size, files: *max_files, ratio: *max_ratio };
            return import(global, &archive, files, format.as_deref(), &options, &limits);
        }
        Verb::Reindex => print(&format!("{} runs indexed", archive.reindex()?))?,
        Verb::Tag { run, tags, remove } => return tag(global, &archive, run, tags, remove),
        Verb::Note { run, text } => {
            let id = archive.resolve(run)?;
            let notes = match text {
                Some(text) => archive.annotate(&id, |n| n.note.clone_from(text))?,
                None => archive.notes(&id)?,
            };
            return annotated(global, &archive, &id, &notes.note);
        }
        Verb::Delete { run, now } => {
            let id = archive.resolve(run)?;
            if *now {
                archive.remove(&id)?;
                return print(&format!("removed {id} for good")).map(|()| Exit::Fine);
            }
            let deleted = archive.delete(&id)?;
            answer(global.json, &deleted, || {
                format!(
                    "deleted {id}\nrestore it until {}: assay archive restore {id}",
                    deleted.until
                )
            })?;
        }
        Verb::Restore { run } => {
            let id = archive.restore(run)?;
            return annotated(global, &archive, &id, &format!("restored {id}"));
        }
    }
    Ok(Exit::Fine)
}

/// Lists the deleted runs that can be restored.
fn deleted(global: &Global, archive: &assay_archive::Archive) -> Result<Exit> {
    let deleted = archive.deleted()?;
    let lines = deleted.iter().map(|d| {
        format!("{}  {}  deleted {}, until {}", d.run, d.experiment, d.deleted_at, d.until)
    });
    answer(global.json, &deleted, || match lines.collect::<Vec<_>>().as_slice() {
        [] => "no deleted run can be restored".to_owned(),
        lines => lines.join("\n"),
    })?;
    Ok(Exit::Fine)
}

/// Changes the tags of a run, or prints them.
fn tag(
    global: &Global,
    archive: &assay_archive::Archive,
    run: &str,
    add: &[String],
    remove: &[String],
) -> Result<Exit> {
    let id = archive.resolve(run)?;
    let declared = archive.run(&id)?.identity().tags.clone();
    if let Some(tag) = remove.iter().find(|tag| declared.contains(tag)) {
        let message =
            format!("the tag `{tag}` is part of the run's experiment and cannot be removed");
        return usage(message);
    }
    if !add.is_empty() || !remove.is_empty() {
        archive.annotate(&id, |notes| {
            for tag in add {
                notes.add_tag(tag);
            }
            notes.tags.retain(|tag| !remove.contains(tag));
        })?;
    }
    let summary = archive.annotated(archive.run(&id)?.summary()?);
    let tags: Vec<&str> = summary.all_tags().collect();
    annotated(
        global,
        archive,
        &id,
        &if tags.is_empty() { "none".to_owned() } else { tags.join(", ") },
    )
}

/// Prints the annotations of a run: its summary as JSON, or a text.
fn annotated(
    global: &Global,
    archive: &assay_archive::Archive,
    id: &assay_model::RunId,
    text: &str,
) -> Result<Exit> {
    if global.json {
        print_json(&archive.annotated(archive.run(id)?.summary()?))?;
    } else {
        print(&assay_report::terminal::printable(text))?;
    }
    Ok(Exit::Fine)
}

/// First bytes of a `.tar.zst` file, the magic number of Zstandard.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Imports runs that an archive exported, or results of other programs; the magic number tells them
/// apart.
fn import(
    global: &Global,
    archive: &assay_archive::Archive,
    files: &[PathBuf],
    format: Option<&str>,
    options: &ForeignOptions,
    limits: &ImportLimits,
) -> Result<Exit> {
    let ours = |file: &PathBuf| {
        let mut start = Vec::new();
        let opened = std::fs::File::open(file);
        // Read errors are left to the readers, which report them.
        let read = opened.map(|f| f.take(ZSTD.len() as u64).read_to_end(&mut start));
        matches!(read, Ok(Ok(_))) && start == ZSTD
    };
    if format.is_none() && files.iter().any(ours) {
        return import_exported(global, archive, files, options, limits);
    }
    let format = format.and_then(readers::format);
    let set = readers::read_foreign(files, format)?;
    let imported = archive.import_foreign(&set, options)?;
    let (ids, new) = match &imported {
        ImportedRuns::New(ids) => (ids, true),
        ImportedRuns::Already(ids) => (ids, false),
    };
    let result = &set.results[0];
    let tool =
        result.version.as_ref().map_or(result.tool.to_owned(), |v| format!("{} {v}", result.tool));
    if global.json {
        let json = serde_json::json!({
            "schema_version": 1, "format": set.format.name, "tool": tool, "new": new, "runs": ids,
        });
        return print_json(&json).map(|()| Exit::Fine);
    }
    for (result, id) in set.results.iter().zip(ids).filter(|_| new) {
        let part =
            if result.part.is_empty() { String::new() } else { format!(", mode {}", result.part) };
        crate::screen::say(&format!(
            "{id}: {tool}, read as {}{part}: {}, {}",
            set.format.name,
            count(result.treatments.len(), "treatment"),
            count(result.trials.len(), "trial"),
        ));
    }
    if !new {
        crate::screen::say(
            "these files are already in the archive, as the run below; --again imports them again",
        );
    }
    for id in ids {
        print(id.as_str())?;
    }
    Ok(Exit::Fine)
}

/// Imports runs that were exported from an archive.
fn import_exported(
    global: &Global,
    archive: &assay_archive::Archive,
    files: &[PathBuf],
    options: &ForeignOptions,
    limits: &ImportLimits,
) -> Result<Exit> {
    if options.name.is_some() || !options.tags.is_empty() || options.again {
        let message = "--name, --tag and --again apply to results of other programs; an exported \
                       run is imported unchanged";
        return usage(message.to_owned());
    }
    let mut ids = Vec::new();
    for file in files {
        ids.push(
            archive.import(file, limits).with_context(|| format!("import {}", file.display()))?,
        );
    }
    if global.json {
        let json = serde_json::json!({ "schema_version": 1, "format": "assay", "runs": ids });
        print_json(&json)?;
    } else {
        for id in ids {
            print(id.as_str())?;
        }
    }
    Ok(Exit::Fine)
}

fn verify(global: &Global, archive: &assay_archive::Archive, run: Option<&str>) -> Result<Exit> {
    let id = run.map(|r| archive.resolve(r)).transpose()?;
    let problems = archive.verify(id.as_ref())?;
    if global.json {
        let rows: Vec<serde_json::Value> = problems
            .iter()
            .map(|p| {
                serde_json::json!({
                    "run": p.run, "path": p.path, "severity": p.severity(),
                    "message": p.message,
                })
            })
            .collect();
        print_json(&rows)?;
    } else if problems.is_empty() {
        print("no problem found")?;
    } else {
        for p in &problems {
            let word = p.severity().name();
            print(&format!("{word}: {}: {}", p.path.display(), p.message))?;
        }
    }
    let invalid = problems.iter().any(|p| p.severity() == Severity::Invalid);
    Ok(if invalid { Exit::Rule } else { Exit::Fine })
}
