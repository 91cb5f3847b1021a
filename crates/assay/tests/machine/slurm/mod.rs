//! Runs on the nodes of a real Slurm, which the tests start on this machine: one record of all
//! nodes, failures of nodes, jobs and controllers, and workloads that are more than a copy on each
//! node.

mod failures;
mod more_than_copies;
mod records;

use std::process::Command;

use crate::common::virtual_slurm::Slurm;
use crate::common::{Done, World, done};
use serde_json::Value;

fn assay(world: &World, slurm: &Slurm, arguments: &[&str]) -> Command {
    let mut command = world.assay(arguments);
    command.env("SLURM_CONF", slurm.conf());
    command
}

fn run(world: &World, slurm: &Slurm, arguments: &[&str]) -> Done {
    done(&mut assay(world, slurm, arguments))
}

/// Returns a file that was kept with a trial of the newest run.
fn file(world: &World, trial: &str, name: &str) -> String {
    let run = world.newest();
    std::fs::read_to_string(run.join("trials").join(trial).join(name)).unwrap()
}

/// Returns the results of each node in a trial of the newest run.
fn nodes(world: &World, trial: &str) -> Vec<Value> {
    let kept: Value = serde_json::from_str(&file(world, trial, "nodes.json")).unwrap();
    kept["nodes"].as_array().unwrap().clone()
}

/// Returns one text field of each node or record, such as its `node`, `did` or `outcome`.
fn column<'a>(all: &'a [Value], key: &str) -> Vec<&'a str> {
    all.iter().map(|one| one[key].as_str().unwrap()).collect()
}

/// Returns a metric of a record or node, or `None` if it is missing or has no value.
fn metric(of: &Value, name: &str) -> Option<f64> {
    let all = of["metrics"].as_array()?;
    all.iter().find(|m| m["name"] == name)?["value"].as_f64()
}

/// Returns the arguments of a run on some nodes, without monitors.
fn on_nodes<'a>(nodes: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--on", "slurm", "--nodes", nodes, "--monitors", "none"], more].concat()
}

fn nothing_is_left(world: &World, slurm: &Slurm) {
    assert_eq!(slurm.jobs(), "");
    let noted = std::fs::read_dir(world.path("state/slurm")).unwrap().count();
    assert_eq!(noted, 0, "no job is noted any more");
}
