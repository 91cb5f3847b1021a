//! The parameters of a treatment, as types.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::Scalar;

use super::cases::{Analysis, Case, Solver};
use crate::WorkloadError;
use crate::values::{Values, wrong};

/// What can be broken on purpose: a wrong answer, a load under which nothing converges, a process of MUMPS that dies
/// in the middle or stands still there.
pub const FAULTS: [&str; 5] = ["none", "answer", "diverge", "rank", "stall"];
/// Those of them that only MUMPS has.
const OF_RANKS: [&str; 2] = ["rank", "stall"];

/// The parameters of a treatment.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// What is analysed.
    pub case: Case,
    /// How large: `test`, `train` or `ref`.
    pub size: String,
    /// Threads of CalculiX, or processes of MUMPS.
    pub processes: usize,
    /// The seed of the known solutions.
    pub seed: u64,
    /// The CalculiX to run; `None`: the one on PATH.
    pub ccx: Option<PathBuf>,
    /// What is broken: one of [`FAULTS`].
    pub fault: String,
}

impl Params {
    /// Reads the checked parameters of a treatment and looks at how they go together.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: a value or a combination that cannot be, and what would be right.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let values = Values(map);
        let name = values.text("case")?;
        let case = Case::find(&name).ok_or_else(|| wrong(format!("there is no case `{name}`")))?;
        let fault = values.text("fault")?;
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
        Ok(Params {
            case,
            size: values.text("size")?,
            processes: values.int("processes")? as usize,
            seed: values.int("seed")?,
            ccx: Some(values.text("ccx")?).filter(|t| !t.is_empty()).map(PathBuf::from),
            fault,
        })
    }
}
