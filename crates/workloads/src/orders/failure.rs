//! What to do about an instance that did not do its part.

use crate::Failure;
use crate::copies::CopiesError;

impl From<CopiesError> for Failure {
    fn from(error: CopiesError) -> Self {
        Failure::other(format!("{error}{}", hint(&error)))
    }
}

/// What to do about a virtual machine that ended.
fn hint(error: &CopiesError) -> &'static str {
    match error {
        CopiesError::Ended { stderr, .. } if stderr.contains("OutOfMemoryError") => {
            "; the heap is too small for its warehouses: raise `heap` (each warehouse holds about 25 MB)"
        }
        CopiesError::Ended { stderr, .. } if stderr.contains("Could not reserve enough space") => {
            "; the machine has no room for this heap: lower `heap` or `instances`"
        }
        CopiesError::Ended { status, .. } if status.contains("signal: 9") => {
            "; it was killed, perhaps by the kernel for lack of memory (see `dmesg`)"
        }
        CopiesError::Late { .. } => {
            "; raise `barrier` if the machine is that slow, else see the instance's log"
        }
        _ => "",
    }
}
