//! Evaluates formulas over counts, as in the data files: `100 * ( a - b ) / c`. Names contain dots
//! and dashes, so operators and parentheses are surrounded by blanks.

/// The text is not a valid formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InvalidFormula;

/// Evaluates a formula; returns `None` if a count is unknown or a divisor is 0.
pub(super) fn evaluate(formula: &str, count: &dyn Fn(&str) -> Option<f64>) -> Value {
    let mut words = FormulaWords { list: formula.split_whitespace().collect(), at: 0, count };
    let value = words.sum()?;
    match words.next() {
        None => Ok(value.filter(|v| v.is_finite())),
        Some(_) => Err(InvalidFormula),
    }
}

struct FormulaWords<'a> {
    list: Vec<&'a str>,
    at: usize,
    count: &'a dyn Fn(&str) -> Option<f64>,
}

type Value = Result<Option<f64>, InvalidFormula>;

impl<'a> FormulaWords<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.at += 1;
        self.list.get(self.at - 1).copied()
    }

    /// Consumes and returns the next word if it is one of `wanted`.
    fn one_of(&mut self, wanted: &[&str]) -> Option<&'a str> {
        let word = self.list.get(self.at).copied().filter(|w| wanted.contains(w))?;
        self.at += 1;
        Some(word)
    }

    fn sum(&mut self) -> Value {
        let mut value = self.product()?;
        while let Some(sign) = self.one_of(&["+", "-"]) {
            let sign = if sign == "+" { 1.0 } else { -1.0 };
            value = value.zip(self.product()?).map(|(a, b)| a + sign * b);
        }
        Ok(value)
    }

    fn product(&mut self) -> Value {
        let mut value = self.one()?;
        while let Some(sign) = self.one_of(&["*", "/"]) {
            let pair = value.zip(self.one()?);
            value = pair.map(|(a, b)| if sign == "*" { a * b } else { a / b });
        }
        Ok(value)
    }

    fn one(&mut self) -> Value {
        match self.next() {
            Some("(") => {
                let value = self.sum()?;
                match self.next() {
                    Some(")") => Ok(value),
                    _ => Err(InvalidFormula),
                }
            }
            Some(word) if word.starts_with(|c: char| c.is_ascii_digit()) => {
                word.parse().map(Some).map_err(|_| InvalidFormula)
            }
            Some(name) if name.starts_with(char::is_alphabetic) => Ok((self.count)(name)),
            _ => Err(InvalidFormula),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_computed_as_they_are_read() {
        let count = |name: &str| match name {
            "a.b-c" => Some(6.0),
            "two" => Some(2.0),
            "zero" => Some(0.0),
            _ => None,
        };
        let of = |formula: &str| evaluate(formula, &count);
        assert_eq!(of("100 * ( a.b-c - two ) / 4 + 1"), Ok(Some(101.0)));
        assert_eq!(of("a.b-c - two - two"), Ok(Some(2.0)));
        assert_eq!(of("a.b-c / two / two"), Ok(Some(1.5)));
        assert_eq!(of("1 - unknown"), Ok(None));
        assert_eq!(of("two / zero"), Ok(None));
        for wrong in ["", "( two", "two two", "* two", "2x", "two +"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
