//! Text as tokens: words, numbers with units, marks. Dates, times of day, version numbers and
//! numbers that are part of a name are not taken for quantities.

use crate::read::digits::{grouped, numeric, word_length};
use crate::read::source::Span;
use crate::read::spelled;
use crate::read::unit::{self, Unit};

/// A number as printed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Number {
    /// The value in the printed unit ("352K" is 352000).
    pub value: f64,
    /// One unit in the last printed digit.
    pub step: f64,
    pub unit: Option<Unit>,
    /// Factor from the printed unit to the base unit.
    pub scale: f64,
    /// The other factor that the same letters may mean.
    pub binary: Option<f64>,
    /// Part of a name ("Solaris 10", "Table 2"): no quantity.
    pub label: bool,
    /// Written as a word ("two").
    pub spelled: bool,
}

impl Number {
    pub(crate) fn base(&self) -> f64 {
        self.value * self.scale
    }

    pub(crate) fn is(&self, unit: &Unit) -> bool {
        self.unit.as_ref() == Some(unit)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Word,
    Number(Number),
    Mark(char),
}

/// A word, number or mark with its place in the whole text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub span: Span,
    pub lower: String,
    pub kind: Kind,
    /// Starts with a capital.
    pub capital: bool,
}

impl Token {
    pub(crate) fn number(&self) -> Option<&Number> {
        match &self.kind {
            Kind::Number(n) => Some(n),
            _ => None,
        }
    }

    /// A number that is a quantity, no part of a name.
    pub(crate) fn quantity(&self) -> Option<&Number> {
        self.number().filter(|n| !n.label)
    }

    /// A sign of money.
    pub(crate) fn is_currency(&self) -> bool {
        self.is_mark('$') || self.is_mark('€')
    }

    pub(crate) fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }

    pub(crate) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// The tokens of a piece of the text.
pub(crate) fn tokens(text: &str, span: Span) -> Vec<Token> {
    let piece = span.of(text);
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(c) = piece[at..].chars().next() {
        let start = at;
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let rest = &piece[at..];
        if let Some(length) = interval_length(rest) {
            at += length;
            continue;
        }
        let number = c.is_ascii_digit()
            || (c == '.' && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit));
        let (length, kind) = if number {
            let named = tokens.last().is_some_and(|t| t.is_word() && t.capital);
            grouped(rest, named && tokens.len() > 1).unwrap_or_else(|| numeric(rest))
        } else if c.is_alphanumeric() || c == '_' {
            (word_length(rest), Kind::Word)
        } else {
            (c.len_utf8(), Kind::Mark(c))
        };
        at += length;
        let printed = &piece[start..at];
        // A hyphen inside a compound ("4-chip") only joins.
        if matches!(kind, Kind::Mark('-' | '‐')) && joins(piece, start, at) {
            continue;
        }
        tokens.push(Token {
            span: Span::new(span.start + start, span.start + at),
            lower: printed.to_lowercase(),
            capital: printed.chars().next().is_some_and(char::is_uppercase),
            kind,
        });
    }
    spelled::numbers(&mut tokens);
    attach_units(text, &mut tokens);
    spelled::durations(text, &mut tokens);
    label(&mut tokens);
    tokens
}

/// The length of the interval that a text begins with, such as `[95 % CI 1.03, 1.07]`: it belongs to the
/// number before it and claims nothing by itself.
fn interval_length(text: &str) -> Option<usize> {
    let (inside, _) = text.strip_prefix('[')?.split_once(']')?;
    let (level, ends) = inside.split_once(" CI ")?;
    let is_one = level.trim_end().ends_with('%') && ends.contains(',');
    is_one.then_some(inside.len() + 2)
}

/// Whether the hyphen in `start..end` stands between letters or a number and a word.
fn joins(piece: &str, start: usize, end: usize) -> bool {
    let before = piece[..start].chars().next_back();
    let after = piece[end..].chars().next();
    let digits = before.is_some_and(|c| c.is_ascii_digit() || c == '%')
        && after.is_some_and(|c| c.is_ascii_digit());
    before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric) && !digits
}

/// A unit in the next word belongs to the number before it ("520 Watts", "16 virtual CPUs").
fn attach_units(text: &str, tokens: &mut [Token]) {
    for i in 0..tokens.len() {
        let Some(n) = tokens[i].number() else { continue };
        if n.unit.is_some() {
            continue;
        }
        let Some(next) = tokens.get(i + 1) else { continue };
        let near = next.span.start <= tokens[i].span.end + 1;
        if next.is_mark('%') && near {
            set_unit(&mut tokens[i], unit::Read { unit: Unit::Percent, scale: 1.0, binary: None });
            continue;
        }
        if (next.is_mark('×') || next.is_mark('x')) && near {
            set_unit(&mut tokens[i], unit::Read { unit: Unit::Times, scale: 1.0, binary: None });
            continue;
        }
        if !next.is_word() {
            continue;
        }
        let mut lower = next.lower.clone();
        let mut printed = next.span.of(text).to_owned();
        // "30 MB / sec", "28 Gbit per second"
        let per = tokens.get(i + 2).zip(tokens.get(i + 3)).is_some_and(|(mark, second)| {
            (mark.is_mark('/') || mark.lower == "per" || mark.lower == "a")
                && matches!(second.lower.as_str(), "s" | "sec" | "second")
        });
        if per && !lower.contains('/') && !lower.ends_with("ps") {
            lower.push_str("/s");
            printed.push_str("/s");
        }
        let skip = ["u", "s", "h", "w", "x", "system", "systems", "server", "servers"];
        let alone = lower.len() == 1
            && !matches!(printed.as_str(), "s" | "W" | "J" | "U" | "x" | "X" | "h");
        if alone
            || (skip.contains(&lower.as_str())
                && lower.len() > 1
                && tokens[i].number().is_some_and(|n| n.value.fract() != 0.0))
        {
            continue;
        }
        if let Some(read) = unit::read(&lower, &printed) {
            set_unit(&mut tokens[i], read);
        }
    }
    // "from 30 to 15 minutes": the first has the unit of the second.
    for i in 0..tokens.len() {
        let joined =
            tokens.get(i + 1).is_some_and(|t| t.lower == "to" || t.is_mark('-') || t.is_mark('–'));
        let Some(next) = tokens.get(i + 2).and_then(Token::number) else { continue };
        if joined && tokens[i].number().is_some_and(|n| n.unit.is_none()) && next.unit.is_some() {
            let read = unit::Read {
                unit: next.unit.clone().unwrap_or(Unit::Times),
                scale: next.scale,
                binary: next.binary,
            };
            set_unit(&mut tokens[i], read);
        }
    }
    // The rate of a number that carries its unit itself: "30MB per second".
    for i in 0..tokens.len() {
        let per = tokens.get(i + 1).zip(tokens.get(i + 2)).is_some_and(|(mark, second)| {
            (mark.is_mark('/') || mark.lower == "per")
                && matches!(second.lower.as_str(), "s" | "sec" | "second")
        });
        if per && let Kind::Number(n) = &mut tokens[i].kind {
            n.unit = match n.unit.take() {
                Some(Unit::Bytes) => Some(Unit::ByteRate),
                Some(Unit::Bits) => Some(Unit::BitRate),
                other => other,
            };
        }
    }
}

fn set_unit(token: &mut Token, read: unit::Read) {
    if let Kind::Number(n) = &mut token.kind {
        n.unit = Some(read.unit);
        n.scale = read.scale;
        n.binary = read.binary;
    }
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Words before a number that make it part of a name.
const NAMING: [&str; 22] = [
    "table", "figure", "fig", "version", "v", "update", "release", "section", "chapter", "step",
    "ref", "note", "solaris", "linux", "studio", "gcc", "java", "windows", "rhel", "sp", "build",
    "page",
];

/// Marks the numbers that are parts of names, and years.
fn label(tokens: &mut [Token]) {
    for i in 0..tokens.len() {
        let Some(n) = tokens[i].number() else { continue };
        if n.unit.is_some() || n.spelled {
            continue;
        }
        let value = n.value;
        let whole = n.step == 1.0 && value.fract() == 0.0;
        let release = n.step == 0.01 && (1990.0..2100.0).contains(&value);
        let year = whole && (1900.0..2100.0).contains(&value) && tokens[i].lower.len() == 4;
        let previous = i.checked_sub(1).map(|p| &tokens[p]);
        let month =
            |t: &Token| t.is_word() && MONTHS.iter().any(|m| t.lower.starts_with(m)) && t.capital;
        let named = previous.is_some_and(|p| {
            let bare = !p.lower.bytes().any(|b| b.is_ascii_digit());
            let family = p.lower == "p" || (p.capital && p.lower.len() > 1);
            p.is_word()
                && (NAMING.contains(&p.lower.as_str())
                    || (whole && bare && family && !OPENERS.contains(&p.lower.as_str())))
        });
        let issue = whole && previous.is_some_and(|p| p.is_mark('#'));
        let dated = previous.is_some_and(month) || tokens.get(i + 1).is_some_and(month) && whole;
        let noted = previous.is_some_and(|p| p.is_mark('['))
            && tokens.get(i + 1).is_some_and(|t| t.is_mark(']'));
        let after_year_month =
            year && i >= 2 && month(&tokens[i - 2]) || year && i >= 3 && month(&tokens[i - 3]);
        let name = named && value < 1e4;
        if let Kind::Number(n) = &mut tokens[i].kind {
            n.label = name || issue || dated || noted || after_year_month || year || release;
        }
    }
}

/// Capitals at the start of a sentence that name nothing.
const OPENERS: [&str; 30] = [
    "the",
    "over",
    "about",
    "only",
    "with",
    "from",
    "of",
    "and",
    "or",
    "to",
    "at",
    "in",
    "by",
    "up",
    "nearly",
    "almost",
    "more",
    "less",
    "than",
    "average",
    "total",
    "all",
    "result",
    "results",
    "a",
    "performance",
    "score",
    "on",
    "each",
    "just",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn quantities(text: &str) -> Vec<(f64, Option<Unit>)> {
        tokens(text, Span::new(0, text.len()))
            .iter()
            .filter_map(Token::quantity)
            .map(|n| (n.value * n.scale, n.unit.clone()))
            .collect()
    }

    #[test]
    fn an_interval_belongs_to_its_number() {
        let text = r"5.5% faster [95 % CI 3.1%, 7.4%] and 8 GB \[95 % CI 7, 9\], but [12 of 5, 6]";
        let found: Vec<f64> = quantities(text).into_iter().map(|(v, _)| v).collect();
        assert_eq!(found, [5.5, 8e9, 12.0, 5.0, 6.0]);
    }

    #[test]
    fn numbers_carry_their_units() {
        assert_eq!(
            quantities(
                "1,234 ops, 352K, 1.6 GHz, 8RU, 5 %, 2.6X, 30MB/sec, 3.5 GB per second, 15 minutes"
            ),
            [
                (1234.0, None),
                (352000.0, None),
                (1.6e9, Some(Unit::Frequency)),
                (8.0, Some(Unit::RackUnits)),
                (5.0, Some(Unit::Percent)),
                (2.6, Some(Unit::Times)),
                (30e6, Some(Unit::ByteRate)),
                (3.5e9, Some(Unit::ByteRate)),
                (900.0, Some(Unit::Time)),
            ]
        );
    }

    #[test]
    fn thousands_are_grouped_by_spaces_and_apostrophes() {
        let values = |text: &str| quantities(text).into_iter().map(|(v, _)| v).collect::<Vec<_>>();
        assert_eq!(
            values(
                "It loads 412 000 rows, 1\u{2009}310\u{2009}000.5 or 60'870 of them, not 2 100 ms."
            ),
            [412_000.0, 1_310_000.5, 60_870.0, 2.1]
        );
        // Of names, counts and sizes, and lists.
        assert_eq!(values("The Corona 820 776 users"), [776.0]);
        assert_eq!(values("with 12 146 GB disks"), [12.0, 146e9]);
        assert_eq!(
            values("at 8 and 16 1024 byte blocks, 8 1000x"),
            [8.0, 16.0, 1024.0, 8.0, 1000.0]
        );
    }

    #[test]
    fn ranges_and_compounds_are_numbers() {
        assert_eq!(quantities("4-6 of 4% to 13%").len(), 4);
        assert_eq!(quantities("a 4-chip box"), [(4.0, Some(Unit::Count("chip")))]);
        assert_eq!(quantities("two cores"), [(2.0, Some(Unit::Count("core")))]);
    }

    #[test]
    fn dates_versions_and_names_are_no_quantities() {
        let text = "On 8/25/2009 at 13:11:39 we used Release 5, v1.6.0_14 of Foo 10, 2009.06, \
                    May 3, 2011, Power 570, [1], Table 2, 7.2.1 and T5220.";
        assert_eq!(quantities(text), []);
    }

    #[test]
    fn sizes_are_printed_as_df_prints_them() {
        assert_eq!(quantities("412T of 1.84G, a 10G card"), [(412e12, None), (1.84e9, None)]);
        assert_eq!(quantities("6 J each"), [(6.0, Some(Unit::Energy))]);
    }

    #[test]
    fn scientific_notation() {
        assert_eq!(quantities("3.5e9 bytes/s"), [(3.5e9, Some(Unit::ByteRate))]);
    }
}
