//! Validation of a solver's answer by comparison with a closed form or a known solution.

use std::path::Path;

use super::{ccx, deck, mumps, theory};
use crate::builtin::cae::cases::CaseAnalysis;
use crate::builtin::cae::params::AnalysisParams;
use crate::{Failure, WorkloadError};

/// Comparison of an answer with its expected value.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedAnswer {
    /// Relative deviation of the worst value.
    pub deviation: f64,
    /// Maximum relative deviation of a correct answer.
    pub tolerance: f64,
    /// Description of the compared values, as a sentence without the verdict.
    pub what: String,
}

/// Tolerance between solid elements and the theories of beams and plates.
const SOLID: f64 = 0.02;
/// Tolerance for a body with uniform stress.
const UNIFORM: f64 = 0.005;
/// Tolerance for the known solution of a system of equations; the second is for its residual.
const KNOWN: f64 = 1e-6;
const RESIDUAL: f64 = 1e-11;

impl CheckedAnswer {
    /// Returns true if the deviation is within the tolerance.
    pub fn right(&self) -> bool {
        self.deviation <= self.tolerance
    }
}

/// Compares CalculiX's answer, from its file of printed results.
///
/// # Errors
/// Fails if the file or a result is missing.
pub fn of_ccx(params: &AnalysisParams, dir: &Path) -> Result<CheckedAnswer, Failure> {
    let path = dir.join(format!("{}.dat", deck::JOB));
    let dat = std::fs::read_to_string(&path).map_err(WorkloadError::io("read", &path))?;
    let missing = |what: &str| no_answer(&path, what);
    let along = |axis: usize| {
        ccx::displacement(&dat).map(|d| d[axis].abs()).ok_or_else(|| missing("the displacements"))
    };
    let modes = || {
        Some(ccx::frequencies(&dat)).filter(|f| !f.is_empty()).ok_or_else(|| missing("frequencies"))
    };
    let body = params.case.body;
    let one = |name: &str, found: f64, expected: f64, tolerance: f64| CheckedAnswer {
        deviation: (found / expected - 1.0).abs(),
        tolerance,
        what: format!("{name}: {found:.5} mm, by the closed form {expected:.5} mm"),
    };
    Ok(match params.case.analysis {
        CaseAnalysis::BeamStatic => {
            one("deflection of the end", along(2)?, theory::cantilever(body, deck::LOAD), SOLID)
        }
        CaseAnalysis::PlateStatic => {
            one("deflection of the middle", along(2)?, theory::plate(body, deck::PRESSURE), SOLID)
        }
        CaseAnalysis::BeamBending => {
            one("deflection of the end", along(2)?, theory::elastica(deck::BEND) * body[0], SOLID)
        }
        CaseAnalysis::BarPlastic => {
            one("lengthening", along(0)?, theory::plastic(body[0], deck::PULL), UNIFORM)
        }
        CaseAnalysis::BeamModes => {
            let [length, width, height] = body;
            let mut expected = [
                theory::cantilever_frequency(length, width, height),
                theory::cantilever_frequency(length, height, width),
            ];
            expected.sort_by(f64::total_cmp);
            several(&modes()?, &expected)
        }
        CaseAnalysis::PlateModes => several(&modes()?, &theory::plate_frequencies(body)),
        CaseAnalysis::Equations { .. } => return Err(missing("systems of equations")),
    })
}

/// Compares frequencies, the lowest first.
fn several(found: &[f64], expected: &[f64]) -> CheckedAnswer {
    let off = |(f, e): (&f64, &f64)| (f / e - 1.0).abs();
    let list = |of: &[f64]| of.iter().map(|f| format!("{f:.2}")).collect::<Vec<_>>().join(", ");
    let compared = &found[..expected.len().min(found.len())];
    let worst = compared.iter().zip(expected).map(off).fold(0.0, f64::max);
    CheckedAnswer {
        // If a frequency is missing, the deviation is infinite.
        deviation: if found.len() < expected.len() { f64::INFINITY } else { worst },
        tolerance: SOLID,
        what: format!(
            "frequencies: {} Hz, by the closed form {} Hz",
            list(compared),
            list(expected)
        ),
    }
}

/// Compares the answer of MUMPS, from the program's output.
///
/// # Errors
/// Fails if a result is missing.
pub fn of_mumps(log: &str, path: &Path) -> Result<CheckedAnswer, Failure> {
    let numbers = mumps::numbers(log);
    let of = |name: &str| numbers.get(name).copied().ok_or_else(|| no_answer(path, name));
    let (error, residual, solves) = (of("error")?, of("residual")?, of("solves")?);
    // NaN counts as wrong.
    let within = residual <= RESIDUAL && error.is_finite();
    Ok(CheckedAnswer {
        deviation: if within { error } else { f64::INFINITY },
        tolerance: KNOWN,
        what: format!(
            "{solves} systems of {} unknowns: off the known solution by at most {error:.1e}, \
             residual at most {residual:.1e} (of {RESIDUAL:.0e})",
            of("unknowns")?
        ),
    })
}

/// Returns the failure of a solver that exited successfully without an answer.
fn no_answer(path: &Path, what: &str) -> Failure {
    Failure::other(format!("{} does not have {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_that_are_off_or_missing_are_wrong() {
        assert!(several(&[100.0, 205.0, 300.0], &[101.0, 203.0]).right());
        assert!(!several(&[100.0, 210.0], &[101.0, 203.0]).right());
        assert!(!several(&[100.0], &[101.0, 203.0]).right());
    }

    #[test]
    fn equations_need_solution_and_residual() {
        let log = |error: &str, residual: &str| {
            format!("unknowns 10\nsolves 2\nresidual {residual}\nerror {error}\n")
        };
        let of = |log: &str| of_mumps(log, Path::new("/log"));
        assert!(of(&log("1e-9", "1e-16")).unwrap().right());
        assert!(!of(&log("1e-2", "1e-16")).unwrap().right());
        assert!(!of(&log("1e-9", "1e-3")).unwrap().right());
        assert!(!of(&log("nan", "nan")).unwrap().right());
        assert!(of("nothing").is_err());
    }
}
