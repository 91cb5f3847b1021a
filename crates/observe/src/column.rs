//! Columns of the summary of `assay stat`, as a monitor's fields declare them.

/// A column. The fields that name it are added up, or averaged where they have weights.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// What it has in common with the columns beside it.
    pub group: &'static Group,
    /// Columns of a group stand in this order.
    pub place: u8,
    /// Its title.
    pub title: &'static str,
    /// Its width without the blank before it.
    pub width: usize,
    /// Where there is not room for all, those with the highest number go first.
    pub rank: u8,
}

/// Columns of one monitor under one title, of one subject.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// The title; empty for one narrow column whose own title says it all.
    pub title: &'static str,
    /// Groups stand in this order, from left to right.
    pub place: u8,
    /// Whose values are shown.
    pub of: Of,
    /// The column for the subject's name in front, where it has one: title, width, rank.
    pub named: Option<(&'static str, usize, u8)>,
}

/// Whose values a group of columns shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The subject of this name.
    Subject(&'static str),
    /// The disk that was busy for the largest share of the interval.
    BusiestDisk,
    /// All interfaces but the loopback, added up.
    Interfaces,
    /// The subject with the largest value, whose first letter stands before it.
    Largest,
    /// The machine, as far as its power is seen; left out where nothing is.
    Machine,
}

impl Column {
    /// A column of a group.
    pub const fn new(
        group: &'static Group,
        place: u8,
        title: &'static str,
        width: usize,
        rank: u8,
    ) -> Self {
        Column { group, place, title, width, rank }
    }
}

impl Group {
    /// A group without a column for the subject's name.
    pub const fn new(title: &'static str, place: u8, of: Of) -> Self {
        Group { title, place, of, named: None }
    }
}
