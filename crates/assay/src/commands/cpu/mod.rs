//! `assay cpu`: data that only suites of programs have: the reference times that ratios are made
//! with, and the result in the form that the rule pack `cpu` judges.

pub mod args;

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use assay_lab::{SuiteFacts, suite_facts_template, suite_result};
use assay_model::{Fact, Scalar, SuiteScore};
use assay_quoted::pack::cpu::CpuSuiteResult;
use assay_quoted::pack::{Pack, PackScope, Parameter, embedded};
use assay_report::RunView;

use crate::arguments::Global;
use crate::commands::open::open_archive;
use crate::exit::Exit;
use crate::view;
use args::CpuCommand;

/// Runs a subcommand of `assay cpu`.
pub fn cpu(global: &Global, cpu: &CpuCommand) -> anyhow::Result<Exit> {
    match cpu {
        CpuCommand::Reference { run } => {
            let view = suite_of(global, run)?;
            crate::screen::print(&reference(&view)?)?;
        }
        CpuCommand::Result { run, facts } => {
            let (_, mut result) = result_of(global, run)?;
            if let Some(path) = facts {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                let facts: SuiteFacts = toml::from_str(&text)
                    .map_err(|e| anyhow::anyhow!("{}: {e}", path.display()))?;
                let pack = pack()?;
                facts
                    .add_to(&mut result, &fields(&pack))
                    .map_err(|e| anyhow::anyhow!("{}: {e}", path.display()))?;
            }
            crate::screen::print_json(&result)?;
        }
        CpuCommand::Facts { run } => {
            let (id, result) = result_of(global, run)?;
            crate::screen::print(&suite_facts_template(&id, &result, &fields(&pack()?)))?;
        }
    }
    Ok(Exit::Fine)
}

fn result_of(global: &Global, run: &str) -> anyhow::Result<(String, CpuSuiteResult)> {
    let view = suite_of(global, run)?;
    let result =
        suite_result(&view.summary, &view.plan, &view.records, &view.analysis, &view.system)
            .context("no setting of the run has base tuning, which a result needs")?;
    Ok((view.summary.id.to_string(), result))
}

/// Returns the rule pack for results of CPU suites.
fn pack() -> anyhow::Result<Pack> {
    embedded()
        .into_iter()
        .find(|p| p.applies_to == PackScope::CpuSuite)
        .context("there is no rule pack for CPU suites")
}

/// Returns the facts that the pack requires to be disclosed.
fn fields(pack: &Pack) -> Vec<&str> {
    let lists = pack.rules.iter().filter_map(|rule| match rule.parameters.get("fields") {
        Some(Parameter::Words(words)) => Some(words.iter().map(String::as_str)),
        _ => None,
    });
    lists.flatten().collect()
}

fn suite_of(global: &Global, run: &str) -> anyhow::Result<RunView> {
    let archive = open_archive(global)?;
    let view = view::load(&archive, &archive.resolve(run)?)?;
    if view.analysis.suite.is_none() {
        bail!(
            "run {} did not measure a suite (its workload is {}); docs/workloads/cpu.md has \
             experiments that do",
            view.summary.id,
            view.plan.workload.name
        );
    }
    Ok(view)
}

/// Returns the tables `[reference]` of `suite.toml` with the times of this run.
fn reference(view: &RunView) -> anyhow::Result<String> {
    let suite = view.analysis.suite.as_ref().context("the run has no suite")?;
    let score = suite.scores.first().context("the suite has no score")?;
    let params = view
        .plan
        .treatments
        .iter()
        .find(|t| score.members.first().is_some_and(|m| m.treatment == t.id))
        .map(|t| &t.params)
        .context("the plan has no treatments")?;
    let text = |name: &str| params.get(name).map(Scalar::to_text).unwrap_or_default();
    if text("kind") != "speed" || text("tuning") != "base" {
        bail!(
            "a reference needs speed with base tuning; the first setting of run {} is {} with {}",
            view.summary.id,
            text("kind"),
            text("tuning")
        );
    }
    let fact = |name: &str| match view.system.facts.get(name) {
        Some(Fact::Known { value }) => value.clone(),
        _ => "unknown".to_owned(),
    };
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let mut out = String::from("[reference]\n");
    let machine = format!("{}, kernel {}", fact("cpu.model"), fact("kernel.release"));
    let _ = writeln!(out, "machine = {}", quoted(&machine));
    let date = view.summary.started_at.get(..10).unwrap_or("unknown");
    let _ = writeln!(out, "date = {}", quoted(date));
    let _ = writeln!(out, "compiler = {}", quoted(&text("toolchain")));
    let flags =
        if text("flags").is_empty() { "base of the toolchain".into() } else { text("flags") };
    let _ = writeln!(out, "flags = {}", quoted(&flags));
    let how =
        format!("run {}: the median trial of each member, or the slower of two", view.summary.id);
    let _ = writeln!(out, "how = {}", quoted(&how));
    let _ = writeln!(out, "\n[reference.times.{}]", text("size"));
    out.push_str(&times(score)?);
    Ok(out)
}

fn times(score: &SuiteScore) -> anyhow::Result<String> {
    let mut out = String::new();
    for member in &score.members {
        let time = member.time_s.with_context(|| {
            format!("`{}` has no valid time, and a reference needs every member", member.name)
        })?;
        let _ = writeln!(out, "{} = {time:.4}", member.name);
    }
    Ok(out)
}
