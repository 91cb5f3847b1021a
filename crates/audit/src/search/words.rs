//! The words around what is said, by how near they are, and how well the names of a table's axis match them.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::rc::Rc;

use super::labels::Labels;
use super::say::Say;
use super::spoken::Spoken;
use crate::evidence::amount::{self, Dimension};
use crate::evidence::grid::PARTS;
use crate::evidence::name::{Axis, is_plain, related};
use crate::read::token::Token;

/// Where words stand, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zone {
    /// Behind "than".
    Than,
    Clause,
    Sentence,
    Previous,
    /// Headings and the sentences before.
    Around,
}

/// The stems of a zone, each with the place where it stands first.
pub(crate) type Bag = BTreeMap<Rc<str>, usize>;

/// The zones of something said.
#[derive(Debug)]
pub(crate) struct Zones {
    pub bags: [Rc<Bag>; 5],
}

/// Words that name nothing at all.
const EMPTY: [&str; 46] = [
    "a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "and", "or", "is", "are", "was",
    "were", "be", "it", "its", "this", "that", "as", "than", "over", "vs", "more", "less",
    "better", "faster", "slower", "higher", "lower", "result", "from", "about", "has", "had",
    "have", "also", "each", "not", "so", "we", "our", "per", "s",
];

/// How much a word of a name tells.
pub(crate) fn weight(axis: &Axis, word: &str) -> f64 {
    if EMPTY.contains(&word) {
        return 0.0;
    }
    let unit = amount::measure(word)
        .is_some_and(|m| m.dimension != Dimension::Count && m.dimension != Dimension::Rate);
    let factor = if unit {
        0.1
    } else if is_plain(word) {
        0.5
    } else {
        1.0
    };
    factor * axis.weight(word)
}

/// Whether a word is of prices.
pub(crate) fn is_paid(lower: &str) -> bool {
    [
        "price", "cost", "dollar", "cheap", "dear", "expens", "charg", "usd", "eur", "$", "€",
        "paid", "pay",
    ]
    .iter()
    .any(|w| lower.starts_with(w))
}

/// Words that are said for others.
fn others(stem: &str) -> &'static [&'static str] {
    match stem {
        "memory" => &["rss", "ram", "mem", "resident"],
        "ram" | "footprint" | "rss" | "resident" => &["rss", "memory", "mem", "ram"],
        "99th" | "ninety-ninth" => &["p99", "99.00th", "99th", "99"],
        "95th" => &["p95", "95th"],
        "50th" | "median" => &["p50", "median"],
        "averag" | "average" | "mean" => &["mean", "avg", "averag", "average"],
        "befor" | "previously" | "formerly" | "former" | "was" | "were" | "did" | "used"
        | "had" | "old" | "previou" | "baselin" => {
            &["befor", "old", "baselin", "base", "master", "main"]
        }
        "now" | "after" | "new" | "patch" | "patched" => &["after", "new", "now", "patch", "pr"],
        "worst" | "slowest" | "maximum" | "longest" | "peak" | "highest" => {
            &["max", "worst", "peak"]
        }
        "fastest" | "minimum" | "shortest" => &["min", "best"],
        "system" | "kernel" => &["sys", "%system", "system", "kernel"],
        "user" => &["usr", "%user", "user"],
        "idl" | "idle" => &["%idle", "idl", "idle"],
        "wait" => &["%iowait", "iowait"],
        "deviation" | "spread" | "scatter" | "jitter" => {
            &["stddev", "stdev", "sd", "std", "σ", "deviat"]
        }
        "cost" | "price" | "cheaper" | "dearer" | "cheapest" | "expensiv" | "dollar"
        | "dearest" | "priciest" | "costliest" => &["price", "cost", "usd", "$", "eur", "€"],
        "loudest" | "quietest" | "louder" | "quieter" | "noisiest" => &["noise", "dba", "db"],
        "hottest" | "coolest" | "hotter" | "cooler" | "warmer" => &["temp", "temperature", "°c"],
        "heaviest" | "lightest" | "heavier" | "lighter" => &["weight", "mass", "g", "kg"],
        "thirstiest" | "hungriest" | "power" | "watt" | "draw" => &["power", "watt", "w"],
        "throughput" | "bandwidth" => &["throughput", "bandwidth", "bw"],
        "request" => &["req", "request", "rps"],
        "query" => &["qps", "query"],
        "transact" | "transaction" => &["tps", "tpm", "transact", "tpmc"],
        "operation" | "operat" => &["ops", "op", "operat"],
        "second" => &["sec", "s"],
        "clock" | "clocked" | "frequency" | "frequenc" => &["ghz", "mhz", "clock"],
        "size" | "smaller" | "bigger" | "larger" => &["size"],
        "alloc" | "allocat" | "allocate" => &["alloc", "allocs", "allocat"],
        "standard" => &["stddev", "stdev"],
        "time" => &["tim", "time", "elaps"],
        "compil" | "build" => &["compil", "build"],
        "latenc" | "latency" => &["lat", "clat", "latency"],
        _ => &[],
    }
}

/// "Card M": a capital letter that stands alone is a name, whatever unit it may be.
pub(super) fn letter(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let mut all = word.chars();
    let first = all.next().filter(char::is_ascii_uppercase)?;
    all.next().is_none().then(|| format!("^{first}"))
}

fn put(bag: &mut Bag, (token, spoken): (&Token, &Spoken), at: usize) {
    let mut add = |stem: &str| {
        for word in others(stem).iter().copied().chain([stem]) {
            if !bag.contains_key(word) {
                bag.insert(word.into(), at);
            }
        }
    };
    if token.capital && token.lower.len() == 1 && at > 0 && token.lower != "i" {
        add(&format!("^{}", token.lower.to_uppercase()));
    }
    if let Some(n) = token.number().filter(|n| n.spelled && n.value.fract() == 0.0) {
        add(&format!("{:.0}", n.value));
    }
    for stem in &spoken.stems {
        add(stem);
    }
}

/// The stems of tokens.
pub(crate) fn bag(tokens: &[Token], spoken: &[Spoken]) -> Bag {
    let mut bag = Bag::new();
    for (i, word) in tokens.iter().zip(spoken).enumerate() {
        put(&mut bag, word, i);
    }
    bag
}

impl Zones {
    /// The zones of something said in a sentence; the bags of what stands before are given.
    pub(crate) fn of(
        tokens: &[Token],
        spoken: &[Spoken],
        say: &Say,
        (previous, around): &(Rc<Bag>, Rc<Bag>),
    ) -> Zones {
        let mut own: [Bag; 3] = Default::default();
        for (i, t) in tokens.iter().enumerate() {
            if say.own.contains(&i) && say.what.is_pair()
                || t.quantity().is_some_and(|n| n.unit == Some(crate::read::unit::Unit::Percent))
            {
                continue;
            }
            // "the 1.6 GHz Z5440", "from 2 to 4 chips": which one, not what of it.
            let part = i > 0
                && tokens[i - 1].number().is_some()
                && !say.own.contains(&(i - 1))
                && is_part(&t.lower);
            if part {
                continue;
            }
            let zone = if say.than.contains(&i) {
                Zone::Than
            } else if say.clause.contains(&i) {
                Zone::Clause
            } else {
                Zone::Sentence
            };
            put(&mut own[zone as usize], (t, &spoken[i]), i);
        }
        let [than, clause, sentence] = own.map(Rc::new);
        Zones { bags: [than, clause, sentence, previous.clone(), around.clone()] }
    }
}

/// How the names of an axis match the zones: by zone and name the weight of what is there, and where it stands first.
#[derive(Debug)]
pub(crate) struct Match {
    pub found: [Vec<f64>; 5],
    pub at: [Vec<usize>; 5],
    /// All the weight of a name.
    pub total: Vec<f64>,
    /// How far from the claim a name's words stand in its sentence at least.
    pub away: Vec<usize>,
}

/// Where a word of a name stands in a bag, and how much of it: "tok" is a part of "tokens".
fn look_up(bag: &Bag, word: &str) -> Option<(usize, f64)> {
    if let Some(at) = bag.get(word) {
        return Some((*at, 1.0));
    }
    let letters = word.len() >= 3 && word.bytes().all(|b| b.is_ascii_alphabetic());
    if !letters {
        return None;
    }
    // Words that begin with it stand behind it in order.
    let longer = || {
        bag.range::<str, _>((Bound::Excluded(word), Bound::Unbounded))
            .take_while(|(k, _)| k.starts_with(word))
    };
    let head = |n: usize| bag.get_key_value(&word[..n]);
    let is_related = |(k, _): &(&Rc<str>, &usize)| related(k, word);
    if word.len() >= 5
        && let Some((_, at)) =
            (3..word.len()).filter_map(head).find(is_related).or_else(|| longer().find(is_related))
    {
        return Some((*at, 1.0));
    }
    longer()
        .find(|(k, _)| k.len() <= word.len() + 7)
        .or_else(|| (3..word.len()).rev().find_map(head))
        .filter(|(k, _)| {
            k.bytes().all(|b| b.is_ascii_alphabetic()) && !is_plain(k) && !EMPTY.contains(&&***k)
        })
        .map(|(_, at)| (*at, 0.6))
}

/// Where each word of an axis stands in a zone.
pub(crate) type Found = Vec<Option<(usize, f64)>>;

/// Looks up the words of an axis.
pub(crate) fn look_up_all(bag: &Bag, labels: &Labels) -> Found {
    if bag.is_empty() {
        return vec![None; labels.words.len()];
    }
    labels.words.iter().map(|word| look_up(bag, word)).collect()
}

impl Match {
    /// `before` is what was found in the zones before the sentence.
    pub(crate) fn new(labels: &Labels, zones: &Zones, before: &[Found; 2], own: usize) -> Match {
        let n = labels.terms.len();
        let mut m = Match {
            found: std::array::from_fn(|_| vec![0.0; n]),
            at: std::array::from_fn(|_| vec![usize::MAX; n]),
            total: vec![0.0; n],
            away: vec![usize::MAX; n],
        };
        let of = |zone: Zone| look_up_all(&zones.bags[zone as usize], labels);
        let inside = [Zone::Than, Zone::Clause, Zone::Sentence].map(of);
        for (i, terms) in labels.terms.iter().enumerate() {
            m.total[i] = terms.iter().map(|(_, w)| w).sum();
            for (zone, found) in inside.iter().chain(before).enumerate() {
                for (word, w) in terms {
                    let Some((at, part)) = found[*word] else { continue };
                    m.found[zone][i] += w * part;
                    m.at[zone][i] = m.at[zone][i].min(at);
                    if zone < inside.len() {
                        m.away[i] = m.away[i].min(own.abs_diff(at));
                    }
                }
            }
        }
        m
    }

    /// Whether a name is matched nearly as well as the one that is matched best, in its sentence or the one before.
    pub(crate) fn near_best(&self) -> impl Fn(usize) -> bool {
        let zones = &self.found[..4];
        let best: Vec<f64> =
            zones.iter().map(|zone| zone.iter().copied().fold(0.0, f64::max)).collect();
        move |i| zones.iter().zip(&best).any(|(zone, b)| *b > 0.0 && zone[i] >= 0.7 * b)
    }

    /// Whether anything of a name is in its sentence or the one before.
    pub(crate) fn there(&self, i: usize) -> bool {
        (0..4).any(|z| self.found[z][i] > 0.0)
    }
}

/// Columns that describe a row.
pub(crate) fn is_part(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    PARTS.contains(&name.as_str())
        || matches!(
            name.as_str(),
            "disks"
                | "nodes"
                | "copies"
                | "year"
                | "version"
                | "rank"
                | "runs"
                | "iterations"
                | "samples"
        )
}
