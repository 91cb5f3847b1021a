//! The solvers: how each is started, and where its answer stands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_model::Fact;

use crate::WorkloadError;
use crate::program::{facts, need};

/// Which one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// Of the GNU Linear Programming Kit.
    Glpsol,
    /// Of COIN-OR.
    Clp,
}

impl Solver {
    /// The name of its program, the Debian package that has it, and the option that prints its version.
    fn names(self) -> [&'static str; 3] {
        match self {
            Solver::Glpsol => ["glpsol", "glpk-utils", "--version"],
            Solver::Clp => ["clp", "coinor-clp", "-quit"],
        }
    }

    /// Its program.
    ///
    /// # Errors
    /// It is not there; says which package has it.
    pub fn find(self) -> Result<PathBuf, WorkloadError> {
        let [name, package, _] = self.names();
        need(name, format!("`{name}`"), format!("install the Debian package {package}"))
    }

    /// Facts for the description of the system.
    pub fn facts(self) -> BTreeMap<String, Fact> {
        let [.., ask] = self.names();
        facts("workload.solver", &self.find(), ask)
    }

    /// How a copy is started. Presolving is off: it would take out the very routes that were read. clp takes
    /// its barrier method, since its simplex is through so soon that nothing is computed to speak of.
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

    /// The optimum that it found, out of what it printed; a sentence where there is none.
    pub fn answer(self, printed: &str) -> Result<f64, String> {
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
            format!("found no optimum; its last stderr line: {}", last.trim())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_where_each_prints_them() {
        let glpsol = "GLPK Simplex Optimizer 5.0\n      0: obj =   0.000000000e+00 inf =   7.200e+03 (80)\n\
                      *   264: obj =   7.200000000e+05 inf =   0.000e+00 (0)\nOPTIMAL LP SOLUTION FOUND\n";
        assert_eq!(Solver::Glpsol.answer(glpsol), Ok(720_000.0));
        let none = "*  10: obj = 7e+05 inf = 0 (0)\nPROBLEM HAS NO PRIMAL FEASIBLE SOLUTION\n";
        assert!(Solver::Glpsol.answer(none).unwrap_err().contains("NO PRIMAL"));
        let clp = "Optimal - objective value 3600000\nOptimal objective 3600000 - 400 iterations time 0.222\n";
        assert_eq!(Solver::Clp.answer(clp), Ok(3_600_000.0));
        assert!(Solver::Clp.answer("Stopped\n").unwrap_err().contains("Stopped"));
    }
}
