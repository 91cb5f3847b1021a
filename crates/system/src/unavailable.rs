//! The reason for people why something is unavailable on this machine.

/// The reason why something cannot be read, set or created here, often with the next step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unavailable {
    pub reason: String,
}

impl From<String> for Unavailable {
    fn from(reason: String) -> Self {
        Unavailable { reason }
    }
}

impl From<Unavailable> for String {
    fn from(unavailable: Unavailable) -> Self {
        unavailable.reason
    }
}
