//! A table with a header: time, revision, and one column per series.

use assay_model::units::DIGIT_JOINTS;

use crate::readers::prelude::*;

/// Names of columns that are not series.
const TIMES: [&str; 5] = ["time", "timestamp", "date", "datetime", "commit_ts"];
const REVISIONS: [&str; 6] = ["revision", "commit", "rev", "sha", "hash", "version"];

/// Maximum number of cells of a table, which limits the memory that its series need.
const MAX_CELLS: usize = 1_000_000;

fn header(text: &str) -> Option<&str> {
    text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

fn separator(header: &str) -> Option<u8> {
    [b'\t', b',', b';'].into_iter().find(|s| header.as_bytes().contains(s))
}

/// Returns true if the header has at least two columns, one of which is a time or a revision.
pub(crate) fn detect(bytes: &[u8]) -> bool {
    let text = json::head(bytes);
    let Some((header, separator)) = header(&text).and_then(|h| Some((h, separator(h)?))) else {
        return false;
    };
    let name = |cell: &str| cell.trim().trim_matches('"').to_lowercase();
    let known = |name: String| TIMES.contains(&name.as_str()) || REVISIONS.contains(&name.as_str());
    header.split(char::from(separator)).map(name).any(known)
}

pub(crate) fn read(bytes: &[u8]) -> Result<ForeignSeries, Flaw> {
    let text = json::text(bytes);
    let header = header(&text).ok_or_else(|| Flaw::whole("it has no header"))?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator(header).unwrap_or(b','))
        .comment(Some(b'#'))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let flaw = |e: csv::Error| match e.position() {
        Some(at) => Flaw::line(at.line(), e.to_string()),
        None => Flaw::whole(e.to_string()),
    };
    let names = reader.headers().map_err(flaw)?.clone();
    let line = |row: &csv::StringRecord| row.position().map_or(0, csv::Position::line);
    let too_long = |row: &csv::StringRecord| {
        let message = format!(
            "{} cells under {} titles: quote a cell that has the separator in it, and write \
             numbers with a decimal point",
            row.len(),
            names.len()
        );
        Flaw::line(line(row), message)
    };
    let mut rows = Vec::new();
    let mut cells = names.len();
    for row in reader.records() {
        let row = row.map_err(flaw)?;
        cells += row.len();
        if cells > MAX_CELLS {
            return Err(Flaw::line(line(&row), format!("it has more than {MAX_CELLS} cells")));
        }
        if row.iter().skip(names.len()).any(|cell| !cell.is_empty()) {
            return Err(too_long(&row));
        }
        if row.iter().any(|cell| !cell.is_empty()) {
            rows.push(row);
        }
    }
    // An empty cell at the end of every row is a separator too many, that of one row a shifted row.
    let long = |row: &&csv::StringRecord| row.len() > names.len();
    if !rows.iter().all(|row| long(&row))
        && let Some(row) = rows.iter().find(long)
    {
        return Err(too_long(row));
    }
    let column =
        |known: &[&str]| names.iter().position(|n| known.contains(&n.to_lowercase().as_str()));
    let (time, revision) = (column(&TIMES), column(&REVISIONS));
    let mut all = ForeignSeries::default();
    for (i, name) in names.iter().enumerate() {
        let number =
            |row: &csv::StringRecord| row.get(i)?.parse::<f64>().ok().filter(|v| v.is_finite());
        if Some(i) == time || Some(i) == revision {
            continue;
        }
        // Report numbers in another locale instead of dropping them or reading a part of them.
        let foreign = |row: &&csv::StringRecord| row.get(i).is_some_and(is_foreign);
        if let Some(row) = rows.iter().find(foreign) {
            let message = format!(
                "`{}` in column `{name}` is not a number that assay reads: write it with a decimal \
                 point and without thousands separators",
                row.get(i).unwrap_or_default()
            );
            return Err(Flaw::line(line(row), message));
        }
        // A column without any number is an attribute.
        if !rows.iter().any(|r| number(r).is_some()) {
            continue;
        }
        for row in &rows {
            let cell = |at: Option<usize>| at.and_then(|at| row.get(at)).unwrap_or_default();
            all.put(name, "", (cell(time), cell(revision)), number(row));
        }
    }
    Ok(all)
}

/// True if the cell is one number with a decimal comma or thousands separators.
fn is_foreign(cell: &str) -> bool {
    let digits = cell.strip_prefix(['+', '-']).unwrap_or(cell);
    let joint = |c: char| DIGIT_JOINTS.contains(c);
    let groups: Vec<&str> = digits.split(joint).collect();
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || joint(c))
        && cell.parse::<f64>().is_err()
        // Not versions or addresses: 1.2.3.
        && digits.contains(|c: char| joint(c) && c != '.')
        // Thousands come in groups of three; 2026_01_01 is a date.
        && groups[1..].iter().rev().skip(1).all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_cells_than_are_read_are_an_error() {
        let rows = format!("time,a\n{}", "1,2\n".repeat(MAX_CELLS / 2));
        let error = read(rows.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("more than 1000000 cells"), "{error}");
    }

    #[test]
    fn numbers_of_another_locale_are_errors_with_their_place() {
        for spelled in ["12,5", "1,234", "1.234,5", "1'234", "1_234", "1\u{a0}234", "-1,5"] {
            for text in [
                format!("time;revision;read_ms\n1;a;2.5\n2;b;{spelled}\n"),
                format!("time,revision,read_ms,more\n1,a,2.5,1\n2,b,\"{spelled}\",1\n"),
                format!("time;revision;read_ms\n1;a;{spelled}\n2;b;{spelled}\n"),
            ] {
                let flaw = read(text.as_bytes()).unwrap_err();
                let said = format!("{flaw:?}");
                assert!(said.contains(spelled) || said.contains("\\u"), "{text}: {said}");
                assert!(flaw.message.contains("read_ms"), "{said}");
            }
        }
        let flaw = read(b"time,revision,read_ms\n1,a,12,5\n").unwrap_err();
        assert!(flaw.message.contains("4 cells under 3 titles"), "{flaw:?}");
        // Attributes are not numbers of another locale: versions, lists marked as such.
        for other in ["1.2.3", "2026_01_01", "10,20,30"] {
            let text = format!("time;revision;ms;other\n1;a;2.5;{other}\n");
            let all = read(text.as_bytes()).unwrap();
            assert_eq!((all.series.len(), all.excluded), (1, 0), "{other}");
        }
    }

    #[test]
    fn a_table_has_a_series_for_each_column_of_numbers() {
        let text = "time,revision,read_ms,branch,write_ms\n2026-01-01,abc,1.5,main,2\n\
                    2026-01-02,def,x,main,3\n";
        assert!(detect(text.as_bytes()));
        let all = read(text.as_bytes()).unwrap();
        let names: Vec<&str> = all.series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!((names, all.excluded), (vec!["read_ms", "write_ms"], 1));
        assert_eq!(all.series[1].points[1].revision, "def");
        assert_eq!(all.series[0].points.len(), 1);
    }

    #[test]
    fn a_separator_within_quotes_is_part_of_a_name() {
        let text = "# made by hand\ntime,revision,\"reads, 4 KiB\"\n\n2026-01-01,abc,1.5\n";
        let all = read(text.as_bytes()).unwrap();
        let first = &all.series[0];
        assert_eq!((first.name.as_str(), first.points[0].value), ("reads, 4 KiB", 1.5));
        assert_eq!((all.series.len(), all.excluded), (1, 0));
        assert!(read(b"# nothing\n\n").unwrap_err().message.contains("no header"));
        assert!(!detect(b"# nothing\n\n") && !detect(b"a,b\n1,2\n") && !detect(b"time\n1\n"));
    }
}
