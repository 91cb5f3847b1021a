//! `assay doctor`: checks whether this machine is fit to measure on, what can be observed and
//! controlled here, and which settings were left changed.

pub mod args;
pub(super) mod nodes;

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use assay_lab::{AaFloor, PreparedExperiment, aa_experiment, aa_floor};
use assay_model::{Finding, Severity, units};
use assay_observe::counters::counter_ability;
use assay_observe::io::io_ability;
use assay_observe::profile::profile_ability;
use assay_observe::runqueue::runqueue_ability;
use assay_observe::syscalls::syscall_ability;
use assay_system::process::{Output, guard, tracing_copy};
use assay_system::{Controller, RestoreOutcome, RestoreReport, Root};

use crate::arguments::{EngineArg, Global};
use crate::commands::open::{kit_paths, open_archive, open_lab};
use crate::exit::{Exit, usage};
use crate::progress::Bar;
use crate::screen::{answer, say, wrap};

/// Result of the checks, for `--json`.
#[derive(Debug, serde::Serialize)]
struct DoctorReport {
    schema_version: u32,
    /// True if nothing speaks against measuring now.
    quiet: bool,
    cpus: String,
    fitness: Vec<Finding>,
    monitors: Vec<Ability>,
    tracers: Vec<Ability>,
    /// Capabilities that the tracers lack.
    missing_capabilities: Vec<&'static str>,
    controls: Vec<Ability>,
    virtual_machines: Vec<Ability>,
    /// Parts of the machine that the container around assay hides or does not let it set.
    container: Vec<String>,
    left_changed: Vec<String>,
}

/// A monitor, tracer or control, with the answer whether it works here.
#[derive(Debug, serde::Serialize)]
struct Ability {
    name: String,
    help: String,
    works: bool,
    /// Reason why it does not work, or a list of the things that it cannot see.
    why: String,
}

/// Examines the machine, or does what `--restore` or `--aa` asks for.
pub fn doctor(global: &Global, doctor: &args::Doctor) -> Result<Exit> {
    if doctor.restore {
        return restore(global);
    }
    let on = doctor.place.on;
    if matches!(on, Some(EngineArg::Slurm | EngineArg::Ssh)) || !doctor.place.host.is_empty() {
        return nodes::doctor(global, doctor);
    }
    if doctor.place.of_nodes() {
        return usage(crate::commands::experiment::OF_NODES);
    }
    if doctor.aa {
        return aa(global, doctor.comparisons);
    }
    let report = examine()?;
    answer(global.json, &report, || show(&report, doctor.verbose))?;
    let fit = report.quiet && report.left_changed.is_empty();
    Ok(if fit { Exit::Fine } else { Exit::Rule })
}

fn examine() -> Result<DoctorReport> {
    let pending = assay_system::pending(&assay_system::state_dir())?;
    let jobs = assay_cluster::slurm::orphaned_jobs::left(&assay_system::state_dir()).into_iter();
    let left_changed = pending
        .iter()
        .map(|p| format!("settings journaled in {}", p.path.display()))
        .chain(jobs.map(|name| format!("the Slurm job {name}")))
        .chain(
            guard::strays()
                .into_iter()
                .map(|s| format!("process {} still runs: {}", s.pid, s.command)),
        );
    let fitness = assay_lab::examine();
    // The description runs after the fitness checks, which would count its processes as other work.
    let recorder = assay_system::redact::Recorder::default();
    let system = assay_system::describe(&Root::system(), &recorder);
    Ok(DoctorReport {
        schema_version: assay_model::SCHEMA_VERSION,
        cpus: system.text("cpu.threads").to_owned()
            + &assay_model::environment::cpu_limits(&system),
        quiet: assay_lab::unfit(&fitness).is_empty(),
        fitness,
        monitors: monitors(),
        tracers: tracers(),
        missing_capabilities: tracing_copy::missing(),
        controls: controls(),
        virtual_machines: vec![virtual_machines()],
        container: assay_system::hidden_by_container(&Root::system()),
        left_changed: left_changed.collect(),
    })
}

fn monitors() -> Vec<Ability> {
    let tree = assay_observe::Tree::new(Path::new("/"));
    assay_observe::all()
        .into_iter()
        .map(|spec| {
            let opened = (spec.open)(&tree).map(|monitor| monitor.not_seen().join("; "));
            ability(spec.name, spec.help, opened)
        })
        .collect()
}

fn ability(name: &str, help: &str, found: Result<String, impl std::fmt::Display>) -> Ability {
    let works = found.is_ok();
    let why = found.unwrap_or_else(|e| e.to_string());
    Ability { name: name.into(), help: help.into(), works, why }
}

fn tracers() -> Vec<Ability> {
    let root = Path::new("/");
    vec![
        ability("io", "Block I/O (`assay io`)", io_ability(root).map(|a| a.words.join(". "))),
        ability("profile", "Stacks (`assay profile`)", profile_ability(root).map(|w| w.join(". "))),
        ability("syscalls", "System calls of programs (`assay syscalls`)", syscall_ability(root)),
        ability("runqueue", "Waits for a CPU (`--tracers runqueue`)", runqueue_ability(root)),
        ability("counters", "Instructions a cycle, misses, top-down", counter_ability(root)),
    ]
}

fn virtual_machines() -> Ability {
    let assay_cluster::vm::Ability { works, words } = assay_cluster::vm::ability();
    let help = "Kernels as a factor (`engine = \"vm\"`)".to_owned();
    Ability { name: "vm".into(), help, works, why: words }
}

fn controls() -> Vec<Ability> {
    assay_system::all()
        .iter()
        .map(|control| {
            let spec = control.spec();
            let why = obstacle(*control).unwrap_or_default();
            Ability { name: spec.name.into(), help: spec.help.into(), works: why.is_empty(), why }
        })
        .collect()
}

/// Returns the reason why a control cannot be set here, or `None` if it can. Tries levels that
/// would change something.
fn obstacle(control: &dyn assay_system::Control) -> Option<String> {
    let root = Root::system();
    let cpu = *assay_lab::allowed_cpus().first()?;
    let mut why = "this machine has nothing that the control could set".to_owned();
    let controller = Controller::new(assay_system::state_dir(), root.clone());
    for setting in control.probes(&root, cpu) {
        match controller.check(&[setting]) {
            Ok(()) => return None,
            Err(e) => why = e.to_string(),
        }
    }
    Some(why)
}

/// Formats the verdict, its reasons and what works here, in about ten lines; with `verbose`,
/// everything.
fn show(report: &DoctorReport, verbose: bool) -> String {
    let unfit = assay_lab::unfit(&report.fitness).join("; ");
    let verdict = if report.quiet { "QUIET".to_owned() } else { format!("NOT QUIET: {unfit}") };
    let mut text = wrap(&verdict, "", "  ") + "\n";
    let remedies = report.fitness.iter().filter(|f| f.severity > Severity::Note);
    let mut remedies: Vec<&str> = remedies.map(|f| f.remedy.as_str()).collect();
    remedies.dedup();
    for remedy in remedies.iter().filter(|remedy| !remedy.is_empty()) {
        let _ = writeln!(text, "{}", wrap(&format!("-> {remedy}"), "  ", "     "));
    }
    let _ = writeln!(text, "CPUs: {}", report.cpus);
    let all = [
        ("Monitors", &report.monitors),
        ("Tracers", &report.tracers),
        ("Controls", &report.controls),
        ("Virtual machines", &report.virtual_machines),
    ];
    if verbose {
        everything(report, &all, &mut text);
    } else {
        for (title, abilities) in all {
            let missing: Vec<&str> =
                abilities.iter().filter(|a| !a.works).map(|a| a.name.as_str()).collect();
            let works = abilities.len() - missing.len();
            let without = if missing.is_empty() {
                String::new()
            } else {
                format!("; not here: {}", missing.join(", "))
            };
            let line = format!("{title}: {works} of {} work{without}", abilities.len());
            let _ = writeln!(text, "{}", wrap(&line, "", "  "));
        }
    }
    if !report.missing_capabilities.is_empty() {
        let missing = report.missing_capabilities.join(", ");
        // A wrapped command could not be pasted.
        let _ = writeln!(text, "Tracers lack {missing}:\n  -> {}", tracing_copy::remedy());
    }
    if !report.container.is_empty() {
        let lines = report.container.join("\n  ");
        let _ = writeln!(text, "In a container, which lacks (an option allows it):\n  {lines}");
    }
    match report.left_changed.as_slice() {
        [] => text.push_str("Left changed by a run that was killed: nothing\n"),
        left => {
            text.push_str("Left changed by a run that was killed:\n");
            for one in left {
                let _ = writeln!(text, "{}", wrap(one, "  ", "      "));
            }
            text.push_str("  end and restore it with `assay doctor --restore`\n");
        }
    }
    if !verbose {
        text.push_str("The reasons, and every monitor, tracer and control: assay doctor -v\n");
    }
    text
}

/// Appends every finding with its remedy, and every monitor, tracer and control with the reason if
/// it does not work.
fn everything(report: &DoctorReport, all: &[(&str, &Vec<Ability>)], text: &mut String) {
    text.push_str("\nFitness to measure\n");
    if report.fitness.is_empty() {
        text.push_str("  nothing found\n");
    }
    for f in &report.fitness {
        let word = match f.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "unfit",
        };
        let _ =
            writeln!(text, "{}", wrap(&format!("{word} {} {}", f.id, f.message), "  ", "      "));
        if !f.remedy.is_empty() {
            let _ = writeln!(text, "{}", wrap(&format!("-> {}", f.remedy), "      ", "         "));
        }
    }
    for (title, abilities) in all {
        let _ = writeln!(text, "\n{title}");
        for a in *abilities {
            let mark = if a.works { "yes" } else { "no " };
            let about = if a.why.is_empty() { &a.help } else { &a.why };
            let line = format!("{mark} {:<12} {about}", a.name);
            let _ = writeln!(text, "{}", wrap(&line, "  ", "                   "));
        }
    }
    text.push('\n');
}

/// Restores the settings that a crash left changed and reports them; runs before every verb but
/// `doctor`.
pub fn restore_quietly() {
    for line in strays_ended() {
        say(&line);
    }
    match assay_system::restore_pending(&assay_system::state_dir(), &Root::system()) {
        Ok(reports) => {
            for line in reports.iter().flat_map(lines) {
                say(&line);
            }
        }
        // A state folder that cannot be read: this user has left nothing there.
        Err(e) => say(&format!("cannot read the journal of changed settings: {e}")),
    }
    for line in assay_cluster::slurm::orphaned_jobs::cancel(&assay_system::state_dir()) {
        say(&line);
    }
}

fn restore(global: &Global) -> Result<Exit> {
    let mut all = strays_ended();
    let reports = assay_system::restore_pending(&assay_system::state_dir(), &Root::system())?;
    all.extend(reports.iter().flat_map(lines));
    all.extend(assay_cluster::slurm::orphaned_jobs::cancel(&assay_system::state_dir()));
    let scratch = assay_lab::scratch_root();
    let swept = assay_lab::sweep_scratch(&scratch);
    if swept > 0 {
        let folders = if swept == 1 { "folder" } else { "folders" };
        all.push(format!(
            "removed {swept} {folders} that a killed assay had left in {}",
            scratch.display()
        ));
    }
    answer(global.json, &all, || {
        if all.is_empty() { "nothing was left changed".to_owned() } else { all.join("\n") }
    })?;
    Ok(if reports.iter().all(|r| r.done) { Exit::Fine } else { Exit::Failed })
}

/// Ends the programs that a killed assay left running; returns a line for each.
fn strays_ended() -> Vec<String> {
    let ended = guard::end_strays().into_iter();
    ended
        .map(|s| format!("ended process {}, which a killed assay had left: {}", s.pid, s.command))
        .collect()
}

fn lines(report: &RestoreReport) -> Vec<String> {
    let mut lines: Vec<String> = report
        .settings
        .iter()
        .map(|s| match &s.outcome {
            RestoreOutcome::PutBack { was } => {
                format!("restored {} to {} (a killed run had left {was})", s.path, s.old)
            }
            RestoreOutcome::AlreadyBack => format!("{} is already {}", s.path, s.old),
            RestoreOutcome::Rebooted => format!("the reboot reset {}", s.path),
            RestoreOutcome::Failed { reason } => {
                format!("could not restore {} to {}: {reason}", s.path, s.old)
            }
        })
        .collect();
    if !report.note.is_empty() {
        lines.push(format!("{}: {}", report.path.display(), report.note));
    }
    lines
}

fn aa(global: &Global, comparisons: u32) -> Result<Exit> {
    let archive = open_archive(global)?;
    let kits = kit_paths()?;
    let prepared = PreparedExperiment::from_experiment(aa_experiment(comparisons)?, &kits)?;
    let lab = open_lab(&archive, kits, Output::Keep)?;
    let ended = lab.run(&prepared, &mut Bar::new(&prepared.experiment.name, false))?;
    let reader = archive.run(&ended.id)?;
    let floor = aa_floor(&reader.plan()?, &reader.records()?);
    let json = serde_json::json!({ "schema_version": 1, "run": ended.id, "aa": floor });
    answer(global.json, &json, || show_floor(&floor, ended.id.as_str()))?;
    Ok(if floor.floor.is_some() { Exit::Fine } else { Exit::Nothing })
}

/// Formats the result of an A/A run as text.
pub(in crate::commands) fn show_floor(floor: &AaFloor, run: &str) -> String {
    let percent = |value: Option<f64>| {
        value.map_or("unknown".to_owned(), |v| format!("{} %", units::significant(v * 100.0, 3)))
    };
    let text = format!(
        "Identical treatments compared {} times, {} blocks each (run {run}):\n  \
         95th percentile         {}   (the A/A floor)\n  \
         largest difference      {}\n",
        floor.comparisons,
        floor.blocks_each,
        percent(floor.floor),
        percent(floor.worst)
    );
    text + match floor.floor {
        Some(_) => {
            "Ignore differences below this floor, for similar work and the same number of \
             blocks.\nLater runs of this experiment quote it."
        }
        None => "A floor needs 20 comparisons with a result; `assay run --aa` makes them.",
    }
}
