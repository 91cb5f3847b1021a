//! Runs the verb of a command line: a verb calls one library crate with its arguments and prints
//! the result.

use clap::CommandFactory;

use crate::cli::{Cli, Verb};
use crate::commands::{
    archive, audit, bisect, compare, cpu, doctor, explain, gate, history, hosts, io, kit,
    landscape, manual, new, plan, profile, publish, reproduce, rules, run, schema, site, stat,
    syscalls, tlb, vm, workloads,
};
#[cfg(feature = "server")]
use crate::commands::{queue, serve};
use crate::exit::Exit;

/// Runs the verb that was typed.
pub fn dispatch(cli: &Cli) -> anyhow::Result<Exit> {
    put_back_what_a_crash_left(cli);
    let global = &cli.global;
    match &cli.verb {
        Verb::Run(run) => run::run(global, run),
        Verb::Gate(asked) => gate::gate(global, asked),
        Verb::History(asked) => history::history(global, asked),
        Verb::Bisect(asked) => bisect::bisect(global, asked),
        Verb::Plan(plan) => plan::plan(global, plan),
        Verb::Compare(compare) => compare::compare(global, compare),
        Verb::Cpu(cpu) => cpu::cpu(global, cpu),
        Verb::Explain(asked) => explain::explain(global, asked),
        Verb::New(asked) => new::new(asked),
        Verb::Hosts(asked) => hosts::hosts(global, asked),
        Verb::Audit(audit) => audit::audit(global, audit),
        Verb::Publish(publish) if publish.history => history::publish::publish(global, publish),
        Verb::Publish(publish) => publish::publish(global, publish),
        Verb::Site(asked) => site::site(global, asked),
        Verb::Reproduce(asked) => reproduce::reproduce(global, asked),
        Verb::Landscape(landscape) => landscape::landscape(global, landscape),
        Verb::Stat(stat) => stat::stat(global, stat),
        Verb::Io(asked) => io::io(global, asked),
        Verb::Profile(asked) => profile::profile(global, asked),
        Verb::Syscalls(asked) => syscalls::syscalls(global, asked),
        Verb::Tlb(asked) => tlb::tlb(global, asked),
        Verb::Archive(archive) => archive::archive(global, archive),
        Verb::Doctor(doctor) => doctor::doctor(global, doctor),
        Verb::Kit(kit) => kit::kit(global, kit),
        Verb::Vm(asked) => vm::vm(global, asked),
        Verb::Rules(rules) => rules::rules(global, rules),
        Verb::Workloads { name } => workloads::workloads(global, name.as_deref()),
        Verb::Schema { output } => schema::schema(output),
        Verb::Completions { shell } => manual::completions(&Cli::command(), *shell),
        Verb::Man { output } => manual::pages(Cli::command(), output),
        #[cfg(feature = "server")]
        Verb::Serve(asked) => serve::serve(global, asked),
        #[cfg(feature = "server")]
        Verb::Submit(asked) => queue::submit(global, asked),
        #[cfg(feature = "server")]
        Verb::Pending(server) => queue::pending(global, server),
        #[cfg(feature = "server")]
        Verb::Wait(of) => queue::wait(global, of),
        #[cfg(feature = "server")]
        Verb::Cancel(of) => queue::cancel(global, of),
        #[cfg(feature = "server")]
        Verb::Resume(of) => queue::resume(global, of),
        #[cfg(not(feature = "server"))]
        Verb::Serve(_)
        | Verb::Submit(_)
        | Verb::Pending(_)
        | Verb::Wait(_)
        | Verb::Cancel(_)
        | Verb::Resume(_) => {
            crate::exit::usage("this assay was built without the server (its feature `server`)")
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
