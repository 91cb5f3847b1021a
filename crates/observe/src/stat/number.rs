//! Formatting of numbers for narrow columns.

/// Formats a value in at most four characters, with SI prefixes: `0`, `0.2`, `7.5`, `42`, `999`,
/// `1.2k`, `12k`, `3.4G`. A missing value is `-`.
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let mut scaled = value;
    for prefix in ["", "k", "M", "G", "T", "P", "E"] {
        let places =
            usize::from(scaled.abs() < 9.95 && (!prefix.is_empty() || scaled.fract() != 0.0));
        if scaled.abs() < 999.5 {
            return format!("{scaled:.places$}{prefix}");
        }
        scaled /= 1000.0;
    }
    "huge".to_owned()
}

/// Formats a share as a whole number of percent; `-` if missing.
pub fn percent(value: f64) -> String {
    if value.is_finite() { format!("{value:.0}") } else { "-".to_owned() }
}

/// Formats a value with two decimals, as `iostat` prints it; `-` if missing.
pub fn hundredths(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { "-".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_characters() {
        for (value, text) in [
            (0.0, "0"),
            (0.04, "0.0"),
            (0.25, "0.2"),
            (7.0, "7"),
            (7.54, "7.5"),
            (9.96, "10"),
            (42.4, "42"),
            (999.4, "999"),
            (999.6, "1.0k"),
            (1234.0, "1.2k"),
            (99_960.0, "100k"),
            (3.4e9, "3.4G"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(short(value), text);
            assert!(text.len() <= 4);
        }
        assert_eq!(percent(99.6), "100");
        assert_eq!(percent(f64::NAN), "-");
        assert_eq!(hundredths(1.0), "1.00");
    }
}
