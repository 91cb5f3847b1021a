//! The verbs, one folder each: its arguments and its run.

pub(crate) mod archive;
pub(crate) mod audit;
pub(crate) mod bisect;
pub(crate) mod compare;
mod copies;
pub(crate) mod cpu;
pub(crate) mod doctor;
mod experiment;
pub(crate) mod explain;
pub mod export;
mod functions;
pub(crate) mod gate;
pub(crate) mod history;
pub(crate) mod hosts;
pub(crate) mod io;
pub(crate) mod kit;
pub(crate) mod landscape;
pub(crate) mod manual;
pub(crate) mod new;
mod observed_command;
mod open;
pub(crate) mod plan;
mod post;
pub(crate) mod profile;
mod publication;
pub(crate) mod publish;
#[cfg(feature = "server")]
pub(crate) mod queue;
#[cfg(test)]
mod reference;
pub(crate) mod reproduce;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod schema;
#[cfg(feature = "server")]
pub(crate) mod serve;
pub(crate) mod server_args;
pub(crate) mod site;
pub(crate) mod stat;
pub(crate) mod syscalls;
mod targets;
pub(crate) mod tlb;
pub(crate) mod vm;
pub(crate) mod workloads;

use assay_cluster::OverSsh;

/// Runs the agent: serves the collector that started this process on a node.
pub fn agent(node: Option<&str>, token: Option<&str>) -> anyhow::Result<()> {
    let over_ssh = node.zip(token);
    let over_ssh = over_ssh.map(|(node, token)| OverSsh { node: node.into(), token: token.into() });
    Ok(assay_lab::agent(&open::own_path()?, &open::kit_paths()?, over_ssh.as_ref())?)
}
