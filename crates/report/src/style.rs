//! Style of the text for a terminal.

use assay_chart::axes::text::Glyphs;

/// Width, colour and characters of text for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Maximum width of a line in columns; below 20 counts as 20.
    pub width: usize,
    /// True if the text is coloured. The caller decides (terminal, `NO_COLOR`).
    pub colour: bool,
    /// Characters that may be used.
    pub glyphs: Glyphs,
}

impl Default for Style {
    /// Returns 80 columns, no colour, Unicode.
    fn default() -> Self {
        Style { width: 80, colour: false, glyphs: Glyphs::Unicode }
    }
}

impl Style {
    pub(crate) fn columns(self) -> usize {
        self.width.max(20)
    }

    pub(crate) fn ellipsis(self) -> &'static str {
        if self.glyphs == Glyphs::Unicode { "…" } else { "..." }
    }
}
