//! `assay run`.

use anyhow::Result;
use assay_lab::Ended;
use assay_model::{Outcome, RunState, Severity, Verdict};
use assay_report::RunView;
use assay_sut::process::Output;

use super::{experiment, export, kit_paths, open_archive, open_lab};
use crate::cli::{Cli, OutputMode, Run};
use crate::exit::Exit;
use crate::progress::Bar;
use crate::{print, say, style, view};

/// Runs an experiment to its end and prints what came out.
pub fn run(cli: &Cli, run: &Run) -> Result<Exit> {
    let exports = export::parse(&run.export)?;
    let kits = kit_paths()?;
    // Mistakes are answered before anything is opened or made.
    let prepared = match &run.resume {
        None => Some(experiment::prepare(&run.what, &kits)?),
        Some(_) => None,
    };
    let archive = open_archive(cli)?;
    let output = match run.output {
        OutputMode::Keep => Output::Keep,
        OutputMode::Discard => Output::Discard,
    };
    let lab = open_lab(&archive, kits, output)?;
    let mut bar = Bar::new(run.quiet);
    let ended = match (&prepared, &run.resume) {
        (Some(prepared), _) => lab.run(prepared, &mut bar)?,
        (None, Some(name)) => lab.resume(&archive.resolve(name)?, &mut bar)?,
        (None, None) => unreachable!("one of the two is always given"),
    };
    let view = view::load(&archive, &ended.id)?;
    if cli.json {
        print(&assay_report::json::write(&view)?)?;
    } else {
        print(&assay_report::terminal::result(&view, style()))?;
    }
    for export in &exports {
        export.write(&view)?;
    }
    if !run.quiet {
        epilogue(&ended);
    }
    Ok(exit_of(&ended, &view))
}

fn epilogue(ended: &Ended) {
    match ended.state {
        RunState::Completed => {}
        RunState::Interrupted => {
            say(&format!("{}; go on with `assay run --resume {}`", ended.reason, ended.id));
        }
        _ => say(&format!("the run ended early: {}", ended.reason)),
    }
}

/// The exit code of a run.
pub fn exit_of(ended: &Ended, view: &RunView) -> Exit {
    let any = |outcomes: &[Outcome]| view.records.iter().any(|r| outcomes.contains(&r.outcome));
    if ended.state == RunState::Interrupted {
        return Exit::Interrupted;
    }
    if any(&[Outcome::Failed, Outcome::TimedOut, Outcome::Invalid]) {
        return Exit::Workload;
    }
    if !any(&[Outcome::Completed]) {
        return Exit::Nothing;
    }
    if view.findings().iter().any(|(f, _)| f.severity == Severity::Invalid) {
        return Exit::Rule;
    }
    let worse = view.analysis.comparisons.iter().any(|c| c.verdict == Verdict::Worse);
    if view.experiment.compare.gate && worse { Exit::Worse } else { Exit::Fine }
}
