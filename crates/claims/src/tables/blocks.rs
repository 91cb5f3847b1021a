//! Blocks of a text with their source lines, and the collector that the readers of the formats
//! fill.

use crate::tables::Grid;

/// The role of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Prose, which may contain sentences.
    Prose,
    /// A row of a table, or code.
    Data,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub kind: BlockKind,
    /// Text of the block without markup.
    pub text: String,
    /// Pairs of an offset in `text` at which a source line begins, and the number of that line.
    lines: Vec<(usize, usize)>,
}

impl Block {
    fn new(kind: BlockKind) -> Self {
        Block { kind, text: String::new(), lines: Vec::new() }
    }

    /// Appends text that begins on a given source line.
    fn push(&mut self, text: &str, line: usize) {
        self.lines.push((self.text.len(), line));
        for (i, _) in text.match_indices('\n') {
            let last = self.lines.last().map_or(line, |l| l.1);
            self.lines.push((self.text.len() + i + 1, last + 1));
        }
        self.text.push_str(text);
    }

    /// Returns the source line of an offset in the text.
    pub fn line(&self, offset: usize) -> usize {
        let after = self.lines.partition_point(|(at, _)| *at <= offset);
        self.lines[..after].last().or(self.lines.first()).map_or(1, |l| l.1)
    }
}

/// Collects the blocks and tables of a text.
#[derive(Debug, Default)]
pub(crate) struct BlockCollector {
    blocks: Vec<Block>,
    grids: Vec<Grid>,
    open: Option<Block>,
}

/// Maximum number of characters in a title above a table.
const TITLE: usize = 120;

impl BlockCollector {
    /// Appends prose to the open block.
    pub(crate) fn push(&mut self, text: &str, line: usize) {
        self.open.get_or_insert_with(|| Block::new(BlockKind::Prose)).push(text, line);
    }

    /// Returns the collected blocks and tables.
    pub(crate) fn into_parts(mut self) -> (Vec<Block>, Vec<Grid>) {
        self.end();
        (self.blocks, self.grids)
    }

    /// Ends the open block.
    pub(crate) fn end(&mut self) {
        self.blocks.extend(self.open.take().filter(|b| !b.text.trim().is_empty()));
    }

    /// Adds a line of code or of a table.
    pub(crate) fn data(&mut self, text: &str, line: usize) {
        self.end();
        let mut block = Block::new(BlockKind::Data);
        block.push(text, line);
        self.blocks.push(block);
    }

    /// Adds a table. If it has no caption, the short line above it becomes its title.
    pub(crate) fn grid(&mut self, mut grid: Grid) {
        self.end();
        if grid.title.is_none() {
            let above = self.blocks.iter().rfind(|b| b.kind == BlockKind::Prose);
            let title = above.map(|b| b.text.split_whitespace().collect::<Vec<_>>().join(" "));
            grid.title = title.filter(|t| t.chars().count() <= TITLE);
        }
        if !grid.header.is_empty() {
            self.data(&grid.header.join(" "), grid.line);
        }
        for (line, cells) in &grid.rows {
            self.data(&cells.join(" "), *line);
        }
        self.grids.push(grid);
    }
}
