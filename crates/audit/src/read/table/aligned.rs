//! Rows whose cells stand under one another, with two spaces or more between them: what tools print, tables of
//! reStructuredText, and tables that people align by hand.

use std::ops::Range;

use super::chunk::{Chunk, chunks};
use super::narrow;
use super::places::columns;
use super::shape::label;
use super::{Cell, Row, Shape, Table, cell};
use crate::read::line::Line;
use crate::read::source::Span;

/// What a line may be in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Row,
    /// Only dashes, equals signs and the like.
    Rule,
    /// Words without numbers that can be cells.
    Words,
    Other,
}

/// The tables of a region of lines, `None` where its rows are not aligned: others may read them.
pub(super) fn read(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    let mut chunks: Vec<Vec<Chunk>> = region.iter().map(|l| chunks(text, l)).collect();
    let kinds: Vec<Kind> =
        region.iter().zip(&chunks).map(|(l, chunks)| kind(text, l, chunks)).collect();
    narrow::cut(text, region, &kinds, &mut chunks);
    let mut tables = Vec::new();
    let mut at = 0;
    let mut free = 0;
    while let Some(first) = (at..kinds.len()).find(|i| kinds[*i] == Kind::Row) {
        let end = end_of_rows(&kinds, &chunks, first);
        let found = table(text, region, &chunks, &kinds, (free, first, end))?;
        free = found.1.end;
        tables.push(found);
        at = end;
    }
    (!tables.is_empty()).then_some(tables)
}

/// Behind the last of the rows that begin at `first`. Rules and lines of one name may stand between them.
pub(super) fn end_of_rows(kinds: &[Kind], chunks: &[Vec<Chunk>], first: usize) -> usize {
    let mut end = first + 1;
    let mut at = end;
    while at < kinds.len() {
        match kinds[at] {
            Kind::Row => end = at + 1,
            Kind::Rule => {}
            Kind::Words if chunks[at].len() == 1 && kinds.get(at + 1) == Some(&Kind::Row) => {}
            _ => break,
        }
        at += 1;
    }
    end
}

/// The table of rows from `first` to `end`, with the header over it; lines before `free` belong to another.
fn table(
    text: &str,
    region: &[Line],
    chunks: &[Vec<Chunk>],
    kinds: &[Kind],
    (free, first, end): (usize, usize, usize),
) -> Option<(Table, Range<usize>)> {
    let mut rows: Vec<usize> = (first..end).filter(|i| kinds[*i] != Kind::Rule).collect();
    let mut header = headers(chunks, kinds, free, first);
    // A row over a rule is the header, also where its names are numbers.
    if header.is_empty() && rows.len() > 1 && kinds[first + 1] == Kind::Rule {
        header = vec![first];
        rows.remove(0);
    }
    if header.is_empty() && is_numbered_header(text, chunks, &rows) {
        header = vec![rows.remove(0)];
    }
    if rows.len() < 2 && header.is_empty() {
        return None;
    }
    let lowest = header.last().copied();
    let columns = columns(chunks, &rows, lowest)?;
    if columns.len() < 2 {
        return None;
    }
    let names = names(text, chunks, &header, &rows, &columns);
    let made: Vec<Row> = rows
        .iter()
        .map(|i| {
            let mut cells = vec![Cell::default(); columns.len()];
            for chunk in &chunks[*i] {
                if let Some(c) = columns.iter().position(|c| chunk.overlaps(c)) {
                    cells[c] = cell(text, chunk.span);
                }
            }
            Row { span: region[*i].span, label: label(&cells), cells }
        })
        .collect();
    let start = header.first().copied().unwrap_or(first);
    let title = (free..start).find(|i| kinds[*i] != Kind::Rule).map(|from| {
        let to = (from..start).rev().find(|i| kinds[*i] != Kind::Rule).unwrap_or(from);
        Span::new(region[from].span.start, region[to].span.end)
    });
    let span = Span::new(region[rows[0]].span.start, region[end - 1].span.end);
    // Rules over the header and under the last row are parts of the table.
    let from = (free..start).rev().take_while(|i| kinds[*i] == Kind::Rule).last().unwrap_or(start);
    let top = region[from].span.start;
    let title = title.unwrap_or(Span::new(top, top));
    let after = (end..kinds.len()).take_while(|i| kinds[*i] == Kind::Rule).count();
    Some((Table { shape: Shape::Grid, span, title, columns: names, rows: made }, from..end + after))
}

/// Whether a first row names columns by numbers, as versions (`phase  1.7  1.9` over whole numbers) or as counts that
/// double (`threads  1  2  4`).
fn is_numbered_header(text: &str, chunks: &[Vec<Chunk>], rows: &[usize]) -> bool {
    let [first, rest @ ..] = rows else { return false };
    let own = &chunks[*first];
    let decimals = |c: &Chunk| {
        let body = c.span.of(text);
        let plain = body.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        plain.then(|| body.split_once('.').map_or(0, |(_, d)| d.len()))
    };
    let number = |c: &Chunk| c.span.of(text).parse::<f64>().ok();
    let Some(values) = own.iter().skip(1).map(number).collect::<Option<Vec<f64>>>() else {
        return false;
    };
    let whole =
        |i: usize| rest.iter().all(|r| chunks[*r].get(i).is_none_or(|c| decimals(c) != Some(1)));
    let versions = own.iter().skip(1).all(|c| decimals(c) == Some(1))
        && (1..own.len()).all(whole)
        && values.iter().all(|v| *v < 20.0);
    let doubles = values.len() > 2 && values.windows(2).all(|w| w[1] == 2.0 * w[0] && w[0] >= 1.0);
    let alone = own.first().is_some_and(|c| !c.span.of(text).contains(' ') && !c.numeric);
    rest.len() > 1
        && alone
        && values.len() > 1
        && values.windows(2).all(|w| w[0] < w[1])
        && (versions || doubles)
}

/// The lines of names over a first row: at most three, with rules between them.
fn headers(chunks: &[Vec<Chunk>], kinds: &[Kind], free: usize, first: usize) -> Vec<usize> {
    let label_end = chunks[first].first().map_or(0, |c| c.to);
    let mut found: Vec<usize> = Vec::new();
    for i in (free..first).rev() {
        match kinds[i] {
            Kind::Rule if !found.is_empty() && kinds.get(i + 1) != Some(&Kind::Words) => break,
            Kind::Rule => {}
            // One name alone is the title, unless it stands over the columns of values.
            Kind::Words if chunks[i].len() > 1 || chunks[i][0].from >= label_end => {
                found.insert(0, i);
                if found.len() == 3 {
                    break;
                }
            }
            _ => break,
        }
    }
    found
}

/// Names of columns: what stands over them, from top to bottom. Names over the lowest line that are fewer than the
/// columns are of groups of them: each column takes the nearest.
fn names(
    text: &str,
    chunks: &[Vec<Chunk>],
    header: &[usize],
    rows: &[usize],
    columns: &[Range<usize>],
) -> Vec<String> {
    let mut names = vec![String::new(); columns.len()];
    for (h, line) in header.iter().enumerate() {
        let own = &chunks[*line];
        let groups =
            h + 1 < header.len() && own.len() + 1 < columns.len() && !goes_on(own, columns);
        for (c, (column, name)) in columns.iter().zip(&mut names).enumerate() {
            let mut over: Vec<&Chunk> = own.iter().filter(|k| k.overlaps(column)).collect();
            if groups && over.is_empty() && c > 0 {
                let away = |k: &&Chunk| {
                    if k.from >= column.end { k.from - column.end } else { column.start - k.to }
                };
                over.extend(own.iter().min_by_key(away));
            }
            // Values with their spread are called like the values.
            let spread = |i: &usize| {
                chunks[*i].iter().any(|k| k.overlaps(column) && k.span.of(text).contains('±'))
            };
            if over.len() > 1 && rows.iter().any(spread) {
                over.truncate(1);
            }
            for chunk in over {
                if !name.is_empty() {
                    name.push(' ');
                }
                name.push_str(chunk.span.of(text));
            }
        }
    }
    names
}

/// Whether names over others are the first words of these and not of groups: each stands over one of the columns that
/// follow one another.
fn goes_on(own: &[Chunk], columns: &[Range<usize>]) -> bool {
    let over = |k: &Chunk| {
        let mut all = (0..columns.len()).filter(|c| k.overlaps(&columns[*c]));
        all.next().filter(|_| all.next().is_none())
    };
    let over: Option<Vec<usize>> = own.iter().map(over).collect();
    own.len() > 1 && over.is_some_and(|o| o.windows(2).all(|w| w[0] + 1 == w[1]))
}

fn kind(text: &str, line: &Line, chunks: &[Chunk]) -> Kind {
    let body = line.span.of(text);
    let signs = |c: char| matches!(c, '-' | '=' | '+' | '~' | '─' | '━' | ' ' | '\t' | '|');
    if !chunks.is_empty() && body.chars().all(signs) && body.trim().len() > 2 {
        return Kind::Rule;
    }
    if chunks.is_empty() || line.bullet > 0 || line.hashes > 0 || body.contains(" | ") {
        return Kind::Other;
    }
    let values = chunks.iter().skip(1).filter(|c| c.numeric).count();
    let apart = chunks.iter().skip(1).any(|c| c.apart);
    if apart && values > 0 && 3 * values >= chunks.len() - 1 {
        Kind::Row
    } else if body.trim_end().ends_with(['.', ';', ',']) || chunks.iter().any(|c| c.numeric) {
        Kind::Other
    } else {
        Kind::Words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::line::lines;

    fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let region: Vec<Line> = lines(text).into_iter().filter(|l| !l.blank).collect();
        let tables = read(text, &region).unwrap_or_else(|| panic!("no table in {text}"));
        assert_eq!(tables.len(), 1, "{text}");
        let table = &tables[0].0;
        let rows = table.rows.iter();
        let rows = rows.map(|r| r.cells.iter().map(|c| c.text.clone()).collect()).collect();
        (table.columns.clone(), rows)
    }

    #[test]
    fn a_name_may_end_before_its_values() {
        let (columns, rows) = table(
            "System       GHz  Cores  score\nFerro 20     3.0      4   46.2\nUmbra R      2.33     8   92.0\n",
        );
        assert_eq!(columns, ["System", "GHz", "Cores", "score"]);
        assert_eq!(rows[1], ["Umbra R", "2.33", "8", "92.0"]);
    }

    #[test]
    fn jmh_prints_a_spread_behind_each_score() {
        let (columns, rows) = table(
            "Benchmark                  (gc)  Mode  Cnt    Score    Error  Units\n\
             OrderBookBench.match   parallel  avgt   10  412.331 ±  6.120  ns/op\n\
             OrderBookBench.match        zgc  avgt   10  498.110 ± 11.402  ns/op\n",
        );
        assert_eq!(columns, ["Benchmark", "(gc)", "Mode", "Cnt", "Score", "Units"]);
        assert_eq!(
            rows[1],
            ["OrderBookBench.match", "zgc", "avgt", "10", "498.110 ± 11.402", "ns/op"]
        );
    }

    #[test]
    fn tools_align_numbers_to_the_right() {
        let (columns, rows) = table(
            "            %user   %system   %iowait    %idle    cswch/s\n\
             Monday      41.20     28.60      6.10    24.10    182,400\n\
             Wednesday   43.90     12.30      2.20    41.60     74,100\n",
        );
        assert_eq!(columns, ["", "%user", "%system", "%iowait", "%idle", "cswch/s"]);
        assert_eq!(rows[1], ["Wednesday", "43.90", "12.30", "2.20", "41.60", "74,100"]);
        let (columns, rows) = table(
            "-----------------------------------------------------\n\
             Benchmark           Time             CPU   Iterations\n\
             -----------------------------------------------------\n\
             BM_Sort/64       1.20 us         1.19 us       560000\n\
             BM_Sort/4096      142 us          141 us         4960\n",
        );
        assert_eq!(columns, ["Benchmark", "Time", "CPU", "Iterations"]);
        assert_eq!(rows[0], ["BM_Sort/64", "1.20 us", "1.19 us", "560000"]);
    }

    #[test]
    fn headers_of_two_lines_and_rules_are_joined() {
        let (columns, rows) = table(
            "            Time (min)\n\
             Tool        8 threads   16 threads   Note\n\
             ---------   ---------   ----------   ----\n\
             kmcx             31.0         18.7   fast\n\
             gerbera          40.5         21.0   slow\n",
        );
        assert_eq!(
            columns,
            ["Tool", "Time (min) 8 threads", "Time (min) 16 threads", "Time (min) Note"]
        );
        assert_eq!(rows.len(), 2);
        let (columns, rows) = table(
            "=======  =======  =========\n\
             Program  Old (s)  New (s)\n\
             =======  =======  =========\n\
             zlib     1.9      1.8\n\
             clang    2,310.0  2,034.0\n\
             =======  =======  =========\n",
        );
        assert_eq!(columns, ["Program", "Old (s)", "New (s)"]);
        assert_eq!(rows[1], ["clang", "2,310.0", "2,034.0"]);
    }

    #[test]
    fn names_that_are_wider_than_their_columns_go_on_over_them() {
        let (columns, _) = table(
            "                    random  random\n\
             KB  reclen   write    read   write\n\
             64       4   21208    1402    1911\n\
             64      64   32310   14820   16208\n",
        );
        assert_eq!(columns, ["KB", "reclen", "write", "random read", "random write"]);
    }

    #[test]
    fn versions_and_counts_that_double_are_names() {
        let (columns, rows) =
            table("phase      1.7     1.9\nboot        45      38\nradio    2,140     960\n");
        assert_eq!(columns, ["phase", "1.7", "1.9"]);
        assert_eq!(rows.len(), 2);
        let (columns, _) =
            table("threads    1    2    4\nold      310  590  900\nnew      320  640  990\n");
        assert_eq!(columns, ["threads", "1", "2", "4"]);
        let (columns, rows) = table("boot    1.7   1.9\nradio   2.5   2.4\nidle    3.1   3.0\n");
        assert_eq!((columns.concat(), rows.len()), (String::new(), 3));
    }

    #[test]
    fn times_of_several_numbers_are_one_cell() {
        let (columns, rows) = table(
            "disk       rebuild        copy\nsas        3 h 20 min     1h 04m\nnl-sas     11 h 5 min     12 min 5 s\n",
        );
        assert_eq!(columns, ["disk", "rebuild", "copy"]);
        assert_eq!(rows[0], ["sas", "3 h 20 min", "1h 04m"]);
        assert_eq!(rows[1], ["nl-sas", "11 h 5 min", "12 min 5 s"]);
    }

    #[test]
    fn prose_and_what_is_not_aligned_is_left_alone() {
        for text in [
            "It took 12 s.  We waited.\nThen it took 9 s.  We left.\n",
            "a   1\n  b     2   3\n c 4   5    6   7\n",
            "one\ntwo\n",
            "",
        ] {
            let region: Vec<Line> = lines(text).into_iter().filter(|l| !l.blank).collect();
            assert!(read(text, &region).is_none(), "{text}");
        }
    }
}
