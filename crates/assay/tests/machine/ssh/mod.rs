//! Runs on hosts that are reached by SSH: a real sshd in each of some network namespaces.

mod failures;
mod uses;

use crate::common::virtual_hosts::Hosts;
use crate::common::{Done, World, done};
use serde_json::Value;

fn run(world: &World, hosts: &Hosts, arguments: &[&str]) -> Done {
    done(&mut hosts.assay(world, arguments))
}

/// Returns what a command printed on standard error, without line breaks.
fn said(done: &Done) -> String {
    done.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the arguments of a run without monitors on some hosts.
fn on<'a>(hosts: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let named = hosts.iter().flat_map(|host| ["--host", host]);
    ["run", "--monitors", "none", "--quiet"].into_iter().chain(named).chain(more.to_vec()).collect()
}

/// Returns the trial folders of the newest run, with the nodes in each.
fn nodes(world: &World, trial: &str) -> Vec<Value> {
    let path = world.newest().join("trials").join(trial).join("nodes.json");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    kept["nodes"].as_array().unwrap().clone()
}

fn fields<'a>(all: &'a [Value], key: &str) -> Vec<&'a str> {
    all.iter().map(|one| one[key].as_str().unwrap()).collect()
}
