//! `assay landscape`: a table of quoted and measured results, ranked under a denominator.

pub mod args;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use assay_model::{MetricKind, Profile};
use assay_quoted::denominator::Matrix;
use assay_quoted::landscape::{Collection, Query, measured};
use assay_report::landscape::{csv, markdown, matrix_csv};
use assay_report::terminal;

use crate::arguments::Global;
use crate::commands::open::open_archive;
use crate::exit::{Exit, mistake};
use crate::screen::{answer_styled, print, print_json, print_styled, say, style, write_file};
use crate::view;

/// Default number of lines of a table in a terminal.
const LINES: usize = 40;

/// Lists the landscapes, or shows one in the chosen form.
pub fn landscape(global: &Global, asked: &args::Landscape) -> Result<Exit> {
    let collection = collection(&asked.published)?;
    let Some(name) = &asked.name else {
        let list = collection.list();
        answer_styled(global.json, &list, || terminal::landscape_list(&list, style()))?;
        return Ok(Exit::Fine);
    };
    // Others read a page and Markdown, so a number under one denominator never leaves without the
    // others.
    let published = asked.output.is_some() || asked.markdown;
    let with_matrix =
        asked.matrix || (published && (asked.output.is_some() || !asked.per.is_empty()));
    let table = !(global.json || asked.csv || published);
    let top = match asked.top {
        Some(0) => None,
        Some(n) => Some(n),
        None => table.then_some(LINES),
    };
    let rank_all = with_matrix || !asked.with_runs.is_empty();
    let query = Query {
        as_of: asked.as_of.clone(),
        per: asked.per.clone(),
        metric: asked.metric.clone(),
        top: if rank_all { None } else { top },
    };
    let mut landscape = collection.landscape(name, &query).map_err(mistake)?;
    for run in &asked.with_runs {
        let archive = open_archive(global)?;
        let id = archive.resolve(run)?;
        let run = match &asked.output {
            Some(_) => view::load_public(&archive, &id)?,
            None => view::load(&archive, &id)?,
        };
        let s = &run.summary;
        let metric = run.plan.workload.metric(&run.analysis.metric);
        let lines = measured(
            &s.id.to_string(),
            &s.workload,
            &s.host,
            &s.started_at,
            &run.analysis,
            &run.system,
            metric.map_or(MetricKind::Measured, |m| m.kind),
        );
        landscape.add_measured(&lines).map_err(mistake)?;
    }
    let profile = if published { Profile::Publish } else { Profile::Lab };
    landscape.check_denominators(&asked.per, with_matrix, profile);
    let mut matrix = with_matrix.then(|| landscape.matrix());
    if let Some(n) = top {
        landscape.cut(n);
        if let Some(m) = &mut matrix {
            match landscape.tables().len() {
                0 | 1 => m.rows.truncate(n),
                // The rows of a question are adjacent, and their labels end in it.
                _ => {
                    let mut kept: BTreeMap<String, usize> = BTreeMap::new();
                    m.rows.retain(|row| {
                        let of = row.label.rsplit(": ").next().unwrap_or_default().to_owned();
                        let seen = kept.entry(of).or_default();
                        *seen += 1;
                        *seen <= n
                    });
                }
            }
        }
    }
    if let Some(file) = &asked.output {
        let page =
            assay_report::page::landscape(&landscape, matrix.as_ref(), env!("CARGO_PKG_VERSION"));
        write_file(file, page)?;
        say(&format!("wrote {}", file.display()));
        if table || !(global.json || asked.csv || asked.markdown) {
            return Ok(Exit::Fine);
        }
    }
    show(global, asked, &landscape, matrix.as_ref())?;
    Ok(Exit::Fine)
}

fn show(
    global: &Global,
    asked: &args::Landscape,
    landscape: &assay_quoted::landscape::Landscape,
    matrix: Option<&Matrix>,
) -> Result<()> {
    if global.json {
        let json = serde_json::json!({
            "schema_version": assay_model::SCHEMA_VERSION,
            "heading": landscape.heading(),
            "landscape": landscape,
            "matrix": matrix,
        });
        return print_json(&json);
    }
    if asked.csv {
        return print(&matrix.filter(|_| asked.matrix).map_or_else(|| csv(landscape), matrix_csv));
    }
    if asked.markdown {
        return print(&markdown(landscape, matrix));
    }
    let mut text = terminal::landscape(landscape, style());
    if let Some(m) = matrix {
        text.push('\n');
        text.push_str(&terminal::matrix(m, &landscape.unit, style()));
    }
    print_styled(&text)
}

/// Returns the quoted results that come with assay, and those of other folders.
pub(in crate::commands) fn collection(published: &[PathBuf]) -> Result<Collection> {
    let mut collection = Collection::built_in()?;
    for more in published {
        collection.add(more).map_err(mistake)?;
    }
    Ok(collection)
}
