//! Amounts as modern texts print them: the dimension of a unit with its factor, quantities in sentences. Those in cells
//! are read by [`super::cell`].

pub(crate) use super::cell::{of_cell, of_header};
use crate::judge::reading::Claimed;
use crate::read::token::Token;
use crate::read::unit::{self, Unit};

/// What a value measures; values of two dimensions are never compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    Time,
    Bytes,
    ByteRate,
    Bits,
    BitRate,
    /// Things a second.
    Rate,
    Power,
    Energy,
    Frequency,
    Percent,
    Times,
    /// Things that are counted with a noun of their own (cores, threads).
    Count,
    /// Without a unit.
    Plain,
}

impl Dimension {
    /// Whether values of both can stand for one quantity: a rate is often printed without its unit, and a product has none.
    pub(crate) fn fits(self, other: Dimension) -> bool {
        let bare = |a, b| {
            a == Dimension::Plain
                && matches!(b, Dimension::Rate | Dimension::Plain | Dimension::Energy)
        };
        self == other || bare(self, other) || bare(other, self)
    }
}

/// A unit: its dimension, its factor to the base, and the other factor of the same letters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measure {
    pub dimension: Dimension,
    pub scale: f64,
    pub binary: Option<f64>,
}

/// A value in its base unit, with one unit in its last printed digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Amount {
    pub value: f64,
    pub step: f64,
    pub measure: Measure,
    /// As printed, for people.
    pub printed: f64,
}

impl Amount {
    pub(crate) fn dimension(&self) -> Dimension {
        self.measure.dimension
    }

    /// The same number in another unit.
    pub(crate) fn of(self, measure: Measure) -> Amount {
        let factor = measure.scale / self.measure.scale;
        Amount { value: self.value * factor, step: self.step * factor, measure, ..self }
    }

    /// Whether a claimed amount is this one, rounded. Letters like MB may count 1024.
    pub(crate) fn is(&self, claimed: &Amount, bound: crate::judge::reading::Bound) -> Agreement {
        let own = [Some(1.0), self.measure.binary.map(|b| b / self.measure.scale)];
        let theirs = [Some(1.0), claimed.measure.binary.map(|b| b / claimed.measure.scale)];
        let mut best = Agreement::None;
        for x in own.into_iter().flatten() {
            for y in theirs.into_iter().flatten() {
                let value = self.value * x;
                let half = self.step * x / 2.0;
                let fit = Claimed { value: claimed.value * y, step: claimed.step * y, bound }.fit(
                    value,
                    value - half,
                    value + half,
                );
                best = best.max(match fit {
                    crate::claim::ClaimVerdict::Holds => Agreement::Rounds,
                    crate::claim::ClaimVerdict::OffByRounding => Agreement::Near,
                    _ => Agreement::None,
                });
            }
        }
        best
    }
}

/// How far two amounts agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Agreement {
    None,
    Near,
    Rounds,
}

pub(super) fn of(dimension: Dimension, scale: f64) -> Measure {
    Measure { dimension, scale, binary: None }
}

pub(crate) const PLAIN: Measure = Measure { dimension: Dimension::Plain, scale: 1.0, binary: None };

/// Words for things that are done, of which so many a second are a rate.
const DONE: [&str; 28] = [
    "op",
    "ops",
    "req",
    "reqs",
    "request",
    "requests",
    "query",
    "queries",
    "row",
    "rows",
    "msg",
    "msgs",
    "message",
    "messages",
    "event",
    "events",
    "tx",
    "txn",
    "transaction",
    "transactions",
    "job",
    "jobs",
    "call",
    "calls",
    "frame",
    "frames",
    "elem",
    "tokens",
];

/// The unit that a word names.
pub(crate) fn measure(printed: &str) -> Option<Measure> {
    let word = printed.trim_matches(|c: char| matches!(c, '(' | ')' | '[' | ']' | ',' | '.' | ':'));
    let word = word.replace('μ', "µ");
    let lower = word.to_lowercase();
    if let Some((left, right)) = lower.split_once('/') {
        // "J/token", "kWh/run"
        let energy = unit::read(left, &word).filter(|r| r.unit == Unit::Energy);
        if energy.is_some() && right.len() > 1 {
            return energy.as_ref().and_then(measure_of);
        }
        match right {
            "op" | "iter" | "call" | "elem" | "req" | "request" => {
                if left == "b" || left == "bytes" {
                    return Some(of(Dimension::Bytes, 1.0));
                }
                let read = unit::read(left, word.split('/').next().unwrap_or(""))?;
                return measure_of(&read)
                    .filter(|m| m.dimension == Dimension::Time || m.dimension == Dimension::Bytes);
            }
            "s" | "sec" | "second" | "secs" => {
                if let Some(scale) = done(left, word.as_str()) {
                    return Some(of(Dimension::Rate, scale));
                }
                let prefix = match word.split('/').next() {
                    Some("k" | "K") => Some(1e3),
                    Some("M") => Some(1e6),
                    Some("G") => Some(1e9),
                    _ => None,
                };
                if let Some(scale) = prefix {
                    return Some(of(Dimension::Rate, scale));
                }
                // Whatever is counted: "samples/s", "tok/s".
                if left.len() > 1 && left.bytes().all(|b| b.is_ascii_alphabetic()) {
                    return Some(
                        unit::read(&lower, &word)
                            .and_then(|read| measure_of(&read))
                            .unwrap_or(of(Dimension::Rate, 1.0)),
                    );
                }
            }
            "min" | "minute" => {
                return done(left, word.as_str()).map(|s| of(Dimension::Rate, s / 60.0));
            }
            _ => {}
        }
    }
    match lower.as_str() {
        "qps" | "rps" | "tps" | "iops" | "fps" | "ops" | "hps" => {
            return Some(of(Dimension::Rate, 1.0));
        }
        "kqps" | "krps" | "ktps" | "kiops" | "kops" => return Some(of(Dimension::Rate, 1e3)),
        "miops" | "mops" | "mpps" => return Some(of(Dimension::Rate, 1e6)),
        "b" => return (word == "B").then(|| of(Dimension::Bytes, 1.0)),
        "bytes" | "byte" => return Some(of(Dimension::Bytes, 1.0)),
        "m" | "h" | "u" => return None,
        _ => {}
    }
    measure_of(&unit::read(&lower, &word)?)
}

/// The factor of things that are done, with a prefix ("Mops").
fn done(lower: &str, printed: &str) -> Option<f64> {
    if DONE.contains(&lower) {
        return Some(1.0);
    }
    let rest = lower.get(1..)?;
    if !DONE.contains(&rest) {
        return None;
    }
    match printed.chars().next()? {
        'k' | 'K' => Some(1e3),
        'M' => Some(1e6),
        'G' => Some(1e9),
        _ => None,
    }
}

pub(crate) fn measure_of(read: &unit::Read) -> Option<Measure> {
    let dimension = match &read.unit {
        Unit::Percent => Dimension::Percent,
        Unit::Times => Dimension::Times,
        Unit::Time => Dimension::Time,
        Unit::Bytes => Dimension::Bytes,
        Unit::Bits => Dimension::Bits,
        Unit::ByteRate => Dimension::ByteRate,
        Unit::BitRate => Dimension::BitRate,
        Unit::Frequency => Dimension::Frequency,
        Unit::Power => Dimension::Power,
        Unit::Energy => Dimension::Energy,
        Unit::Count(_) => Dimension::Count,
        Unit::RackUnits => return None,
    };
    Some(Measure { dimension, scale: read.scale, binary: read.binary })
}

/// The amount at a token of a sentence, with how many tokens it takes. `None` for parts of names.
pub(crate) fn at(text: &str, tokens: &[Token], i: usize) -> Option<(Amount, usize)> {
    let n = tokens[i].quantity()?;
    if i > 0 && (tokens[i - 1].is_mark('#') || tokens[i - 1].is_currency()) {
        return None;
    }
    let next = tokens.get(i + 1);
    let word = |t: &Token| t.span.of(text).to_owned();
    let near = |t: &&Token| t.span.start <= tokens[i].span.end + 1;
    let second = |j: usize| {
        tokens.get(j).is_some_and(|t| t.is_mark('/') || t.lower == "per")
            && tokens.get(j + 1).is_some_and(|t| matches!(t.lower.as_str(), "s" | "sec" | "second"))
    };
    let mut used = 1;
    let mut found = None;
    let in_word = |t: &Token| t.is_word().then(|| measure(&word(t))).flatten();
    if let Some(m) = next.filter(near).and_then(in_word)
        && !(n.unit.is_some() && m.dimension == Dimension::Count)
    {
        found = Some(m);
        used = 2;
        if m.dimension == Dimension::Bytes && second(i + 2) {
            found = Some(Measure { dimension: Dimension::ByteRate, ..m });
            used = 4;
        }
    } else if let Some(unit) = &n.unit {
        found = measure_of(&unit::Read { unit: unit.clone(), scale: n.scale, binary: n.binary });
        let mark = next.is_some_and(|t| t.is_mark('%') || t.is_mark('×'));
        used = if mark { 2 } else { 1 };
        if second(i + 1) && unit == &Unit::Bytes {
            used = 3;
        }
        // "18,100 sessions per second"
        if second(i + 2) && matches!(unit, Unit::Count(_)) {
            found = Some(of(Dimension::Rate, 1.0));
            used = 4;
        }
    } else if second(i + 1) && n.step < n.value {
        // "95,500 per second"
        found = Some(of(Dimension::Rate, 1.0));
        used = 3;
    } else if let Some(t) = next.filter(|t| t.is_word()) {
        // "5,400 jobs per minute"
        if let (Some(per), Some(time)) = (tokens.get(i + 2), tokens.get(i + 3))
            && (per.lower == "per" || per.is_mark('/') || per.lower == "a")
        {
            let scale = match time.lower.as_str() {
                "s" | "sec" | "second" => Some(1.0),
                "minute" | "min" => Some(1.0 / 60.0),
                _ => None,
            };
            if let Some(scale) = scale.filter(|_| t.lower.len() > 2) {
                found = Some(of(Dimension::Rate, scale));
                used = 4;
            }
        }
    }
    let measure = found.unwrap_or(PLAIN);
    let value = n.value * measure.scale;
    value.is_finite().then_some((
        Amount { value, step: n.step * measure.scale, measure, printed: n.value },
        used,
    ))
}
