//! The verbs, a file each: what was typed goes in, one crate is called, its result is printed.

mod archive;
mod compare;
mod doctor;
mod experiment;
mod export;
mod kit;
mod plan;
mod publish;
mod run;
mod schema;
mod stat;
mod workloads;

use std::path::PathBuf;

use anyhow::Context;
use assay_archive::Archive;
use assay_workloads::KitPaths;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;

/// Does what was typed.
pub fn dispatch(cli: &Cli) -> anyhow::Result<Exit> {
    put_back_what_a_crash_left(cli);
    match &cli.verb {
        Verb::Run(run) => run::run(cli, run),
        Verb::Plan(plan) => plan::plan(cli, plan),
        Verb::Compare(compare) => compare::compare(cli, compare),
        Verb::Publish(publish) => publish::publish(cli, publish),
        Verb::Stat(stat) => stat::stat(cli, stat),
        Verb::Archive(archive) => archive::archive(cli, archive),
        Verb::Doctor(doctor) => doctor::doctor(cli, doctor),
        Verb::Kit(kit) => kit::kit(cli, kit),
        Verb::Workloads { name } => workloads::workloads(cli, name.as_deref()),
        Verb::Schema { output } => schema::schema(output),
        Verb::Work { .. } => unreachable!("handled before anything else"),
    }
}

/// A run that was killed may have left settings changed; the next command puts them back and says so.
fn put_back_what_a_crash_left(cli: &Cli) {
    // `doctor --restore` does it itself, with its own report.
    if matches!(cli.verb, Verb::Doctor(_)) {
        return;
    }
    doctor::restore_quietly();
}

/// The archive that was named, or the usual one.
fn open_archive(cli: &Cli) -> anyhow::Result<Archive> {
    let path = match &cli.archive {
        Some(path) => path.clone(),
        None => Archive::default_path()?,
    };
    Ok(Archive::open(path)?)
}

/// The path of this executable.
fn own_path() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("find assay's own executable")
}

/// Where kits are looked for.
fn kit_paths() -> anyhow::Result<KitPaths> {
    Ok(KitPaths::from_env(&own_path()?, Some(assay_lab::cache_dir())))
}
