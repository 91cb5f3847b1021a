//! Tables whose names are as wide as their columns, one space apart (`cs us sy id wa`), as vmstat and mpstat print them:
//! cut at every space where all lines have as many words.

use super::aligned::{Kind, end_of_rows};
use super::chunk::{Chunk, MAX_CHUNKS, every};
use crate::read::line::Line;

/// So far from its name a value may be pushed by wide values before it.
const MAX_PUSH: usize = 8;
/// So wide is a column by its number.
const WIDTH: usize = 1000;

/// Cuts headers and their rows at every space where each word of the one is of a word of the others.
pub(super) fn cut(text: &str, region: &[Line], kinds: &[Kind], chunks: &mut [Vec<Chunk>]) {
    let mut at = 0;
    while let Some(first) = (at..kinds.len()).find(|i| kinds[*i] == Kind::Row) {
        let end = end_of_rows(kinds, chunks, first);
        at = end;
        let Some(header) = first.checked_sub(1).filter(|h| kinds[*h] == Kind::Words) else {
            continue;
        };
        let lines: Vec<usize> = std::iter::once(header)
            .chain((first..end).filter(|i| kinds[*i] == Kind::Row))
            .collect();
        let mut cut: Vec<Vec<Chunk>> = lines.iter().map(|i| every(text, &region[*i])).collect();
        let n = cut[0].len();
        let fewer = lines.iter().any(|i| chunks[*i].len() < n);
        if !(5..=MAX_CHUNKS).contains(&n) || !fewer {
            continue;
        }
        // "avg-cpu:  %user  %nice": a name over no values.
        let unnamed = cut[1..].iter().all(|c| c.len() + 1 == n && c.iter().all(|w| w.numeric))
            && cut[1..].iter().all(|c| c[0].from >= cut[0][0].to);
        let lead = usize::from(unnamed);
        let values = |c: &Vec<Chunk>| c.iter().skip(1).all(|w| w.numeric);
        let even = cut[1..].iter().all(|c| c.len() + lead == n)
            && (stands(&cut) || cut[1..].iter().all(values))
            && (lead..n).all(|i| cut[1..].iter().all(|c| near(&cut[0][i], &c[i - lead])));
        if !even {
            continue;
        }
        if !stands(&cut) {
            let above = header.saturating_sub(2)..header;
            over(&mut chunks[above.clone()], &kinds[above], &cut[0]);
            for (line, own) in cut.iter_mut().enumerate() {
                for (i, word) in own.iter_mut().enumerate() {
                    let column = if line == 0 { i } else { i + lead };
                    (word.from, word.to) = (column * WIDTH, column * WIDTH + WIDTH - 1);
                }
            }
        }
        for (i, own) in lines.into_iter().zip(cut) {
            chunks[i] = own;
        }
    }
}

/// Whether each word stands over or under one of the header, which is the first line.
fn stands(cut: &[Vec<Chunk>]) -> bool {
    let header = &cut[0];
    cut.iter().all(|c| {
        c.len() == header.len() && c.iter().zip(header).all(|(w, h)| w.overlaps(&(h.from..h.to)))
    })
}

/// Moves names over a header to the columns that they stand over.
fn over(chunks: &mut [Vec<Chunk>], kinds: &[Kind], header: &[Chunk]) {
    for line in chunks.iter_mut().zip(kinds).filter(|(_, k)| **k == Kind::Words).map(|(c, _)| c) {
        for chunk in line {
            let own = chunk.from..chunk.to;
            let first = header.partition_point(|w| w.to <= own.start);
            let end = header.partition_point(|w| w.from < own.end).max(first + 1);
            (chunk.from, chunk.to) = (first * WIDTH, end * WIDTH - 1);
        }
    }
}

/// Whether a value is under its name, or numbers were wider than the names before it.
fn near(name: &Chunk, value: &Chunk) -> bool {
    value.from < name.to + MAX_PUSH && name.from < value.to + MAX_PUSH
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;
    use crate::read::table::find;

    fn table(text: &str) -> (Vec<String>, Vec<String>) {
        let (tables, _) = find(text, &lines(text));
        assert_eq!(tables.len(), 1, "{text}");
        let cells = tables[0].rows[0].cells.iter().map(|c| c.text.clone()).collect();
        (tables[0].columns.clone(), cells)
    }

    #[test]
    fn wide_values_push_those_behind_them() {
        let (columns, cells) = table(
            "procs -----------memory---------- ---swap-- -----io---- --system-- ----cpu----\n \
             r  b   swpd   free   buff  cache   si   so    bi    bo   in    cs us sy id wa\n\
             19  1      0 412304  88120 9120044    0    0    24   610 8120 41200 63 19 15  3\n",
        );
        let at = |name: &str| columns.iter().position(|c| c == name).map(|i| cells[i].as_str());
        assert_eq!(at("r"), Some("19"));
        assert_eq!(at("cs"), Some("41200"));
        assert_eq!(at("id"), Some("15"));
        assert_eq!(columns.len(), 16);
    }

    #[test]
    fn words_of_names_are_no_columns() {
        let (columns, _) = table(
            "System          Cores   Power   QphH   System price\n\
             Pallas P570        16    60.4   51.6         $508.4\nVega R900          24    52.1   46.3         $167.9\n",
        );
        assert_eq!(columns, ["System", "Cores", "Power", "QphH", "System price"]);
    }

    #[test]
    fn a_first_name_may_be_over_no_values() {
        let (columns, cells) = table(
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           8.12    0.00    5.40   31.77    0.00   54.71\n",
        );
        assert_eq!(columns[3..5], ["%system", "%iowait"]);
        assert_eq!(cells[3..5], ["5.40", "31.77"]);
        assert_eq!(cells[0], "");
    }
}
