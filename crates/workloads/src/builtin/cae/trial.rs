//! Body of a trial: `assay __work cae JSON`, in a separate process. Runs the solver, parses its
//! answer and compares it with the expected one.

use std::fs;
use std::path::Path;

use assay_model::{Exit, Observation, Phase};

use super::{ccx, mumps};
use crate::builtin::cae::Spec;
use crate::builtin::cae::answer::{self, CheckedAnswer};
use crate::builtin::cae::cases::Solver;
use crate::builtin::cae::devices::Devices;
use crate::builtin::cae::over::{self, SolverCpuTime};
use crate::builtin::cae::params::AnalysisParams;
use crate::builtin::cae::run::{self, SolverRun};
use crate::driver::work::Channel;
use crate::{Failure, WorkloadError};

/// Runs the trial that `json` describes and reports it on `channel`.
///
/// # Errors
/// [`Failure`] if the measurement could not be completed. A wrong answer is not an error: it is
/// reported as an event, `valid: false`.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let spec = Spec::read(json)?;
    let params = AnalysisParams::from_map(&spec.params)?;
    let stop = spec.stop_flag()?;
    let keep = spec.keep()?;
    // Not on the trial's storage: if that is full, the solver's message about it must not be lost.
    let log = spec.more.run.join("solver.log");
    fs::write(&log, "").map_err(WorkloadError::io("make", &log))?;
    let solver = params.case.solver();
    let command = match (&spec.more.built, &spec.more.over, solver) {
        (Some(program), Some(over), Solver::Mumps) => {
            mumps::command_over(program, &params, spec.cpus.len(), over)?
        }
        (Some(program), None, Solver::Mumps) => {
            crate::driver::ipc::own()
                .map_err(Failure::step("an IPC namespace for the processes"))?;
            mumps::command(program, &params, spec.cpus.len(), &spec.more.run)?
        }
        _ => ccx::command(&ccx::program(params.ccx.as_deref())?, params.processes),
    };
    let (count, cpus) = (params.processes as u32, spec.cpus.len() as u32);
    channel.evidence(Observation::Crowding { what: "processes".into(), count, cpus });
    if let Some(devices) = Devices::below(&spec.dir) {
        channel.note(format!("the solver's files are on {}", devices.names()));
    }
    if spec.more.over.is_some() {
        over::adopt_helper();
    }
    channel.phase(Phase::Steady, None);
    let ran = run::run(command, &spec.dir, &log, &stop);
    if spec.more.over.is_some() && ran.is_ok() {
        over::wait_for_helper();
    }
    // The copy is lost if the storage is full.
    let _ = fs::copy(&log, keep.join("solver.log"));
    let ran = ran?;
    channel.phase(Phase::RampDown, None);
    let text = fs::read(&log).map_err(WorkloadError::io("read", &log))?;
    let text = String::from_utf8_lossy(&text);
    let answer = judge(&params, &spec.dir, &ran, &text, &log)?;
    if let Some(over) = &spec.more.over {
        over.is_one(&text, params.processes)?;
    }
    let cpu = account(&spec, &params, &ran, &text, channel);
    metrics(&ran, &answer, &text, cpu, channel);
    let detail = format!(
        "{} ({} off, {} allowed)",
        answer.what,
        share(answer.deviation),
        share(answer.tolerance)
    );
    channel.valid(answer.right(), detail);
    Ok(())
}

/// Formats a share in percent; a tiny one as a power of ten.
fn share(share: f64) -> String {
    if share < 1e-4 {
        format!("{share:.1e}")
    } else {
        format!("{} %", assay_model::units::significant(share * 100.0, 2))
    }
}

/// Checks that the solver ended successfully, and compares its answer.
fn judge(
    params: &AnalysisParams,
    dir: &Path,
    ran: &SolverRun,
    text: &str,
    log: &Path,
) -> Result<CheckedAnswer, Failure> {
    let status = match ran.exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
    };
    let failed = |solver: &str, message| Failure::Program {
        what: format!("{solver} failed ({status})"),
        message,
    };
    let well = matches!(ran.exit, Exit::Code(0));
    match params.case.solver() {
        Solver::Ccx if well && ccx::finished(text) => answer::of_ccx(params, dir),
        Solver::Ccx => Err(failed("CalculiX", ccx::words(text))),
        Solver::Mumps if well => answer::of_mumps(text, log),
        Solver::Mumps => Err(failed("MUMPS", mumps::words(text))),
    }
}

/// Returns the CPU time of the processes, and notes the launcher and version of MPI.
fn account(
    spec: &Spec,
    params: &AnalysisParams,
    ran: &SolverRun,
    text: &str,
    channel: &mut Channel,
) -> SolverCpuTime {
    let (cpu, sentence) = if let Some(over) = &spec.more.over {
        over.account(text, params.processes)
    } else {
        let started = format!("started by `mpirun`; {}", mumps::mpi(text));
        let cpu = SolverCpuTime::here(ran, params.processes, spec.cpus.len());
        (cpu, format!("{} processes, {started}", params.processes))
    };
    if params.case.solver() == Solver::Mumps {
        channel.note(sentence);
    }
    cpu
}

/// Sends all metrics of a trial.
fn metrics(
    ran: &SolverRun,
    answer: &CheckedAnswer,
    log: &str,
    cpu: SolverCpuTime,
    channel: &mut Channel,
) {
    let own = mumps::numbers(log);
    let of = |name: &str| own.get(name).copied();
    let rows = [
        ("elapsed", Some(ran.elapsed_s)),
        ("user", cpu.user_s),
        ("system", cpu.system_s),
        ("io_stall_share", ran.stalled_s.map(|s| (s / ran.elapsed_s).min(1.0))),
        ("unused_share", cpu.unused(ran.elapsed_s)),
        ("device_read", ran.devices.map(|d| d.read as f64)),
        ("device_written", ran.devices.map(|d| d.written as f64)),
        ("scratch", Some(ran.scratch as f64)),
        ("ranks", of("processes")),
        ("factors", of("factor_bytes")),
        ("factor_time", of("factor_s")),
        ("solve_time", of("solve_s")),
        ("deviation", Some(answer.deviation)),
    ];
    channel.metrics(crate::builtin::cae::spec(), rows);
}
