//! What the rows of a table are called, and which of its columns only name them.

use super::amount::{self, Dimension, Measure};
use crate::read::table::{Row, Table};

/// The names of a table's rows.
pub(super) struct Names {
    pub labels: Vec<String>,
    /// Whether a column only tells its rows apart, and so holds no values.
    pub keys: Vec<bool>,
}

/// Rows that the columns before are needed for to be told apart.
const MAX_KEYS: usize = 3;

fn text(row: &Row, column: usize) -> &str {
    row.cells.get(column).map_or("", |c| c.text.trim())
}

fn is_value(text: &str) -> bool {
    amount::of_cell(text, None).is_some()
}

/// Whether a row has one cell that is not empty.
fn is_alone(row: &Row) -> bool {
    row.cells.iter().filter(|c| !c.text.trim().is_empty()).count() == 1
}

/// Names of rows, from their first cells: words, or numbers with the noun over them ("16 threads").
pub(super) fn names(table: &Table, headers: &[Option<Measure>]) -> Names {
    let width = table.columns.len();
    let mut keys = vec![false; width];
    let lead = (0..width).find(|c| table.rows.iter().any(|r| !text(r, *c).is_empty())).unwrap_or(0);
    let words = table.rows.iter().filter(|r| !is_value(text(r, lead))).count();
    let heads = table.rows.iter().any(|r| is_alone(r) && !is_value(text(r, lead)));
    if words * 2 > table.rows.len() || heads {
        keys[..=lead.min(width.saturating_sub(1))].fill(true);
        let labels = worded(table, lead, headers, &mut keys);
        return Names { labels, keys };
    }
    if let Some(count) = numbered(table, lead, headers) {
        keys[..lead + count].fill(true);
        let labels = table
            .rows
            .iter()
            .map(|r| {
                let own: Vec<String> =
                    (lead..lead + count).map(|c| with_noun(table, r, c)).collect();
                own.join(" ").trim().to_owned()
            })
            .collect();
        return Names { labels, keys };
    }
    let labels = table
        .rows
        .iter()
        .map(|r| r.cells.first().map_or_else(|| r.label.clone(), |c| c.text.clone()))
        .collect();
    Names { labels, keys }
}

/// How many columns of numbers name the rows: the first whose numbers are all different, with those after it that are
/// needed for that. `None` if they are results.
fn numbered(table: &Table, lead: usize, headers: &[Option<Measure>]) -> Option<usize> {
    let header = |c: usize| headers.get(c).copied().flatten();
    let name = |c: usize| table.columns[c].to_lowercase();
    for count in 1..=MAX_KEYS {
        let last = lead + count - 1;
        if last + 1 >= table.columns.len() {
            return None;
        }
        let twin = header(last).is_some_and(|m| {
            (last + 1..table.columns.len())
                .any(|c| header(c).is_some_and(|o| o.dimension == m.dimension))
        });
        let is_result = ["before", "after", "old", "new", "baseline", "mean", "average", "median"]
            .iter()
            .any(|w| name(last).split_whitespace().any(|n| n == *w));
        if twin || is_result {
            return None;
        }
        let mut own: Vec<Vec<&str>> = table
            .rows
            .iter()
            .map(|r| (lead..=last).map(|c| text(r, c)).collect())
            .filter(|own: &Vec<&str>| own.iter().any(|t| !t.is_empty()))
            .collect();
        let count_of_rows = own.len();
        own.sort_unstable();
        own.dedup();
        if own.len() == count_of_rows && count_of_rows > 1 {
            return Some(count);
        }
    }
    None
}

/// "8" under "Threads" is "8 Threads", and "4" under "Block size (KB)" is "4 KB Block size".
fn with_noun(table: &Table, row: &Row, column: usize) -> String {
    let own = text(row, column);
    if !is_value(own) {
        return own.to_owned();
    }
    let noun = table.columns[column].trim();
    match noun.split_once(['(', '[']) {
        Some((noun, unit)) => {
            let unit = unit.trim_end_matches([')', ']']);
            format!("{own} {unit} {}", noun.trim()).trim().to_owned()
        }
        None => format!("{own} {noun}").trim().to_owned(),
    }
}

/// Rows by the words in their first cell. A row of words alone names the group of those below it, and an empty cell
/// goes on with what is above. Where that does not tell them apart, the columns after the first do.
fn worded(
    table: &Table,
    lead: usize,
    headers: &[Option<Measure>],
    keys: &mut [bool],
) -> Vec<String> {
    let groups = table.rows.iter().filter(|r| is_alone(r)).count() * 3 <= table.rows.len();
    let mut labels = Vec::with_capacity(table.rows.len());
    let (mut group, mut above) = (String::new(), String::new());
    for row in &table.rows {
        let own = clean(text(row, lead));
        if groups && is_alone(row) {
            group = if own.is_empty() { clean(&row.label) } else { own };
            labels.push(group.clone());
            continue;
        }
        let label = if own.is_empty() {
            let further = (lead + 1..row.cells.len()).map(|c| text(row, c));
            let further = further.take_while(|t| !is_value(t)).find(|t| !t.is_empty());
            match further {
                Some(further) if !above.is_empty() => format!("{above} {}", clean(further)),
                _ if above.is_empty() => clean(&row.label),
                _ => above.clone(),
            }
        } else {
            above.clone_from(&own);
            own
        };
        labels.push(if group.is_empty() { label } else { format!("{group} {label}") });
    }
    for (column, key) in keys.iter_mut().enumerate().skip(lead + 1) {
        if are_distinct(&labels) {
            return labels;
        }
        let told: Vec<&str> = table.rows.iter().map(|r| text(r, column)).collect();
        let whole = |t: &&str| {
            let digits = t.trim_end_matches(['k', 'K', 'M', 'G']);
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b',')
        };
        let numbers = told.iter().filter(|t| is_value(t)).count();
        let measured = headers.get(column).copied().flatten().is_some();
        let last =
            !table.rows.iter().any(|r| r.cells.iter().skip(column + 1).any(|c| is_value(&c.text)));
        if numbers > 0 && (measured || last || !told.iter().all(whole)) {
            break;
        }
        *key = true;
        for (row, label) in table.rows.iter().zip(&mut labels) {
            let more = clean(&with_noun(table, row, column));
            if !more.is_empty() && !label.ends_with(&more) {
                *label = format!("{label} {more}");
            }
        }
    }
    // Numbers that do not tell the rows apart are results.
    if !are_distinct(&labels) {
        keys[lead + 1..].fill(false);
    }
    labels
}

fn are_distinct(labels: &[String]) -> bool {
    let mut all: Vec<&String> = labels.iter().collect();
    all.sort_unstable();
    all.windows(2).all(|w| w[0] != w[1])
}

/// Words of a cell without links and marks.
fn clean(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        out.push_str(&rest[..at].replace('[', ""));
        rest = rest[at + 2..].split_once(')').map_or("", |(_, r)| r);
    }
    out.push_str(rest);
    out.trim().trim_matches(['*', '`']).trim_end_matches([':', ' ']).to_owned()
}

/// The units in a row of their own under the header.
pub(super) fn units_under_header(table: &Table) -> Vec<Option<Measure>> {
    let Some(first) = table.rows.first().filter(|_| table.rows.len() > 1) else {
        return Vec::new();
    };
    let mut units = vec![None];
    for cell in first.cells.iter().skip(1) {
        let own = cell.text.trim();
        let unit = amount::measure(own).filter(|m| m.dimension != Dimension::Count);
        if !own.is_empty() && (unit.is_none() || is_value(own)) {
            return Vec::new();
        }
        units.push(unit);
    }
    if units.iter().any(Option::is_some) { units } else { Vec::new() }
}

/// The columns of vmstat and dstat that are per cent of the time; "us" by itself is a microsecond.
pub(super) fn shares_of_time(columns: &[String]) -> Vec<bool> {
    let names: Vec<&str> =
        columns.iter().map(|c| c.split_whitespace().last().unwrap_or("")).collect();
    let sets = [&["us", "sy", "id", "wa", "st", "gu"][..], &["usr", "sys", "idl", "wai", "stl"]];
    let set = sets.into_iter().find(|s| s[..3].iter().all(|w| names.contains(w)));
    names.iter().map(|n| set.is_some_and(|s| s.contains(n))).collect()
}

/// The unit of each row: in the cell under "Units", or in its name ("Parse (ms)", "Throughput MB/s").
pub(super) fn units(table: &Table, keys: &[bool]) -> Vec<Option<Measure>> {
    let column = table
        .columns
        .iter()
        .position(|c| matches!(c.trim().to_lowercase().as_str(), "unit" | "units"));
    let lead = keys.iter().take_while(|k| **k).count().saturating_sub(1);
    table
        .rows
        .iter()
        .map(|row| {
            let said = column.and_then(|c| amount::of_header(&format!("({})", text(row, c))));
            said.or_else(|| of_name(text(row, lead.min(1))).or_else(|| of_name(text(row, 0))))
        })
        .collect()
}

fn of_name(name: &str) -> Option<Measure> {
    if is_value(name) {
        return None;
    }
    if name.contains(['(', '[', ',']) {
        return amount::of_header(name);
    }
    let last = name.split_whitespace().last()?;
    let telling = last.contains('/')
        || matches!(
            last,
            "ms" | "us"
                | "µs"
                | "ns"
                | "KB"
                | "kB"
                | "MB"
                | "GB"
                | "KiB"
                | "MiB"
                | "GiB"
                | "IOPS"
                | "QPS"
        )
        || name.ends_with(" per second");
    telling.then(|| amount::of_header(name)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::document::document;

    fn of(text: &str) -> Names {
        let document = document(text);
        let table = document.tables.first().unwrap_or_else(|| panic!("no table in {text}"));
        let headers: Vec<Option<Measure>> =
            table.columns.iter().map(|c| amount::of_header(c)).collect();
        names(table, &headers)
    }

    #[test]
    fn numbers_in_the_first_column_name_their_rows() {
        let found =
            of("threads   5.1.45   5.5.4\n      1      412     398\n     16    2,655   4,490\n");
        assert_eq!(found.labels, ["1 threads", "16 threads"]);
        assert_eq!(found.keys, [true, false, false]);
        let found = of("| Block size (KB) | MB/s |\n|---|---|\n| 4 | 120 |\n| 64 | 910 |\n");
        assert_eq!(found.labels, ["4 KB Block size", "64 KB Block size"]);
        let found = of(
            "| Target load | Power (W) |\n|---|---|\n| 100% | 262 |\n| 80% | 221 |\n| Active idle | 98 |\n",
        );
        assert_eq!(found.labels, ["100% Target load", "80% Target load", "Active idle"]);
        let found = of(
            "| jobs | depth | IOPS |\n|---|---|---|\n| 1 | 1 | 9000 |\n| 1 | 32 | 81000 |\n| 4 | 32 | 90000 |\n",
        );
        assert_eq!(found.labels, ["1 jobs 1 depth", "1 jobs 32 depth", "4 jobs 32 depth"]);
        assert_eq!(found.keys, [true, true, false]);
    }

    #[test]
    fn results_in_the_first_column_stay_results() {
        let found = of("| before (ms) | after (ms) |\n|---|---|\n| 14 | 12 |\n| 19 | 15 |\n");
        assert_eq!(found.keys, [false, false]);
    }

    #[test]
    fn rows_of_a_group_have_its_name() {
        let found = of(
            "| Codec | Level | MB/s |\n|---|---|---|\n| zstd | 1 | 510 |\n|  | 9 | 60 |\n| lz4 | 1 | 780 |\n",
        );
        assert_eq!(found.labels, ["zstd 1 Level", "zstd 9 Level", "lz4 1 Level"]);
        let found = of(
            "| Test | old | new |\n|---|---|---|\n| **reads** | | |\n| 4 KB | 1.2 s | 1.0 s |\n| 1 MB | 9.1 s | 8.0 s |\n| **writes** | | |\n| 4 KB | 2.2 s | 2.1 s |\n| 1 MB | 12 s | 13 s |\n",
        );
        assert_eq!(found.labels[1..3], ["reads 4 KB", "reads 1 MB"]);
        assert_eq!(found.labels[4..], ["writes 4 KB", "writes 1 MB"]);
    }

    #[test]
    fn vmstat_prints_shares_of_time() {
        let of = |names: &[&str]| {
            let columns: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
            shares_of_time(&columns)
        };
        let all = of(&["r", "cs", "cpu us", "sy", "id", "wa"]);
        assert_eq!(all, [false, false, true, true, true, true]);
        assert_eq!(of(&["usr", "sys", "idl", "recv"]), [true, true, true, false]);
        assert_eq!(of(&["id", "us", "wa"]), [false; 3]);
        let text =
            "| host | cs | us | sy | id |\n|---|---|---|---|---|\n| a | 90 | 63 | 19 | 15 |\n";
        let document = document(text);
        let grids = super::super::grid::all(&document);
        let at = super::super::grid::At { row: 0, column: 2 };
        let found = grids.first().and_then(|g| g.amount(at));
        assert_eq!(found.map(|a| (a.dimension(), a.value)), Some((Dimension::Percent, 63.0)));
    }

    #[test]
    fn units_may_stand_in_a_column_or_a_row_of_their_own() {
        let text =
            "| Metric | Unit | A |\n|---|---|---|\n| Latency | ms | 12 |\n| Rate | req/s | 900 |\n";
        let document = document(text);
        let units = units(&document.tables[0], &[true, false, false]);
        assert_eq!(units.iter().flatten().map(|m| m.scale).collect::<Vec<_>>(), [1e-3, 1.0]);
        let text = "| Tool | Time | Size |\n|---|---|---|\n| | ms | MB |\n| a | 12 | 3 |\n| b | 14 | 2 |\n";
        let table = &crate::read::document::document(text).tables[0];
        let units = units_under_header(table);
        assert_eq!(units[1].map(|m| m.scale), Some(1e-3));
        assert_eq!(units[2].map(|m| m.dimension), Some(Dimension::Bytes));
    }
}
