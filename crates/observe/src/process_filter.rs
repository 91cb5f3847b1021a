//! Selection of the processes that a probe follows.

/// Processes that a probe follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProcessFilter {
    /// Processes that this process starts from now on.
    #[default]
    Children,
    /// These processes, their current children, and all that they start.
    Processes(Vec<u32>),
    /// All processes on the machine.
    All,
}
