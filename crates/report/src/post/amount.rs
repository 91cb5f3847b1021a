//! A value that functions work on: a quoted result, a result of a run, or several put together.

use assay_model::{Better, Kind};
use assay_rules::denominator::{Basis, Counts, Denominator, Entry};
use assay_rules::quantity::Quantity;

use super::document::Input;

/// A value with all that is needed to compare and print it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    /// The value, whose it is, which way it is better, what it can be divided by.
    pub(super) entry: Entry,
    /// The benchmark or workload.
    pub(super) benchmark: String,
    /// The metric.
    pub(super) metric: String,
    /// The quoted results behind it.
    pub(super) rows: Vec<usize>,
    /// The run behind it.
    pub(super) run: Option<OfRun>,
    /// How many decimals it was printed with, for one quoted result.
    pub(super) decimals: Option<usize>,
    /// Why it must not be printed.
    pub(super) withheld: Option<String>,
    /// The latest day that its values are of.
    pub(super) as_of: Option<String>,
}

/// Which result of which run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OfRun {
    pub(super) alias: String,
    pub(super) part: Part,
    /// The treatments whose trials are in it.
    pub(super) treatments: Vec<u32>,
}

/// What of a run a result is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    /// A metric of a treatment.
    Treatment(u32),
    /// A point of a treatment's curve.
    Curve,
    /// A score of a suite, by its index.
    Score(usize),
}

/// The answer of a function in a binding.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// A number.
    Amount(Box<Amount>),
    /// Words of the data.
    Text(String),
    /// A place among several, as of a day.
    Place {
        /// From 1.
        place: usize,
        /// Number of ranked values.
        of: usize,
        as_of: Option<String>,
    },
}

impl Amount {
    /// Creates a value computed from others. It has no printed digits and nothing to be divided by.
    pub(super) fn computed(label: &str, value: Quantity, better: Better, of: &[&Amount]) -> Self {
        let mut rows: Vec<usize> = of.iter().flat_map(|a| a.rows.iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup();
        let label = label.to_owned();
        Amount {
            entry: Entry { label, value, better, counts: Counts::default() },
            benchmark: of.first().map_or_else(String::new, |a| a.benchmark.clone()),
            metric: of.first().map_or_else(String::new, |a| a.metric.clone()),
            rows,
            run: None,
            decimals: None,
            withheld: of.iter().find_map(|a| a.withheld.clone()),
            as_of: of.iter().filter_map(|a| a.as_of.clone()).max(),
        }
    }

    /// Creates a value that is missing.
    pub(super) fn missing(what: &str, unit: &str) -> Self {
        let mut amount =
            Amount::computed(what, Quantity::constant(f64::NAN, unit), Better::Neither, &[]);
        amount.withheld = Some(what.to_owned());
        amount
    }

    /// Its value under a basis, or why there is none.
    pub(super) fn under(&self, basis: Basis) -> Result<Quantity, String> {
        self.entry.quantity(basis).ok_or_else(|| match (basis, &self.withheld) {
            (_, Some(why)) => why.clone(),
            (Basis::Total, None) => format!("{} has no value", self.entry.label),
            (Basis::Per(d), None) => {
                format!("{} of {} not recorded", plural(d), self.entry.label)
            }
        })
    }

    /// Where it comes from, for the derivation of a number.
    pub(super) fn inputs(&self, basis: Basis, id: impl Fn(usize) -> String) -> Vec<Input> {
        let quantity = self.entry.quantity(basis).unwrap_or_else(|| self.entry.value.clone());
        let result = (self.rows.len() == 1).then(|| id(self.rows[0]));
        let run = self.run.as_ref().map(|r| r.alias.clone());
        quantity
            .leaves()
            .into_iter()
            .map(|leaf| {
                let from = leaf.provenance.join(", ");
                let own = from.rsplit(": ").next().unwrap_or("").to_owned();
                Input {
                    label: what(leaf),
                    value: leaf.value,
                    unit: leaf.unit.clone(),
                    kind: leaf.kind_words().to_owned(),
                    result: result
                        .clone()
                        .or_else(|| (leaf.kind == Kind::Quoted && run.is_none()).then_some(own)),
                    run: run.clone(),
                    source: from,
                }
            })
            .collect()
    }

    /// Whether it rests on measured numbers, and whether on quoted ones.
    pub(super) fn kinds(&self) -> (bool, bool) {
        let leaves = self.entry.value.leaves();
        let of = |quoted: bool| leaves.iter().any(|q| q.from_quoted() == quoted);
        (of(false), of(true))
    }

    /// Which way it is better.
    pub(super) fn better(&self) -> Better {
        self.entry.better
    }
}

/// What a number that was read is of.
fn what(leaf: &Quantity) -> String {
    match &leaf.derivation {
        assay_rules::quantity::Derivation::Given(what) => what.clone(),
        _ => leaf.formula(),
    }
}

fn plural(d: Denominator) -> String {
    match d {
        Denominator::CoreGhz => "cores and clock".to_owned(),
        Denominator::Price => "the price".to_owned(),
        d => assay_model::nouns::plural(&d.name().replace('-', " ")),
    }
}
