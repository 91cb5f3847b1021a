//! Binds the words of a sentence to rows and columns of the tables around it.

use super::amount::Dimension;
use super::grid::{At, Grid};
use super::name::{Mention, is_plain, related, words};
use crate::read::source::Span;
use crate::read::token::Token;

/// A sentence with its words, and what it names in each table.
pub(crate) struct Sentence<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
    pub pieces: Vec<Vec<String>>,
    pub span: Span,
}

impl<'a> Sentence<'a> {
    pub(crate) fn new(text: &'a str, tokens: &'a [Token], span: Span) -> Self {
        // "one thread" is the row "1 thread".
        let spelled = |t: &Token| {
            let n = t.number().filter(|n| n.spelled && n.value.fract() == 0.0)?;
            Some(format!("{:.0}", n.value))
        };
        let pieces = tokens.iter().map(|t| {
            let mut own = words(&t.lower);
            own.extend(spelled(t));
            own
        });
        let pieces = pieces.collect();
        Sentence { text, tokens, pieces, span }
    }

    pub(crate) fn lower(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |t| t.lower.as_str())
    }

    /// Whether what begins at a token is what something is compared with: "than that of", "over the".
    pub(crate) fn compared(&self, start: usize) -> bool {
        let links = |i: &usize| {
            matches!(
                self.lower(*i),
                "the" | "that" | "those" | "of" | "in" | "with" | "on" | "for" | "a" | "an" | "its"
            )
        };
        let first = (0..start).rev().take(4).find(|i| !links(i));
        first.is_some_and(|i| {
            matches!(self.lower(i), "than" | "over" | "vs" | "versus" | "against")
                || self.lower(i) == "as" && (i.saturating_sub(4)..i).any(|j| self.lower(j) == "as")
        })
    }

    /// Where the part of the sentence begins that a token stands in: behind the last colon or semicolon with a name
    /// or "it" behind it ("It is an interpreter: Fibonacci takes ...").
    pub(crate) fn part(&self, at: usize, named: impl Fn(usize) -> bool) -> usize {
        let mark = |i: &usize| self.tokens[*i].is_mark(':') || self.tokens[*i].is_mark(';');
        (0..at)
            .rev()
            .filter(mark)
            .find(|i| (i + 1..at).any(|j| named(j) || matches!(self.lower(j), "it" | "its")))
            .map_or(0, |i| i + 1)
    }
}

/// What a sentence names in a table.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub rows: Vec<Mention>,
    pub columns: Vec<Mention>,
}

impl Named {
    pub(crate) fn read(grid: &Grid, sentence: &Sentence<'_>) -> Named {
        let mut rows = grid.rows.mentions(sentence.tokens, &sentence.pieces);
        let mut columns = grid.columns.mentions(sentence.tokens, &sentence.pieces);
        // The title of the column of names ("Workload") is no name of a value.
        let valued: Vec<usize> = grid.valued().collect();
        for mention in &mut columns {
            mention.who.retain(|c| valued.contains(c) && !grid.is_against(*c));
        }
        columns.retain(|m| !m.who.is_empty());
        columns.extend(verbs(grid, sentence, &rows, &columns));
        columns.sort_by_key(|m| m.start);
        // A word of speech that is also a row ("insert") stays; one that is a column's whole name
        // and a part of a row's is the column's.
        rows.retain(|r| {
            r.whole || !columns.iter().any(|c| c.whole && c.start <= r.start && c.end >= r.end)
        });
        for mentions in [&mut rows, &mut columns] {
            if mentions.iter().any(|m| !m.slight) {
                mentions.retain(|m| !m.slight);
            }
        }
        Named { rows, columns }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.columns.is_empty()
    }
}

/// Verbs of which a column's name is the noun: "resumes" for "Resumptions/s".
fn verbs(
    grid: &Grid,
    sentence: &Sentence<'_>,
    rows: &[Mention],
    columns: &[Mention],
) -> Vec<Mention> {
    let free = |i: usize| !rows.iter().chain(columns).any(|m| (m.start..m.end).contains(&i));
    let valued: Vec<usize> = grid.valued().collect();
    let of = |i: usize| {
        let word =
            sentence.pieces[i].first().filter(|w| !is_plain(w) && sentence.pieces[i].len() == 1)?;
        let mut who = valued.iter().copied().filter(|c| {
            !grid.is_against(*c)
                && grid.columns.names[*c].words.iter().any(|w| w != word && related(w, word))
        });
        let one = who.next().filter(|_| who.next().is_none())?;
        Some(Mention { start: i, end: i + 1, who: vec![one], whole: false, slight: true })
    };
    (0..sentence.tokens.len())
        .filter(|i| free(*i) && sentence.tokens[*i].is_word())
        .filter_map(of)
        .collect()
}

/// The names of one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Rows,
    Columns,
}

impl Side {
    pub(crate) fn other(self) -> Side {
        match self {
            Side::Rows => Side::Columns,
            Side::Columns => Side::Rows,
        }
    }
}

impl Named {
    pub(crate) fn side(&self, side: Side) -> &[Mention] {
        match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.columns,
        }
    }
}

/// A cell of an axis and its other coordinate.
pub(crate) fn at(side: Side, own: usize, other: usize) -> At {
    match side {
        Side::Rows => At { row: own, column: other },
        Side::Columns => At { row: other, column: own },
    }
}

/// The words whose conditions hold for a claim: its own clause and what opens its sentence.
pub(crate) fn around(
    sentence: &Sentence<'_>,
    clause: std::ops::Range<usize>,
) -> std::ops::Range<usize> {
    let stop = (clause.end..sentence.tokens.len())
        .find(|i| {
            sentence.tokens[*i].is_mark(';')
                || sentence.tokens[*i].quantity().is_some()
                || matches!(sentence.lower(*i), "and" | "but" | "while" | "whereas")
        })
        .unwrap_or(sentence.tokens.len());
    0..stop
}

/// Whether a word is of a column's name without a number: what so many of are counted.
fn counted(grid: &Grid, word: &String) -> bool {
    let numbered = |w: &String| w.starts_with(|c: char| c.is_ascii_digit());
    let mut with = grid.columns.names.iter().filter(|n| n.words.contains(word)).peekable();
    with.peek().is_some() && !with.any(|n| n.words.iter().any(numbered))
}

/// Words that set a condition which the table does not show: "on Windows", "with batches of 64".
pub(crate) fn foreign(
    grid: &Grid,
    sentence: &Sentence<'_>,
    range: std::ops::Range<usize>,
) -> Option<String> {
    const OPENERS: [&str; 16] = [
        "after", "once", "since", "until", "on", "with", "for", "under", "using", "in", "when",
        "while", "without", "at", "across", "during",
    ];
    const GENERAL: [&str; 63] = [
        "total",
        "all",
        "average",
        "median",
        "mean",
        "same",
        "this",
        "here",
        "job",
        "test",
        "tests",
        "table",
        "these",
        "change",
        "benchmark",
        "benchmarks",
        "general",
        "case",
        "addition",
        "contrast",
        "comparison",
        "fact",
        "terms",
        "time",
        "performance",
        "speed",
        "throughput",
        "latency",
        "memory",
        "runs",
        "run",
        "every",
        "each",
        "it",
        "its",
        "them",
        "measurement",
        "measurements",
        "particular",
        "practice",
        "both",
        "least",
        "most",
        "about",
        "around",
        "only",
        "just",
        "over",
        "than",
        "nearly",
        "almost",
        "that",
        "respect",
        "regard",
        "allocation",
        "order",
        "magnitude",
        "we",
        "which",
        "what",
        "return",
        "geometric",
        "overall",
    ];
    let known = |w: &String| grid.knows(w);
    let tokens = sentence.tokens;
    let mut i = range.start;
    while i < range.end {
        if !OPENERS.contains(&tokens[i].lower.as_str()) {
            i += 1;
            continue;
        }
        let end = (i + 6).min(range.end);
        let mut words = Vec::new();
        let mut fine = false;
        let mut open = false;
        for (j, t) in tokens.iter().enumerate().take(end).skip(i + 1) {
            if matches!(t.kind, crate::read::token::Kind::Mark(_))
                || OPENERS.contains(&t.lower.as_str())
            {
                break;
            }
            if t.number().is_some() && j == i + 1 && !sentence.pieces[j].iter().any(known) {
                // "in 16.1 minutes" is the value itself, "at 4K" and "with two threads" are not.
                let value = super::amount::at(sentence.text, tokens, j).is_some_and(|(a, _)| {
                    !matches!(a.dimension(), Dimension::Plain | Dimension::Count)
                });
                let noun =
                    sentence.pieces.get(j + 1).is_some_and(|p| p.iter().any(|w| counted(grid, w)));
                if value || noun || t.lower.contains('%') || tokens[i].lower == "in" {
                    fine = true;
                    break;
                }
                open = true;
                words.push(t.lower.clone());
                break;
            }
            // "With ray tracing the A is": what follows the article is the subject.
            if open && matches!(t.lower.as_str(), "the" | "a" | "an" | "it") {
                break;
            }
            if sentence.pieces[j].iter().any(known) || GENERAL.contains(&t.lower.as_str()) {
                fine = true;
                break;
            }
            if matches!(
                t.lower.as_str(),
                "is" | "are" | "was" | "takes" | "and" | "but" | "than" | "needs" | "has"
            ) {
                break;
            }
            open |= sentence.pieces[j].iter().any(|w| !is_plain(w));
            words.push(t.lower.clone());
        }
        if !fine && open {
            return Some(format!("{} {}", tokens[i].lower, words.join(" ")));
        }
        i += 1;
    }
    None
}
