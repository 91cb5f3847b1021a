//! System calls in a terminal.

use assay_syscalls::{Dimension, Syscalls};

use super::Style;
use crate::document::terminal;
use crate::parts::syscalls as parts;

/// The calls by these dimensions, so many lines a table.
pub fn syscalls(seen: &Syscalls, by: &[Dimension], most: usize, style: Style) -> String {
    terminal::parts(&parts::whole(seen, by, most), style)
}
