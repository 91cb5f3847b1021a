//! What can go wrong with a control.

use std::io;

use crate::control::journal::JournalError;

/// A setting that is wrong, cannot be had here, was not taken or was not restored.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// There is no control of that name.
    #[error("`{name}` is not a control{nearest} (controls: {known})")]
    Unknown {
        /// The name.
        name: String,
        /// `; did you mean ...?`, or empty.
        nearest: String,
        /// What there is.
        known: String,
    },
    /// The key is missing, too much, or does not name a knob.
    #[error("`{path}`: {reason}")]
    Key {
        /// The setting.
        path: String,
        /// What is wrong with its key.
        reason: String,
    },
    /// The value is not a level of the control.
    #[error("`{path}` cannot be `{value}`; it takes {levels}")]
    Level {
        /// The setting.
        path: String,
        /// The value.
        value: String,
        /// What would be right.
        levels: String,
    },
    /// The level is right, but cannot be had on this machine or by this user.
    #[error("`{path}` cannot be set here: {reason}")]
    NotHere {
        /// The setting.
        path: String,
        /// Why, and what to try.
        reason: String,
    },
    /// An action has no level that could be read.
    #[error("`{control}` is something that is done, it has no level")]
    NoLevel {
        /// The control.
        control: String,
    },
    /// The kernel took another level than the one asked for.
    #[error("`{path}` was asked to be `{asked}` and is `{got}`")]
    NotTaken {
        /// The setting.
        path: String,
        /// What was written.
        asked: String,
        /// What was read back.
        got: String,
    },
    /// Reading or writing the setting failed.
    #[error("`{path}`: {doing} failed: {source}")]
    Io {
        /// The setting.
        path: String,
        /// What was being done, with the file or system call.
        doing: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// Two settings of one treatment set the same thing.
    #[error("`{path}` and `{other}` set the same thing; a treatment sets each thing once")]
    Twice {
        /// One setting.
        path: String,
        /// The other.
        other: String,
    },
    /// Another assay has the same thing changed at this moment.
    #[error("`{target}` is changed by process {pid} at this moment; wait until that run has ended")]
    Busy {
        /// What is changed.
        target: String,
        /// By whom.
        pid: u32,
    },
    /// A run that crashed left the same thing changed.
    #[error(
        "`{target}` was left changed by a run that crashed; restore it first: assay doctor --restore"
    )]
    LeftOver {
        /// What is changed.
        target: String,
    },
    /// The journal cannot be written or read, so nothing may be changed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Not everything could be restored; the journal keeps what is left.
    #[error(
        "not everything could be restored: {failed}; the journal keeps it for: assay doctor --restore"
    )]
    Restore {
        /// Each setting and what went wrong.
        failed: String,
    },
    /// Setting failed, and so did restoring what had been set before it.
    #[error("{error}; then {restore}")]
    AlsoRestore {
        /// What failed first.
        error: Box<ControlError>,
        /// What failed while restoring.
        restore: Box<ControlError>,
    },
}

impl ControlError {
    /// This error; one by which the kernel denied a setting to this user becomes
    /// [`ControlError::NotHere`] with the reason.
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
