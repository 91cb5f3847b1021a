//! Parameters of a treatment: their declaration and their types.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_model::{Scalar, units};

use crate::WorkloadError;
use crate::builtin::startup::model::{BLOCK_ROWS, Model};
use crate::builtin::startup::solver::Solver;
use crate::declare::{int, number, one_of, params, size, time, wrong};

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq)]
    pub struct StartupParams {
        /// Number of copies of the solver that run at the same time.
        copies: usize = int(1, 1024), 8;
        /// The solver: glpsol (Debian package glpk-utils) or clp (coinor-clp), which reads about
        /// twice as fast.
        solver: Solver = one_of(&[("glpsol", Solver::Glpsol), ("clp", Solver::Clp)]), "glpsol";
        /// Approximate size of the model's file; it compresses about 10:1.
        size: u64 = size(), "260 MB";
        /// Number of rows of the model, 40 in each of its blocks; the number of iterations grows
        /// with it.
        rows: u64 = int(40, 40_000), 800;
        /// Seed of the random numbers; the same seed makes the same model.
        seed: u64 = int(1, i64::MAX), 1;
        /// `each`: every copy reads its own file; `one`: all read the same file.
        each as "files": bool = one_of(&[("each", true), ("one", false)]), "each";
        /// Length of the window in which the CPUs must be in user mode to count as busy.
        window: Duration = time(), "1 s";
        /// Share of user time in the window from which the CPUs count as busy.
        user: f64 = number(0.01, 1.0), Scalar::Float(0.99);
        /// Fault to inject: `model` gives the last copy another model, to test that its wrong
        /// answer is detected.
        spoilt as "fault": bool = one_of(&[("none", false), ("model", true)]), "none";
    }
}

impl StartupParams {
    /// Reads the parameters of a treatment and checks that they are consistent.
    ///
    /// # Errors
    /// [`WorkloadError::Param`] with a remedy: a value or a combination of values is invalid.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let params = StartupParams::read(map)?;
        let StartupParams { window, rows, size, .. } = params;
        if window < Duration::from_millis(200) {
            return Err(wrong(
                "`window` is 200 ms or more: the kernel counts CPU time in ticks of 10 ms",
            ));
        }
        if rows % BLOCK_ROWS != 0 {
            return Err(wrong(format!("`rows` is a multiple of {BLOCK_ROWS}")));
        }
        let minimum = Model::min_bytes(rows);
        if size < minimum {
            let minimum = units::format_bytes(minimum);
            return Err(wrong(format!(
                "{rows} rows take {minimum} or more: give a larger `size` or fewer `rows`"
            )));
        }
        Ok(params)
    }

    pub fn model(&self) -> Model {
        Model::from_seed(self.seed, self.size, self.rows)
    }

    /// Returns the file of a copy, relative to the folder of inputs.
    pub fn file(&self, copy: usize) -> String {
        if self.each { format!("model-{}.mps", copy + 1) } else { "model.mps".to_owned() }
    }

    /// Returns all files, each with true if it contains the spoilt model.
    pub fn files(&self) -> Vec<(String, bool)> {
        let count = if self.each { self.copies } else { 1 };
        (0..count).map(|copy| (self.file(copy), self.spoilt && copy + 1 == count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::treatment;

    fn map(changes: &[(&str, Scalar)]) -> BTreeMap<String, Scalar> {
        treatment(StartupParams::rows(), changes)
    }

    #[test]
    fn defaults_are_good_and_files_are_named_by_copy() {
        let params = StartupParams::from_map(&map(&[])).unwrap();
        assert_eq!(params.files().len(), params.copies);
        assert_eq!(params.file(1), "model-2.mps");
        let one = map(&[("files", "one".into()), ("fault", "model".into())]);
        let one = StartupParams::from_map(&one).unwrap();
        assert_eq!(one.files(), [("model.mps".to_owned(), true)]);
        assert_eq!(one.file(5), "model.mps");
    }

    #[test]
    fn mistakes_are_answered_with_what_would_be_right() {
        for (name, value, expected) in [
            ("rows", Scalar::Int(50), "multiple of 40"),
            ("size", "1 KiB".into(), "fewer `rows`"),
            ("window", "1 ms".into(), "200 ms"),
        ] {
            let error = StartupParams::from_map(&map(&[(name, value)])).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
