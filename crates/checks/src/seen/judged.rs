//! The result of judging an observation: the row of a check and the finding.

use assay_model::{CheckRow, FiredCheck, Subject};

use crate::rows;

/// Row of a check with its finding; `None` if nothing is wrong.
pub(crate) type JudgedCheck = Option<(&'static CheckRow, FiredCheck)>;

/// Returns the row of the check that needs a subject which could not be observed.
pub(crate) fn of(subject: Subject) -> &'static CheckRow {
    match subject {
        Subject::Cpus => &rows::CPU_RESOURCES,
        Subject::OtherWork => &rows::QUIET_HOST,
        Subject::ClockRate => &rows::CLOCK_AND_HEAT,
        Subject::Stability => &rows::ENVIRONMENT_STABLE,
        Subject::Timer => &rows::TIMER_AND_LENGTH,
    }
}
