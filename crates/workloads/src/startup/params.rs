//! The parameters of a treatment, as types.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_model::{Scalar, units};

use super::model::{BLOCK_ROWS, Model};
use super::solver::Solver;
use crate::WorkloadError;

/// The parameters of a treatment.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// How many copies.
    pub copies: usize,
    /// Which solver.
    pub solver: Solver,
    /// The model.
    pub model: Model,
    /// Whether each copy reads a file of its own.
    pub each: bool,
    /// How long the CPUs must have been busy.
    pub window: Duration,
    /// The share of user time at which they are, 0 to 1.
    pub user: f64,
    /// Whether the last copy is given another model, to see that its answer is noticed.
    pub spoilt: bool,
}

fn wrong(message: impl Into<String>) -> WorkloadError {
    WorkloadError::Param(message.into())
}

impl Params {
    /// Reads the checked parameters of a treatment and looks at how they go together.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: a value or a combination that cannot be, and what would be right.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let value = |name: &str| {
            map.get(name).ok_or_else(|| wrong(format!("the parameter `{name}` is missing")))
        };
        let int = |name: &str| {
            let number = value(name)?.as_i64().and_then(|v| u64::try_from(v).ok());
            number.ok_or_else(|| wrong(format!("`{name}` takes a whole number from 0")))
        };
        let size = units::bytes_of(value("size")?).map_err(|e| wrong(format!("`size`: {e}")))?;
        let window =
            units::duration_of(value("window")?).map_err(|e| wrong(format!("`window`: {e}")))?;
        if window < Duration::from_millis(200) {
            return Err(wrong(
                "`window` is 200 ms or more: the kernel counts CPU time in ticks of 10 ms",
            ));
        }
        let rows = int("rows")?;
        if rows % BLOCK_ROWS != 0 {
            return Err(wrong(format!("`rows` is a multiple of {BLOCK_ROWS}")));
        }
        let model = Model::of(int("seed")?, size, rows).ok_or_else(|| {
            wrong(format!(
                "{rows} rows take {} or more: give a larger `size` or fewer `rows`",
                units::format_bytes(Model::least_bytes(rows))
            ))
        })?;
        Ok(Params {
            copies: int("copies")? as usize,
            solver: Solver::of(&value("solver")?.to_text())?,
            model,
            each: value("files")?.to_text() == "each",
            window,
            user: value("user")?.as_f64().ok_or_else(|| wrong("`user` takes a share, 0 to 1"))?,
            spoilt: value("fault")?.to_text() == "model",
        })
    }

    /// The file of a copy, below the folder of inputs.
    pub fn file(&self, copy: usize) -> String {
        if self.each { format!("model-{}.mps", copy + 1) } else { "model.mps".to_owned() }
    }

    /// The files that there are, and whether each is of the spoilt model.
    pub fn files(&self) -> Vec<(String, bool)> {
        let count = if self.each { self.copies } else { 1 };
        (0..count).map(|copy| (self.file(copy), self.spoilt && copy + 1 == count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(changes: &[(&str, Scalar)]) -> BTreeMap<String, Scalar> {
        let rows = super::super::spec::spec().params;
        let mut map: BTreeMap<String, Scalar> =
            rows.into_iter().filter_map(|p| Some((p.name, p.default?))).collect();
        map.extend(changes.iter().map(|(k, v)| ((*k).to_owned(), v.clone())));
        map
    }

    #[test]
    fn defaults_are_good_and_files_are_named_by_copy() {
        let params = Params::from_map(&map(&[])).unwrap();
        assert_eq!(params.files().len(), params.copies);
        assert_eq!(params.file(1), "model-2.mps");
        let one = map(&[("files", "one".into()), ("fault", "model".into())]);
        let one = Params::from_map(&one).unwrap();
        assert_eq!(one.files(), [("model.mps".to_owned(), true)]);
        assert_eq!(one.file(5), "model.mps");
    }

    #[test]
    fn mistakes_are_answered_with_what_would_be_right() {
        for (name, value, said) in [
            ("rows", Scalar::Int(50), "multiple of 40"),
            ("size", "1 KiB".into(), "fewer `rows`"),
            ("window", "1 ms".into(), "200 ms"),
        ] {
            let error = Params::from_map(&map(&[(name, value)])).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
