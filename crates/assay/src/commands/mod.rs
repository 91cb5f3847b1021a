//! The verbs, one folder each: a verb calls one library crate with the parsed arguments and prints
//! the result.

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
mod manual;
pub(crate) mod new;
mod observed_command;
mod open;
pub(crate) mod plan;
mod post;
pub(crate) mod profile;
mod publication;
pub(crate) mod publish;
#[cfg(feature = "server")]
mod queue;
mod reference;
pub(crate) mod reproduce;
pub(crate) mod rules;
pub(crate) mod run;
mod schema;
#[cfg(feature = "server")]
mod serve;
pub(crate) mod site;
pub(crate) mod stat;
pub(crate) mod syscalls;
mod targets;
pub(crate) mod tlb;
pub(crate) mod vm;
mod workloads;

use assay_cluster::OverSsh;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;

/// Runs the verb that was typed.
pub fn dispatch(cli: &Cli) -> anyhow::Result<Exit> {
    put_back_what_a_crash_left(cli);
    match &cli.verb {
        Verb::Run(run) => run::run(cli, run),
        Verb::Gate(asked) => gate::gate(cli, asked),
        Verb::History(asked) => history::history(cli, asked),
        Verb::Bisect(asked) => bisect::bisect(cli, asked),
        Verb::Plan(plan) => plan::plan(cli, plan),
        Verb::Compare(compare) => compare::compare(cli, compare),
        Verb::Cpu(cpu) => cpu::cpu(cli, cpu),
        Verb::Explain(asked) => explain::explain(cli, asked),
        Verb::New(asked) => new::new(asked),
        Verb::Hosts(asked) => hosts::hosts(cli, asked),
        Verb::Audit(audit) => audit::audit(cli, audit),
        Verb::Publish(publish) if publish.history => history::publish::publish(cli, publish),
        Verb::Publish(publish) => publish::publish(cli, publish),
        Verb::Site(asked) => site::site(cli, asked),
        Verb::Reproduce(asked) => reproduce::reproduce(cli, asked),
        Verb::Landscape(landscape) => landscape::landscape(cli, landscape),
        Verb::Stat(stat) => stat::stat(cli, stat),
        Verb::Io(asked) => io::io(cli, asked),
        Verb::Profile(asked) => profile::profile(cli, asked),
        Verb::Syscalls(asked) => syscalls::syscalls(cli, asked),
        Verb::Tlb(asked) => tlb::tlb(cli, asked),
        Verb::Archive(archive) => archive::archive(cli, archive),
        Verb::Doctor(doctor) => doctor::doctor(cli, doctor),
        Verb::Kit(kit) => kit::kit(cli, kit),
        Verb::Vm(asked) => vm::vm(cli, asked),
        Verb::Rules(rules) => rules::rules(cli, rules),
        Verb::Workloads { name } => workloads::workloads(cli, name.as_deref()),
        Verb::Schema { output } => schema::schema(output),
        Verb::Completions { shell } => manual::completions(*shell),
        Verb::Man { output } => manual::pages(output),
        Verb::Reference { output } => reference::write(output),
        #[cfg(feature = "server")]
        Verb::Serve(asked) => serve::serve(cli, asked),
        #[cfg(feature = "server")]
        Verb::Submit(asked) => queue::submit(cli, asked),
        #[cfg(feature = "server")]
        Verb::Pending(server) => queue::pending(cli, server),
        #[cfg(feature = "server")]
        Verb::Wait(of) => queue::wait(cli, of),
        #[cfg(feature = "server")]
        Verb::Cancel(of) => queue::cancel(cli, of),
        #[cfg(feature = "server")]
        Verb::Resume(of) => queue::resume(cli, of),
        #[cfg(not(feature = "server"))]
        Verb::Serve(_)
        | Verb::Submit(_)
        | Verb::Pending(_)
        | Verb::Wait(_)
        | Verb::Cancel(_)
        | Verb::Resume(_) => {
            crate::exit::usage("this assay was built without the server (its feature `server`)")
        }
        Verb::Agent { .. } | Verb::Contained { .. } | Verb::Guard | Verb::Work { .. } => {
            unreachable!("handled before anything else")
        }
    }
}

/// Restores the settings that a killed run may have left changed, and reports them.
fn put_back_what_a_crash_left(cli: &Cli) {
    // `doctor --restore` restores them itself, with its own report.
    if matches!(cli.verb, Verb::Doctor(_)) {
        return;
    }
    doctor::restore_quietly();
}

/// Runs the agent: serves the collector that started this process on a node.
pub fn agent(node: Option<&str>, token: Option<&str>) -> anyhow::Result<()> {
    let over_ssh = node.zip(token);
    let over_ssh = over_ssh.map(|(node, token)| OverSsh { node: node.into(), token: token.into() });
    Ok(assay_lab::agent(&open::own_path()?, &open::kit_paths()?, over_ssh.as_ref())?)
}
