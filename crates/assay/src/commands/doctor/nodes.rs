//! `assay doctor --on slurm` and `--on ssh`: checks whether other machines are fit to measure on.

use std::fmt::Write;

use anyhow::Result;
use assay_lab::PreparedExperiment;
use assay_model::{Engine, Experiment, HostUse};
use assay_system::process::Output;
use assay_workloads::Workload;

use crate::arguments::Global;
use crate::commands::doctor::args::Doctor;
use crate::commands::experiment::change_place;
use crate::commands::open::{kit_paths, open_archive, open_lab};
use crate::exit::Exit;
use crate::screen::{print, print_json, wrap};

/// Examines the cluster or the hosts, and prints the checks.
pub fn doctor(global: &Global, doctor: &Doctor) -> Result<Exit> {
    let archive = open_archive(global)?;
    let kits = kit_paths()?;
    // Nothing runs, so any workload will do.
    let noop = &assay_workloads::Noop.spec().name;
    let text = format!("name = \"doctor\"\nworkload = \"{noop}\"\n[observe]\nmonitors = []\n");
    let mut experiment: Experiment = toml::from_str(&text)?;
    change_place(&mut experiment.place, &doctor.place);
    // The job disturbs nobody and need not wait for an empty node.
    experiment.place.exclusive = false;
    experiment.place.max_wait = "1 min".into();
    let by_ssh = experiment.place.engine == Engine::Ssh;
    if experiment.place.hosts.len() > 1 {
        experiment.place.hosts_as = Some(HostUse::Together);
    }
    let prepared = PreparedExperiment::from_experiment(experiment, &kits)?;
    let lab = open_lab(&archive, kits, Output::Discard)?;
    let report = assay_lab::doctor_nodes(&lab, &prepared, &[std::env::current_dir()?]);
    if global.json {
        let json = serde_json::json!({ "schema_version": 1, "checks": report.checks });
        print_json(&json)?;
    } else {
        let mut text = String::from(if by_ssh { "Hosts\n" } else { "Slurm\n" });
        for check in &report.checks {
            let mark = match check.ok {
                Some(true) => "yes",
                Some(false) => "no ",
                None => "?  ",
            };
            let line = format!("{mark} {:<15} {}", check.name, check.detail);
            let _ = writeln!(text, "{}", wrap(&line, "  ", "                      "));
        }
        print(&text)?;
    }
    Ok(if report.fine() { Exit::Fine } else { Exit::Rule })
}
