//! The checked values of a treatment by name, for workloads that read them into types of their own.

use std::collections::BTreeMap;

use assay_model::{Scalar, units};

use crate::WorkloadError;

/// An error of a parameter.
pub(crate) fn wrong(message: impl Into<String>) -> WorkloadError {
    WorkloadError::Param(message.into())
}

/// The values, as the lab has checked them against the spec.
pub(crate) struct Values<'a>(pub &'a BTreeMap<String, Scalar>);

impl Values<'_> {
    fn value(&self, name: &str) -> Result<&Scalar, WorkloadError> {
        self.0.get(name).ok_or_else(|| wrong(format!("the parameter `{name}` is missing")))
    }

    /// A text without the blanks around it.
    pub fn text(&self, name: &str) -> Result<String, WorkloadError> {
        Ok(self.value(name)?.to_text().trim().to_owned())
    }

    /// A whole number from 0.
    pub fn int(&self, name: &str) -> Result<u64, WorkloadError> {
        let value = self.value(name)?.as_i64().and_then(|v| u64::try_from(v).ok());
        value.ok_or_else(|| wrong(format!("`{name}` takes a whole number from 0")))
    }

    /// `true` or `false`.
    pub fn bool(&self, name: &str) -> Result<bool, WorkloadError> {
        match self.text(name)?.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(wrong(format!("`{name}` takes true or false, not `{other}`"))),
        }
    }

    /// A size in bytes.
    pub fn bytes(&self, name: &str) -> Result<u64, WorkloadError> {
        units::bytes_of(self.value(name)?).map_err(|e| wrong(format!("`{name}`: {e}")))
    }
}
