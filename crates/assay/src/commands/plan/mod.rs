//! `assay plan`.

pub mod args;

use anyhow::Result;
use assay_lab::{Estimate, estimate};

use assay_model::{Experiment, Stop, units};
use assay_report::terminal::{PlanView, printable};

use crate::arguments::Global;
use crate::commands::experiment;
use crate::commands::open::{kit_paths, open_archive};
use crate::exit::Exit;
use crate::screen::{print_json, print_styled, style, wrap};

/// Plan of an experiment, for `--json`.
#[derive(serde::Serialize)]
struct PlanJson<'a> {
    schema_version: u32,
    experiment: &'a Experiment,
    plan: &'a assay_model::Plan,
    estimate: &'a Estimate,
    lines: &'a [String],
    obstacles: &'a [String],
}

/// Plans an experiment without running it, and prints the plan.
pub fn plan(global: &Global, plan: &args::Plan) -> Result<Exit> {
    let prepared = experiment::prepare(&plan.what, &kit_paths()?)?;
    // Without an archive there is only no knowledge of earlier runs.
    let archive = open_archive(global).ok();
    let confidence = prepared.experiment.compare.confidence;
    let expected: Estimate =
        estimate(archive.as_ref(), &prepared.experiment.name, &prepared.plan, confidence);
    let obstacles = assay_lab::obstacles(&prepared.plan, &assay_system::state_dir());
    for obstacle in &obstacles {
        experiment::hint(&plan.what, obstacle);
    }
    if global.json {
        // Serializes the structs directly: a tree of JSON values takes many times the memory of a
        // large plan.
        let json = PlanJson {
            schema_version: assay_model::SCHEMA_VERSION,
            experiment: &prepared.experiment,
            plan: &prepared.plan,
            estimate: &expected,
            lines: &prepared.workload.lines(),
            obstacles: &obstacles,
        };
        return print_json(&json).map(|()| Exit::Fine);
    }
    let open = match prepared.experiment.design.blocks {
        Some(_) => "",
        None if prepared.experiment.design.stop == Stop::Clear => "",
        None => "; the time of the first block decides the number of blocks",
    };
    let view = PlanView {
        plan: &prepared.plan,
        stop_rule: &assay_lab::stop_rule(&prepared.experiment),
        time: &format!("{}{open}", time(&expected)),
        detectable: &detectable(&expected, prepared.plan.treatments.len()),
        lines: &prepared.workload.lines(),
    };
    let mut text = assay_report::terminal::plan(&view, style());
    if !obstacles.is_empty() {
        text.push_str("\nCannot be run here\n");
    }
    for obstacle in &obstacles {
        text.push_str(&wrap(&printable(obstacle), "  ", "    "));
        text.push('\n');
    }
    print_styled(&text).map(|()| Exit::Fine)
}

fn time(expected: &Estimate) -> String {
    match (expected.total(), expected.trial_s) {
        (Some(total), Some(each)) => format!(
            "about {}, {} a trial; {}",
            units::format_duration(total),
            units::format_value(each, "s"),
            expected.basis
        ),
        _ => expected.basis.clone(),
    }
}

fn detectable(expected: &Estimate, treatments: usize) -> String {
    let percent = |ratio: f64| format!("{} %", units::significant((ratio - 1.0) * 100.0, 2));
    let alone = if treatments <= 1 { " and a second run of the same size" } else { "" };
    if let (Some(detectable), Some(noise)) = (expected.detectable, expected.noise) {
        let of = if treatments <= 1 { "between trials" } else { "of a ratio within a block" };
        return format!(
            "a difference of {} in 80 of 100 repeats, with {} blocks{alone}, at the noise {of} of \
             that run: {} %",
            percent(detectable),
            expected.blocks,
            units::significant(noise * 100.0, 2)
        );
    }
    let at: Vec<String> = expected
        .detectable_at
        .iter()
        .map(|(noise, mde)| {
            let mde = mde.map_or_else(|| "none".to_owned(), percent);
            format!("{mde} at {} % noise", units::significant(noise * 100.0, 1))
        })
        .collect();
    format!(
        "in 80 of 100 repeats, with {} blocks{alone}: {} (noise: standard deviation of single \
         trials; that of this experiment is unknown)",
        expected.blocks,
        at.join(", ")
    )
}
