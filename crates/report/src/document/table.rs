//! A table: typed columns, and rows of cells.

use assay_model::Verdict;

use super::{Outputs, Text, TextStyle, Tone, TrialLinks};

/// The type of a column's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Labels, which a terminal may shorten.
    Label,
    /// Words, which are never shortened.
    Word,
    Number,
}

#[derive(Debug, Clone)]
pub struct TableColumn {
    pub title: Text,
    pub kind: ColumnKind,
    pub on: Outputs,
}

#[derive(Debug, Clone, Default)]
#[must_use]
pub struct TableCell {
    pub text: Text,
    pub tone: Tone,
    /// Number of columns that the cell covers on a page; the covered cells are empty.
    pub span: usize,
    /// Tooltip that explains the origin of the value.
    pub title: Option<String>,
}

/// Creates a cell of text.
pub fn cell(words: impl Into<Text>) -> TableCell {
    TableCell { text: words.into(), span: 1, ..TableCell::default() }
}

impl TableCell {
    /// Creates a cell with a number and the trials behind it.
    pub fn from(behind: &TrialLinks, words: impl Into<String>) -> Self {
        cell(Text::default().from(behind, words))
    }

    /// Creates a cell with links to the trials.
    pub fn trials(behind: &TrialLinks) -> Self {
        cell(Text::default().piece(TextStyle::Trials(behind.clone()), behind.numbers()))
    }

    /// Creates a cell with a verdict.
    pub fn verdict(verdict: Verdict) -> Self {
        cell(Text::default().piece(TextStyle::Verdict(verdict), verdict.name()))
            .tone(Tone::for_verdict(verdict))
    }

    /// Returns one cell that covers `columns` columns with the reason why their numbers are
    /// withheld, followed by the covered cells.
    pub fn withheld(columns: usize, why: impl Into<String>) -> impl Iterator<Item = TableCell> {
        let first = TableCell {
            text: Text::default().piece(TextStyle::Unknown("withheld"), why),
            tone: Tone::Bad,
            span: columns,
            title: None,
        };
        std::iter::once(first).chain(std::iter::repeat_n(TableCell::default(), columns - 1))
    }

    /// Returns the cell in another tone.
    pub fn tone(self, tone: Tone) -> Self {
        TableCell { tone, ..self }
    }
}

impl<T: Into<Text>> From<T> for TableCell {
    fn from(words: T) -> Self {
        cell(words)
    }
}

#[derive(Debug, Clone, Default)]
pub struct TableRow {
    /// HTML id that links lead to; empty for none.
    pub id: String,
    pub class: Option<&'static str>,
    /// Name of the row where a terminal splits a wide table; a table without names is not split.
    pub name: String,
    pub cells: Vec<TableCell>,
}

/// A table, in which every row has a cell for every column.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Table {
    pub caption: String,
    pub columns: Vec<TableColumn>,
    pub rows: Vec<TableRow>,
    /// Largest number of rows that a terminal shows; 0 shows all.
    pub most: usize,
}

impl Table {
    /// Creates an empty table with a caption.
    pub fn captioned(caption: impl Into<String>) -> Self {
        Table { caption: caption.into(), ..Table::default() }
    }

    /// Adds a column for the outputs `on`.
    pub fn column(mut self, on: Outputs, kind: ColumnKind, title: impl Into<Text>) -> Self {
        self.columns.push(TableColumn { title: title.into(), kind, on });
        self
    }

    /// Adds a column of labels, which a terminal may shorten.
    pub fn label(self, title: &str) -> Self {
        self.column(Outputs::All, ColumnKind::Label, title)
    }

    /// Adds a column of words, which are never shortened.
    pub fn word(self, title: &str) -> Self {
        self.column(Outputs::All, ColumnKind::Word, title)
    }

    /// Adds a column of numbers.
    pub fn number(self, title: &str) -> Self {
        self.column(Outputs::All, ColumnKind::Number, title)
    }

    /// Adds a column of labels for each title.
    pub fn labels<'a>(self, titles: impl IntoIterator<Item = &'a str>) -> Self {
        titles.into_iter().fold(self, Table::label)
    }

    /// Adds a column of words for each title.
    pub fn words<'a>(self, titles: impl IntoIterator<Item = &'a str>) -> Self {
        titles.into_iter().fold(self, Table::word)
    }

    /// Adds a column of numbers for each title.
    pub fn numbers<'a>(self, titles: impl IntoIterator<Item = &'a str>) -> Self {
        titles.into_iter().fold(self, Table::number)
    }

    /// Adds the column of the trials behind each row, which only published outputs show.
    pub fn trials(self) -> Self {
        self.column(Outputs::Published, ColumnKind::Word, "trials")
    }

    /// Adds a row of cells.
    pub fn row(&mut self, cells: Vec<TableCell>) {
        self.rows.push(TableRow { cells, ..TableRow::default() });
    }

    /// Returns the index of the column that names the rows: the first column or, if that holds
    /// numbers, the first column of labels after it.
    pub(crate) fn named_by(&self, output: Outputs) -> usize {
        let mut all = self.shown(output);
        let Some((first, column)) = all.next() else { return 0 };
        let mut after = || all.find(|(_, c)| c.kind == ColumnKind::Label).map(|(i, _)| i);
        if column.kind == ColumnKind::Number { after().unwrap_or(first) } else { first }
    }

    /// Returns the columns that an output shows, each with its index.
    pub fn shown(&self, output: Outputs) -> impl Iterator<Item = (usize, &TableColumn)> {
        self.columns.iter().enumerate().filter(move |(_, c)| c.on.shows(output))
    }
}
