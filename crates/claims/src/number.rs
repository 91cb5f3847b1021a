//! Parses numbers as a text prints them. The decimal separator and the thousands separator are
//! declared, never guessed: `1,234` is not a number until one of them is declared.

use serde::{Deserialize, Serialize};

use crate::exact::{self, Exact};

/// Separators in the numbers of a table or text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberFormat {
    /// Decimal separator: a point or a comma.
    pub decimal: char,
    /// Thousands separator, if there is one.
    pub thousands: Option<char>,
}

impl Default for NumberFormat {
    fn default() -> Self {
        NumberFormat { decimal: '.', thousands: None }
    }
}

/// A number as a text prints it.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Exact value, without the unit.
    pub value: Exact,
    /// Number of printed decimals: a unit of the last digit is `10^-decimals`.
    pub decimals: u32,
    /// Text of the number as printed.
    pub text: String,
}

/// Parses a text that is a number as a whole; `None` for everything else.
pub fn parse(text: &str, format: NumberFormat) -> Option<Number> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = match digits.split_once(format.decimal) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let whole = ungrouped(whole, format.thousands)?;
    let fraction = fraction.unwrap_or("");
    let value = exact::parse(&format!("{sign}{whole}.{fraction}"))?;
    let decimals = u32::try_from(fraction.len()).ok()?;
    Some(Number { value, decimals, text: text.to_owned() })
}

/// Parses a number and the unit after it: `12.5 MB/s`, `352K`, `20%`.
pub fn parse_with_unit(text: &str, format: NumberFormat) -> Option<(Number, Option<String>)> {
    let text = text.trim();
    let mark = |c: char| c == format.decimal || Some(c) == format.thousands;
    let end = text
        .char_indices()
        .find(|(i, c)| !(c.is_ascii_digit() || mark(*c) || *i == 0 && "+-\u{2212}".contains(*c)))
        .map_or(text.len(), |(i, _)| i);
    let (number, unit) = text.split_at(end);
    let number = number.trim_end();
    let unit = unit.trim();
    if number.ends_with(mark) || unit.starts_with(|c: char| c.is_ascii_digit() || ".,'".contains(c))
    {
        return None;
    }
    Some((parse(number, format)?, (!unit.is_empty()).then(|| unit.to_owned())))
}

/// Removes the thousands separators; `None` if the groups do not have three digits.
fn ungrouped(whole: &str, mark: Option<char>) -> Option<String> {
    let groups: Vec<&str> = match mark {
        Some(mark) => whole.split(mark).collect(),
        None => vec![whole],
    };
    let digits = |g: &&str| g.bytes().all(|b| b.is_ascii_digit());
    let sized = groups.len() == 1
        || (1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|g| g.len() == 3);
    (sized && groups.iter().all(digits)).then(|| groups.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, decimal: char, thousands: Option<char>) -> Option<(String, u32)> {
        parse(text, NumberFormat { decimal, thousands })
            .map(|n| (exact::shown(&n.value), n.decimals))
    }

    #[test]
    fn a_number_is_read_whole_or_not_at_all() {
        let plain = |text| read(text, '.', None);
        assert_eq!(plain("4220"), Some(("4220".to_owned(), 0)));
        assert_eq!(plain(" -1.50 "), Some(("-1.5".to_owned(), 2)));
        assert_eq!(plain("\u{2212}3"), Some(("-3".to_owned(), 0)));
        for text in ["4,220", "1.2.3", "12 ms", "NaN", "1e5", "", "-", "4 220", "\u{0661}\u{0662}"]
        {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn marks_count_only_as_declared() {
        assert_eq!(read("4,220", '.', Some(',')), Some(("4220".to_owned(), 0)));
        assert_eq!(read("4,220", ',', None), Some(("4.22".to_owned(), 3)));
        assert_eq!(read("1.234.567,8", ',', Some('.')), Some(("1234567.8".to_owned(), 1)));
        assert_eq!(read("412 000", '.', Some(' ')), Some(("412000".to_owned(), 0)));
        for text in ["42,20", ",220", "4,2200", "4220,123", "4,220,12"] {
            assert_eq!(read(text, '.', Some(',')), None, "{text}");
        }
    }

    #[test]
    fn units_stand_behind_numbers() {
        let read =
            |text| parse_with_unit(text, NumberFormat::default()).map(|(n, unit)| (n.text, unit));
        let wanted = |n: &str, unit: &str| Some((n.to_owned(), Some(unit.to_owned())));
        assert_eq!(read("12.5 MB/s"), wanted("12.5", "MB/s"));
        assert_eq!(read("352K"), wanted("352", "K"));
        assert_eq!(read("-20%"), wanted("-20", "%"));
        for text in ["1,234 s", "MB/s", "", "12. s", "1.2.3"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,20}", digits in "[-+0-9., ]{0,20}") {
            for decimal in ['.', ','] {
                for thousands in [None, Some('.'), Some(','), Some(' ')] {
                    let format = NumberFormat { decimal, thousands };
                    for text in [&text, &digits] {
                        let _ = (parse(text, format), parse_with_unit(text, format));
                    }
                }
            }
        }
    }
}
