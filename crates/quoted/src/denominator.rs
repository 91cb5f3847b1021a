//! Denominators of results (chips, cores, watts, price, ...), and the effect of a denominator on
//! the ranking: per core one system leads, per chip another. A denominator that is not recorded for
//! a system stays missing, and the system is not ranked by it.

mod evidence;
mod matrix;
mod reversal;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use assay_model::{Better, MetricKind, nearest};
use serde::Serialize;

use crate::quantity::Quantity;

pub use evidence::{divided, turned};
pub(crate) use matrix::better_first;
pub use matrix::{Matrix, MatrixCell, MatrixRow, matrix};
pub use reversal::{Ranking, Reversal, ranking, reversals_from};

/// A quantity by which a result can be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Denominator {
    Chip,
    Core,
    Thread,
    /// Instances of the program, such as JVMs.
    Instance,
    /// Cores times clock rate in GHz.
    CoreGhz,
    Watt,
    RackUnit,
    Price,
}

// In the order in which they are shown.
assay_model::names! {
    /// Returns the name for command lines and files: `rack-unit`.
    pub Denominator::name, ALL: Chip = "chip", Core = "core", Thread = "thread",
        Instance = "instance", CoreGhz = "core-ghz", Watt = "watt", RackUnit = "rack-unit",
        Price = "price"
}

impl Denominator {
    /// Returns the symbol of the unit; for a price, see [`DenominatorCounts::unit`], which knows
    /// the currency.
    pub fn unit(self) -> &'static str {
        match self {
            Denominator::CoreGhz => "core-GHz",
            Denominator::Watt => "W",
            Denominator::RackUnit => "RU",
            other => other.name(),
        }
    }
}

/// Error for a name that is not a denominator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a denominator; use {known}{hint}", known = known())]
pub struct UnknownDenominator {
    /// Name as written by the user.
    pub name: String,
    /// Suggestion of a similar name, as a clause; may be empty.
    pub hint: String,
}

fn known() -> String {
    Denominator::ALL.map(Denominator::name).join(", ")
}

impl FromStr for Denominator {
    type Err = UnknownDenominator;

    fn from_str(text: &str) -> Result<Self, UnknownDenominator> {
        Denominator::ALL.into_iter().find(|d| d.name() == text).ok_or_else(|| {
            let meant = nearest(text, Denominator::ALL.into_iter().map(Denominator::name));
            UnknownDenominator {
                name: text.to_owned(),
                hint: meant.map(|m| format!("; did you mean `{m}`?")).unwrap_or_default(),
            }
        })
    }
}

/// Basis on which values are shown and ranked: the total, or a value per denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The value as reported.
    Total,
    /// The value divided by a denominator.
    Per(Denominator),
}

impl Basis {
    /// Returns the total and all denominators, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Basis> {
        std::iter::once(Basis::Total).chain(Denominator::ALL.into_iter().map(Basis::Per))
    }
}

impl fmt::Display for Basis {
    /// Writes `in total` or `per core`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Basis::Total => f.write_str("in total"),
            Basis::Per(Denominator::CoreGhz) => f.write_str("per core x GHz"),
            Basis::Per(d) => write!(f, "per {}", d.name().replace('-', " ")),
        }
    }
}

/// Amount of each denominator in a system. An amount that is not recorded is `None`, never 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct DenominatorCounts {
    pub chips: Option<f64>,
    pub cores: Option<f64>,
    pub threads: Option<f64>,
    /// Number of instances of the program.
    pub instances: Option<f64>,
    /// True if `instances` was not printed but inferred from the value per instance.
    pub instances_inferred: bool,
    /// Clock rate in GHz.
    pub ghz: Option<f64>,
    pub watts: Option<f64>,
    /// Height in rack units.
    pub rack_units: Option<f64>,
    /// Price in units of `currency`.
    pub price: Option<f64>,
    /// Currency of the price.
    pub currency: Option<String>,
    /// Statements of the source about these amounts, by column of its file: whether counts are of
    /// used, enabled or installed parts, how watts were obtained, what a price includes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stated: BTreeMap<String, String>,
}

impl DenominatorCounts {
    /// Returns the amount of `denominator`; `None` if it is not recorded or not positive.
    pub fn amount(&self, denominator: Denominator) -> Option<f64> {
        let amount = match denominator {
            Denominator::Chip => self.chips,
            Denominator::Core => self.cores,
            Denominator::Thread => self.threads,
            Denominator::Instance => self.instances,
            Denominator::CoreGhz => self.cores.zip(self.ghz).map(|(c, g)| c * g),
            Denominator::Watt => self.watts,
            Denominator::RackUnit => self.rack_units,
            Denominator::Price => self.price,
        };
        amount.filter(|n| n.is_finite() && *n > 0.0)
    }

    /// Returns the unit of the amount of `denominator`.
    pub fn unit(&self, denominator: Denominator) -> &str {
        match (denominator, &self.currency) {
            (Denominator::Price, Some(currency)) => currency,
            _ => denominator.unit(),
        }
    }
}

/// A system with its result and the amounts by which the result can be divided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemResult {
    /// Label that distinguishes the system from the others.
    pub label: String,
    pub value: Quantity,
    /// Direction in which the result improves.
    pub better: Better,
    /// Amounts of the denominators.
    pub counts: DenominatorCounts,
}

impl SystemResult {
    /// Returns the number under `basis`, without its derivation: the value divided by the amount
    /// where more is better, *times* the amount where less is better (a time of 10 s on 4 cores is
    /// 40 core-seconds, the total cost of the cores). `None` if the amount is not recorded.
    pub fn number(&self, basis: Basis) -> Option<f64> {
        let number = match basis {
            Basis::Total => self.value.value,
            Basis::Per(d) => {
                let amount = self.counts.amount(d)?;
                match self.better {
                    Better::Lower => self.value.value * amount,
                    Better::Higher | Better::Neither => self.value.value / amount,
                }
            }
        };
        number.is_finite().then_some(number)
    }

    /// Returns the number under `basis` with its derivation, kind and interval.
    pub fn quantity(&self, basis: Basis) -> Option<Quantity> {
        let Basis::Per(denominator) = basis else {
            return self.value.value.is_finite().then(|| self.value.clone());
        };
        let amount = self.amount(denominator)?;
        match self.better {
            Better::Lower => self.value.times(&amount),
            Better::Higher | Better::Neither => self.value.per(&amount),
        }
    }

    fn amount(&self, denominator: Denominator) -> Option<Quantity> {
        let amount = self.counts.amount(denominator)?;
        let from = self.value.provenance.first().map_or("", String::as_str);
        // A count is printed in the same row as the value, or was read from the same system.
        let kind = match denominator {
            Denominator::Instance if self.counts.instances_inferred => MetricKind::Derived,
            _ if self.value.from_quoted() => MetricKind::Quoted,
            _ => MetricKind::Measured,
        };
        let unit = self.counts.unit(denominator);
        let what = format!("{} of {}", denominator.name(), self.label);
        Some(match denominator {
            // Watts and prices have measurement errors that are not recorded, so they are not
            // exact.
            Denominator::Watt | Denominator::Price => {
                Quantity::given(amount, unit, kind, &what, from)
            }
            _ => Quantity::count(amount, unit, kind, &what, from),
        })
    }

    /// Returns true if this entry is ahead of `other` under `basis`; `None` if the number of one of
    /// them is not recorded, if the units differ (prices in two currencies), if neither direction
    /// is better, or if the numbers are equal.
    pub fn ahead_of(&self, other: &SystemResult, basis: Basis) -> Option<bool> {
        if self.value.unit != other.value.unit || self.better != other.better {
            return None;
        }
        if let Basis::Per(d) = basis
            && self.counts.unit(d) != other.counts.unit(d)
        {
            return None;
        }
        let (a, b) = (self.number(basis)?, other.number(basis)?);
        match self.better {
            Better::Higher if a != b => Some(a > b),
            Better::Lower if a != b => Some(a < b),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Builds a quoted entry with a value and the counts of chips, cores, threads, watts, rack
    /// units and price.
    pub(crate) fn entry(label: &str, value: f64, of: [Option<f64>; 6]) -> SystemResult {
        let [chips, cores, threads, watts, rack_units, price] = of;
        SystemResult {
            label: label.to_owned(),
            value: Quantity::given(value, "ops/s", MetricKind::Quoted, label, "a source"),
            better: Better::Higher,
            counts: DenominatorCounts {
                chips,
                cores,
                threads,
                watts,
                rack_units,
                price,
                currency: Some("USD".to_owned()),
                ..DenominatorCounts::default()
            },
        }
    }

    /// Returns two example systems, each of which leads under half of the denominators.
    pub(crate) fn two() -> (SystemResult, SystemResult) {
        let some = |of: [f64; 6]| of.map(Some);
        (
            entry("A", 100.0, some([1.0, 8.0, 32.0, 300.0, 2.0, 20.0])),
            entry("B", 80.0, some([2.0, 4.0, 8.0, 350.0, 1.0, 12.0])),
        )
    }

    #[test]
    fn names_are_read_back_and_slips_are_understood() {
        for d in Denominator::ALL {
            assert_eq!(d.name().parse::<Denominator>().unwrap(), d);
        }
        let text = "cores".parse::<Denominator>().unwrap_err().to_string();
        assert!(text.contains("use chip, core, thread"), "{text}");
        assert!(text.ends_with("did you mean `core`?"), "{text}");
    }

    #[test]
    fn a_time_per_core_is_a_cost_in_core_seconds() {
        let mut fast = entry("fast", 10.0, [None, Some(4.0), None, None, None, None]);
        fast.better = Better::Lower;
        fast.value.unit = "s".to_owned();
        let cost = fast.quantity(Basis::Per(Denominator::Core)).unwrap();
        assert_eq!((cost.value, cost.unit.as_str()), (40.0, "s core"));
        let mut slow = entry("slow", 15.0, [None, Some(2.0), None, None, None, None]);
        slow.better = Better::Lower;
        slow.value.unit = "s".to_owned();
        assert_eq!(fast.ahead_of(&slow, Basis::Total), Some(true));
        assert_eq!(fast.ahead_of(&slow, Basis::Per(Denominator::Core)), Some(false));
    }

    #[test]
    fn a_missing_watt_stays_missing() {
        let (a, b) = (entry("A", 1.0, [None; 6]), two().1);
        assert_eq!(a.quantity(Basis::Per(Denominator::Watt)), None);
        assert_eq!(a.ahead_of(&b, Basis::Per(Denominator::Watt)), None);
        let zero = entry("zero", 1.0, [None, None, None, Some(0.0), None, None]);
        assert_eq!(zero.number(Basis::Per(Denominator::Watt)), None, "0 W is no record");
    }

    #[test]
    fn prices_in_two_currencies_have_no_order() {
        let (a, mut b) = two();
        assert_eq!(a.ahead_of(&b, Basis::Per(Denominator::Price)), Some(false));
        b.counts.currency = Some("EUR".to_owned());
        assert_eq!(a.ahead_of(&b, Basis::Per(Denominator::Price)), None);
    }
}
