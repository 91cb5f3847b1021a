//! `cell`, `column`, `this` and `ordered`: the tables of an audited text.

use assay_claims::exact::{from_f64, to_f64};
use assay_claims::tables::{LookupError, Row, Table, find};
use assay_model::{Better, MetricKind};
use assay_quoted::denominator::DenominatorCounts;
use assay_quoted::quantity::Quantity;

use crate::post::amount::{Amount, FunctionAnswer};
use crate::post::arguments::Arguments;
use crate::post::error::{PostError, Result};
use crate::post::evaluator::{CallResult, Evaluator};
use crate::post::exact::exact;

/// Reads the cell of a row and a column.
pub(super) fn cell<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let table = table(e, a)?;
    let row = name(a, "row")?;
    let row = table.row(row).map_err(|error| wrong(a, "row", &error))?;
    of_row(a, table, row)
}

/// Reads a cell of the current row.
pub(super) fn this<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let Some(row) = e.binding.as_ref().and_then(|b| b.row) else {
        let help = "`this` only works in a claim with `column`; name a cell with `cell`";
        return Err(a.error("column", "the claim has no current row", help));
    };
    of_row(a, row.table, row.row)
}

/// Lists the values of a column.
pub(super) fn column<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let table = table(e, a)?;
    let title = name(a, "column")?;
    let column = table.column(title).map_err(|error| wrong(a, "column", &error))?;
    let named = |argument: &str| -> Result<Vec<&Row>> {
        let rows = a.texts(argument)?.into_iter();
        rows.map(|(row, _)| table.row(row).map_err(|error| wrong(a, argument, &error))).collect()
    };
    let except: Vec<usize> = named("except")?.iter().map(|row| row.line).collect();
    let rows = match a.get("rows") {
        Some(_) => named("rows")?,
        None => table.rows.iter().filter(|row| !except.contains(&row.line)).collect(),
    };
    let amounts = rows.into_iter().map(|row| amount(a, table, row, column));
    Ok(CallResult::List(amounts.collect::<Result<_, _>>()?))
}

/// Returns the order of values: `descending`, `ascending`, `equal` or `no order`.
pub(super) fn ordered<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let amounts = if a.get("column").is_some() {
        match column(e, a)? {
            CallResult::List(amounts) => amounts,
            _ => Vec::new(),
        }
    } else {
        e.amounts(a, "of")?
    };
    if let Some(missing) = amounts.iter().find(|x| x.withheld.is_some()) {
        return Ok(missing.clone().into());
    }
    let values: Vec<_> = amounts.iter().filter_map(|x| exact(&x.entry.value)).collect();
    let all = |holds: fn(&_, &_) -> bool| values.windows(2).all(|w| holds(&w[0], &w[1]));
    let words = match (all(|x, y| x >= y), all(|x, y| x <= y)) {
        _ if values.len() < 2 => {
            return Err(a.error("of", "an order needs two values or more", ""));
        }
        (true, true) => "equal",
        (true, false) => "descending",
        (false, true) => "ascending",
        (false, false) => "no order",
    };
    let all: Vec<&Amount> = amounts.iter().collect();
    Ok(CallResult::Answer(Box::new(FunctionAnswer::Text(words.to_owned())), e.inputs(&all)))
}

fn name<'a>(a: &Arguments<'a>, argument: &str) -> Result<&'a str> {
    a.text(argument)?
        .ok_or_else(|| a.error(argument, format!("`{}` needs `{argument}`", a.function()), ""))
}

fn wrong(a: &Arguments<'_>, argument: &str, error: &LookupError) -> PostError {
    a.error(argument, error.to_string(), "")
}

/// Finds the table that the first argument names.
fn table<'a>(e: &Evaluator<'a>, a: &Arguments<'a>) -> Result<&'a Table> {
    let tables = e.binding.as_ref().map_or(&[][..], |b| b.tables);
    let argument = if a.get("table").is_some() { "table" } else { "of" };
    let wanted = name(a, argument)?;
    find(tables, wanted).map_err(|error| wrong(a, argument, &error))
}

/// Returns the value of a cell, or its text if it has no number.
fn of_row<'a>(a: &Arguments<'a>, table: &'a Table, row: &'a Row) -> Result<CallResult> {
    let column = table.column(name(a, "column")?).map_err(|error| wrong(a, "column", &error))?;
    if row.cells[column].number.is_some() {
        return Ok(amount(a, table, row, column)?.into());
    }
    let text = row.cells[column].text.trim();
    if text.is_empty() || text.chars().all(|c| matches!(c, '-' | '\u{2013}' | '\u{2014}')) {
        let title = &table.columns[column].title;
        let what = format!("`{title}` of `{}` ({}, line {})", row.name, table.name, row.line);
        return Ok(Amount::missing(&what, "1").into());
    }
    Ok(CallResult::Answer(Box::new(FunctionAnswer::Text(text.to_owned())), Vec::new()))
}

/// Returns the value of a cell, with the denominators of its row.
fn amount(a: &Arguments<'_>, table: &Table, row: &Row, column: usize) -> Result<Amount> {
    let cell = table.number(row, column).map_err(|error| {
        a.error("column", error.to_string(), "leave rows out with `except = [...]`")
    })?;
    let title = &table.columns[column].title;
    let exact = cell.number.as_ref().map(|n| n.value.clone());
    let value = exact.as_ref().map_or(f64::NAN, to_f64);
    if from_f64(value) != exact {
        let message = format!("`{}` has more digits than can be kept", cell.text);
        return Err(a.error("column", message, ""));
    }
    let what = format!("{title} of {}", row.name);
    let from = format!("{}, line {}", table.name, row.line);
    let unit = cell.unit.as_deref().filter(|u| !u.is_empty()).unwrap_or("1");
    let value = Quantity::given(value, unit, MetricKind::Quoted, &what, &from);
    let better = table.better.unwrap_or(Better::Neither);
    let mut amount = Amount::computed(&what, value, better, &[]);
    amount.metric.clone_from(title);
    amount.entry.counts = counts(table, row);
    Ok(amount)
}

/// Reads the denominators of a row from the columns with their titles.
fn counts(table: &Table, row: &Row) -> DenominatorCounts {
    let count = |titles: [&str; 3]| {
        let title = |t: &str| titles.iter().any(|own| t.trim().eq_ignore_ascii_case(own));
        let mut fitting = (0..table.columns.len()).filter(|i| title(&table.columns[*i].title));
        match (fitting.next(), fitting.next()) {
            (Some(i), None) => row.cells[i].number.as_ref().map(|n| to_f64(&n.value)),
            _ => None,
        }
    };
    DenominatorCounts {
        chips: count(["chips", "chip", "sockets"]),
        cores: count(["cores", "core", "cores used"]),
        threads: count(["threads", "thread", "hardware threads"]),
        instances: count(["instances", "jvms", "copies"]),
        ghz: count(["ghz", "clock ghz", "clock (ghz)"]),
        watts: count(["watts", "w", "power (w)"]),
        rack_units: count(["ru", "rack units", "u"]),
        ..DenominatorCounts::default()
    }
}
