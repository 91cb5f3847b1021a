//! The words by which claims are known.

use crate::read::token::Token;

/// Superlatives and other words of rank.
pub(crate) const RANK: [&str; 26] = [
    "tops",
    "topped",
    "record",
    "records",
    "best",
    "fastest",
    "highest",
    "leading",
    "leader",
    "leadership",
    "top",
    "lowest",
    "slowest",
    "beats",
    "beat",
    "outperforms",
    "outperformed",
    "outperforming",
    "outpaces",
    "surpasses",
    "surpassed",
    "leads",
    "wins",
    "winner",
    "unmatched",
    "#1",
];

/// What a comparison of results is about, in words.
pub(crate) const PERFORMANCE: [&str; 33] = [
    "performance",
    "throughput",
    "faster",
    "slower",
    "quicker",
    "result",
    "results",
    "score",
    "scores",
    "better",
    "speed",
    "speedup",
    "bops",
    "ops",
    "ops/sec",
    "ops/s",
    "rate",
    "time",
    "elapsed",
    "bandwidth",
    "latency",
    "beats",
    "beat",
    "outperforms",
    "outperformed",
    "outperforming",
    "wins",
    "seconds",
    "minutes",
    "transactions",
    "operations",
    "runtime",
    "response",
];

/// Words behind a number that say that it is about something else than results.
pub(crate) const OTHER: [&str; 38] = [
    "power",
    "watt",
    "watts",
    "energy",
    "space",
    "size",
    "weight",
    "rack",
    "racks",
    "ru",
    "cores",
    "core",
    "chips",
    "chip",
    "threads",
    "sockets",
    "users",
    "price",
    "cheaper",
    "capacity",
    "area",
    "floor",
    "density",
    "code",
    "memory",
    "cost",
    "costs",
    "cpu",
    "utilization",
    "disk",
    "disks",
    "clock",
    "footprint",
    "efficient",
    "efficiency",
    "cache",
    "dollars",
    "cabinets",
];

/// Denominators: words, and the attribute that they divide by.
pub(crate) const DENOMINATORS: [(&str, Denominator); 20] = [
    ("power/performance", Denominator::Watts),
    ("performance/watt", Denominator::Watts),
    ("perf/watt", Denominator::Watts),
    ("price/performance", Denominator::Unknown),
    ("watt", Denominator::Watts),
    ("watts", Denominator::Watts),
    ("power", Denominator::Watts),
    ("core", Denominator::Cores),
    ("performance/core", Denominator::Cores),
    ("chip", Denominator::Chips),
    ("socket", Denominator::Chips),
    ("processor", Denominator::Chips),
    ("thread", Denominator::Threads),
    ("ru", Denominator::RackUnits),
    ("rack", Denominator::RackUnits),
    ("unit", Denominator::RackUnits),
    ("space", Denominator::RackUnits),
    ("dollar", Denominator::Unknown),
    ("ghz", Denominator::Clock),
    ("jvm", Denominator::Unknown),
];

/// What a comparison divides by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denominator {
    Watts,
    Cores,
    Chips,
    Threads,
    RackUnits,
    Clock,
    Unknown,
}

impl Denominator {
    /// As it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Denominator::Watts => "watt",
            Denominator::Cores => "core",
            Denominator::Chips => "chip",
            Denominator::Threads => "thread",
            Denominator::RackUnits => "rack unit",
            Denominator::Clock => "GHz",
            Denominator::Unknown => "unit",
        }
    }
}

/// Words that make a statement about behaviour or cause, without a number.
pub(crate) const QUALITATIVE: [&str; 66] = [
    "verified",
    "confirmed",
    "observed",
    "observe",
    "believe",
    "believed",
    "clearly",
    "certain",
    "significant",
    "significantly",
    "dramatic",
    "dramatically",
    "saturated",
    "bottleneck",
    "bottlenecks",
    "due",
    "because",
    "impact",
    "improves",
    "improved",
    "improve",
    "improvement",
    "improvements",
    "limited",
    "limits",
    "limit",
    "fails",
    "failed",
    "fair",
    "faster",
    "slower",
    "scales",
    "scaling",
    "scalable",
    "identical",
    "equal",
    "exactly",
    "similar",
    "overhead",
    "suggests",
    "indicates",
    "proves",
    "shown",
    "shows",
    "frequently",
    "easily",
    "negligible",
    "guess",
    "estimate",
    "estimated",
    "expect",
    "expected",
    "would",
    "benefit",
    "benefits",
    "gain",
    "gains",
    "removed",
    "recent",
    "maximum",
    "minimum",
    "idle",
    "busy",
    "reduced",
    "reduces",
    "eliminates",
];

/// The word that says a share without the sign of per cent.
pub(crate) fn share(tokens: &[Token]) -> Option<usize> {
    tokens.iter().enumerate().position(|(i, t)| {
        let next = tokens.get(i + 1).map_or("", |n| n.lower.as_str());
        let before = i.checked_sub(1).map_or("", |p| tokens[p].lower.as_str());
        match t.lower.as_str() {
            "half" => next == "of" || next == "the",
            "most" => {
                next == "of"
                    || (before != "the"
                        && !matches!(next, "important" | "recent" | "common" | "likely"))
            }
            "majority" | "frequently" => true,
            _ => false,
        }
    })
}
