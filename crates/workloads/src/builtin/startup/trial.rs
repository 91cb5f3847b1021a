//! Body of a trial: `assay __work startup JSON`, in a separate process. Starts the copies at the
//! same time and samples the machine while they run.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::Phase;

use crate::builtin::startup::host::{self, Host, HostCounters};
use crate::builtin::startup::params::StartupParams;
use crate::builtin::startup::results;
use crate::builtin::startup::solver::NoAnswer;
use crate::driver::side_by_side::{self, CopySpec, ReplicaResults};
use crate::driver::step::tail;
use crate::driver::work::{Channel, life};
use crate::trial_spec::TrialSpec;
use crate::{Failure, WorkloadError};

/// Maximum size and number of lines of a failed copy's output in its error.
const TAIL_BYTES: u64 = 4096;
const TAIL_LINES: usize = 3;
/// Relative difference up to which answers count as equal: solvers print about nine digits.
const SAME: f64 = 1e-6;

/// Everything measured in a trial.
pub struct StartupTrial {
    pub params: StartupParams,
    pub cpus: usize,
    pub host: Host,
    pub looks: Vec<HostCounters>,
    pub measured: ReplicaResults,
    /// Sum of the sizes of the files that the copies read, in bytes.
    pub logical: u64,
}

/// Runs the trial that `json` describes and reports it on `channel`.
///
/// # Errors
/// [`Failure`] if the measurement could not be completed. A wrong optimum is not an error: it is
/// reported as an event, `valid: false`.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let spec = TrialSpec::<()>::read(json)?;
    let params = StartupParams::from_map(&spec.params)?;
    if !life::die_with(spec.lab).map_err(Failure::step("the watch for the lab's end"))? {
        return Err(Failure::Stopped);
    }
    channel.phase(Phase::RampUp, None);
    let inputs = std::env::var_os("ASSAY_STORAGE").map_or_else(|| spec.dir.clone(), PathBuf::from);
    let copies = copies(&params, &spec.dir, &inputs)?;
    let logical = logical(&params, &inputs)?;
    let host = Host::new(&spec.cpus, host::devices(&inputs));
    host.sample().ok_or_else(|| Failure::other("/proc/stat does not list the trial's CPUs"))?;
    let crew =
        side_by_side::ReplicasSpec { dir: spec.dir.clone(), lab: 0, copies, reference_s: None };
    let (measured, looks) = watched(&crew, &host, channel)?;
    let ran = StartupTrial { cpus: spec.cpus.len(), params, host, looks, measured, logical };
    results::report(&ran, channel);
    let answers = answers(&ran.params, &crew);
    results::verdict(&answers, ran.params.model().optimum() as f64, SAME, channel);
    Ok(())
}

/// Runs the copies and samples the machine meanwhile.
fn watched(
    crew: &side_by_side::ReplicasSpec,
    host: &Host,
    channel: &mut Channel,
) -> Result<(ReplicaResults, Vec<HostCounters>), Failure> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut watch = None;
        let stop = &stop;
        let measured = side_by_side::run(crew, |t| {
            channel.phase(Phase::Steady, Some(t));
            watch = Some(scope.spawn(move || host.watch(t, stop)));
        });
        stop.store(true, Ordering::Release);
        let looks = watch.and_then(|thread| thread.join().ok()).unwrap_or_default();
        let measured = measured.map_err(|e| Failure::other(format!("{e}{}", printed(&e, crew))))?;
        let end = measured.copies.iter().map(|c| c.end_ns).max();
        channel.phase(Phase::RampDown, end);
        Ok((measured, looks))
    })
}

/// Returns the last lines of a failed copy's output: solvers report errors on standard output.
fn printed(failure: &Failure, crew: &side_by_side::ReplicasSpec) -> String {
    let Failure::Copy { index, .. } = failure else { return String::new() };
    let path = crew.copies.get(*index).map(|c| c.dir.join("stdout"));
    let tail = path.and_then(|p| tail(&p, 0, TAIL_BYTES, TAIL_LINES).ok()).unwrap_or_default();
    let lines: Vec<&str> = tail.lines().filter(|l| !l.trim().is_empty()).collect();
    if lines.is_empty() { String::new() } else { format!("; it printed: {}", lines.join(" | ")) }
}

fn copies(params: &StartupParams, dir: &Path, inputs: &Path) -> Result<Vec<CopySpec>, Failure> {
    let program = params.solver.find()?;
    let make = |copy: usize| {
        let own = dir.join(format!("copy-{}", copy + 1));
        std::fs::create_dir_all(&own).map_err(WorkloadError::io("make", &own))?;
        Ok(CopySpec {
            argv: params.solver.argv(&program, &inputs.join(params.file(copy))),
            env: Vec::new(),
            dir: own,
            stdin: None,
            cpus: Vec::new(),
        })
    };
    (0..params.copies).map(make).collect()
}

fn logical(params: &StartupParams, inputs: &Path) -> Result<u64, WorkloadError> {
    let size = |copy: usize| {
        let path = inputs.join(params.file(copy));
        std::fs::metadata(&path).map(|m| m.len()).map_err(WorkloadError::io("read", &path))
    };
    (0..params.copies).map(size).sum()
}

/// Returns the answer of each copy.
fn answers(
    params: &StartupParams,
    crew: &side_by_side::ReplicasSpec,
) -> Vec<Result<f64, NoAnswer>> {
    let of = |copy: &CopySpec| {
        let path = copy.dir.join("stdout");
        let bytes = std::fs::read(&path).map_err(|source| NoAnswer::Unreadable { path, source })?;
        params.solver.answer(&String::from_utf8_lossy(&bytes))
    };
    crew.copies.iter().map(of).collect()
}
