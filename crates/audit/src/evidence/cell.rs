//! What stands in cells and in the names of columns: values with their unit, a spread, an interval or a ratio beside
//! them.

use super::amount::{Amount, Dimension, Measure, PLAIN, measure, of};
use crate::read::digits::{plain_number, run};

/// The unit in the name of a column: in brackets (`Time (s)`, `Mean [ms]`), else its last word.
pub(crate) fn of_header(name: &str) -> Option<Measure> {
    if name.trim().eq_ignore_ascii_case("relative") {
        return Some(of(Dimension::Times, 1.0));
    }
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((_, rest)) = name.split_once(open)
            && let Some((inside, _)) = rest.split_once(close)
        {
            let mut scale = 1.0;
            for word in inside.split([' ', ',', ';']) {
                // "(k events/s)"
                if let Some(prefix) = factor(word) {
                    scale = prefix;
                    continue;
                }
                let single = match word {
                    "s" => Some(of(Dimension::Time, 1.0)),
                    "m" => Some(of(Dimension::Time, 60.0)),
                    "h" => Some(of(Dimension::Time, 3600.0)),
                    _ => None,
                };
                if let Some(found) = single.or_else(|| measure(word)) {
                    let found = Measure { scale: found.scale * scale, ..found };
                    return Some(found).filter(|m| m.dimension != Dimension::Count);
                }
            }
            // "(in thousands)", "(millions)", but "(10^6)" and "(1 million)" are sizes of what was done.
            let bare = inside.strip_prefix("in ").map(|i| i.split(" of ").next().unwrap_or(i));
            let bare = bare.unwrap_or(inside).trim();
            if let Some(scale) = factor(bare).filter(|_| !bare.starts_with("10")) {
                return Some(thousands(scale));
            }
        }
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    if let [.., what, "per", each] = words.as_slice() {
        // "MB per request" is in MB, "fallbacks per min" in no unit that is known.
        let each = match *each {
            "second" | "sec" | "s" => "s",
            "minute" | "min" => "min",
            _ => return measure(what).filter(|m| m.dimension != Dimension::Count),
        };
        let found = measure(&format!("{what}/{each}"))?;
        return Some(prefixed(found, &words[..words.len() - 3]));
    }
    if let Some(kind) = name.trim().strip_prefix('%').filter(|k| !k.is_empty())
        && kind.bytes().all(|b| b.is_ascii_alphabetic())
    {
        return Some(of(Dimension::Percent, 1.0));
    }
    let last = words.last()?;
    // "Requests, millions", "Rows x1000"
    if words.len() > 1
        && let Some(scale) = factor(last)
        && (last.ends_with("ions") || last.ends_with("thousands") || last.starts_with(['x', '×']))
    {
        return Some(thousands(scale));
    }
    // "Min", "Latency min": the least, and no minutes.
    let time = words.len() > 1
        && words[..words.len() - 1].iter().any(|w| {
            let w = w.to_lowercase();
            w.contains("time") || w == "duration" || w == "elapsed"
        });
    if last.eq_ignore_ascii_case("min") && !time {
        return None;
    }
    let long = (last.len() > 1 || *last == "%")
        && !matches!(last.to_lowercase().as_str(), "times" | "day" | "days");
    (long || (words.len() > 1 && *last == "s"))
        .then(|| {
            measure(last).or_else(|| words[0].contains('/').then(|| measure(words[0])).flatten())
        })
        .flatten()
        .filter(|m| !matches!(m.dimension, Dimension::Count))
        .map(|m| prefixed(m, &words[..words.len() - 1]))
}

/// What a word multiplies by: `k`, `thousands`, `x1000`, `×10^6`, `10³`.
pub(super) fn factor(word: &str) -> Option<f64> {
    let bare = word.trim_start_matches(['x', '×', '*', '·']);
    if let Some(power) = bare.strip_prefix("10") {
        return match power.trim_start_matches('^') {
            "3" if power.starts_with('^') => Some(1e3),
            "6" if power.starts_with('^') => Some(1e6),
            "9" if power.starts_with('^') => Some(1e9),
            "³" => Some(1e3),
            "⁶" => Some(1e6),
            "⁹" => Some(1e9),
            "00" if bare != word => Some(1e3),
            _ => None,
        };
    }
    match word {
        "k" | "K" | "thousand" | "thousands" | "'000" | "000s" => Some(1e3),
        "M" | "million" | "millions" => Some(1e6),
        "billion" | "billions" => Some(1e9),
        _ => None,
    }
}

/// Things that are counted in thousands or millions; prose may repeat the number as it stands.
pub(super) fn thousands(scale: f64) -> Measure {
    Measure { dimension: Dimension::Plain, scale, binary: Some(1.0) }
}

/// A rate behind a factor: "k ops/s", "thousands of rows per second".
pub(super) fn prefixed(found: Measure, before: &[&str]) -> Measure {
    let before = before.strip_suffix(&["of"]).unwrap_or(before);
    match before.last().and_then(|w| factor(w)) {
        Some(scale) if found.dimension == Dimension::Rate => {
            Measure { scale: found.scale * scale, ..found }
        }
        _ => found,
    }
}

/// The value of a cell, and a ratio in brackets behind it: `0.84s (2.05x)`, `312.4 ± 4.1`, `181.2k`,
/// `1.391µ ± 2%`, `1,240 (+8%)`, `1.2e6`, `0m1.204s`. `header` is the unit of the column.
pub(crate) fn of_cell(text: &str, header: Option<Measure>) -> Option<(Amount, Option<(f64, f64)>)> {
    let body = text.trim().trim_matches(['*', '`', '~', '_', '≈', '<', '"']);
    let body = body.trim_start_matches(['+', '≈']).trim();
    let (sign, body) = match body.strip_prefix(['-', '−']) {
        Some(rest) => (-1.0, rest),
        None => (1.0, body),
    };
    let body = body.trim_matches(['$', '€', '£']).trim();
    if let Some((value, step)) = duration(body) {
        let measure = of(Dimension::Time, 1.0);
        let amount = Amount { value: sign * value, step, measure, printed: sign * value };
        return Some((amount, None));
    }
    let (value, step, digits) = leading(body)?;
    let mut rest = body[digits..].trim_start();
    let mut ratio = None;
    if let Some((before, inside)) = rest.split_once('(') {
        let inside = inside.trim_end_matches(')').trim();
        if let Some(number) = inside.strip_suffix(['x', 'X', '×'])
            && let Some((value, step, used)) = plain_number(number.trim())
            && used == number.trim().len()
        {
            ratio = Some((value, step));
        }
        rest = before.trim();
    }
    // An interval belongs to the value before it, and so does a spread.
    let rest = rest.split('[').next().unwrap_or("").trim();
    let (unit, spread) = match ["±", "~", "+/-", "+-"].iter().find_map(|s| rest.split_once(s)) {
        Some((before, spread)) => (before.trim(), Some(spread)),
        None => (rest, None),
    };
    let behind = spread.and_then(|s| s.rsplit(char::is_whitespace).next()).unwrap_or("");
    let unit = if unit.is_empty() && measure(behind).is_some() && !behind.contains('%') {
        behind
    } else {
        unit
    };
    let unit = unit.trim_end_matches(['*', '`', '_']).trim();
    let (measure, factor) = if unit.is_empty() {
        (header.unwrap_or(PLAIN), 1.0)
    } else if let Some(factor) = prefix(unit, header) {
        (header.unwrap_or(PLAIN), factor)
    } else {
        match unit.split_whitespace().collect::<Vec<_>>().as_slice() {
            [one] => (short(one).or_else(|| measure(one))?, 1.0),
            [one, "per", "second" | "sec"] => (measure(&format!("{one}/s"))?, 1.0),
            [factor, one] => (measure(one)?, prefix(factor, None)?),
            _ => return None,
        }
    };
    let scale = measure.scale * factor * sign;
    let amount =
        Amount { value: value * scale, step: (step * scale).abs(), measure, printed: sign * value };
    amount.value.is_finite().then_some((amount, ratio))
}

/// The number that a cell begins with: its value, one unit in its last digit, and the bytes that it takes.
fn leading(body: &str) -> Option<(f64, f64, usize)> {
    let (run, end) = run(body);
    let (value, step, used) = plain_number(&run)?;
    if used < run.len() {
        return None;
    }
    if let Some(power) = body[end..].strip_prefix(['e', 'E']) {
        let signs = usize::from(power.starts_with(['+', '-']));
        let digits = power[signs..].bytes().take_while(u8::is_ascii_digit).count();
        let ends = !power[signs + digits..].starts_with(char::is_alphanumeric);
        if (1..=2).contains(&digits) && ends {
            let power: i32 = power[..signs + digits].parse().ok()?;
            let factor = 10f64.powi(power);
            return Some((value * factor, step * factor, end + 1 + signs + digits));
        }
    }
    Some((value, step, end))
}

/// A time in minutes and seconds, as shells print it: `1m30.52s`, `2h 05m 10s`, `3 min 12 s`. Its seconds, and one unit
/// in its last digit.
fn duration(body: &str) -> Option<(f64, f64)> {
    let mut rest = body;
    let (mut seconds, mut step, mut parts) = (0.0, 1.0, 0);
    let mut smallest = f64::INFINITY;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let (value, own, used) = plain_number(&rest[..digits]).filter(|_| digits > 0)?;
        let after = rest[digits..].trim_start();
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let factor = match &after[..letters] {
            "h" | "hr" | "hours" | "hour" => 3600.0,
            "m" | "min" | "mins" | "minutes" | "minute" => 60.0,
            "s" | "sec" | "secs" | "seconds" => 1.0,
            _ => return None,
        };
        if used < digits || factor >= smallest || parts > 0 && value >= 60.0 {
            return None;
        }
        smallest = factor;
        seconds += value * factor;
        step = own * factor;
        parts += 1;
        rest = after[letters..].trim_start();
    }
    (parts >= 2).then_some((seconds, step))
}

fn short(unit: &str) -> Option<Measure> {
    match unit {
        "s" => Some(of(Dimension::Time, 1.0)),
        "h" => Some(of(Dimension::Time, 3600.0)),
        "min" | "m" => Some(of(Dimension::Time, 60.0)),
        "%" => Some(of(Dimension::Percent, 1.0)),
        "x" | "X" | "×" => Some(of(Dimension::Times, 1.0)),
        "/s" | "/sec" | "/second" => Some(of(Dimension::Rate, 1.0)),
        _ => None,
    }
}

/// A factor written as one letter: `41.2 M`, `1.391µ` in a column of seconds.
fn prefix(unit: &str, header: Option<Measure>) -> Option<f64> {
    let time = header.is_some_and(|h| h.dimension == Dimension::Time);
    Some(match unit {
        "n" if time => 1e-9,
        "µ" | "μ" | "u" if time => 1e-6,
        "m" if time => 1e-3,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        "Ti" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str, header: &str) -> (f64, Dimension) {
        let (amount, _) = of_cell(text, of_header(header)).unwrap_or_else(|| panic!("{text}"));
        (amount.value, amount.dimension())
    }

    #[test]
    fn cells_carry_units_prefixes_and_spreads() {
        let near = |a: (f64, Dimension), v: f64, d| (a.0 - v).abs() < 1e-9 * v && a.1 == d;
        assert!(near(cell("312.4 ± 4.1", "Mean [ms]"), 0.3124, Dimension::Time));
        assert!(
            near(cell("1.391µ ± 2%", "sec/op"), 1.391e-6, Dimension::Time)
                || of_header("sec/op").is_none()
        );
        assert!(near(cell("181.2k", "req/s"), 181_200.0, Dimension::Rate));
        assert!(near(cell("41.2 M", ""), 41.2e6, Dimension::Plain));
        assert!(near(cell("1.2T", "Used"), 1.2e12, Dimension::Plain));
        assert!(near(cell("0.97 J/token", ""), 0.97, Dimension::Energy));
        assert!(near(cell("0.4", "Energy (kWh)"), 1.44e6, Dimension::Energy));
        assert!(near(cell("510 MB/s", "Compression"), 510e6, Dimension::ByteRate));
        assert!(near(cell("48", "Decode (ms)"), 0.048, Dimension::Time));
        assert!(near(cell("98.7", "Mops/s"), 98.7e6, Dimension::Rate));
    }

    #[test]
    fn a_ratio_stands_beside_its_value() {
        let (amount, ratio) = of_cell("0.84s (2.05x)", None).expect("a value");
        assert_eq!((amount.value, ratio), (0.84, Some((2.05, 0.01))));
        assert_eq!(of_cell("n/a", None), None);
        assert_eq!(of_cell("24.2.1", None), None);
    }

    #[test]
    fn numbers_are_grouped_and_raised_as_people_print_them() {
        let value = |text: &str| of_cell(text, None).map(|(a, _)| (a.value, a.step));
        assert_eq!(value("1'240'500"), Some((1_240_500.0, 1.0)));
        assert_eq!(value("12 400"), Some((12_400.0, 1.0)));
        assert_eq!(value("1 240.5"), Some((1240.5, 0.1)));
        assert_eq!(value("1.23e6"), Some((1.23e6, 0.01 * 1e6)));
        assert_eq!(value("1,240 (+8%)"), Some((1240.0, 1.0)));
        assert_eq!(value("$4,380"), Some((4380.0, 1.0)));
        assert_eq!(value("12 3400"), None);
        for missing in ["—", "-", "n/a", "", "±", "e5", "1.2.3"] {
            assert_eq!(value(missing), None, "{missing}");
        }
    }

    #[test]
    fn spreads_and_intervals_belong_to_the_value_before_them() {
        for text in ["41.2 +/- 0.9", "41.2 ± 0.9", "41.2 (0.9)", "41.2 [40.1, 42.3]", "41.2 ±"] {
            let (value, dimension) = cell(text, "Time (min)");
            assert!((value - 41.2 * 60.0).abs() < 1e-9, "{text}");
            assert_eq!(dimension, Dimension::Time, "{text}");
        }
    }

    #[test]
    fn times_of_shells_are_added_up() {
        assert_eq!(cell("1m30.5s", ""), (90.5, Dimension::Time));
        assert_eq!(cell("2h 05m 10s", ""), (7510.0, Dimension::Time));
        assert_eq!(of_cell("1s 30m", None), None);
    }

    #[test]
    fn headers_say_what_is_per_second_and_what_is_not() {
        let of = |name: &str| of_header(name).map(|m| (m.dimension, m.scale));
        assert_eq!(of("%system"), Some((Dimension::Percent, 1.0)));
        assert_eq!(of("CPU %"), Some((Dimension::Percent, 1.0)));
        assert_eq!(of("Fallbacks per min"), None);
        assert_eq!(of("ssj_ops per watt"), None);
        assert_eq!(of("Requests per second"), Some((Dimension::Rate, 1.0)));
        assert_eq!(of("Inserts (k/s)"), Some((Dimension::Rate, 1e3)));
        assert_eq!(of("Inserts, k ops/s"), Some((Dimension::Rate, 1e3)));
        assert_eq!(of("million rows per second"), Some((Dimension::Rate, 1e6)));
    }

    #[test]
    fn headers_count_in_thousands() {
        let of = |name: &str| of_header(name).map(|m| (m.dimension, m.scale, m.binary));
        let names = ["Rows (in thousands)", "Rows (x1000)", "Rows (×10^3)", "Rows, thousands"];
        for name in names.into_iter().chain(["Rows (k)", "Rows (in thousands of rows)"]) {
            assert_eq!(of(name), Some((Dimension::Plain, 1e3, Some(1.0))), "{name}");
        }
        assert_eq!(of("Done [10^6 ops/s]"), Some((Dimension::Rate, 1e6, None)));
        for name in ["Insert (1 million)", "Sort (10^6)", "Sort (1000)", "Class M", "Sort 10^6"] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
