//! Reads CSV. The separator is the one of comma, semicolon and tab that occurs most in the first
//! line.

use super::{Grid, MAX_COLUMNS, is_numeric};
use crate::tables::blocks::BlockCollector;

/// Reads CSV text whose first line is line number `line` of the source. The first row is the header
/// unless it contains a number.
pub(crate) fn read(reader: &mut BlockCollector, source: &str, line: usize) {
    let first = source.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
    let count = |mark: &u8| first.bytes().filter(|b| b == mark).count();
    let mark = [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',');
    let mut grid = Grid { line, ..Grid::default() };
    let mut csv = ::csv::ReaderBuilder::new();
    let records =
        csv.has_headers(false).flexible(true).delimiter(mark).from_reader(source.as_bytes());
    for record in records.into_records().map_while(Result::ok) {
        let at = record.position().map_or(0, |p| p.line() as usize).saturating_sub(1);
        let cells: Vec<String> = record.iter().take(MAX_COLUMNS).map(str::to_owned).collect();
        if grid.header.is_empty() && grid.rows.is_empty() && !cells.iter().any(|c| is_numeric(c)) {
            grid.header = cells;
        } else {
            grid.rows.push((line + at, cells));
        }
    }
    if !grid.rows.is_empty() {
        reader.grid(grid);
    }
}
