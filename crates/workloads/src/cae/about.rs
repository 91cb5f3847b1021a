//! Facts about the solver for the description of the system.

use std::collections::BTreeMap;
use std::fs;

use assay_model::Fact;

use super::cases::Solver;
use super::params::Params;
use super::{ccx, mumps};
use crate::program::{fact, facts as program_facts, version_line};

/// The facts, below `workload.`.
pub fn facts(params: &Params) -> BTreeMap<String, Fact> {
    let mut facts = match params.case.solver() {
        Solver::Ccx => program_facts("workload.solver", &ccx::program(params.ccx.as_deref()), "-v"),
        Solver::Mumps => {
            let mpirun = mumps::launcher().map_err(|e| e.to_string());
            let mpi = mpirun.and_then(|path| version_line(&path, &["--version".into()]));
            BTreeMap::from([
                ("workload.solver.version".into(), fact(version())),
                ("workload.mpi.version".into(), fact(mpi)),
            ])
        }
    };
    facts.insert("workload.blas".into(), fact(blas()));
    facts
}

/// The version of MUMPS, from its header.
fn version() -> Result<String, String> {
    let text =
        fs::read_to_string(mumps::HEADER).map_err(|e| format!("read {}: {e}", mumps::HEADER))?;
    let line = text.lines().find_map(|l| l.split_once("define MUMPS_VERSION"));
    line.map(|(_, version)| format!("MUMPS {}", version.trim().trim_matches('"')))
        .ok_or_else(|| format!("{} names no version", mumps::HEADER))
}

/// The library of linear algebra that programs find, which decides how fast factors are made.
fn blas() -> Result<String, String> {
    let folders = fs::read_dir("/usr/lib").map_err(|e| format!("read /usr/lib: {e}"))?;
    let found = folders.flatten().map(|e| e.path().join("libblas.so.3")).find(|p| p.exists());
    let path = found.ok_or("there is no libblas.so.3 in the folders of /usr/lib")?;
    let real = path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(real.display().to_string())
}
