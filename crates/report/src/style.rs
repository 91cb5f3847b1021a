//! How text for a terminal is written.

use assay_chart::text::Glyphs;

/// How to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// The widest line, columns; below 20 counts as 20.
    pub width: usize,
    /// Whether to colour. The caller decides (terminal, `NO_COLOR`).
    pub colour: bool,
    /// Which characters may be used.
    pub glyphs: Glyphs,
}

impl Default for Style {
    /// 80 columns, no colour, Unicode.
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
