//! Whose programs a probe follows.

/// Whose programs are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Whose {
    /// What this process starts from now on.
    #[default]
    Children,
    /// These processes, their children, and what they start.
    Processes(Vec<u32>),
    /// Everything on the machine.
    All,
}
