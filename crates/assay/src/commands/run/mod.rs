//! `assay run`.

pub mod args;

use std::io::IsTerminal;

use anyhow::{Context, Result};
use assay_lab::{
    DISCARDED, EndedRun, EventWriter, Lab, PreparedExperiment, RunLock, Tee, Watcher, aa_floor,
    is_self_comparison,
};
use assay_model::{Engine, RunState, Severity, TrialOutcome, Verdict};
use assay_report::RunView;
use assay_report::terminal::Detail;
use assay_system::process::Output;

use crate::arguments::Global;
use crate::commands::doctor::show_floor;
use crate::commands::open::{kit_paths, open_archive, open_lab};
use crate::commands::{experiment, export};
use crate::exit::{Exit, usage};
use crate::progress::Bar;
use crate::screen::{print, print_json_text, print_styled, say, style};
use crate::view;

/// Runs an experiment to its end and prints the results.
pub fn run(global: &Global, run: &args::Run) -> Result<Exit> {
    let exports = export::parse(&run.export)?;
    let kits = kit_paths()?;
    let mut what = run.what.clone();
    if let Some(name) = &run.again {
        let archive = open_archive(global)?;
        let run = archive.run(&archive.resolve(name)?)?;
        what.targets = vec![run.dir().join("experiment.toml").display().to_string()];
    }
    // Mistakes are reported before anything is opened or created.
    let prepared = match &run.resume {
        None => Some(experiment::prepare(&what, &kits)?),
        Some(_) => None,
    };
    if let (Some(prepared), true) = (&prepared, run.output != Output::Keep) {
        needs_output(prepared)?;
    }
    let archive = open_archive(global)?;
    let lab = open_lab(&archive, kits, run.output)?;
    let resumed = run.resume.as_ref().map(|name| archive.resolve(name)).transpose()?;
    let name = match (&prepared, &resumed) {
        (Some(prepared), _) => prepared.experiment.name.clone(),
        (None, Some(id)) => archive.run(id)?.summary()?.experiment,
        (None, None) => String::new(),
    };
    let mut bar = Bar::new(&name, run.quiet);
    let mut events = match &run.events {
        None => None,
        Some(path) => {
            let metric = match (&prepared, &resumed) {
                (Some(prepared), _) => prepared.plan.metric.clone(),
                (None, Some(id)) => archive.run(id)?.plan()?.metric,
                (None, None) => String::new(),
            };
            let writer = EventWriter::open(path, &metric);
            Some(writer.with_context(|| format!("cannot open {} for events", path.display()))?)
        }
    };
    let mut nobody = ();
    let mut both = Tee(
        &mut bar,
        match &mut events {
            Some(events) => events,
            None => &mut nobody,
        },
    );
    // Nodes have a queue of their own, and the agent of a host takes the host's lock.
    let remote = |engine| matches!(engine, Engine::Slurm | Engine::Ssh);
    let remote = prepared.as_ref().is_some_and(|p| remote(p.experiment.place.engine));
    if remote && run.wait_for_lock {
        return usage("--wait-for-lock waits for this machine, and the trials run on others");
    }
    let _lock = if remote { None } else { take_run_lock(run.wait_for_lock, &lab, &mut both)? };
    if !run.quiet {
        prologue(run);
    }
    let mut ended = match (&prepared, &resumed) {
        (Some(prepared), _) => lab
            .run(prepared, &mut both)
            .inspect_err(|e| experiment::hint(&run.what, &e.to_string()))?,
        (None, Some(id)) => lab.resume(id, &mut both)?,
        (None, None) => unreachable!("one of the two is always given"),
    };
    if let Some(failure) = events.as_ref().and_then(EventWriter::failure) {
        say(&format!("warning: events could not be written: {failure}"));
    }
    let (view, public) = view::of_ended(&archive, &mut ended, !exports.is_empty())?;
    if global.json {
        print_json_text(&assay_report::formats::json::write(&view)?)?;
    } else if !export::to_stdout(&exports) {
        let detail = if run.verbose { Detail::Full } else { Detail::Brief };
        print_styled(&assay_report::terminal::result(&view, detail, style()))?;
        if is_self_comparison(&view.plan) {
            print(&show_floor(&aa_floor(&view.plan, &view.records), ended.id.as_str()))?;
        }
    }
    if let Some(public) = public {
        exports.iter().try_for_each(|export| export.write(&public))?;
    }
    if !run.quiet {
        epilogue(&ended);
    }
    Ok(exit_of(&ended, &view))
}

/// Takes the run lock, so that one run at a time measures on a machine. Without `wait`, a second
/// run only prints a warning about the first.
pub fn take_run_lock(
    wait: bool,
    lab: &Lab<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Option<RunLock>> {
    if wait {
        let turn = RunLock::wait(&lab.state_dir, lab.interrupt.as_ref(), &mut |s| watcher.say(s));
        return turn.with_context(|| format!("take the turn in {}", lab.state_dir.display()));
    }
    // If no lock can be made, other runs are unknown and no warning is possible.
    match RunLock::take(&lab.state_dir) {
        Ok(Ok(turn)) => Ok(Some(turn)),
        Ok(Err(who)) => {
            watcher.say(&format!(
                "warning: another run ({who}) disturbs this one (--wait-for-lock waits)"
            ));
            Ok(None)
        }
        Err(_) => Ok(None),
    }
}

/// Refuses an experiment that reads the output of its commands, which is not kept.
fn needs_output(prepared: &PreparedExperiment) -> Result<()> {
    let given = |param: &str| {
        let mut all = prepared.plan.treatments.iter().filter_map(|t| t.params.get(param));
        prepared.plan.workload.name == "command" && all.any(|v| !v.to_text().is_empty())
    };
    let reads = given("reader") && !given("result_file");
    if reads || ["metric_from", "check", "expect"].into_iter().any(given) {
        return usage("the output of the commands is read; use --output keep");
    }
    Ok(())
}

/// Prints notes about the inputs and outputs that programs get instead of assay's own.
fn prologue(run: &args::Run) {
    let given = || rustix::fs::fstat(std::io::stdin()).is_ok_and(|s| s.st_size > 0);
    let waiting = || rustix::io::ioctl_fionread(std::io::stdin()).is_ok_and(|bytes| bytes > 0);
    if run.what.stdin.is_none() && !std::io::stdin().is_terminal() && (given() || waiting()) {
        say("note: standard input is not passed to the program; --stdin FILE gives it a file");
    }
    if run.output == Output::Null {
        say(&format!("note: {DISCARDED}; --output discard reads and drops it"));
    }
}

fn epilogue(ended: &EndedRun) {
    match ended.state {
        RunState::Completed => {}
        RunState::Interrupted => {
            say(&format!("{}; continue with `assay run --resume {}`", ended.reason, ended.id));
        }
        _ => say(&format!("the run ended early: {}", ended.reason)),
    }
}

/// Returns the exit code of a run.
pub fn exit_of(ended: &EndedRun, view: &RunView) -> Exit {
    let any =
        |outcomes: &[TrialOutcome]| view.records.iter().any(|r| outcomes.contains(&r.outcome));
    if ended.state == RunState::Interrupted {
        return Exit::Interrupted;
    }
    if any(&[TrialOutcome::Failed, TrialOutcome::TimedOut, TrialOutcome::Invalid])
        || !ended.unbuilt.is_empty()
    {
        return Exit::Workload;
    }
    if !any(&[TrialOutcome::Completed]) {
        return Exit::Nothing;
    }
    if view.findings().iter().any(|(f, _)| f.severity == Severity::Invalid) {
        return Exit::Rule;
    }
    let a = &view.analysis;
    let deciding = if a.family.is_empty() { &a.comparisons } else { &a.family };
    let worse = deciding.iter().any(|c| c.verdict == Verdict::Worse);
    if view.experiment.compare.gate && worse { Exit::Worse } else { Exit::Fine }
}
