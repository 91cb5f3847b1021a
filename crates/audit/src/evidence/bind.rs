//! Binds the words of a sentence to rows and columns of the tables around it.

use super::amount::Dimension;
use super::grid::{At, Better, Grid};
use super::name::{Mention, is_plain, words};
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
        // A word of speech that is also a row ("insert") stays; one that is a column's whole name
        // and a part of a row's is the column's.
        rows.retain(|r| {
            r.whole || !columns.iter().any(|c| c.whole && c.start <= r.start && c.end >= r.end)
        });
        Named { rows, columns }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.columns.is_empty()
    }
}

/// The names of one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Rows,
    Columns,
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

/// What the words around a claim say of its metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// "faster": a time or a rate.
    Speed,
    /// "memory", "RSS", "files".
    Size,
    Power,
    Time,
    Rate,
    /// Nothing.
    Any,
}

const SIZE: [&str; 20] = [
    "memory",
    "ram",
    "rss",
    "smaller",
    "size",
    "larger",
    "bigger",
    "bytes",
    "heap",
    "footprint",
    "file",
    "files",
    "binary",
    "disk",
    "lighter",
    "heavier",
    "storage",
    "space",
    "smallest",
    "largest",
];
const TIME: [&str; 17] = [
    "time",
    "latency",
    "seconds",
    "shorter",
    "longer",
    "long",
    "shortest",
    "longest",
    "runtime",
    "duration",
    "minutes",
    "milliseconds",
    "startup",
    "takes",
    "took",
    "delay",
    "elapsed",
];
const RATE: [&str; 19] = [
    "throughput",
    "requests",
    "queries",
    "qps",
    "rps",
    "tps",
    "iops",
    "ops",
    "fps",
    "frames",
    "bandwidth",
    "operations",
    "transactions",
    "rate",
    "req/s",
    "ops/s",
    "requests/sec",
    "jobs",
    "messages",
];
const SPEED: [&str; 26] = [
    "faster",
    "slower",
    "fast",
    "slow",
    "speed",
    "speedup",
    "fastest",
    "slowest",
    "quicker",
    "quickest",
    "performance",
    "beats",
    "beat",
    "outperforms",
    "wins",
    "win",
    "improvement",
    "speedups",
    "perform",
    "performs",
    "ahead",
    "better",
    "regression",
    "slowdown",
    "behind",
    "lags",
];
const POWER: [&str; 6] = ["power", "watts", "draws", "energy", "consumes", "watt"];

/// Whether a word names a metric.
pub(crate) fn is_metric(lower: &str) -> bool {
    [&SIZE[..], &TIME, &RATE, &SPEED, &POWER].iter().any(|set| set.contains(&lower))
}

/// The metric that the words of a clause name; the pointing word of the claim decides last.
pub(crate) fn metric(sentence: &Sentence<'_>, clause: std::ops::Range<usize>) -> Metric {
    let has = |set: &[&str]| {
        sentence.tokens[clause.clone()].iter().any(|t| set.contains(&t.lower.as_str()))
    };
    // "faster for small files" is no word on sizes.
    let speed = has(&["faster", "slower", "quicker", "fastest", "slowest", "quickest"]);
    if has(&POWER) && !speed {
        Metric::Power
    } else if has(&SIZE) && !speed {
        Metric::Size
    } else if has(&RATE) {
        Metric::Rate
    } else if has(&TIME) {
        Metric::Time
    } else if has(&SPEED) {
        Metric::Speed
    } else {
        Metric::Any
    }
}

impl Metric {
    /// Whether a column can be what the words mean.
    pub(crate) fn takes(self, dimension: Dimension, better: Better, name: &str) -> bool {
        let lower = name.to_lowercase();
        let has = |set: &[&str]| set.iter().any(|w| lower.contains(w));
        let size = has(&["memory", "rss", "size", "ram", "alloc", "disk", "space"]);
        let sized = size
            || has(&[
                "power", "watt", "core", "thread", "version", "cpu", "cost", "price", "recall",
                "accuracy", "ratio",
            ]);
        match self {
            Metric::Any => true,
            Metric::Size => dimension == Dimension::Bytes || dimension == Dimension::Plain && size,
            Metric::Power => dimension == Dimension::Power,
            Metric::Time => {
                dimension == Dimension::Time
                    || dimension == Dimension::Plain && better == Better::Less && !sized
            }
            Metric::Rate => {
                matches!(dimension, Dimension::Rate | Dimension::ByteRate | Dimension::BitRate)
                    || dimension == Dimension::Plain && better != Better::Less && !sized
            }
            Metric::Speed => {
                matches!(
                    dimension,
                    Dimension::Time | Dimension::Rate | Dimension::ByteRate | Dimension::BitRate
                ) || dimension == Dimension::Plain && !sized
            }
        }
    }
}

/// Statistics of one metric: which of several columns is meant when none is named.
pub(crate) fn statistic(name: &str) -> usize {
    let words = words(name);
    let has = |set: &[&str]| words.iter().any(|w| set.contains(&w.as_str()));
    if has(&["mean", "averag", "avg"]) {
        0
    } else if has(&["median", "p50"]) {
        1
    } else if has(&[
        "min", "max", "stddev", "stdev", "iqr", "best", "worst", "p90", "p95", "p99", "p99.9",
        "outlier", "range", "minimum", "maximum", "user", "system", "low", "high",
    ]) {
        3
    } else {
        0
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
    const GENERAL: [&str; 64] = [
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
        "our",
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
                if value || t.lower.contains('%') || tokens[i].lower == "in" {
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
