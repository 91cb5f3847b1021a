//! What can go wrong in the process of a trial.

use std::io;

use crate::copies::CopiesError;

/// Why a trial could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The JSON that says what to do is not what this build writes.
    #[error("the order of the trial cannot be read: {0}; was it written by this build of assay?")]
    Order(#[source] serde_json::Error),
    /// The parameters cannot be, or a file not be made or read.
    #[error(transparent)]
    Params(#[from] crate::WorkloadError),
    /// An instance did not do its part.
    #[error("{0}{hint}", hint = hint(.0))]
    Copies(#[from] CopiesError),
    /// The virtual machine or the kit does not give what it must.
    #[error("instance {index}: {detail}; nothing was measured")]
    Unsound {
        /// Which, from 1.
        index: usize,
        /// What is wrong.
        detail: String,
    },
    /// A watch of the trial's own could not be set up.
    #[error("{what}: {source}")]
    Watch {
        /// Which.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A signal ended it, or the lab is gone.
    #[error("ended by a signal to assay")]
    Stopped,
}

/// What to do about a virtual machine that ended.
fn hint(error: &CopiesError) -> &'static str {
    match error {
        CopiesError::Ended { said, .. } if said.contains("OutOfMemoryError") => {
            "; the heap is too small for its warehouses: raise `heap` (each warehouse holds about 25 MB)"
        }
        CopiesError::Ended { said, .. } if said.contains("Could not reserve enough space") => {
            "; the machine has no room for this heap: lower `heap` or `instances`"
        }
        CopiesError::Ended { status, .. } if status.contains("signal: 9") => {
            "; somebody killed it, or the kernel did for want of memory (`dmesg` tells)"
        }
        CopiesError::Late { .. } => {
            "; raise `barrier` if the machine is that slow, else see the instance's log"
        }
        _ => "",
    }
}
