//! Judges claims by comparing claimed with recomputed values.

use num_traits::Signed;
use serde::Serialize;

use crate::bindings::{ClaimBinding, ClaimsError, ClaimsFile};
use crate::comparisons::{Comparison, places};
use crate::document::{Document, Quotes};
use crate::evaluate::{ComputedResult, CurrentRow, Evaluate, EvaluatedValue, Input};
use crate::exact::{self, Exact};
use crate::stated_value::{Relation, StatedNumber, StatedValue, said, within};
use crate::tables::{Row, Table, find};
use crate::unit;

/// Verdict on a claim, ordered from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// The recomputed value rounds to the claimed one.
    Holds,
    /// The claim is off by less than one unit of the last printed digit.
    OffByRounding,
    /// An input is missing.
    NoData,
    /// The declared readings have different verdicts.
    Ambiguous,
    /// The claim is wrong.
    Wrong,
}

// Best first.
assay_model::names! {
    /// Returns the verdict in words.
    pub ClaimVerdict::words, ALL: Holds = "holds", OffByRounding = "off by rounding",
        NoData = "no data", Ambiguous = "ambiguous", Wrong = "wrong"
}

/// Verdicts on the claims of a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    /// Bound claims in the order of the claims file.
    pub claims: Vec<JudgedClaim>,
    /// Sentences and columns that compare but have no binding.
    pub not_checked: Vec<Comparison>,
}

/// A claim with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedClaim {
    /// `id` of the binding.
    pub id: Option<String>,
    /// Line number in the text.
    pub line: usize,
    /// Words quoted from the text.
    pub quote: String,
    /// Claimed value, as written in the claims file.
    pub says: Option<String>,
    /// Verdict on the claim; for a column, the worst verdict of its rows.
    pub verdict: ClaimVerdict,
    /// Readings of the claim; empty for a column.
    pub readings: Vec<ClaimReading>,
    /// Rows of a claimed column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<JudgedRow>,
    /// Remark of the binding.
    pub note: Option<String>,
}

/// A row of a claimed column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedRow {
    /// Name of the row.
    pub row: String,
    /// Line number in the text.
    pub line: usize,
    /// Claimed value: the text of the cell.
    pub says: String,
    /// Verdict on the row.
    pub verdict: ClaimVerdict,
    /// Readings of the claim in this row.
    pub readings: Vec<ClaimReading>,
}

/// A reading of a claim: one expression.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClaimReading {
    /// The expression that was evaluated.
    pub is: String,
    /// Verdict on this reading.
    pub verdict: ClaimVerdict,
    /// Recomputed value in the unit of the claim, or the name of the missing input.
    pub computed: String,
    /// Formula with its numbers.
    pub formula: String,
    /// Values in the formula.
    pub inputs: Vec<Input>,
}

/// Judges the claims of a text. `tables` must come from [`Document::tables`]. The error lists all
/// mistakes of the claims file.
pub fn audit(
    document: &Document,
    tables: &[Table],
    file: &ClaimsFile,
    evaluator: &dyn Evaluate,
) -> Result<Audit, Vec<ClaimsError>> {
    let judge = Judge { file, evaluator };
    let quotes = document.quotes();
    let (mut claims, mut errors, mut bound) = (Vec::new(), Vec::new(), Vec::new());
    for claim in &file.claims {
        let place = match place(&quotes, tables, file, claim) {
            Ok(place) => place,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        if claim.is.as_ref().trim().is_empty() {
            continue;
        }
        match judge.claim(claim, &place) {
            Ok(judged) => claims.push(judged),
            Err(error) => errors.push(error),
        }
        bound.push(place);
    }
    if errors.is_empty() {
        let not_checked = unchecked(document, tables, &bound);
        Ok(Audit { claims, not_checked })
    } else {
        Err(errors)
    }
}

/// Returns the comparisons that no binding quotes.
fn unchecked(document: &Document, tables: &[Table], bound: &[ClaimPlace<'_>]) -> Vec<Comparison> {
    let mut places = places(document, tables);
    places.retain(|place| {
        !bound.iter().any(|b| match (&place.sentence, &b.block) {
            (Some((block, range)), Some((at, start, length))) => {
                block == at && *start < range.end && range.start < start + length
            }
            (Some(_), None) => b.column.is_none() && b.line == place.comparison.line,
            (None, _) => b.column.is_some_and(|(table, column)| {
                place.comparison.table.as_ref() == Some(&table.name) && place.column == Some(column)
            }),
        })
    });
    places.into_iter().map(|p| p.comparison).collect()
}

/// Place of a claim in the text.
struct ClaimPlace<'a> {
    line: usize,
    /// Block, offset and length of the quote.
    block: Option<(usize, usize, usize)>,
    /// Table and index of a claimed column.
    column: Option<(&'a Table, usize)>,
}

/// Finds the place of a claim's quote, or the claimed column.
fn place<'a>(
    quotes: &Quotes<'_>,
    tables: &'a [Table],
    file: &ClaimsFile,
    claim: &ClaimBinding,
) -> Result<ClaimPlace<'a>, ClaimsError> {
    let quote = claim.quote.as_ref();
    let error = |message| file.error(claim.quote.span().start, message);
    let found = quotes.find(quote);
    if found.is_empty() {
        return Err(error(format!(
            "`{quote}` is not in `{}`: copy the words of the text, or name another text",
            quotes.document.name
        )));
    }
    if let (Some(table), Some(column)) = (&claim.table, &claim.column) {
        let of_table = |message| file.error(table.span().start, message);
        let table = find(tables, table.as_ref()).map_err(|e| of_table(e.to_string()))?;
        let column = table.column(column).map_err(|e| of_table(e.to_string()))?;
        return Ok(ClaimPlace { line: table.line, block: None, column: Some((table, column)) });
    }
    let at = match claim.occurrence {
        Some(n) => n.checked_sub(1).and_then(|i| found.get(i)).ok_or_else(|| {
            error(format!("occurrence = {n}: the quote occurs {} times in the text", found.len()))
        })?,
        None if found.len() > 1 => {
            let lines: Vec<String> = found.iter().take(8).map(|p| p.line.to_string()).collect();
            return Err(error(format!(
                "`{quote}` occurs {} times, on lines {}: add `occurrence = N`, or quote more",
                found.len(),
                lines.join(", ")
            )));
        }
        None => &found[0],
    };
    let block = at.block.map(|(block, offset)| (block, offset, quote.len()));
    Ok(ClaimPlace { line: at.line, block, column: None })
}

struct Judge<'a> {
    file: &'a ClaimsFile,
    evaluator: &'a dyn Evaluate,
}

impl Judge<'_> {
    fn claim(
        &self,
        claim: &ClaimBinding,
        place: &ClaimPlace<'_>,
    ) -> Result<JudgedClaim, ClaimsError> {
        let parsed = claim.within.as_ref().map(|t| {
            within(t.as_ref()).map_err(|e| self.file.error(t.span().start, e.to_string()))
        });
        let within = parsed.transpose()?;
        let mut judged = JudgedClaim {
            id: claim.id.as_ref().map(|id| id.as_ref().clone()),
            line: place.line,
            quote: claim.quote.as_ref().clone(),
            says: claim.says.as_ref().map(|s| s.as_ref().clone()),
            verdict: ClaimVerdict::Holds,
            readings: Vec::new(),
            rows: Vec::new(),
            note: claim.note.clone(),
        };
        if let (Some((table, column)), Some(named)) = (place.column, &claim.table) {
            let error = |message: String| self.file.error(named.span().start, message);
            let except = claim.except.iter().map(|name| table.row(name).map(|r| r.line));
            let except: Vec<usize> =
                except.collect::<Result<_, _>>().map_err(|e| error(e.to_string()))?;
            for row in table.rows.iter().filter(|r| !except.contains(&r.line)) {
                let cell = table
                    .number(row, column)
                    .map_err(|e| error(format!("{e}; list a row without a claim in `except`")))?;
                let said = of_cell(cell, within.is_some());
                let at = CurrentRow { table, row };
                let readings = self.readings(claim, &said, within.as_ref(), Some(at))?;
                judged.rows.push(of_row(row, cell.text.clone(), readings));
            }
            let worst = judged.rows.iter().map(|r| r.verdict).max();
            judged.verdict =
                worst.ok_or_else(|| error("the column has no rows to judge".to_owned()))?;
            return Ok(judged);
        }
        let said = match &claim.says {
            Some(says) => said(says.as_ref())
                .map_err(|e| self.file.error(says.span().start, e.to_string()))?,
            None => StatedValue::Nothing,
        };
        judged.readings = self.readings(claim, &said, within.as_ref(), None)?;
        judged.verdict = together(&judged.readings);
        Ok(judged)
    }

    fn readings(
        &self,
        claim: &ClaimBinding,
        said: &StatedValue,
        within: Option<&Exact>,
        at: Option<CurrentRow<'_>>,
    ) -> Result<Vec<ClaimReading>, ClaimsError> {
        let mut out = Vec::new();
        for is in std::iter::once(&claim.is).chain(&claim.or) {
            let expression = is.as_ref();
            let error = |message: String| self.file.error(is.span().start, message);
            let computed = self.evaluator.evaluate(expression, at).map_err(|e| {
                let place = expression.get(e.span.clone()).unwrap_or(expression);
                let help = if e.help.is_empty() { String::new() } else { format!(": {}", e.help) };
                error(format!("`{place}`: {}{help}", e.message))
            })?;
            let (verdict, shown) = verdict(said, within, &computed).map_err(error)?;
            let ComputedResult { formula, inputs, .. } = computed;
            out.push(ClaimReading {
                is: expression.clone(),
                verdict,
                computed: shown,
                formula,
                inputs,
            });
        }
        Ok(out)
    }
}

fn of_row(row: &Row, says: String, readings: Vec<ClaimReading>) -> JudgedRow {
    let verdict = together(&readings);
    JudgedRow { row: row.name.clone(), line: row.line, says, verdict, readings }
}

/// Returns the value that a cell claims.
fn of_cell(cell: &crate::tables::Cell, about: bool) -> StatedValue {
    let Some(number) = &cell.number else { return StatedValue::Nothing };
    StatedValue::Number(StatedNumber {
        relation: if about { Relation::About } else { Relation::Rounded },
        value: number.value.clone(),
        to: None,
        last_digit: exact::ten_to(-number.decimals.cast_signed()),
        unit: cell.unit.clone().unwrap_or_default(),
    })
}

/// Combines the verdicts of several readings.
fn together(readings: &[ClaimReading]) -> ClaimVerdict {
    let first = readings.first().map_or(ClaimVerdict::NoData, |r| r.verdict);
    if readings.iter().all(|r| r.verdict == first) { first } else { ClaimVerdict::Ambiguous }
}

/// Returns the verdict on one reading and the formatted recomputed value. The error is the reason
/// why the two cannot be compared.
pub(crate) fn verdict(
    said: &StatedValue,
    within: Option<&Exact>,
    computed: &ComputedResult,
) -> Result<(ClaimVerdict, String), String> {
    Ok(match (said, &computed.outcome) {
        (_, EvaluatedValue::Missing(what)) => (ClaimVerdict::NoData, what.clone()),
        (StatedValue::Number(said), EvaluatedValue::Number { value, unit }) => {
            number(said, within, value, unit)?
        }
        (StatedValue::Place(said), EvaluatedValue::Rank { place, of: n, .. }) => {
            (decided(said == place), rank(*place, *n))
        }
        (StatedValue::Last, EvaluatedValue::Rank { place, of: n, .. }) => {
            (decided(place == n), rank(*place, *n))
        }
        (StatedValue::Text(said), EvaluatedValue::Text(text)) => {
            (decided(has_words(text, said)), format!("\"{text}\""))
        }
        (StatedValue::Nothing, _) => {
            return Err("the claim has a value to compare with: write it as `says`".to_owned());
        }
        (_, outcome) => {
            let (kind, form) = match outcome {
                EvaluatedValue::Number { .. } => ("a number", "\"5 %\""),
                EvaluatedValue::Rank { .. } => ("a place", "\"first\""),
                EvaluatedValue::Text(_) | EvaluatedValue::Missing(_) => ("a text", "'\"X5570\"'"),
            };
            return Err(format!("the expression makes {kind}: write `says` as in {form}"));
        }
    })
}

/// Judges a claimed number.
fn number(
    said: &StatedNumber,
    within: Option<&Exact>,
    value: &Exact,
    unit: &str,
) -> Result<(ClaimVerdict, String), String> {
    let value = converted(said, value, unit)?;
    let own = if said.unit.is_empty() { unit } else { &said.unit };
    let own = if own == "1" { "" } else { own };
    let shown = format!("{} {own}", exact::shown(&value)).trim_end().to_owned();
    let half = &said.last_digit / exact::from_integer(2);
    // Distances by which the value lies below and above the claimed range.
    let low = &said.value - &value;
    let high = &value - said.to.as_ref().unwrap_or(&said.value);
    let verdict = match (said.relation, within) {
        (Relation::About, None) => {
            return Err("`about` needs `within`, as in within = \"5 %\"".to_owned());
        }
        (Relation::About | Relation::Rounded, Some(within)) => {
            let allowed = said.value.abs() * within;
            return Ok((graded(&[low - &allowed, high - allowed], None), shown));
        }
        (_, Some(_)) => return Err("`within` belongs to `about`, not to a bound".to_owned()),
        (Relation::Rounded, None) => graded(&[&low - &half, &high - &half], Some(&half)),
        (Relation::MoreThan, None) => decided(value > said.value),
        (Relation::LessThan, None) => decided(value < said.value),
        (Relation::AtLeast, None) => decided(value >= said.value),
        (Relation::AtMost, None) => decided(value <= said.value),
    };
    Ok((verdict, shown))
}

/// Returns the verdict on a claim that is either true or false.
fn decided(holds: bool) -> ClaimVerdict {
    if holds { ClaimVerdict::Holds } else { ClaimVerdict::Wrong }
}

/// Returns `Holds` if no distance is positive, and `OffByRounding` if all distances are less than
/// `slack`.
fn graded(distances: &[Exact], slack: Option<&Exact>) -> ClaimVerdict {
    if distances.iter().all(|d| !d.is_positive()) {
        ClaimVerdict::Holds
    } else if slack.is_some_and(|slack| distances.iter().all(|d| d < slack)) {
        ClaimVerdict::OffByRounding
    } else {
        ClaimVerdict::Wrong
    }
}

/// Converts the recomputed value to the unit of the claim.
fn converted(said: &StatedNumber, value: &Exact, unit: &str) -> Result<Exact, String> {
    if said.unit.is_empty() {
        return Ok(value.clone());
    }
    unit::convert(value, &unit::parse(unit), &unit::parse(&said.unit)).ok_or_else(|| {
        let own = if unit.is_empty() { "a plain number" } else { unit };
        format!("`says` is in {}, the expression in {own}: assay does not convert these", said.unit)
    })
}

/// Returns true if `text` contains `words` as whole words, ignoring case.
fn has_words(text: &str, words: &str) -> bool {
    let (text, words) = (text.to_lowercase(), words.to_lowercase());
    let free = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    !words.is_empty()
        && text.match_indices(&words).any(|(at, _)| {
            free(text[..at].chars().next_back()) && free(text[at + words.len()..].chars().next())
        })
}

fn rank(place: usize, of: usize) -> String {
    format!("place {place} of {of}")
}
