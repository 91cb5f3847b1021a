//! `landscape`: a table of results ranked under a denominator.

use assay_model::Profile;
use assay_quoted::denominator::Basis;
use assay_quoted::landscape::{ColumnRole, Landscape, LandscapeLine};

use super::phrase;
use super::rank::load;
use super::value::{base, basis};
use crate::post::arguments::Arguments;
use crate::post::document::{PostTables, number, quoted};
use crate::post::error::{Result, suggestion};
use crate::post::evaluator::{CallResult, Evaluator};
use assay_report::document::{NOTHING, Table, TableCell, cell as plain};
use assay_report::parts::landscape::caption as question_caption;

/// Largest number of rows of a table.
const LINES: usize = 500;

/// Returns a landscape as a table. With a denominator, sentences below the table name the first
/// result by every denominator.
pub(super) fn landscape<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let basis = basis(a)?;
    let mut landscape = load(e, a, "name", basis)?;
    let with_matrix = a.truth("matrix")? || basis != Basis::Total;
    let per: Vec<_> = if let Basis::Per(d) = basis { vec![d] } else { Vec::new() };
    landscape.check_denominators(&per, true, Profile::Publish);
    let leaders: Vec<String> =
        landscape.tables().iter().map(|(question, lines)| ranking(question, lines)).collect();
    let top = a.count("top", LINES)?.unwrap_or(LINES);
    landscape.cut(top);
    let kept = kept(a, &landscape)?;
    let ranked = landscape.ordered_by.is_some();
    let several = landscape.tables().len() > 1;
    let mut tables = Vec::new();
    for (question, lines) in landscape.tables() {
        let mut table = Table::captioned(if several {
            format!("{}. {}", landscape.heading(), question_caption(&landscape, question))
        } else {
            format!("{}. {}", landscape.heading(), landscape.measure())
        });
        if ranked {
            table = table.number("place");
        }
        for i in &kept {
            let c = &landscape.columns[*i];
            table = if c.role == ColumnRole::Words {
                table.label(&c.title)
            } else {
                table.number(&c.title)
            };
        }
        for line in lines {
            let mut row = Vec::new();
            if ranked {
                row.push(line.rank.map_or(plain(NOTHING), |r| plain(r.to_string())));
            }
            let cells = cells(e, a, &landscape, line);
            row.extend(kept.iter().map(|i| cells[*i].clone()));
            table.row(row);
        }
        tables.push(table);
    }
    let mut notes = landscape.omissions();
    notes.extend(landscape.derived());
    if !landscape.note.is_empty() {
        notes.push(landscape.note.clone());
    }
    let line = Some(a.line());
    let findings = landscape.findings.iter().map(|f| e.find(f.clone(), line)).collect();
    if with_matrix {
        notes.extend(leaders);
    }
    Ok(CallResult::Block(PostTables { tables, notes, findings }.into()))
}

/// Returns a sentence with the first result by each denominator.
fn ranking(question: &str, lines: &[&LandscapeLine]) -> String {
    let entries: Vec<_> = lines.iter().filter_map(|l| l.entry.clone()).collect();
    let matrix = assay_quoted::denominator::matrix(&entries);
    let leaders: Vec<String> = matrix
        .bases
        .iter()
        .enumerate()
        .filter_map(|(i, basis)| {
            let first = matrix
                .rows
                .iter()
                .find(|r| r.cells[i].as_ref().is_some_and(|c| c.rank == Some(1)))?;
            let cell = first.cells[i].as_ref()?;
            let known = matrix.rows.iter().filter(|r| r.cells[i].is_some()).count();
            Some(format!(
                "{basis} {} ({}, of {known} recorded)",
                first.label,
                phrase::with_unit(&cell.quantity.text(), &cell.quantity.unit)
            ))
        })
        .collect();
    let of = if question.is_empty() { String::new() } else { format!(" ({question})") };
    format!("First by each denominator{of}: {}.", leaders.join("; "))
}

/// Returns the indices of the columns to show.
fn kept(a: &Arguments<'_>, landscape: &Landscape) -> Result<Vec<usize>> {
    let wanted = a.texts("columns")?;
    if wanted.is_empty() {
        return Ok((0..landscape.columns.len()).collect());
    }
    let keys: Vec<&str> = landscape.columns.iter().map(|c| c.key.as_str()).collect();
    wanted
        .into_iter()
        .map(|(name, _)| {
            keys.iter().position(|k| *k == name).ok_or_else(|| {
                let message = format!("the landscape `{}` has no column `{name}`", landscape.name);
                a.error("columns", message, suggestion(name, &keys))
            })
        })
        .collect()
}

/// Returns the cells of a line: words, printed numbers with their ids, and numbers computed here.
fn cells(
    e: &mut Evaluator<'_>,
    a: &Arguments<'_>,
    landscape: &Landscape,
    line: &LandscapeLine,
) -> Vec<TableCell> {
    let mut ids = line.ids.iter();
    let first = line.ids.first().cloned().unwrap_or_default();
    landscape
        .columns
        .iter()
        .zip(&line.cells)
        .map(|(column, cell)| {
            let Some(cell) = cell else { return plain(NOTHING) };
            match column.role {
                ColumnRole::Words => plain(cell.text.clone()),
                ColumnRole::Count => quoted(cell.text.clone(), &first),
                ColumnRole::Value => quoted(cell.text.clone(), ids.next().unwrap_or(&first)),
                ColumnRole::Derived => {
                    let rows: Vec<usize> =
                        line.ids.iter().filter_map(|id| e.library.at(id)).collect();
                    let amounts: Vec<_> = rows.into_iter().map(|at| e.quoted(at)).collect();
                    let refs: Vec<_> = amounts.iter().collect();
                    let mut made = base(e, "landscape", a.line(), &refs, Basis::Total);
                    made.text.clone_from(&cell.text);
                    made.value = cell.value;
                    made.unit.clone_from(&column.title);
                    made.facts = e.facts(&refs[..refs.len().min(1)], Basis::Total);
                    "derived from quoted".clone_into(&mut made.kind);
                    made.formula = cell.formula.clone().unwrap_or_default();
                    made.in_table = true;
                    number(e.number(made, Vec::new()))
                }
            }
        })
        .collect()
}
