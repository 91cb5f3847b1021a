//! Numbers that take several tokens: "thirty-two", "two and a half", "7.5 million", "4 minutes and 10 seconds".

use crate::read::digits::number;
use crate::read::token::{Kind, Number, Token};
use crate::read::unit::{self, Unit};

const SPELLED: [(&str, f64); 23] = [
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("sixteen", 16.0),
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
    ("hundred", 100.0),
    ("single", 1.0),
];

/// What a word after a number multiplies it by.
fn factor(lower: &str) -> Option<f64> {
    Some(match lower {
        "thousand" => 1e3,
        "million" => 1e6,
        "billion" => 1e9,
        "trillion" => 1e12,
        _ => return None,
    })
}

/// Spelled numbers become numbers, and words that belong to a number a part of it.
pub(crate) fn numbers(tokens: &mut Vec<Token>) {
    for token in tokens.iter_mut() {
        if token.is_word()
            && let Some((_, value)) = SPELLED.iter().find(|(w, _)| *w == token.lower)
        {
            token.kind = Kind::Number(Number { spelled: true, ..number(*value, 1.0, None) });
        }
    }
    let spelled = |t: &Token| t.number().filter(|n| n.spelled).map(|n| n.value);
    for i in (1..tokens.len()).rev() {
        let (Some(tens), Some(ones)) = (spelled(&tokens[i - 1]), spelled(&tokens[i])) else {
            continue;
        };
        let joined = tokens[i].span.start == tokens[i - 1].span.end + 1;
        if joined && (20.0..100.0).contains(&tens) && ones < 10.0 {
            merge(tokens, i - 1, 2, |n| Number { value: tens + ones, ..n });
        }
    }
    for i in (0..tokens.len()).rev() {
        let Some(own) = tokens[i].number().filter(|n| n.unit.is_none() && !n.label) else {
            continue;
        };
        let word = |j: usize| tokens.get(j).map_or("", |t| t.lower.as_str());
        if let Some(by) = factor(word(i + 1)) {
            let spelled = own.spelled;
            // "two million" is a quantity like "2 million".
            merge(tokens, i, 2, |n| Number {
                value: n.value * by,
                step: n.step * by,
                spelled: spelled && n.value == 1.0,
                ..n
            });
        } else if own.spelled && word(i + 1) == "and" && word(i + 2) == "a" {
            let part = match word(i + 3) {
                "half" => 0.5,
                "third" => 1.0 / 3.0,
                "quarter" => 0.25,
                _ => continue,
            };
            merge(tokens, i, 4, |n| Number { value: n.value + part, step: 0.5, ..n });
        }
    }
}

/// Makes one number of so many tokens.
fn merge(tokens: &mut Vec<Token>, at: usize, count: usize, of: impl FnOnce(Number) -> Number) {
    let end = tokens[at + count - 1].span.end;
    if let Kind::Number(n) = &tokens[at].kind {
        tokens[at].kind = Kind::Number(of(n.clone()));
    }
    tokens[at].span.end = end;
    tokens.drain(at + 1..at + count);
}

/// A time in two units becomes one in the first: "4 minutes and 10 seconds", "3 h 20 min", "1m 12s".
pub(crate) fn durations(text: &str, tokens: &mut Vec<Token>) {
    let mut i = 0;
    while i < tokens.len() {
        if let Some((count, value, step)) = duration(text, tokens, i) {
            merge(tokens, i, count, |n| Number { value, step, spelled: false, ..n });
        }
        i += 1;
    }
}

/// How many tokens a time in two units takes, its value in the first unit, and one unit in its last digit.
fn duration(text: &str, tokens: &[Token], at: usize) -> Option<(usize, f64, f64)> {
    let time = |i: usize| tokens.get(i)?.quantity().filter(|n| n.is(&Unit::Time));
    // The unit may be a word of its own or stand at the number.
    let past = |i: usize| {
        let own = |t: &Token| {
            let printed = t.span.of(text);
            t.is_word() && unit::read(&t.lower, printed).is_some_and(|r| r.unit == Unit::Time)
        };
        i + 1 + usize::from(tokens.get(i + 1).is_some_and(own))
    };
    let large = time(at)?;
    let mut next = past(at);
    if tokens.get(next).is_some_and(|t| t.lower == "and") {
        next += 1;
    }
    let small = time(next)?;
    let fits = small.scale < large.scale
        && small.base() < large.scale
        && large.value.fract() == 0.0
        && large.scale >= 60.0;
    let value = large.value + small.base() / large.scale;
    let step = small.step * small.scale / large.scale;
    fits.then(|| (past(next) - at, value, step))
}

#[cfg(test)]
mod tests {
    use crate::read::source::Span;
    use crate::read::token::{Number, Token, tokens};

    fn quantities(text: &str) -> Vec<f64> {
        let all = tokens(text, Span::new(0, text.len()));
        let base = |n: &Number| (n.value * n.scale * 1e6).round() / 1e6;
        all.iter().filter_map(Token::quantity).map(base).collect()
    }

    #[test]
    fn words_multiply_numbers() {
        assert_eq!(
            quantities("7.5 million cycles, two billion, 412 thousand, and a million"),
            [7.5e6, 2e9, 412e3]
        );
        assert_eq!(
            quantities("two and a quarter times, two and a box, thirty-two"),
            [2.25, 2.0, 32.0]
        );
    }

    #[test]
    fn a_time_in_two_units_is_one() {
        assert_eq!(
            quantities("4 minutes and 10 seconds, 3 h 20 min, 1 hour and 200 minutes"),
            [250.0, 12000.0, 3600.0, 12000.0]
        );
        assert_eq!(quantities("5 min and 3 GB, 2 s and 10 ms"), [300.0, 3e9, 2.0, 0.01]);
    }
}
