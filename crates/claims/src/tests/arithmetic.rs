//! A small evaluator: `better(A, than=B)`, `more`, `times` and `value` of cells, `this`, and
//! `missing`. The language itself is tested in the crate that implements it.

use crate::exact::{from_integer, parse};
use crate::tables::find;
use crate::{ComputedResult, CurrentRow, Evaluate, EvaluatedValue, Exact, ExpressionError, Table};

pub(super) struct Arithmetic<'a>(pub &'a [Table]);

impl Arithmetic<'_> {
    fn operand(&self, text: &str, at: Option<CurrentRow<'_>>) -> Result<Exact, String> {
        if let Some(value) = parse(text) {
            return Ok(value);
        }
        let words: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
        let cell = match (words.as_slice(), at) {
            ([column], Some(at)) => {
                let column = at.table.column(column).map_err(|e| e.to_string())?;
                at.table.number(at.row, column).map_err(|e| e.to_string())?
            }
            ([table, row, column], _) => {
                let table = find(self.0, table).map_err(|e| e.to_string())?;
                let row = table.row(row).map_err(|e| e.to_string())?;
                let column = table.column(column).map_err(|e| e.to_string())?;
                table.number(row, column).map_err(|e| e.to_string())?
            }
            _ => return Err(format!("`{text}` is no operand")),
        };
        Ok(cell.number.as_ref().unwrap().value.clone())
    }
}

impl Evaluate for Arithmetic<'_> {
    fn evaluate(
        &self,
        expression: &str,
        at: Option<CurrentRow<'_>>,
    ) -> Result<ComputedResult, ExpressionError> {
        let fail = |message: String| ExpressionError { message, span: 0..0, help: String::new() };
        let (function, rest) = expression.split_once('(').ok_or_else(|| fail("no call".into()))?;
        let rest = rest.strip_suffix(')').ok_or_else(|| fail("no end".into()))?;
        let computed =
            |outcome| ComputedResult { outcome, formula: rest.to_owned(), inputs: Vec::new() };
        let (a, b) = rest.split_once(", than=").unwrap_or((rest, "1"));
        let text = rest.trim_matches('"').to_owned();
        let outcome = match function {
            "missing" => EvaluatedValue::Missing(text),
            "text" => EvaluatedValue::Text(text),
            "rank" => EvaluatedValue::Rank { place: text.parse().unwrap(), of: 3, as_of: None },
            _ => {
                let a = self.operand(a, at).map_err(fail)?;
                let b = self.operand(b, at).map_err(fail)?;
                let (value, unit) = match function {
                    "better" | "more" => ((a / b - from_integer(1)) * from_integer(100), "%"),
                    "times" => (a / b, "1"),
                    "rate" => (a, "MB/s"),
                    _ => (a, ""),
                };
                EvaluatedValue::Number { value, unit: unit.to_owned() }
            }
        };
        Ok(computed(outcome))
    }
}
