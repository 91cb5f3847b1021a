//! The parameters of a treatment, declared and as types.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::Scalar;

use super::cases::{Analysis, CASES, Case, SIZES, Solver};
use crate::WorkloadError;
use crate::declare::{int, one_of, or_none, params, path, word, wrong};

/// What can be broken on purpose: a wrong answer, a load under which nothing converges, a process of MUMPS that dies
/// in the middle or stands still there.
pub const FAULTS: [&str; 5] = ["none", "answer", "diverge", "rank", "stall"];
/// Those of them that only MUMPS has.
const OF_RANKS: [&str; 2] = ["rank", "stall"];

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Params {
        /// beam-, plate-, bar-: CalculiX; block- and girder-: systems of equations with MUMPS, -core in memory,
        /// -files with factors in files that are read once, -passes ten times.
        case: Case = one_of(&CASES.map(|c| (c.name, c))), "beam-static";
        /// How fine the mesh is: seconds, a minute, many minutes.
        size: String = word(&SIZES), "test";
        /// Threads of CalculiX, or processes of MUMPS; on nodes, of each task of a node.
        processes: usize = int(1, 1024), 1;
        /// The seed of the solutions that MUMPS has to find.
        seed: u64 = int(1, i64::MAX), 1;
        /// The CalculiX to run; empty: the one on PATH.
        ccx: Option<PathBuf> = or_none(path()), "";
        /// Breaks something on purpose: `answer` makes the answer wrong, `diverge` a load too large to
        /// converge; the last process of MUMPS ends by a signal after the factorization (`rank`) or never goes
        /// on (`stall`).
        fault: String = word(&FAULTS), "none";
    }
}

impl Params {
    /// Reads the checked parameters of a treatment and looks at how they go together.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: a value or a combination that cannot be, and what would be right.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let params = Params::read(map)?;
        let Params { case, fault, .. } = &params;
        let name = case.name;
        let nonlinear = matches!(case.analysis, Analysis::BeamBending | Analysis::BarPlastic);
        if fault == "diverge" && !nonlinear {
            return Err(wrong(format!(
                "`fault = \"diverge\"` is for what is nonlinear (beam-bending, bar-plastic), not for {name}"
            )));
        }
        if OF_RANKS.contains(&fault.as_str()) && case.solver() != Solver::Mumps {
            return Err(wrong(format!(
                "`fault = \"{fault}\"` is for processes of MUMPS (block-, girder-), not for {name}"
            )));
        }
        Ok(params)
    }
}
