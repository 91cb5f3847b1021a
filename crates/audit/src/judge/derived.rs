//! Judges what tables compute themselves: a value for each instance beside the total, columns that
//! are ratios or differences of others, rows of totals and averages.

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict, Input};
use crate::detect::role::{Role, role};
use crate::judge::instance;
use crate::judge::reading::{Bound, Claimed, Formula, LESS, MORE, Operand, RATIO, SPEEDUP, read};
use crate::judge::total;
use crate::read::source::Span;
use crate::read::table::{Row, Shape, Table};

/// The claims that a table makes.
pub(crate) fn judge(context: &Context<'_>, table: &Table) -> Vec<Claim> {
    let mut claims = Vec::new();
    if table.shape != Shape::Grid || table.rows.len() > 500 || table.columns.len() > 40 {
        return claims;
    }
    let values: Vec<usize> =
        (0..table.columns.len()).filter(|c| role(table, *c) == Role::Value).collect();
    let mut explained = Vec::new();
    for column in &values {
        if let Some(total) = instance::per_instance_of(table, *column, &values) {
            explained.push(*column);
            claims.extend(
                table
                    .rows
                    .iter()
                    .filter_map(|row| instance::per_instance(context, table, row, total, *column)),
            );
        }
    }
    let mut used = Vec::new();
    // Columns that say what they are go first; what they are made of is made of nothing.
    let mut open: Vec<usize> = values.iter().copied().filter(|c| !explained.contains(c)).collect();
    open.sort_by_key(|c| !says(&table.columns[*c]) && named_ratio(table, *c, &values).is_none());
    for column in open {
        if used.contains(&column) {
            continue;
        }
        let usable: Vec<usize> =
            values.iter().copied().filter(|c| !explained.contains(c)).collect();
        if let Some((found, a, b)) = derived_column(context, table, column, &usable) {
            explained.push(column);
            used.extend([a, b]);
            claims.extend(found);
        }
    }
    claims.extend(total::totals(context, table, &values));
    claims.extend(total::same_names(context, table, &values));
    claims
}

fn cell_name(table: &Table, row: &Row, column: usize) -> String {
    let name = &table.columns[column];
    if name.is_empty() { row.label.clone() } else { format!("{} ({name})", row.label) }
}

pub(crate) fn claim_of(
    context: &Context<'_>,
    kind: ClaimKind,
    table: &Table,
    row: &Row,
    columns: &[usize],
) -> Claim {
    let spans: Vec<Span> = columns.iter().map(|c| row.cells[*c].span).collect();
    let start = spans.iter().map(|s| s.start).min().unwrap_or(row.span.start);
    let end = spans.iter().map(|s| s.end).max().unwrap_or(row.span.end);
    let mut claim = context.claim_at(kind, Span::new(start, end), "");
    claim.quote = format!(
        "[table] {}: {}",
        row.label,
        columns
            .iter()
            .map(|c| format!("{} {}", row.cells[*c].text, table.columns[*c]))
            .collect::<Vec<_>>()
            .join(", ")
    );
    claim.quote = claim.quote.split_whitespace().collect::<Vec<_>>().join(" ");
    claim.span = row.span;
    claim.inputs = columns
        .iter()
        .filter_map(|c| {
            let (value, _) = row.cells[*c].number?;
            Some(Input {
                name: cell_name(table, row, *c),
                value,
                place: Some(context.source.place(row.cells[*c].span.start)),
                quoted: None,
            })
        })
        .collect();
    claim
}

/// Whether a column's name says that it is derived.
fn says(name: &str) -> bool {
    let lower = name.to_lowercase();
    [
        "ratio",
        "speedup",
        "speed-up",
        "gain",
        "improvement",
        "diff",
        "delta",
        "faster",
        "better",
        "relative",
        "scaling",
    ]
    .iter()
    .any(|w| lower.contains(w))
}

/// For a column "A/B" the columns "A" and "B".
fn named_ratio(table: &Table, column: usize, values: &[usize]) -> Option<(usize, usize)> {
    let name = table.columns[column].to_lowercase();
    let (a, b) = name.split_once('/').or_else(|| name.split_once(" vs "))?;
    let find = |wanted: &str| {
        let of = |c: &usize| {
            table.columns[*c].to_lowercase().trim().trim_end_matches('s')
                == wanted.trim().trim_end_matches('s')
        };
        (0..table.columns.len())
            .filter(|c| *c != column && (values.contains(c) || role(table, *c) != Role::Label))
            .find(|c| of(c))
    };
    Some((find(a)?, find(b)?))
}

/// What a column is made of: formula, columns, in how many rows it fits, and how many other ways fit
/// as well.
struct Made {
    formula: Formula,
    a: usize,
    b: usize,
    count: usize,
    rivals: usize,
}

fn made_of(table: &Table, rows: &[&Row], column: usize, values: &[usize]) -> Option<Made> {
    let declared = says(&table.columns[column]);
    let count = |a, b, formula| rows.iter().filter(|r| fits(r, column, a, b, formula)).count();
    if let Some((a, b)) = named_ratio(table, column, values) {
        let n = count(a, b, RATIO);
        return (n * 2 >= rows.len() && n >= 1).then_some(Made {
            formula: RATIO,
            a,
            b,
            count: n,
            rivals: 0,
        });
    }
    // A column that does not say that it is derived must be so in many rows.
    let least = if declared { 3 } else { 5 };
    if rows.len() < least || distinct(rows, column) < if declared { 2 } else { 4 } {
        return None;
    }
    let others: Vec<usize> = values.iter().copied().filter(|c| *c != column).take(16).collect();
    let twin = others
        .iter()
        .any(|o| !table.columns[*o].is_empty() && table.columns[*o] == table.columns[column]);
    if !declared && twin {
        return None;
    }
    let mut best: Option<Made> = None;
    for a in &others {
        for b in others.iter().filter(|b| *b != a) {
            for formula in [RATIO, MORE, LESS, SPEEDUP] {
                let n = count(*a, *b, formula);
                let enough =
                    if declared { n * 3 >= rows.len() * 2 } else { n * 5 >= rows.len() * 4 };
                match &mut best {
                    _ if !enough => {}
                    Some(made) if n == made.count => made.rivals += 1,
                    Some(made) if n < made.count => {}
                    _ => best = Some(Made { formula, a: *a, b: *b, count: n, rivals: 0 }),
                }
            }
        }
    }
    best
}

/// A column that is, in most rows, one formula of two other columns: each row is a claim. With the
/// claims come the two columns.
fn derived_column(
    context: &Context<'_>,
    table: &Table,
    column: usize,
    values: &[usize],
) -> Option<(Vec<Claim>, usize, usize)> {
    let rows: Vec<&Row> = table.rows.iter().filter(|r| r.cells[column].number.is_some()).collect();
    let Made { formula, a, b, count, rivals } = made_of(table, &rows, column, values)?;
    // That the column is this formula was found from its rows: sure only if nearly all agree.
    let sure = count >= 4 && count * 5 >= rows.len() * 4 && rivals == 0;
    let about: Vec<usize> = (0..table.columns.len())
        .filter(|c| matches!(role(table, *c), Role::Chips | Role::Cores | Role::Threads))
        .collect();
    let claims = rows
        .iter()
        .filter_map(|row| {
            let (value, step) = row.cells[column].number?;
            let (x, y) = (operand(row, a)?, operand(row, b)?);
            let shown: Vec<usize> = about.iter().copied().chain([column]).collect();
            let mut claim = claim_of(context, ClaimKind::DerivedColumn, table, row, &shown);
            let made = read(formula, Claimed { value, step, bound: Bound::Exact }, x, y);
            // An idle system does nothing, and nothing a watt.
            if !made.value.is_finite() {
                return None;
            }
            claim.inputs = [a, b]
                .iter()
                .flat_map(|c| claim_of(context, ClaimKind::DerivedColumn, table, row, &[*c]).inputs)
                .collect();
            claim.claimed = Some(value);
            claim.computed = Some(made.value);
            claim.reason = format!(
                "{}; {} of {} rows are {} of {} and {}",
                made.formula,
                count,
                rows.len(),
                formula.name,
                column_name(table, a),
                column_name(table, b)
            );
            claim.verdict = match made.verdict {
                // Where a cell was left out, the others may stand in the wrong columns.
                ClaimVerdict::Wrong
                    if !sure
                        || row
                            .cells
                            .iter()
                            .skip(1)
                            .take(table.columns.len().saturating_sub(2))
                            .any(|c| c.text.is_empty()) =>
                {
                    ClaimVerdict::Ambiguous
                }
                verdict => verdict,
            };
            claim.readings = vec![made];
            Some(claim)
        })
        .collect();
    Some((claims, a, b))
}

fn column_name(table: &Table, column: usize) -> String {
    match table.columns[column].as_str() {
        "" => format!("column {}", column + 1),
        name => name.to_owned(),
    }
}

fn operand(row: &Row, column: usize) -> Option<Operand> {
    row.cells[column].number.map(|(value, step)| Operand { value, step })
}

fn fits(row: &Row, column: usize, a: usize, b: usize, formula: Formula) -> bool {
    let (Some((value, step)), Some(x), Some(y)) =
        (row.cells[column].number, operand(row, a), operand(row, b))
    else {
        return false;
    };
    // Zeros and small whole numbers fit too easily.
    if value < 10.0 * step || x.value == 0.0 || y.value == 0.0 {
        return false;
    }
    if step >= 1.0 && value < 10.0 && formula.name == "a/b" {
        return false;
    }
    read(formula, Claimed { value, step, bound: Bound::Exact }, x, y).verdict != ClaimVerdict::Wrong
}

fn distinct(rows: &[&Row], column: usize) -> usize {
    let mut values: Vec<u64> =
        rows.iter().filter_map(|r| r.cells[column].number).map(|(v, _)| v.to_bits()).collect();
    values.sort_unstable();
    values.dedup();
    values.len()
}
