//! What words say of the metric of a claim: its kind, and which of several statistics is meant.

use super::amount::Dimension;
use super::grid::Better;
use super::name::{Kind, words};
use crate::read::token::Token;

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
    /// "costs", "cheaper": a column that says so.
    Price,
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
const TIME: [&str; 25] = [
    "take",
    "sooner",
    "earlier",
    "pause",
    "pauses",
    "hours",
    "wait",
    "waits",
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
const PRICE: [&str; 9] =
    ["costs", "cost", "cheaper", "cheapest", "price", "priced", "pricier", "expensive", "dollars"];
const POWER: [&str; 12] = [
    "power",
    "watts",
    "draws",
    "draw",
    "drew",
    "drawing",
    "energy",
    "consumes",
    "consumed",
    "consumption",
    "watt",
    "burns",
];

/// Whether a word names a metric.
pub(crate) fn is_metric(lower: &str) -> bool {
    [&SIZE[..], &TIME, &RATE, &SPEED, &POWER, &PRICE].iter().any(|set| set.contains(&lower))
}

/// The metric that the words of a clause name; the pointing word of the claim decides last.
pub(crate) fn metric(clause: &[Token]) -> Metric {
    let has = |set: &[&str]| clause.iter().any(|t| set.contains(&t.lower.as_str()));
    // "faster for small files" is no word on sizes.
    let speed = has(&["faster", "slower", "quicker", "fastest", "slowest", "quickest"]);
    if has(&PRICE) && !speed {
        Metric::Price
    } else if has(&POWER) && !speed {
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
    pub(crate) fn takes(self, dimension: Dimension, better: Better, kind: Kind) -> bool {
        let Kind { price, size, sized } = kind;
        match self {
            Metric::Any => true,
            Metric::Price => price,
            Metric::Size => dimension == Dimension::Bytes || dimension == Dimension::Plain && size,
            Metric::Power => matches!(dimension, Dimension::Power | Dimension::Energy),
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
