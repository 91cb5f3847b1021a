//! Parameters of a treatment: their declaration and their types.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::Scalar;

use crate::WorkloadError;
use crate::builtin::cae::cases::{CASES, Case, CaseAnalysis, SIZES, Solver};
use crate::declare::{int, one_of, or_none, params, path, word, wrong};

/// Faults that can be injected: a wrong answer, a load under which nothing converges, a process of
/// MUMPS that dies or hangs.
pub const FAULTS: [&str; 5] = ["none", "answer", "diverge", "rank", "stall"];
/// Faults that exist only for MUMPS.
const OF_RANKS: [&str; 2] = ["rank", "stall"];

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq)]
    pub struct AnalysisParams {
        /// Case to analyse. beam-, plate- and bar-: CalculiX; block- and girder-: systems of
        /// equations with MUMPS, -core with factors in memory, -files with factors in files that
        /// are read once, -passes ten times.
        case: Case = one_of(&CASES.map(|c| (c.name, c))), "beam-static";
        /// Fineness of the mesh, for runs of seconds, a minute, or many minutes.
        size: String = word(&SIZES), "test";
        /// Threads of CalculiX, or processes of MUMPS; on several nodes, processes on each node.
        processes: usize = int(1, 1024), 1;
        /// Seed of the known solutions that MUMPS has to find.
        seed: u64 = int(1, i64::MAX), 1;
        /// Path of CalculiX; empty: the one on PATH.
        ccx: Option<PathBuf> = or_none(path()), "";
        /// Fault to inject: `answer` makes the answer wrong; `diverge` applies a load too large to
        /// converge; after the factorization, the last process of MUMPS dies of a signal (`rank`)
        /// or hangs (`stall`).
        fault: String = word(&FAULTS), "none";
    }
}

impl AnalysisParams {
    /// Reads the parameters of a treatment and checks that they are consistent.
    ///
    /// # Errors
    /// [`WorkloadError::Param`] with a remedy: a value or a combination of values is invalid.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let params = AnalysisParams::read(map)?;
        let AnalysisParams { case, fault, .. } = &params;
        let name = case.name;
        let nonlinear =
            matches!(case.analysis, CaseAnalysis::BeamBending | CaseAnalysis::BarPlastic);
        if fault == "diverge" && !nonlinear {
            return Err(wrong(format!(
                "the fault `diverge` needs a nonlinear case (beam-bending, bar-plastic), not {name}"
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
