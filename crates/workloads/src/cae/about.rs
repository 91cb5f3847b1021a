//! Facts about the solver for the description of the system.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use assay_model::Fact;
use assay_sut::sha256_file;

use super::cases::Solver;
use super::params::Params;
use super::{ccx, mumps};
use crate::program::version_line;

/// The facts, below `workload.`.
pub fn facts(params: &Params) -> BTreeMap<String, Fact> {
    let mut facts = BTreeMap::new();
    let mut put = |name: &str, fact: Result<String, String>| {
        facts.insert(format!("workload.{name}"), fact.map_or_else(Fact::unknown, Fact::known));
    };
    put("blas", blas());
    match params.case.solver() {
        Solver::Ccx => {
            let program = ccx::program(params.ccx.as_deref()).map_err(|e| e.to_string());
            let of = |read: &dyn Fn(&Path) -> Result<String, String>| {
                program.as_deref().map_err(Clone::clone).and_then(read)
            };
            put("solver.path", of(&|path| Ok(path.display().to_string())));
            put("solver.version", of(&|path| version_line(path, &["-v".into()])));
            put(
                "solver.sha256",
                of(&|path| sha256_file(path).map_err(|e| format!("read {}: {e}", path.display()))),
            );
        }
        Solver::Mumps => {
            put("solver.version", version());
            let mpirun = mumps::launcher().map_err(|e| e.to_string());
            put("mpi.version", mpirun.and_then(|path| version_line(&path, &["--version".into()])));
        }
    }
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
