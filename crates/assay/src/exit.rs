//! Exit codes of assay. They are a contract: each code has one meaning.

/// Meaning of the exit codes, shown below the help.
pub const EXIT_CODES: &str = "\
Exit codes: 0 fine, 1 assay failed, 2 usage or a bad file, 3 a workload failed
or its output did not validate, 4 a rule of severity `invalid` is broken,
5 worse by more than the margin, 6 nothing was measured, 130 interrupted.";

/// Exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Fine = 0,
    /// assay itself failed, not a workload.
    Failed = 1,
    /// The usage or a file was wrong.
    Usage = 2,
    /// A workload failed or its output did not validate.
    Workload = 3,
    /// A rule of severity *invalid* is broken.
    Rule = 4,
    /// A treatment is worse than the baseline by more than the margin.
    Worse = 5,
    /// The command measured nothing.
    Nothing = 6,
    /// A signal interrupted the command.
    Interrupted = 130,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        (exit as u8).into()
    }
}

/// Returns the exit code for an error that ended a command.
pub fn of_error(error: &anyhow::Error) -> Exit {
    use assay_archive::ImportError;
    use assay_lab::LabError;
    use assay_publish::post::PostError;
    use assay_workloads::{WorkloadError, readers::ForeignError};
    if error.is::<Usage>() || error.is::<PostError>() || error.is::<WorkloadError>() {
        return Exit::Usage;
    }
    let archive = error.downcast_ref::<assay_archive::Error>().map(is_usage);
    let foreign = error.downcast_ref::<ForeignError>();
    let foreign = foreign.map(|e| !matches!(e, ForeignError::Git(e) if !e.is_usage()));
    let import = error.downcast_ref::<ImportError>();
    let import = import.map(|e| !matches!(e, ImportError::Archive(e) if !is_usage(e)));
    if let Some(usage) = archive.or(foreign).or(import) {
        return if usage { Exit::Usage } else { Exit::Failed };
    }
    #[cfg(feature = "server")]
    if let Some(client) = error.downcast_ref::<assay_server::ClientError>() {
        use assay_server::ClientError as C;
        return match client {
            C::Refused { status: 400..=499, .. } | C::NoServer(_) | C::NoToken(_) => Exit::Usage,
            _ => Exit::Failed,
        };
    }
    if error.is::<ChangedRun>() {
        return Exit::Rule;
    }
    match error.downcast_ref::<LabError>() {
        Some(
            LabError::File(_)
            | LabError::Plan(_)
            | LabError::Read { .. }
            | LabError::Workload(_)
            | LabError::Control { .. }
            | LabError::Token { .. }
            | LabError::Observe(_)
            | LabError::NothingToResume(_)
            | LabError::CannotResume { .. },
        ) => Exit::Usage,
        Some(LabError::Revision(e)) if e.is_usage() => Exit::Usage,
        Some(LabError::Unbuilt { .. }) => Exit::Workload,
        Some(LabError::Unfit(_)) => Exit::Nothing,
        Some(LabError::Archive(archive)) if is_usage(archive) => Exit::Usage,
        _ => Exit::Failed,
    }
}

/// Returns true if the user named a run that does not exist or is ambiguous, or set no place for an
/// archive.
fn is_usage(error: &assay_archive::Error) -> bool {
    use assay_archive::Error as E;
    matches!(error, E::NoRun { .. } | E::Ambiguous { .. } | E::NoPlace)
}

/// Error for a mistake in the arguments of a command.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Returns the error for a mistake in the arguments.
pub fn usage<T>(message: impl Into<String>) -> anyhow::Result<T> {
    Err(Usage(message.into()).into())
}

/// Turns an error into one about a mistake in the arguments.
pub fn mistake(error: impl std::fmt::Display) -> Usage {
    Usage(error.to_string())
}

/// Error for a run that cannot be published because it differs from its ledger; the text lists the
/// changed files, each with its problem.
#[derive(Debug, thiserror::Error)]
#[error("not published: {0}")]
pub struct ChangedRun(pub String);
