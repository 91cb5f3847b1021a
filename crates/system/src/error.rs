//! Errors of applying and restoring controls.

use std::io;
use std::path::PathBuf;

use crate::state::owner::OwnerError;

/// Result of reading, changing or restoring a setting.
pub(crate) type Result<T, E = ControlError> = std::result::Result<T, E>;

/// The journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// An operation on a file or folder of the journal failed.
    #[error(
        "the journal of changes, `{}`, cannot be {doing}: {source} (the folder is chosen by \
         $ASSAY_STATE)",
        path.display()
    )]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operation that failed.
        doing: &'static str,
        source: io::Error,
    },
    /// The system does not reveal this process's identity, or whether another process is alive.
    #[error("the process that a journal belongs to cannot be identified: {0}")]
    Owner(#[from] OwnerError),
}

/// A setting that is invalid, not possible on this machine, not accepted by the kernel, or not
/// restored.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// No control has this name.
    #[error("`{name}` is not a control{nearest} (controls: {known})")]
    Unknown {
        name: String,
        /// `; did you mean ...?`, or empty.
        nearest: String,
        /// Names of all controls.
        known: String,
    },
    /// The key is missing, not allowed, or unknown.
    #[error("`{path}`: {reason}")]
    Key {
        /// The setting as an experiment writes it.
        path: String,
        reason: String,
    },
    /// The value is not a level of the control.
    #[error("`{path}` cannot be `{value}`; it takes {levels}")]
    Level {
        /// The setting as an experiment writes it.
        path: String,
        value: String,
        /// Description of the valid levels.
        levels: String,
    },
    /// The level is valid, but not possible on this machine or for this user.
    #[error("`{path}` cannot be set here: {reason}")]
    NotHere {
        /// The setting as an experiment writes it.
        path: String,
        /// The reason and the next step.
        reason: String,
    },
    /// An action has no level that could be read.
    #[error("`{control}` is an action and has no level")]
    NoLevel { control: String },
    /// After the write, the kernel reports a different level from the requested one.
    #[error("`{path}` was set to `{asked}`, but the kernel reports `{got}`")]
    NotTaken {
        /// The setting as an experiment writes it.
        path: String,
        /// The level that was written.
        asked: String,
        /// The level that was read back.
        got: String,
    },
    /// Reading or writing the setting failed.
    #[error("`{path}`: {doing} failed: {source}")]
    Io {
        /// The setting as an experiment writes it.
        path: String,
        /// The failed operation, with its file or system call.
        doing: String,
        source: io::Error,
    },
    /// Two settings of one treatment change the same object.
    #[error("`{path}` and `{other}` set the same thing; a treatment sets each thing once")]
    Twice { path: String, other: String },
    /// Another assay process is currently changing the same object.
    #[error("process {pid} is changing `{target}`; wait until its run has ended")]
    Busy {
        /// The object, such as a file.
        target: String,
        /// Process id of the other assay.
        pid: u32,
    },
    /// A crashed run left the same object changed.
    #[error("a run that crashed left `{target}` changed; restore it: assay doctor --restore")]
    LeftOver {
        /// The object, such as a file.
        target: String,
    },
    /// The journal cannot be written or read, so nothing may be changed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Not everything could be restored; the journal keeps the rest.
    #[error("not restored: {failed}; the journal keeps it for: assay doctor --restore")]
    Restore {
        /// The settings that failed, with reasons.
        failed: String,
    },
    /// Applying a setting failed, and so did restoring the earlier ones.
    #[error("{error}; then {restore}")]
    AlsoRestore {
        error: Box<ControlError>,
        /// The error while restoring.
        restore: Box<ControlError>,
    },
}

impl ControlError {
    /// Converts a permission error into [`ControlError::NotHere`] with the given reason; returns
    /// other errors unchanged.
    pub(crate) fn explain_denial(self, reason: impl FnOnce() -> String) -> Self {
        match self {
            ControlError::Io { path, source, .. }
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                ControlError::NotHere { path, reason: reason() }
            }
            other => other,
        }
    }
}
