//! What an observation comes to: the row of a check, and what was found.

use assay_model::{Found, Row, Subject};

use crate::rows;

/// A row with what was found.
pub(crate) type Judged = Option<(&'static Row, Found)>;

/// The row of what could not be looked at.
pub(crate) fn of(subject: Subject) -> &'static Row {
    match subject {
        Subject::Cpus => &rows::CPU_RESOURCES,
        Subject::OtherWork => &rows::QUIET_HOST,
        Subject::ClockRate => &rows::CLOCK_AND_HEAT,
        Subject::Stability => &rows::ENVIRONMENT_STABLE,
        Subject::Timer => &rows::TIMER_AND_LENGTH,
    }
}
