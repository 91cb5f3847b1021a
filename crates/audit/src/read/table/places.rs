//! Where the columns of rows stand that are aligned by white space.

use std::ops::Range;

use super::chunk::Chunk;

/// Where the columns stand: what overlaps in the rows and the lowest line of the header is one column. `None` if cells
/// of one row do.
pub(super) fn columns(
    chunks: &[Vec<Chunk>],
    rows: &[usize],
    header: Option<usize>,
) -> Option<Vec<Range<usize>>> {
    let full = rows.iter().map(|i| chunks[*i].len()).max()?;
    let mut all: Vec<Range<usize>> = rows
        .iter()
        .filter(|i| chunks[**i].len() > 1 || full == 1)
        .flat_map(|i| chunks[*i].iter().map(|c| c.from..c.to))
        .collect();
    let of_rows = merged(&mut all);
    if let Some(header) = header {
        // A name over two columns of the rows does not make them one.
        let apart = |c: &&Chunk| of_rows.iter().filter(|column| c.overlaps(column)).count() <= 1;
        all.extend(chunks[header].iter().filter(apart).map(|c| c.from..c.to));
    }
    let mut columns = merged(&mut all);
    if let Some(header) = header {
        shifted(&mut columns, &chunks[header], &of_rows);
    }
    for i in rows {
        let own = &chunks[*i];
        for column in &columns {
            if own.iter().filter(|c| c.overlaps(column)).count() > 1 {
                return None;
            }
        }
        // A line of one name may run over the columns; a cell may not.
        if own.len() > 1 && own.iter().any(|c| columns.iter().filter(|o| c.overlaps(o)).count() > 1)
        {
            return None;
        }
    }
    // Where most places are empty nothing is aligned.
    let full: usize = rows.iter().map(|i| chunks[*i].len()).sum();
    (full * 5 >= rows.len() * columns.len() * 3).then_some(columns)
}

/// A name over no values whose neighbour on the right are values without a name is the name of these: a line aligned by
/// hand misses it by a place or two.
fn shifted(columns: &mut Vec<Range<usize>>, header: &[Chunk], of_rows: &[Range<usize>]) {
    let mut at = 1;
    while at + 1 < columns.len() {
        let (own, next) = (&columns[at], &columns[at + 1]);
        let values = |c: &Range<usize>| of_rows.iter().any(|r| r.start < c.end && c.start < r.end);
        if !values(own) && values(next) && !header.iter().any(|k| k.overlaps(next)) {
            columns[at].end = next.end;
            columns.remove(at + 1);
        }
        at += 1;
    }
}

fn merged(all: &mut [Range<usize>]) -> Vec<Range<usize>> {
    all.sort_unstable_by_key(|r| r.start);
    let mut columns: Vec<Range<usize>> = Vec::new();
    for own in all.iter() {
        match columns.last_mut() {
            Some(last) if own.start < last.end => last.end = last.end.max(own.end),
            _ => columns.push(own.clone()),
        }
    }
    columns
}
