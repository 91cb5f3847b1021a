//! What the words over a table say of the unit of its cells.

use super::amount::{self, Dimension, Measure};
use super::cell::{factor, prefixed, thousands};

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
fn unit(title: &str) -> Option<Measure> {
    in_phrases(&title.to_lowercase()).or_else(|| in_words(title)).or_else(|| in_thousands(title))
}

/// The units that words give the columns under them. A column of memory takes no unit but one of bytes, and where there
/// is one, bytes are of no other column.
pub(super) fn of_columns(title: &str, columns: &[String]) -> Vec<Option<Measure>> {
    let bytes = |m: &Measure| m.dimension == Dimension::Bytes;
    let first = unit(title);
    let memory: Vec<bool> = columns.iter().map(|c| is_memory(c)).collect();
    if !memory.contains(&true) {
        return vec![first; columns.len()];
    }
    let size = first.filter(bytes).or_else(|| units(title).find(bytes));
    let other = first.filter(|m| !bytes(m)).or_else(|| units(title).find(|m| !bytes(m)));
    memory.iter().map(|m| if *m { size } else { other }).collect()
}

/// Whether a column says that it is of memory.
fn is_memory(name: &str) -> bool {
    name.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .any(|w| matches!(w, "memory" | "mem" | "rss" | "heap" | "ram" | "footprint"))
}

fn in_phrases(title: &str) -> Option<Measure> {
    let (phrase, unit) = PHRASES.iter().find(|(phrase, _)| says(title, phrase))?;
    if *unit == "s" {
        return Some(Measure { dimension: Dimension::Time, scale: 1.0, binary: None });
    }
    // "thousands of operations per second"
    let before = title.split(phrase).next().unwrap_or("");
    let before: Vec<&str> = before.split_whitespace().collect();
    amount::measure(unit).map(|m| prefixed(m, &before))
}

/// Words that count in thousands: "in thousands", "(millions)".
fn in_thousands(title: &str) -> Option<Measure> {
    let words: Vec<&str> = title.split_whitespace().collect();
    words.windows(2).find_map(|w| {
        let bare = w[1].trim_end_matches([',', '.', ':', ';']);
        let inside = bare.strip_prefix('(').and_then(|b| b.strip_suffix(')'));
        let said = inside.or(Some(bare).filter(|_| matches!(w[0], "in" | "In" | "(in")))?;
        let many = ["thousands", "millions", "billions", "x1000", "×1000"];
        let word = many.into_iter().find(|m| *m == said.trim_end_matches(')'))?;
        factor(word).map(thousands)
    })
}

/// Whether a title has a unit that no number stands before: "60 seconds" is how long something ran.
fn says(title: &str, phrase: &str) -> bool {
    title.match_indices(phrase).any(|(at, _)| {
        let before = title[..at].trim_end_matches([' ', '-', '\u{a0}']);
        !before.ends_with(|c: char| c.is_ascii_digit())
    })
}

/// The unit behind "in", or in brackets, if it is but one: "in GB", "(kB)".
fn in_words(title: &str) -> Option<Measure> {
    let mut found = units(title);
    let first = found.next()?;
    found.all(|m| m == first).then_some(first)
}

/// The units behind "in", or in brackets.
fn units(title: &str) -> impl Iterator<Item = Measure> {
    let bare = |w: &str| w.trim_matches([',', '.', ':', ';', '(', ')', '*', '`']).to_owned();
    let mut before = "";
    title.split_whitespace().filter_map(move |word| {
        let says = before.eq_ignore_ascii_case("in")
            || !before.is_empty() && word.starts_with('(') && word.len() > 2;
        before = word;
        let other = [Dimension::Count, Dimension::Times, Dimension::Percent];
        amount::measure(&bare(word)).filter(|m| says && !other.contains(&m.dimension))
    })
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

    #[test]
    fn a_caption_counts_in_thousands() {
        let of = |title: &str| unit(title).map(|m| (m.dimension, m.scale));
        let plain = Some((Dimension::Plain, 1e3));
        assert_eq!(of("faults per second in thousands:"), plain);
        assert_eq!(of("Calls of a day (in thousands)"), plain);
        assert_eq!(of("Calls of a day (thousands), all hosts"), plain);
        assert_eq!(
            of("in millions of operations per second, 8 threads"),
            Some((Dimension::Rate, 1e6))
        );
        assert_eq!(of("It ran in thousands-odd places, thousands of them"), None);
    }

    #[test]
    fn memory_has_a_unit_of_its_own() {
        let of = |title: &str| -> Vec<Option<f64>> {
            let columns = ["Start", "Peak memory"].map(str::to_owned);
            of_columns(title, &columns).iter().map(|m| m.map(|m| m.scale)).collect()
        };
        assert_eq!(of("All in seconds, the memory in MB."), [Some(1.0), Some(1e6)]);
        assert_eq!(of("The memory is the resident size, in MB."), [None, Some(1e6)]);
        assert_eq!(of("Times in ms"), [Some(1e-3), None]);
    }
}
