//! The trait that every workload implements: its parameters, its preparation, the command to start,
//! and the conversion of its output to metrics and a validation.

use std::collections::BTreeMap;

use assay_model::{Exit, Fact, Scalar, ValidationResult, WorkloadSpec};

use crate::capability::Capabilities;
use crate::error::WorkloadError;
use crate::trial::{CollectedResults, FinishedProgram, Launch, TrialContext};

/// A program that makes the system work and reports metrics. This trait is common to all workloads;
/// optional abilities are in [`Workload::offers`].
pub trait Workload: Send + Sync {
    /// Returns the workload's name, parameters and metrics.
    fn spec(&self) -> &WorkloadSpec;

    /// Returns the name of the metric that decides for these parameters; `None`: the first metric
    /// of the spec.
    fn deciding(&self, _params: &BTreeMap<String, Scalar>) -> Option<&'static str> {
        None
    }

    /// Checks a treatment's parameters beyond their types, and that the programs and files that
    /// they need exist on this machine. Called when the plan is made; changes nothing.
    ///
    /// # Errors
    /// Fails if the parameters are invalid or something is missing.
    fn check(&self, _params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// Returns facts for the system description: versions and hashes of the programs that the
    /// workload runs. Their names start with `workload.`.
    fn describe(&self, _params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        BTreeMap::new()
    }

    /// Returns the shell or argument lines that the workload runs, for `assay plan` to show; empty
    /// for built-in workloads.
    fn lines(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes inputs, fetches and builds. Runs outside every measurement window. Called before each
    /// trial, so it must be quick if there is nothing left to do.
    ///
    /// # Errors
    /// Fails if a step fails.
    fn prepare(&self, _ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// Returns the command that starts the program of this trial.
    ///
    /// # Errors
    /// Fails if the parameters cannot be turned into a command.
    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError>;

    /// Extracts metrics and a validation from the results of the program. By default the program's
    /// own events carry the metrics and the validation, and only the exit status is judged here.
    ///
    /// # Errors
    /// Fails if the output cannot be read.
    fn collect(
        &self,
        _ctx: &TrialContext<'_>,
        finished: &FinishedProgram<'_>,
    ) -> Result<CollectedResults, WorkloadError> {
        let failed = |detail| ValidationResult::Failed { detail };
        let validation = match finished.exit {
            Exit::Code(0) => ValidationResult::ExitCodeOnly,
            Exit::Code(_) => failed(String::from_utf8_lossy(finished.stderr).trim().to_owned()),
            Exit::Signal(s) => failed(format!("ended by signal {s}")),
        };
        Ok(CollectedResults { validation, ..CollectedResults::default() })
    }

    /// Returns the workload's optional capabilities.
    fn offers(&self) -> Capabilities<'_> {
        Capabilities::default()
    }
}
