//! What the words over a table say of the unit of its cells.

use super::amount::{self, Dimension, Measure};

/// Units in words, the longest first.
const PHRASES: [(&str, &str); 12] = [
    ("queries per second", "qps"),
    ("requests per second", "rps"),
    ("frames per second", "fps"),
    ("operations per second", "ops/s"),
    ("transactions per second", "tps"),
    ("milliseconds", "ms"),
    ("microseconds", "µs"),
    ("nanoseconds", "ns"),
    ("(ms)", "ms"),
    ("in ms", "ms"),
    ("seconds", "s"),
    ("mb/s", "MB/s"),
];

/// The unit that words give all cells under them.
pub(super) fn unit(title: &str) -> Option<Measure> {
    in_phrases(&title.to_lowercase()).or_else(|| in_words(title))
}

fn in_phrases(title: &str) -> Option<Measure> {
    PHRASES.iter().find(|(phrase, _)| says(title, phrase)).and_then(|(_, unit)| {
        if *unit == "s" {
            Some(Measure { dimension: Dimension::Time, scale: 1.0, binary: None })
        } else {
            amount::measure(unit)
        }
    })
}

/// Whether a title has a unit that no number stands before: "60 seconds" is how long something ran.
fn says(title: &str, phrase: &str) -> bool {
    title.match_indices(phrase).any(|(at, _)| {
        let before = title[..at].trim_end_matches([' ', '-', '\u{a0}']);
        !before.ends_with(|c: char| c.is_ascii_digit())
    })
}

/// A unit behind "in", or in brackets: "in GB", "(kB)".
fn in_words(title: &str) -> Option<Measure> {
    let words: Vec<&str> = title.split_whitespace().collect();
    let bare = |w: &str| w.trim_matches([',', '.', ':', ';', '(', ')', '*', '`']).to_owned();
    let behind = |w: &[&str]| {
        let says = w[0].eq_ignore_ascii_case("in") || w[1].starts_with('(') && w[1].len() > 2;
        amount::measure(&bare(w[1])).filter(|m| {
            says && !matches!(m.dimension, Dimension::Count | Dimension::Times | Dimension::Percent)
        })
    };
    let mut found = words.windows(2).filter_map(behind);
    let first = found.next()?;
    found.all(|m| m == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_gives_its_cells_a_unit() {
        let of = |title: &str| unit(title).map(|m| (m.dimension, m.scale));
        assert_eq!(of("All times in seconds"), Some((Dimension::Time, 1.0)));
        assert_eq!(of("Peak memory (kB), lower is better"), Some((Dimension::Bytes, 1e3)));
        assert_eq!(of("Latency in ms for 32 clients"), Some((Dimension::Time, 1e-3)));
        assert_eq!(of("fio, 60 seconds, direct"), None);
        assert_eq!(of("Sizes in MB, times in ms"), Some((Dimension::Time, 1e-3)));
    }
}
