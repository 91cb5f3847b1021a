//! Units with a dimension and a factor. Values are converted only within one dimension.

use num_traits::One;

use crate::exact::{self, Exact};

/// A unit as a dimension and a factor.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// Dimension, written in base units: `B/s`, `s`, `%`, or `1` for plain ratios. A word that is
    /// not a known unit is a separate dimension: `bops`.
    pub dimension: String,
    /// Number of base units in one of this unit.
    pub factor: Exact,
}

/// Known units: their spellings, base unit, and numerator and denominator of the factor. A spelling
/// that begins with `*` accepts prefixes.
const UNITS: [(&[&str], &str, i64, i64); 18] = [
    (&["", "1", "x", "X", "\u{d7}", "times", "fold"], "1", 1, 1),
    (&["%", "percent", "points", "percentage points"], "%", 1, 1),
    (&["*B", "*byte", "*bytes", "*Byte", "*Bytes"], "B", 1, 1),
    (&["*b", "*bit", "*bits", "*Bit", "*Bits"], "B", 1, 8),
    (&["*s", "*sec", "secs", "second", "seconds"], "s", 1, 1),
    (&["millisecond", "milliseconds", "msecs"], "s", 1, 1000),
    (&["microsecond", "microseconds", "usecs"], "s", 1, 1_000_000),
    (&["nanosecond", "nanoseconds", "nsecs"], "s", 1, 1_000_000_000),
    (&["min", "mins", "minute", "minutes"], "s", 60, 1),
    (&["h", "hr", "hrs", "hour", "hours"], "s", 3600, 1),
    (&["day", "days"], "s", 86400, 1),
    (&["*W", "watt", "watts", "Watt", "Watts"], "W", 1, 1),
    (&["*J", "joule", "joules"], "J", 1, 1),
    (&["*Wh"], "J", 3600, 1),
    (&["*Hz", "*hertz"], "Hz", 1, 1),
    (&["*IOPS", "*iops", "*IO/s", "*io/s"], "io/s", 1, 1),
    (&["*ops", "*op", "operation", "operations"], "op", 1, 1),
    (&["*FLOPS", "*flops", "*FLOP/s", "*flop/s"], "flop/s", 1, 1),
];

/// Prefixes: decimal, binary, and words.
const PREFIXES: [(&str, i64, i64); 20] = [
    ("n", 1, 1_000_000_000),
    ("\u{b5}", 1, 1_000_000),
    ("\u{3bc}", 1, 1_000_000),
    ("u", 1, 1_000_000),
    ("m", 1, 1000),
    ("k", 1000, 1),
    ("K", 1000, 1),
    ("M", 1_000_000, 1),
    ("G", 1_000_000_000, 1),
    ("T", 1_000_000_000_000, 1),
    ("P", 1_000_000_000_000_000, 1),
    ("Ki", 1 << 10, 1),
    ("Mi", 1 << 20, 1),
    ("Gi", 1 << 30, 1),
    ("Ti", 1 << 40, 1),
    ("kilo", 1000, 1),
    ("mega", 1_000_000, 1),
    ("giga", 1_000_000_000, 1),
    ("thousand", 1000, 1),
    ("million", 1_000_000, 1),
];

/// Parses a unit: `MB/s`, `bops per watt`, `K bops`, `%`. Never fails, because an unknown word is a
/// separate dimension.
pub fn parse(text: &str) -> Unit {
    let text = text.trim();
    let (text, factor) = multiplier(text);
    let simple_unit = simple(text);
    let mut unit = simple_unit.unwrap_or_else(|| quotient(text));
    unit.factor *= factor;
    unit
}

/// Converts a value; `None` if the units have different dimensions.
pub fn convert(value: &Exact, from: &Unit, to: &Unit) -> Option<Exact> {
    (from.dimension == to.dimension).then(|| value * &from.factor / &to.factor)
}

/// Returns true if every part of the text is a known unit.
pub fn is_known(text: &str) -> bool {
    let text = multiplier(text.trim()).0;
    !text.is_empty() && (simple(text).is_some() || text.split('/').all(|p| simple(p).is_some()))
}

/// Returns true if the text is only a multiplier: `K`, `M`.
pub fn is_multiplier(text: &str) -> bool {
    let (rest, factor) = multiplier(text.trim());
    rest.is_empty() && !factor.is_one()
}

/// Splits off a multiplier that is alone or before a word: `K`, `million ops`.
fn multiplier(text: &str) -> (&str, Exact) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let alone = |p: &str| matches!(p, "k" | "K" | "M" | "G" | "T" | "thousand" | "million");
    match PREFIXES.iter().find(|(p, ..)| *p == first && alone(p)) {
        Some((_, n, d)) => (rest.trim_start(), ratio(*n, *d)),
        None => (text, Exact::one()),
    }
}

/// Parses a quotient of units, or an unknown word as a separate dimension.
fn quotient(text: &str) -> Unit {
    let spelled = text.replace(" per ", "/");
    // `Mbps` and `kBps` are bits and bytes per second.
    let spelled = match spelled.strip_suffix("ps") {
        Some(start) if simple(start).is_some_and(|u| u.dimension == "B") => format!("{start}/s"),
        _ => spelled,
    };
    let mut parts = spelled.split('/').map(str::trim);
    let of = |part: &str| {
        simple(part).unwrap_or_else(|| Unit { dimension: word(part), factor: Exact::one() })
    };
    let mut unit = of(parts.next().unwrap_or(""));
    for part in parts {
        let below = of(part);
        unit.dimension = format!("{}/{}", unit.dimension, below.dimension);
        unit.factor /= below.factor;
    }
    unit
}

/// Parses a known unit, with or without a prefix.
fn simple(text: &str) -> Option<Unit> {
    UNITS.iter().find_map(|(spellings, dimension, n, d)| {
        let factor = spellings.iter().find_map(|spelling| {
            let name = spelling.trim_start_matches('*');
            if text == name {
                return Some(Exact::one());
            }
            let prefix = text.strip_suffix(name).filter(|_| spelling.starts_with('*'))?;
            PREFIXES.iter().find(|(p, ..)| *p == prefix).map(|(_, n, d)| ratio(*n, *d))
        })?;
        Some(Unit { dimension: (*dimension).to_owned(), factor: factor * ratio(*n, *d) })
    })
}

/// Normalizes a word to a dimension: case and plural are ignored.
fn word(text: &str) -> String {
    let text = text.to_lowercase();
    match text.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') && !stem.ends_with('p') => {
            stem.to_owned()
        }
        _ => text,
    }
}

fn ratio(n: i64, d: i64) -> Exact {
    exact::from_integer(n) / exact::from_integer(d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(value: &str, from: &str, to: &str) -> Option<String> {
        let value = exact::parse(value).unwrap();
        convert(&value, &parse(from), &parse(to)).map(|v| exact::shown(&v))
    }

    #[test]
    fn values_are_converted_inside_a_dimension() {
        for (value, from, to, wanted) in [
            ("32535.2", "KB/s", "MB/s", "32.5352"),
            ("3.5", "GB/s", "Gbit/s", "28"),
            ("3.5", "GB/s", "Gbps", "28"),
            ("64", "KiB", "B", "65536"),
            ("1.5", "h", "min", "90"),
            ("2", "ms", "\u{b5}s", "2000"),
            ("2.5", "x", "times", "2.5"),
            ("352", "K bops", "bops", "352000"),
            ("352", "K", "", "352000"),
            ("1.2", "million ops/s", "kops/s", "1200"),
            ("30", "MB per second", "MB/sec", "30"),
            ("4", "bops per watt", "bops/W", "4"),
            ("7", "Systems", "system", "7"),
        ] {
            assert_eq!(converted(value, from, to).as_deref(), Some(wanted), "{value} {from} {to}");
        }
    }

    #[test]
    fn values_of_two_dimensions_are_never_converted() {
        for (from, to) in [("MB", "MB/s"), ("s", "bops"), ("bops", "bops/W"), ("%", ""), ("W", "J")]
        {
            assert_eq!(converted("1", from, to), None, "{from} {to}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,20}") {
            let unit = parse(&text);
            assert!(convert(&exact::from_integer(1), &unit, &unit).is_some());
        }
    }
}
