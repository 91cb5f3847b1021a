//! Renders frames as lines of text.

use std::fmt::Write;

use super::column::{StatColumn, summary};
use super::number::hundredths;
use super::{Disks, Frame};
use crate::monitors;
use crate::sampling::column::ColumnSubject;

/// Selects the table to render.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// One line per interval: CPU, tasks, memory, the busiest disk, network, pressure, power.
    Summary,
    /// One line per disk, in the columns of iostat; see [`Disks`].
    Disk,
    /// One line per CPU, and one for all.
    Cpu,
}

/// Renders the lines of one table.
pub struct Renderer {
    view: View,
    columns: Vec<StatColumn>,
    disks: Disks,
}

impl Renderer {
    /// Creates a table for a terminal of `width` characters (use 80 if the width is unknown). The
    /// summary leaves out columns that do not fit, and power if `first`, the first frame, has none.
    /// The tables of disks and CPUs have all their columns whatever the width.
    pub fn new(view: View, width: usize, first: &Frame) -> Self {
        let powered = first.subjects("power").next().is_some();
        let mut columns = summary();
        columns.retain(|c| powered || c.column.group.of != ColumnSubject::Machine);
        let needed = |columns: &[StatColumn]| -> usize {
            columns.iter().map(|c| c.column.width + 1).sum::<usize>().saturating_sub(1)
        };
        while needed(&columns) > width {
            let least = columns.iter().map(|c| c.column.rank).max().filter(|rank| *rank > 0);
            let Some(i) = columns.iter().rposition(|c| Some(c.column.rank) == least) else { break };
            columns.remove(i);
        }
        Self { view, columns, disks: Disks::default() }
    }

    /// Sets the layout of the table of disks.
    #[must_use]
    pub fn with_disks(self, disks: Disks) -> Self {
        Self { disks, ..self }
    }

    /// Returns the title lines, each with a newline. Print them first and once per screen; the
    /// tables of disks and CPUs include titles in every interval.
    pub fn header(&self) -> String {
        match self.view {
            View::Summary => {
                self.groups()
                    + &joined(
                        self.columns.iter().map(|c| (c.column.title.to_owned(), c.column.width)),
                    )
            }
            View::Disk | View::Cpu => String::new(),
        }
    }

    /// Returns the lines of one interval, each with its newline.
    pub fn lines(&self, frame: &Frame) -> String {
        match self.view {
            View::Summary => joined(self.columns.iter().map(|c| (c.text(frame), c.column.width))),
            View::Disk => self.disks.lines(frame),
            View::Cpu => {
                let cpus: Vec<&str> = frame.subjects("cpu").collect();
                table(frame, "cpu", "CPU", &cpus, |cpu| cpu)
            }
        }
    }

    /// Returns the names of the groups above their columns, each with a rule to its end: `memory B
    /// ----`.
    fn groups(&self) -> String {
        let mut line = String::new();
        for group in self.columns.chunk_by(|a, b| a.column.group == b.column.group) {
            let width = group.iter().map(|c| c.column.width + 1).sum::<usize>() - 1;
            let name: String = group[0].column.group.title.chars().take(width).collect();
            let rule = width - name.chars().count();
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&name);
            if rule > 1 && !name.is_empty() {
                line.push(' ');
                line.push_str(&"-".repeat(rule - 1));
            } else {
                line.push_str(&" ".repeat(rule));
            }
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    }
}

/// Joins right-aligned texts, separated by a blank.
fn joined(cells: impl Iterator<Item = (String, usize)>) -> String {
    let mut line = String::new();
    for (text, width) in cells {
        if !line.is_empty() {
            line.push(' ');
        }
        // Writing to a String cannot fail.
        let _ = write!(line, "{text:>width$}");
    }
    line + "\n"
}

/// Renders one line per subject with all fields of a monitor, and an empty line at the end. `name`
/// returns the displayed name of a subject.
pub(super) fn table<'a>(
    frame: &Frame,
    monitor: &str,
    corner: &str,
    subjects: &[&'a str],
    name: impl Fn(&'a str) -> &'a str,
) -> String {
    let fields = monitors::find(monitor).map_or(&[][..], |spec| spec.fields);
    let longest = subjects.iter().map(|s| name(s).chars().count()).max().unwrap_or(0);
    let name_width = longest.max(corner.len());
    let widths: Vec<usize> = fields.iter().map(|f| f.name.len().max(7) + 1).collect();
    let mut text = format!("{corner:<name_width$}");
    for (field, width) in fields.iter().zip(&widths) {
        let _ = write!(text, "{:>width$}", field.name);
    }
    text.push('\n');
    for subject in subjects {
        let _ = write!(text, "{:<name_width$}", name(subject));
        for (value, width) in frame.values(monitor, subject).iter().zip(&widths) {
            let _ = write!(text, "{:>width$}", hundredths(*value));
        }
        text.push('\n');
    }
    text + "\n"
}
