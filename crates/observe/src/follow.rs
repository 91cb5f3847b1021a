//! Whose programs a probe follows.

/// Whose programs are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// What this process starts from now on.
    Children,
    /// These processes, their children, and what they start.
    Processes(Vec<u32>),
    /// Everything on the machine.
    All,
}
