//! Parses the number that a claim states.

use num_traits::Zero;

use crate::exact::{self, Exact};
use crate::number::{NumberFormat, parse, parse_with_unit};

/// Value or place that a claim states.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StatedValue {
    /// A number: rounded, a bound, a range, or approximate.
    Number(StatedNumber),
    /// A place in a ranking, from 1.
    Place(usize),
    /// The last place in a ranking.
    Last,
    /// A text that the recomputed one must contain as whole words.
    Text(String),
    /// A claim without a value.
    Nothing,
}

/// Number that a claim states.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatedNumber {
    pub relation: Relation,
    pub value: Exact,
    /// Upper end of a range.
    pub to: Option<Exact>,
    /// One unit of the last printed digit.
    pub last_digit: Exact,
    /// Symbol of the unit; empty without one.
    pub unit: String,
}

/// Relation between the recomputed and the claimed number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Rounded,
    MoreThan,
    AtLeast,
    LessThan,
    AtMost,
    About,
}

const RELATIONS: [(&str, Relation); 8] = [
    ("more than ", Relation::MoreThan),
    ("over ", Relation::MoreThan),
    ("at least ", Relation::AtLeast),
    ("less than ", Relation::LessThan),
    ("under ", Relation::LessThan),
    ("at most ", Relation::AtMost),
    ("about ", Relation::About),
    ("around ", Relation::About),
];

const PLACES: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// A text of a claim that states no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StatedValueError {
    #[error(
        "says = '{text}' states no value: write it as in \"5 %\", \"2.3 times\", \"more than 25 \
         %\", \"13 to 15 %\", \"first\" or '\"a text\"'{hint}"
    )]
    Says { text: String, hint: &'static str },
    #[error("within = \"{0}\" is not a percentage, as in \"5 %\"")]
    Within(String),
}

/// Parses `says` of a claim.
pub(crate) fn said(text: &str) -> Result<StatedValue, StatedValueError> {
    let text = text.trim();
    let no_value = |hint| Err(StatedValueError::Says { text: text.to_owned(), hint });
    if let Some(quoted) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        return Ok(StatedValue::Text(quoted.to_owned()));
    }
    let lower = text.to_lowercase();
    if lower == "none" {
        return Ok(StatedValue::Nothing);
    }
    if lower == "last" {
        return Ok(StatedValue::Last);
    }
    if let Some(at) = PLACES.iter().position(|w| *w == lower) {
        return Ok(StatedValue::Place(at + 1));
    }
    if let Some(place) = ["st", "nd", "rd", "th"].iter().find_map(|end| lower.strip_suffix(end))
        && let Ok(place) = place.parse()
    {
        return if place > 0 { Ok(StatedValue::Place(place)) } else { no_value("") };
    }
    let found = RELATIONS.iter().find(|(words, _)| lower.starts_with(words));
    let (relation, rest) = match found {
        Some((words, relation)) => (*relation, text[words.len()..].trim()),
        None => (Relation::Rounded, text),
    };
    let format = NumberFormat::default();
    let (from, rest) = match rest.split_once(" to ") {
        Some((from, rest)) if relation == Relation::Rounded => (parse(from, format), rest),
        _ => (None, rest),
    };
    let Some((number, unit)) = parse_with_unit(rest, format) else {
        let hint = if rest.contains(',') { ", without marks between thousands" } else { "" };
        return no_value(hint);
    };
    let (value, to) = match from {
        Some(from) => (from.value, Some(number.value)),
        None => (number.value, None),
    };
    let last_digit = exact::ten_to(-number.decimals.cast_signed());
    let unit = unit.unwrap_or_default();
    Ok(StatedValue::Number(StatedNumber { relation, value, to, last_digit, unit }))
}

/// Parses `within`, a percentage, into a fraction.
pub(crate) fn within(text: &str) -> Result<Exact, StatedValueError> {
    match parse_with_unit(text, NumberFormat::default()) {
        Some((number, Some(unit))) if unit == "%" && number.value >= Exact::zero() => {
            Ok(number.value / exact::from_integer(100))
        }
        _ => Err(StatedValueError::Within(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> (Relation, String, Option<String>, String) {
        match said(text) {
            Ok(StatedValue::Number(n)) => {
                let to = n.to.as_ref().map(exact::shown);
                (n.relation, exact::shown(&n.value), to, n.unit)
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn the_forms_are_read() {
        assert_eq!(number("5 %"), (Relation::Rounded, "5".into(), None, "%".into()));
        assert_eq!(number("2.3X"), (Relation::Rounded, "2.3".into(), None, "X".into()));
        assert_eq!(number("more than 25%"), (Relation::MoreThan, "25".into(), None, "%".into()));
        let range = (Relation::Rounded, "13".into(), Some("15".into()), "%".into());
        assert_eq!(number("13 to 15 %"), range);
        assert_eq!(number("-2 points").3, "points");
        assert_eq!(said("2nd"), Ok(StatedValue::Place(2)));
        assert_eq!(said("First"), Ok(StatedValue::Place(1)));
        assert_eq!(said("\"X5570\""), Ok(StatedValue::Text("X5570".into())));
        assert_eq!(said("none"), Ok(StatedValue::Nothing));
    }

    #[test]
    fn other_forms_are_errors() {
        for text in ["", "faster", "1,234 bops", "NaN", "0th", "more than", "5 to % 6", "١٢ %"] {
            assert!(said(text).is_err(), "{text}");
        }
        assert!(said("1,234").unwrap_err().to_string().contains("without marks between thousands"));
        assert!(within("5").is_err());
        assert!(within("-5 %").is_err());
        assert_eq!(within("5 %").map(|w| exact::shown(&w)), Ok("0.05".to_owned()));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,30}") {
            let _ = (said(&text), within(&text));
        }
    }
}
