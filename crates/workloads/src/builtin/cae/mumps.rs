//! MUMPS: compiles the program in `kits/cae` that calls it, and starts it over MPI.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use assay_system::sha256;

use crate::WorkloadError;
use crate::builtin::cae::cases::CaseAnalysis;
use crate::builtin::cae::over::SpanRun;
use crate::builtin::cae::params::AnalysisParams;
use crate::driver::program::{need, version_line};
use crate::driver::span::as_text;
use crate::driver::step::ProgramStep;
use crate::error::Result;
use crate::kit::lock::Lock;

/// Source of the program, embedded in assay.
const SOURCE: &str = include_str!("../../../../../kits/cae/solve.c");
/// Header that the package of MUMPS installs.
pub const HEADER: &str = "/usr/include/dmumps_c.h";
const TIMEOUT: Duration = Duration::from_secs(120);

fn find(name: &str, package: &str) -> Result<PathBuf> {
    let what = format!("`{name}` of Open MPI");
    need(name, what, format!("install the Debian package {package}"))
}

/// Checks that everything needed is installed.
///
/// # Errors
/// Fails if a program or MUMPS itself is missing.
pub fn check() -> Result<()> {
    find("mpicc", "libopenmpi-dev")?;
    launcher()?;
    if Path::new(HEADER).is_file() {
        return Ok(());
    }
    Err(WorkloadError::Missing {
        what: format!("MUMPS ({HEADER})"),
        remedy: "install the Debian package libmumps-dev".into(),
    })
}

/// Returns the path of mpirun.
///
/// # Errors
/// Fails if it is not installed.
pub fn launcher() -> Result<PathBuf> {
    find("mpirun", "openmpi-bin")
}

/// Returns the program, after compiling it if it is not in `cache`.
///
/// # Errors
/// Fails if the compiler is missing or fails, or the cache cannot be written.
pub fn build(cache: &Path) -> Result<PathBuf> {
    check()?;
    let mpicc = find("mpicc", "libopenmpi-dev")?;
    let version = version_line(&mpicc, &["--version".into()])
        .map_err(|e| WorkloadError::step("asking mpicc for its version", e))?;
    let header = fs::read(HEADER).map_err(WorkloadError::io("read", Path::new(HEADER)))?;
    let key = sha256(format!("{version}\n{}\n{SOURCE}", sha256(&header)).as_bytes());
    let dir = cache.join("cae").join(&key[..16]);
    fs::create_dir_all(&dir).map_err(WorkloadError::io("create", &dir))?;
    let _lock = Lock::take(&dir.join("lock"))?;
    let (source, made, program) = (dir.join("solve.c"), dir.join("solve.new"), dir.join("solve"));
    if program.is_file() {
        return Ok(program);
    }
    fs::write(&source, SOURCE).map_err(WorkloadError::io("write", &source))?;
    let mut argv: Vec<OsString> =
        vec![mpicc.into(), "-O2".into(), "-o".into(), made.clone().into()];
    argv.push(source.into());
    argv.extend(["-ldmumps", "-lmumps_common", "-lm"].map(OsString::from));
    ProgramStep::new("compiling the kit cae", &argv, &dir, &dir.join("build.log"), TIMEOUT)
        .run()?;
    fs::rename(&made, &program).map_err(WorkloadError::io("write", &program))?;
    Ok(program)
}

/// Returns the command of a trial: the program on `processes` processes, with Open MPI's session
/// files in `notes`.
///
/// # Errors
/// Fails if mpirun is missing.
pub fn command(
    program: &Path,
    params: &AnalysisParams,
    cpus: usize,
    notes: &Path,
) -> Result<Command> {
    let mut command = Command::new(launcher()?);
    if rustix::process::geteuid().is_root() {
        // mpirun refuses to run as root without this option.
        command.arg("--allow-run-as-root");
    }
    // The processes may use all CPUs of the trial, which may be fewer than processes.
    command.args(["--oversubscribe", "--bind-to", "none"]);
    if params.processes > cpus {
        command.args(["--mca", "mpi_yield_when_idle", "1"]);
    }
    // Run only on this machine, even under a scheduler. Open MPI's session files are not on the
    // trial's storage, and its shared memory is removed with this process's IPC namespace.
    command.args(["--mca", "plm", "isolated", "--mca", "ras", "^slurm", "--mca", "shmem", "sysv"]);
    command.args(["--mca", "orte_tmpdir_base"]).arg(notes);
    command.args(["-np", &params.processes.to_string()]).arg(program).args(arguments(params));
    for (name, _) in std::env::vars_os().filter(|(n, _)| {
        let name = n.to_string_lossy();
        ["SLURM_", "PMI_", "PMIX_", "OMPI_"].iter().any(|p| name.starts_with(p))
    }) {
        command.env_remove(name);
    }
    command.env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1");
    Ok(command)
}

/// Returns the command of a trial over several nodes: the same number of ranks on every node, each
/// in its node's folder.
///
/// # Errors
/// Fails if a path is not UTF-8.
pub fn command_over(
    program: &Path,
    params: &AnalysisParams,
    cpus: usize,
    over: &SpanRun,
) -> Result<Command> {
    let mut argv = as_text(&[program.into()])?;
    argv.extend(arguments(params));
    let mut command = over.span.command(&over.exe, params.processes, &argv);
    if params.processes > cpus {
        command.env("OMPI_MCA_mpi_yield_when_idle", "1");
    }
    command.env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1");
    Ok(command)
}

/// Returns the arguments of the program; its scratch folder is its working directory.
fn arguments(params: &AnalysisParams) -> Vec<String> {
    let CaseAnalysis::Equations { out_of_core, solves } = params.case.analysis else {
        return Vec::new();
    };
    let grid = params.case.grid(&params.size);
    let mut all: Vec<String> = grid.elements.iter().map(ToString::to_string).collect();
    all.extend(grid.body.iter().map(ToString::to_string));
    all.push(solves.to_string());
    all.push(u8::from(out_of_core).to_string());
    all.push(".".into());
    all.push(params.seed.to_string());
    let fault = match params.fault.as_str() {
        "answer" => "1",
        "rank" => "2",
        "stall" => "3",
        _ => "0",
    };
    all.push(fault.into());
    all
}

/// Parses the numbers that the program prints, by name.
pub fn numbers(log: &str) -> BTreeMap<String, f64> {
    let pair = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    };
    log.lines().filter_map(pair).collect()
}

/// Returns the version of MPI that the program printed.
pub fn mpi(log: &str) -> String {
    let named = log.lines().find_map(|l| l.strip_prefix("mpi "));
    let short = named.and_then(|l| l.split(',').next()).map(str::trim);
    short.unwrap_or("an MPI that did not print its version").to_owned()
}

/// Returns the program's error message: its own lines and those of ranks that ended on nodes;
/// without any, the last lines of the output.
pub fn words(log: &str) -> String {
    let ours = |l: &&str| l.starts_with("solve: ") || l.starts_with("rank ");
    let mut own: Vec<&str> = log.lines().filter(ours).collect();
    // A rank prints the message on both of its streams.
    own.sort_unstable();
    own.dedup();
    own.truncate(3);
    // Open MPI's message has fifteen lines, of which only the first may be in the log.
    let sentences =
        ["not built with SLURM's PMI support", "OPAL ERROR: Unreachable in file ext3x_client"];
    if sentences.iter().any(|s| log.contains(s)) {
        own.insert(
            0,
            "its MPI does not understand this type of MPI (`srun --mpi=list`, `where.mpi`)",
        );
    }
    if own.is_empty() { crate::driver::program::last_lines(log) } else { own.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_prints_is_read() {
        let log = "version 5.5.1\nunknowns 6084\nresidual 3.0e-16\nsolve: MUMPS failed in a solve\n\
            noise\n";
        let numbers = numbers(log);
        assert_eq!(numbers.get("unknowns"), Some(&6084.0));
        assert_eq!(numbers.get("residual"), Some(&3.0e-16));
        assert_eq!(words(log), "solve: MUMPS failed in a solve");
        assert_eq!(words("a\nb"), "a; b");
        let twice =
            "noise\nrank 1 on node n2 ended with signal 9\nrank 1 on node n2 ended with signal 9\n";
        assert_eq!(words(twice), "rank 1 on node n2 ended with signal 9");
        let other = format!("but OMPI was not built with SLURM's PMI support and\n{twice}");
        assert!(words(&other).starts_with("its MPI does not understand"), "{}", words(&other));
    }
}
