//! A table: columns by what they hold, rows of cells.

use assay_model::Verdict;

use super::{Behind, Look, On, Text, Tone};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Labels, which a terminal may shorten.
    Label,
    /// Words that are kept whole.
    Word,
    /// Numbers.
    Number,
}

/// A column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) title: Text,
    pub(crate) kind: Kind,
    pub(crate) on: On,
}

/// A cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub(crate) text: Text,
    pub(crate) tone: Tone,
    /// How many columns it covers where a page can do that; the cells that it covers are empty.
    pub(crate) span: usize,
    /// How it came about, for who asks.
    pub(crate) title: Option<String>,
}

/// A cell of words.
pub(crate) fn cell(words: impl Into<Text>) -> Cell {
    Cell { text: words.into(), span: 1, ..Cell::default() }
}

impl Cell {
    /// A number with the trials behind it.
    pub(crate) fn from(behind: &Behind, words: impl Into<String>) -> Self {
        cell(Text::default().from(behind, words))
    }

    /// Links to the trials.
    pub(crate) fn trials(behind: &Behind) -> Self {
        cell(Text::default().piece(Look::Trials(behind.clone()), behind.numbers()))
    }

    /// A verdict.
    pub(crate) fn verdict(verdict: Verdict) -> Self {
        cell(Text::default().piece(Look::Verdict(verdict), verdict.name())).tone(Tone::of(verdict))
    }

    /// That the numbers of some columns are withheld, and why.
    pub(crate) fn withheld(columns: usize, why: impl Into<String>) -> impl Iterator<Item = Cell> {
        let first = Cell {
            text: Text::default().piece(Look::Unknown("withheld"), why),
            tone: Tone::Bad,
            span: columns,
            title: None,
        };
        std::iter::once(first).chain(std::iter::repeat_n(Cell::default(), columns - 1))
    }

    /// The same in a tone.
    pub(crate) fn tone(self, tone: Tone) -> Self {
        Cell { tone, ..self }
    }
}

impl<T: Into<Text>> From<T> for Cell {
    fn from(words: T) -> Self {
        cell(words)
    }
}

/// A row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// What links lead to.
    pub(crate) id: String,
    pub(crate) class: Option<&'static str>,
    /// What names the row where a terminal cuts a wide table into parts; it cuts none without names.
    pub(crate) name: String,
    pub(crate) cells: Vec<Cell>,
}

/// A table. Every row has a cell for every column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// How many rows a terminal shows; all where that is 0.
    pub(crate) most: usize,
}

impl Table {
    /// A table with a caption.
    pub(crate) fn of(caption: impl Into<String>) -> Self {
        Table { caption: caption.into(), ..Table::default() }
    }

    /// A column of some outputs.
    pub(crate) fn column(mut self, on: On, kind: Kind, title: impl Into<Text>) -> Self {
        self.columns.push(Column { title: title.into(), kind, on });
        self
    }

    /// A column of labels, which a terminal may shorten.
    pub(crate) fn label(self, title: &str) -> Self {
        self.column(On::All, Kind::Label, title)
    }

    /// A column of words that are kept whole.
    pub(crate) fn word(self, title: &str) -> Self {
        self.column(On::All, Kind::Word, title)
    }

    /// A column of numbers.
    pub(crate) fn number(self, title: &str) -> Self {
        self.column(On::All, Kind::Number, title)
    }

    /// Columns of labels.
    pub(crate) fn labels<'a>(self, titles: impl IntoIterator<Item = &'a str>) -> Self {
        titles.into_iter().fold(self, Table::label)
    }

    /// Columns of words.
    pub(crate) fn words<'a>(self, titles: impl IntoIterator<Item = &'a str>) -> Self {
        titles.into_iter().fold(self, Table::word)
    }

    /// Columns of numbers.
    pub(crate) fn numbers<'a>(self, titles: impl IntoIterator<Item = &'a str>) -> Self {
        titles.into_iter().fold(self, Table::number)
    }

    /// The column of the trials behind a row.
    pub(crate) fn trials(self) -> Self {
        self.column(On::Published, Kind::Word, "trials")
    }

    /// A row.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row { cells, ..Row::default() });
    }

    /// The column that names the rows: the first, or the first of labels after numbers.
    pub(crate) fn named_by(&self, output: On) -> usize {
        let mut all = self.shown(output);
        let Some((first, column)) = all.next() else { return 0 };
        let mut after = || all.find(|(_, c)| c.kind == Kind::Label).map(|(i, _)| i);
        if column.kind == Kind::Number { after().unwrap_or(first) } else { first }
    }

    /// The columns that an output shows, each with its position in the rows.
    pub(crate) fn shown(&self, output: On) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().filter(move |(_, c)| c.on.shows(output))
    }
}
