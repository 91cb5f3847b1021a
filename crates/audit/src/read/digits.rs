//! Digits to numbers: separators of thousands, decimals, exponents, units behind them; and what
//! only looks like a number (dates, versions, addresses).

use crate::read::token::{Kind, Number};
use crate::read::unit::{self, Unit};

/// A token that starts with a digit: its length and what it is.
pub(crate) fn numeric(rest: &str) -> (usize, Kind) {
    let bytes = rest.as_bytes();
    let mut digits =
        bytes.iter().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b',')).count();
    while digits > 1 && matches!(bytes[digits - 1], b'.' | b',') {
        digits -= 1;
    }
    let run = &rest[..digits];
    let Some((value, step, end)) = plain_number(run) else {
        // Several dots (a version), or digits that no thousands separators explain.
        let length = digits + word_length_or_zero(&rest[digits..]);
        return (length, Kind::Word);
    };
    if end < digits {
        return (end, Kind::Number(number(value, step, None)));
    }
    let tail = &rest[digits..];
    if let Some((length, value, step)) = exponent(run, tail, step) {
        return (digits + length, Kind::Number(number(value, step, None)));
    }
    if tail.starts_with('%') {
        return (
            digits + 1,
            Kind::Number(number(
                value,
                step,
                Some(unit::Read { unit: Unit::Percent, scale: 1.0, binary: None }),
            )),
        );
    }
    // Times of day, dates, pci addresses, fractions of names: no quantities.
    let glued = tail.starts_with([':', '/', '_', '@'])
        && tail[1..].chars().next().is_some_and(char::is_alphanumeric)
        && !rate_follows(tail);
    if glued {
        let length = tail.find(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')' | '('));
        return (digits + length.unwrap_or(tail.len()), Kind::Word);
    }
    let letters = word_length_or_zero(tail);
    if letters == 0 {
        return (digits, Kind::Number(number(value, step, None)));
    }
    let suffix = &tail[..letters];
    suffixed(value, step, suffix)
        .map_or((digits + letters, Kind::Word), |n| (digits + letters, Kind::Number(n)))
}

fn rate_follows(tail: &str) -> bool {
    tail.starts_with("/s") || tail.starts_with("/sec")
}

fn word_length_or_zero(rest: &str) -> usize {
    if rest.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_') {
        word_length(rest)
    } else {
        0
    }
}

pub(crate) fn number(value: f64, step: f64, read: Option<unit::Read>) -> Number {
    let (unit, scale, binary) = match read {
        Some(r) => (Some(r.unit), r.scale, r.binary),
        None => (None, 1.0, None),
    };
    Number { value, step, unit, scale, binary, label: false, spelled: false }
}

/// What may stand between groups of three digits besides commas.
const GROUPS: [char; 7] = [' ', '\u{a0}', '\u{2009}', '\u{202f}', '\'', '’', '_'];

/// The digits that a text begins with, their groups parted by commas (`1 240.5` is `1,240.5`), and the bytes that they
/// take. Thousands may be grouped by commas, apostrophes or spaces.
pub(crate) fn run(body: &str) -> (String, usize) {
    let count =
        |s: &str| s.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b',')).count();
    let mut end = count(body);
    let first = &body[..end];
    let mut run = first.trim_end_matches(['.', ',']).to_owned();
    if first.is_empty() || first.len() > 3 || !first.bytes().all(|b| b.is_ascii_digit()) {
        return (run, end);
    }
    while let Some(mark) = body[end..].chars().next().filter(|c| GROUPS.contains(c)) {
        let group = &body[end + mark.len_utf8()..];
        let own = group.bytes().take_while(u8::is_ascii_digit).count();
        if own != 3 || run.len() > 24 {
            break;
        }
        run.push(',');
        run.push_str(&group[..3]);
        end += mark.len_utf8() + 3;
        let decimals = &body[end..];
        if decimals.starts_with('.') && decimals[1..].starts_with(|c: char| c.is_ascii_digit()) {
            let own = count(decimals);
            run.push_str(&decimals[..own]);
            end += own;
            break;
        }
    }
    (run, end)
}

/// A number of prose whose thousands are grouped by something else than commas: `60'870`, `1 310 000 rows`. Behind a
/// name a plain space may be a space (`Corona M8 200 500 users`), and so may one before a size (`12 146 GB disks`).
pub(crate) fn grouped(rest: &str, behind_name: bool) -> Option<(usize, Kind)> {
    let (run, end) = run(rest);
    let own = &rest[..end];
    let marks = own.chars().filter(|c| GROUPS.contains(c)).count();
    if marks == 0 || own.contains('_') {
        return None;
    }
    let behind = rest[end..].trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let size = ["GB", "TB", "MB", "GHz", "MHz", "GiB", "TiB", "MiB"];
    let twice = marks == 1 && size.iter().any(|s| behind.starts_with(s));
    let goes_on = rest[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if goes_on || own.contains(' ') && (behind_name || twice) {
        return None;
    }
    let (value, step, used) = plain_number(&run)?;
    (used == run.len()).then(|| {
        let percent = rest[end..].starts_with('%');
        let unit = unit::Read { unit: Unit::Percent, scale: 1.0, binary: None };
        let unit = percent.then_some(unit);
        (end + usize::from(percent), Kind::Number(number(value, step, unit)))
    })
}

/// Reads `1,234.5`: value, one unit in its last digit, and the bytes that belong to it.
pub(crate) fn plain_number(run: &str) -> Option<(f64, f64, usize)> {
    if run.len() > 24 || run.bytes().filter(|b| *b == b'.').count() > 1 {
        return None;
    }
    let (whole, fraction) = run.split_once('.').unwrap_or((run, ""));
    let groups: Vec<&str> = whole.split(',').collect();
    let grouped = groups.len() > 1
        && !groups[0].is_empty()
        && groups[0].len() <= 3
        && groups[1..].iter().all(|g| g.len() == 3);
    if (groups.len() > 1 && !grouped) || fraction.contains(',') {
        // "4,5": a list; the first number ends at the comma.
        let end = run.find(',')?;
        let (value, step, _) = plain_number(&run[..end])?;
        return Some((value, step, end));
    }
    let value: f64 = run.replace(',', "").parse().ok().filter(|v: &f64| v.is_finite())?;
    Some((value, 10f64.powi(-(fraction.len() as i32)), run.len()))
}

fn exponent(run: &str, tail: &str, step: f64) -> Option<(usize, f64, f64)> {
    let body = tail.strip_prefix(['e', 'E'])?;
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let after = body[digits..].chars().next();
    if digits == 0 || digits > 2 || after.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let power: i32 = body[..digits].parse().ok()?;
    let value: f64 = format!("{}e{power}", run.replace(',', "")).parse().ok()?;
    Some((1 + digits, value, step * 10f64.powi(power)))
}

/// A number with letters behind it ("352K", "2RU", "1.6GHz", "2.6X").
fn suffixed(value: f64, step: f64, suffix: &str) -> Option<Number> {
    let lower = suffix.to_lowercase();
    let thousands = match suffix {
        "K" | "k" => Some(1e3),
        "M" => Some(1e6),
        // "10G" and "100G" are links and cards.
        "G" if value.fract() != 0.0 && value != 2.5 => Some(1e9),
        "T" => Some(1e12),
        _ => None,
    };
    if let Some(factor) = thousands {
        return Some(number(value * factor, step * factor, None));
    }
    if lower == "p" {
        return Some(number(
            value,
            step,
            Some(unit::Read { unit: Unit::Count("chip"), scale: 1.0, binary: None }),
        ));
    }
    unit::read(&lower, suffix).map(|read| number(value, step, Some(read)))
}

pub(crate) fn word_length(rest: &str) -> usize {
    let mut length = 0;
    let mut characters = rest.char_indices().peekable();
    while let Some((i, c)) = characters.next() {
        let next = characters.peek().map(|(_, n)| *n);
        let inner = matches!(c, '/' | '\'' | '’' | '.' | '+' | '&')
            && i > 0
            && next.is_some_and(|n| n.is_alphanumeric() && (c != '.' || !n.is_uppercase()));
        if c.is_alphanumeric() || c == '_' || inner {
            length = i + c.len_utf8();
        } else {
            break;
        }
    }
    length.max(rest.chars().next().map_or(0, char::len_utf8))
}
