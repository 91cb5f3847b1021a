//! `table` and `configuration`: selected results as rows, with computed columns.

use assay_quoted::denominator::{Basis, Denominator};
use assay_quoted::quoted;

use super::phrase;
use super::value::{base, keep};
use crate::post::amount::Amount;
use crate::post::arguments::Arguments;
use crate::post::checks;
use crate::post::document::{ComputedNumber, PostTables, number as placed, quoted as printed};
use crate::post::error::{Result, suggestion};
use crate::post::evaluator::{CallResult, Evaluator};
use crate::post::expression::ExpressionKind;
use assay_report::document::table::ColumnKind;
use assay_report::document::{NOTHING, Outputs, Table, TableCell, cell as plain};
use assay_report::parts::system::key_facts;

/// Largest number of rows of a table.
const LINES: usize = 500;

/// The content of a column.
enum ColumnContent {
    Field(String),
    Label,
    Kind,
    Value,
    Per(Denominator),
    Times(Amount),
    Better(Amount),
    LessTime(Amount),
}

/// Returns the columns of quoted results that tables can show.
fn fields() -> impl Iterator<Item = &'static str> {
    const HIDDEN: [&str; 7] =
        ["higher_is_better", "instances", "price", "currency", "value", "value_per_jvm", "result"];
    quoted::columns().filter(|c| !HIDDEN.contains(c))
}

const COUNTS: &[&str] = &["chips", "cores", "threads", "ghz", "memory_gb", "rack_units", "watts"];
const COMPUTED: &[&str] =
    &["label", "kind", "value", "per DENOMINATOR", "times ID", "better ID", "less_time ID"];

/// Returns a table of selected results.
pub(super) fn table<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let amounts = amounts(e, a)?;
    let mut columns = Vec::new();
    for (spec, span) in a.texts("columns")? {
        let (title, what) =
            spec.split_once('=').map_or((None, spec), |(t, w)| (Some(t.trim()), w.trim()));
        let shows = shows(e, a, what, span.clone())?;
        let number = !matches!(&shows, ColumnContent::Label | ColumnContent::Kind)
            && !matches!(&shows, ColumnContent::Field(f) if !COUNTS.contains(&f.as_str()));
        let own = title_of(&shows, &amounts);
        let title = match title.filter(|t| *t != own) {
            // A column that was renamed also states its content.
            Some(title) => {
                format!("{} ({own})", e.typed_text(title, "title of a column", Some(span)))
            }
            None => own,
        };
        let kind = if number { ColumnKind::Number } else { ColumnKind::Word };
        columns.push((title, kind, shows));
    }
    let caption = e.typed_argument(a, "caption", "caption")?;
    let mut table = Table::captioned(caption.unwrap_or_default());
    for (title, kind, _) in &columns {
        table = table.column(Outputs::All, *kind, title.as_str());
    }
    for amount in &amounts {
        table.row(columns.iter().map(|(_, _, shows)| cell(e, a, amount, shows)).collect());
    }
    let mut findings = Vec::new();
    let kinds = |of: fn((bool, bool)) -> bool| amounts.iter().any(|x| of(x.kinds()));
    if kinds(|k| k.0) && kinds(|k| k.1) {
        let line = Some(a.line());
        let refs: Vec<&Amount> = amounts.iter().collect();
        for mixed in checks::kinds(&refs) {
            findings.push(e.find(mixed, line));
        }
        if !columns.iter().any(|(_, _, s)| matches!(s, ColumnContent::Kind)) {
            table = table.word("kind");
            for (row, amount) in table.rows.iter_mut().zip(&amounts) {
                row.cells.push(plain(amount.entry.value.kind_words()));
            }
        }
    }
    Ok(CallResult::Block(PostTables { tables: vec![table], findings, notes: Vec::new() }.into()))
}

/// Returns the results that `of` names: ids, patterns, results of runs, calls.
pub(super) fn amounts<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<Vec<Amount>> {
    let mut out = Vec::new();
    for member in a.members("of") {
        match &member.what {
            ExpressionKind::Text(text) if text.contains('*') => {
                let fitting = e.fitting(text, member.span.clone())?;
                out.extend(fitting.into_iter().map(|at| e.quoted(at)));
            }
            _ => out.push(e.amount_of(a, "of", member)?),
        }
    }
    if out.is_empty() || out.len() > LINES {
        let message = format!("`of` names {} results; a table has 1 to {LINES}", out.len());
        return Err(a.error("of", message, ""));
    }
    Ok(out)
}

fn shows<'a>(
    e: &mut Evaluator<'a>,
    a: &Arguments<'a>,
    what: &str,
    span: std::ops::Range<usize>,
) -> Result<ColumnContent> {
    let (word, rest) = what.split_once(' ').map_or((what, ""), |(w, r)| (w, r.trim()));
    Ok(match (word, rest) {
        ("value", "") => ColumnContent::Value,
        ("label", "") => ColumnContent::Label,
        ("kind", "") => ColumnContent::Kind,
        ("per", rest) => ColumnContent::Per(rest.parse().map_err(
            |unknown: assay_quoted::denominator::UnknownDenominator| {
                a.error("columns", unknown.to_string(), "")
            },
        )?),
        ("times", id) if !id.is_empty() => ColumnContent::Times(e.named(id, span)?),
        ("better", id) if !id.is_empty() => ColumnContent::Better(e.named(id, span)?),
        ("less_time", id) if !id.is_empty() => ColumnContent::LessTime(e.named(id, span)?),
        (field, "") => {
            let more = |at: &usize| e.library.result(*at).more.contains_key(field);
            if !fields().any(|known| known == field) && !e.used.iter().any(more) {
                let known: Vec<&str> = fields().chain(COMPUTED.iter().copied()).collect();
                let message = format!("there is no column `{field}`");
                return Err(e.text.error(span, message, suggestion(field, &known)));
            }
            ColumnContent::Field(field.to_owned())
        }
        _ => {
            let help = format!("computed columns are {}", COMPUTED.join(", "));
            return Err(e.text.error(span, format!("`{what}` is not a column"), help));
        }
    })
}

fn title_of(shows: &ColumnContent, amounts: &[Amount]) -> String {
    let unit = amounts.first().map_or("", |x| x.entry.value.unit.as_str());
    match shows {
        ColumnContent::Field(f) => words(f),
        ColumnContent::Label => "result".to_owned(),
        ColumnContent::Kind => "kind".to_owned(),
        ColumnContent::Value => {
            if matches!(unit, "" | "1" | "score") {
                "value".to_owned()
            } else {
                unit.to_owned()
            }
        }
        ColumnContent::Per(d) => format!("{unit}/{}", d.name()),
        ColumnContent::Times(b) => format!("times {}", b.entry.label),
        ColumnContent::Better(b) => format!("against {}", b.entry.label),
        ColumnContent::LessTime(b) => format!("time against {}", b.entry.label),
    }
}

fn words(field: &str) -> String {
    match field {
        "ghz" => "GHz".to_owned(),
        "memory_gb" => "memory, GB".to_owned(),
        "rack_units" => "rack units".to_owned(),
        "os" => "OS".to_owned(),
        "compiler_or_jvm" => "compiler or JVM".to_owned(),
        "config_note" => "note".to_owned(),
        "as_of_date" => "as of".to_owned(),
        other => other.replace('_', " "),
    }
}

fn cell<'a>(
    e: &mut Evaluator<'a>,
    a: &Arguments<'a>,
    amount: &Amount,
    shows: &ColumnContent,
) -> TableCell {
    let row = (amount.rows.len() == 1).then(|| amount.rows[0]);
    let result = row.map(|at| e.library.result(at));
    let numbered = |e: &mut Evaluator<'a>, made: ComputedNumber, findings, of: &[&Amount]| {
        placed(keep(e, made, findings, of))
    };
    match shows {
        ColumnContent::Label => plain(amount.entry.label.clone()),
        ColumnContent::Kind => plain(amount.entry.value.kind_words()),
        ColumnContent::Field(field) => {
            match result.and_then(|q| q.field(field).map(|t| (t.into_owned(), q.id.clone()))) {
                Some((text, id)) if COUNTS.contains(&field.as_str()) => printed(text, &id),
                Some((text, _)) => plain(text),
                None if field == "system" => plain(amount.entry.label.clone()),
                None => plain(NOTHING),
            }
        }
        ColumnContent::Value => match result {
            Some(q) => printed(q.value_text(), &q.id),
            None => own_value(e, a, amount),
        },
        ColumnContent::Per(d) => {
            let basis = Basis::Per(*d);
            let mut number = base(e, a.function(), a.line(), &[amount], basis);
            number.in_table = true;
            match amount.under(basis) {
                Err(_) => return plain(NOTHING),
                Ok(q) => number.show(&q, q.text()),
            }
            let findings = checks::denominator(&[amount], basis);
            numbered(e, number, findings, &[amount])
        }
        ColumnContent::Times(b) | ColumnContent::Better(b) | ColumnContent::LessTime(b) => {
            let mut number = base(e, a.function(), a.line(), &[amount, b], Basis::Total);
            number.in_table = true;
            let findings = checks::pair(e, amount, b, Basis::Total);
            let (qa, qb) = (&amount.entry.value, &b.entry.value);
            let turned = matches!(shows, ColumnContent::Better(_))
                && amount.better() == assay_model::Better::Lower;
            let ratio = if qa.unit != qb.unit {
                None
            } else if turned {
                qb.per(qa)
            } else {
                qa.per(qb)
            };
            match ratio {
                None => number.unsupported(&format!("{} against {}", qa.unit, qb.unit)),
                Some(q) => {
                    let percent = |fraction: f64, tail| {
                        (phrase::percent(fraction, None), fraction * 100.0, "%", tail)
                    };
                    let (text, value, unit, tail) = match shows {
                        ColumnContent::Times(_) => {
                            (phrase::ratio(q.value, Some(2)), q.value, "1", "")
                        }
                        ColumnContent::LessTime(_) => percent(1.0 - q.value, ", taken from 1"),
                        _ => percent(q.value - 1.0, " - 1"),
                    };
                    (number.text, number.value) = (text, Some(value));
                    unit.clone_into(&mut number.unit);
                    q.kind_words().clone_into(&mut number.kind);
                    number.formula = q.formula() + tail;
                }
            }
            numbered(e, number, findings, &[amount, b])
        }
    }
}

/// Returns a cell for a value that is not a single quoted one: of a run, or computed from several.
fn own_value<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>, amount: &Amount) -> TableCell {
    let mut number = base(e, a.function(), a.line(), &[amount], Basis::Total);
    let q = &amount.entry.value;
    let text = match q.interval {
        Some(_) => assay_report::figures::with_interval(q.value, q.interval, &q.unit),
        None => phrase::with_unit(&phrase::plain(q.value, amount.decimals), &q.unit),
    };
    number.show(q, text);
    number.interval = q.interval;
    number.in_table = true;
    let findings = checks::single(e, amount);
    placed(keep(e, number, findings, &[amount]))
}

/// Returns the known facts about the systems behind results, or about the system of a run.
pub(super) fn configuration<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let run = a.texts("of").ok().and_then(|t| match t.as_slice() {
        [(name, span)] if e.front.runs.contains_key(*name) => Some((*name, span.clone())),
        _ => None,
    });
    if let Some((alias, span)) = run {
        let view = e.view(alias, span)?;
        let caption =
            format!("The system of run {}, described before its first trial", view.summary.id);
        let mut table = Table::captioned(caption).word("fact").word("value");
        for (name, _, value) in key_facts(&view.system) {
            table.row(vec![plain(name), plain(value)]);
        }
        return Ok(CallResult::Block(
            PostTables { tables: vec![table], ..PostTables::default() }.into(),
        ));
    }
    let amounts = amounts(e, a)?;
    let of_value = ["id", "source", "benchmark", "metric", "unit", "watts", "as_of_date"];
    let rows: Vec<usize> = amounts.iter().filter_map(|x| x.rows.first().copied()).collect();
    let text = |field: &str, at: usize| {
        e.library.result(at).field(field).map(std::borrow::Cow::into_owned)
    };
    let mut table = Table::captioned("Configurations as the sources print them")
        .word("fact")
        .words(rows.iter().map(|at| e.library.result(*at).id.as_str()));
    for field in fields().filter(|f| !of_value.contains(f)) {
        if rows.iter().all(|at| text(field, *at).is_none()) {
            continue;
        }
        let texts = rows.iter().map(|at| text(field, *at).map_or(plain(NOTHING), plain));
        table.row(std::iter::once(plain(words(field))).chain(texts).collect());
    }
    let notes = vec!["A dash: the source does not state it.".to_owned()];
    Ok(CallResult::Block(PostTables { tables: vec![table], notes, findings: Vec::new() }.into()))
}
