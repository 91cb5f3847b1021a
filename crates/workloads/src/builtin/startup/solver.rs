//! The solvers: starting them and parsing their answers.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use assay_model::Fact;

use crate::WorkloadError;
use crate::driver::program::{facts, need};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// The solver glpsol of the GNU Linear Programming Kit.
    Glpsol,
    /// The solver clp of COIN-OR.
    Clp,
}

impl Solver {
    /// Returns the name of the program, its Debian package, and the option that prints its version.
    fn names(self) -> [&'static str; 3] {
        match self {
            Solver::Glpsol => ["glpsol", "glpk-utils", "--version"],
            Solver::Clp => ["clp", "coinor-clp", "-quit"],
        }
    }

    /// Returns the path of the solver's program.
    ///
    /// # Errors
    /// Fails if it is not installed; the message names the package.
    pub fn find(self) -> Result<PathBuf, WorkloadError> {
        let [name, package, _] = self.names();
        need(name, format!("`{name}`"), format!("install the Debian package {package}"))
    }

    /// Returns facts for the system description.
    pub fn facts(self) -> BTreeMap<String, Fact> {
        let [.., ask] = self.names();
        facts("workload.solver", &self.find(), ask)
    }

    /// Returns the command of a copy. Presolving is off, because it would remove the very routes
    /// that were read. clp uses its barrier method, because its simplex finishes so fast that there
    /// is hardly any computation.
    pub fn argv(self, program: &Path, model: &Path) -> Vec<String> {
        let text = |p: &Path| p.to_string_lossy().into_owned();
        let (program, model) = (text(program), text(model));
        match self {
            Solver::Glpsol => vec![program, "--freemps".into(), model, "--nopresol".into()],
            Solver::Clp => {
                let options = ["-presolve", "off", "-barrier"].map(str::to_owned);
                [vec![program, model], options.to_vec()].concat()
            }
        }
    }

    /// Parses the optimum from the solver's output.
    pub fn answer(self, printed: &str) -> Result<f64, NoAnswer> {
        let number = |text: &str| text.split_whitespace().next()?.parse::<f64>().ok();
        let found = match self {
            Solver::Glpsol if !printed.contains("OPTIMAL LP SOLUTION FOUND") => None,
            Solver::Glpsol => {
                printed.lines().rev().find_map(|l| number(l.split_once(": obj = ")?.1))
            }
            Solver::Clp => {
                printed.lines().rev().find_map(|l| number(l.strip_prefix("Optimal objective ")?))
            }
        };
        found.ok_or_else(|| {
            let last = printed.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("nothing");
            NoAnswer::NoOptimum { last_line: last.trim().to_owned() }
        })
    }
}

/// Reason why a copy's optimum is unknown.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error("{}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("found no optimum; the last line of its output: {last_line}")]
    NoOptimum { last_line: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_where_each_prints_them() {
        let glpsol = "GLPK Simplex Optimizer 5.0\n      0: obj =   0.000000000e+00 inf =   \
                      7.200e+03 (80)\n\
                      *   264: obj =   7.200000000e+05 inf =   0.000e+00 (0)\n\
                      OPTIMAL LP SOLUTION FOUND\n";
        assert_eq!(Solver::Glpsol.answer(glpsol).unwrap(), 720_000.0);
        let none = "*  10: obj = 7e+05 inf = 0 (0)\nPROBLEM HAS NO PRIMAL FEASIBLE SOLUTION\n";
        assert!(Solver::Glpsol.answer(none).unwrap_err().to_string().contains("NO PRIMAL"));
        let clp = "Optimal - objective value 3600000\nOptimal objective 3600000 - 400 iterations \
            time 0.222\n";
        assert_eq!(Solver::Clp.answer(clp).unwrap(), 3_600_000.0);
        assert!(Solver::Clp.answer("Stopped\n").unwrap_err().to_string().contains("Stopped"));
    }
}
