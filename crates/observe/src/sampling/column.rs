//! Columns of the summary of `assay stat`, as a monitor's fields declare them.

/// Column of the summary. The fields that name it are added up, or averaged if they have weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleColumn {
    /// Group of neighboring columns to which the column belongs.
    pub group: &'static ColumnGroup,
    /// Position of the column within its group.
    pub place: u8,
    pub title: &'static str,
    /// Width in characters without the preceding blank.
    pub width: usize,
    /// Priority: if the terminal is too narrow, the columns with the highest rank are dropped
    /// first.
    pub rank: u8,
}

/// Group of columns of one monitor and one subject under a common title.
#[derive(Debug, PartialEq, Eq)]
pub struct ColumnGroup {
    /// Title of the group; empty for a single narrow column whose own title is enough.
    pub title: &'static str,
    /// Position of the group, from left to right.
    pub place: u8,
    /// Subject whose values are shown.
    pub of: ColumnSubject,
    /// Leading column with the subject's name, if the group has one: title, width, rank.
    pub named: Option<(&'static str, usize, u8)>,
}

/// Selects the subject whose values a group of columns shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnSubject {
    /// The subject of this name.
    Subject(&'static str),
    /// The disk that was busy for the largest share of the interval.
    BusiestDisk,
    /// Sum of all network interfaces except the loopback.
    Interfaces,
    /// The subject with the largest value, marked by its first letter.
    Largest,
    /// Power of the machine, as far as it is measured; left out without a reading.
    Machine,
}

impl SampleColumn {
    pub const fn new(
        group: &'static ColumnGroup,
        place: u8,
        title: &'static str,
        width: usize,
        rank: u8,
    ) -> Self {
        SampleColumn { group, place, title, width, rank }
    }
}

impl ColumnGroup {
    /// Creates a group without a column for the subject's name.
    pub const fn new(title: &'static str, place: u8, of: ColumnSubject) -> Self {
        ColumnGroup { title, place, of, named: None }
    }
}
