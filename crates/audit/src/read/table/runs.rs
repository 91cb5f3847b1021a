//! What hyperfine prints over several lines for each run.

use super::Table;
use super::tools::{grid, join, words};
use crate::read::line::Line;
use crate::read::source::Span;

/// The tables of hyperfine among the lines of a text, with the lines that they take: `Benchmark 1: ./old` with
/// `Time (mean ± σ):  148.3 ms ±  2.1 ms`.
pub(super) fn read(text: &str, lines: &[Line]) -> Vec<(Table, Vec<usize>)> {
    let mut tables = Vec::new();
    let mut rows: Vec<(Span, String, Vec<Option<Span>>)> = Vec::new();
    let mut taken = Vec::new();
    let mut name: Option<(String, usize)> = None;
    let columns = || {
        ["", "mean time", "min", "max", "standard deviation (σ)", "user time", "system time"]
            .map(str::to_owned)
            .to_vec()
    };
    for (i, line) in lines.iter().enumerate() {
        let body = line.span.of(text).trim_start();
        if let Some((number, command)) =
            body.strip_prefix("Benchmark ").and_then(|r| r.split_once(": "))
        {
            if number.trim_start_matches('#').parse::<u32>() == Ok(1) && !rows.is_empty() {
                tables.extend(
                    grid(text, columns(), std::mem::take(&mut rows))
                        .map(|t| (t, std::mem::take(&mut taken))),
                );
            }
            name = Some((command.trim().to_owned(), i));
        } else if body.starts_with("Time (mean") || body.starts_with("Time (abs") {
            let Some((command, at)) = name.clone() else { continue };
            let words = words(text, line);
            let first =
                words.iter().position(|w| w.of(text).starts_with(|c: char| c.is_ascii_digit()));
            let behind = |name: &str| {
                let at = words.iter().rposition(|w| w.of(text) == name)?;
                let unit = words.get(at + 2)?;
                let trimmed = unit.of(text).trim_end_matches([',', ']']).len();
                Some(Span::new(words.get(at + 1)?.start, unit.start + trimmed))
            };
            if let Some(span) = first.and_then(|f| words.get(f..f + 2)).map(join) {
                let mut cells = vec![Some(span), None, None];
                cells.extend([behind("±"), behind("[User:"), behind("System:")]);
                rows.push((Span::new(lines[at].span.start, line.span.end), command, cells));
                taken.extend([at, i]);
            }
        } else if body.starts_with("Range (min") && name.is_some() {
            let words = words(text, line);
            let numbers: Vec<usize> = (0..words.len())
                .filter(|w| words[*w].of(text).starts_with(|c: char| c.is_ascii_digit()))
                .collect();
            if let (Some((span, _, cells)), [a, b, ..]) = (rows.last_mut(), numbers.as_slice()) {
                span.end = line.span.end;
                cells[1] = words.get(*a..a + 2).map(join);
                cells[2] = words.get(*b..b + 2).map(join);
                taken.push(i);
            }
            name = None;
        }
    }
    if !rows.is_empty() {
        tables.extend(grid(text, columns(), rows).map(|t| (t, taken)));
    }
    tables
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;

    #[test]
    fn hyperfine_tells_of_user_and_system_time() {
        let text = "Benchmark 1: snuff ~\n  Time (mean ± σ):      84.2 ms ±   2.1 ms    [User: 402.1 ms, System: 611.0 ms]\n  \
                    Range (min … max):    80.9 ms …  89.7 ms    34 runs\n\nBenchmark 2: find ~\n  Time (mean ± σ):      \
                    1.204 s ±  0.012 s    [User: 0.331 s, System: 0.866 s]\n  Range (min … max):    1.189 s …  1.231 s    \
                    10 runs\n";
        let (table, _) = &super::read(text, &lines(text))[0];
        let row: Vec<&str> = table.rows[0].cells[1..].iter().map(|c| c.text.as_str()).collect();
        assert_eq!(row, ["84.2 ms", "80.9 ms", "89.7 ms", "2.1 ms", "402.1 ms", "611.0 ms"]);
        assert_eq!(table.rows[1].cells[6].text, "0.866 s");
    }
}
