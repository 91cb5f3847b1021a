//! Validates the output of a kit's program.

use std::path::Path;
use std::time::Duration;

use assay_model::{Exit, ValidationResult};

use super::format::Validate;
use super::template::{Values, render, render_command};
use crate::driver::step::ProgramStep;
use crate::{FinishedProgram, WorkloadError};
use assay_system::{sha256, sha256_file};

/// Runs all checks in the order of the documentation and returns the first failure. Commands run in
/// the trial's folder.
///
/// # Errors
/// Fails if a command cannot be started or a text cannot be filled in.
pub(crate) fn validate(
    kit: &str,
    rules: &Validate,
    values: &Values,
    trial_dir: &Path,
    timeout: Duration,
    finished: &FinishedProgram<'_>,
) -> Result<ValidationResult, WorkloadError> {
    let failed = |detail: String| Ok(ValidationResult::Failed { detail });
    match finished.exit {
        Exit::Code(0) => {}
        Exit::Code(code) => return failed(format!("exit code {code}")),
        Exit::Signal(signal) => return failed(format!("ended by signal {signal}")),
    }
    let mut checked = Vec::new();
    let stdout = String::from_utf8_lossy(finished.stdout);
    for text in &rules.stdout_contains {
        let wanted = render(text.get_ref(), values)?;
        let wanted = wanted.to_string_lossy();
        if !stdout.contains(&*wanted) {
            return failed(format!("standard output does not contain `{wanted}`"));
        }
        checked.push(format!("standard output contains `{wanted}`"));
    }
    if let Some(wanted) = &rules.stdout_sha256 {
        if !finished.stdout_whole {
            return failed(
                "standard output was too long to be kept whole, so its hash cannot be \
                checked; let the program write a file"
                    .into(),
            );
        }
        let found = sha256(finished.stdout);
        if found != *wanted.get_ref() {
            return failed(format!(
                "standard output has the SHA-256 {found}, not {}",
                wanted.get_ref()
            ));
        }
        checked.push("standard output has the expected SHA-256".into());
    }
    for (path, wanted) in &rules.files {
        let path = render(path, values)?;
        let path = Path::new(&path);
        match sha256_file(path) {
            Err(e) => return failed(format!("{} could not be read: {e}", path.display())),
            Ok(found) if found != *wanted.get_ref() => {
                return failed(format!(
                    "{} has the SHA-256 {found}, not {}",
                    path.display(),
                    wanted.get_ref()
                ));
            }
            Ok(_) => checked.push(format!("{} has the expected SHA-256", path.display())),
        }
    }
    for command in &rules.commands {
        let none = std::collections::BTreeMap::new();
        let rendered = render_command(command, &none, values)?;
        let (name, log) = (format!("validation of kit {kit}"), trial_dir.join("validate.log"));
        let step = ProgramStep::new(&name, &rendered.argv, trial_dir, &log, timeout);
        let step = ProgramStep { env: &rendered.env, ..step };
        if let Err(failure) = step.verdict()? {
            return failed(failure.to_string());
        }
        checked.push(format!("`{}` succeeded", super::template::shown(command)));
    }
    Ok(if checked.is_empty() {
        ValidationResult::ExitCodeOnly
    } else {
        ValidationResult::Passed { detail: checked.join("; ") }
    })
}
