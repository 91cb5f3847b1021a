//! Values that the functions of posts work on: a quoted result, a result of a run, or a value
//! computed from several.

use assay_model::{Better, MetricKind, RunId};
use assay_quoted::denominator::{Basis, Denominator, DenominatorCounts, SystemResult};
use assay_quoted::quantity::Quantity;

use super::document::Input;

/// A value with everything that is needed to compare and print it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    /// The value, its label, its better direction, and the counts that it can be divided by.
    pub(super) entry: SystemResult,
    /// Name of the benchmark or workload.
    pub(super) benchmark: String,
    pub(super) metric: String,
    /// Indices of the quoted results behind the value.
    pub(super) rows: Vec<usize>,
    /// Result of a run behind the value.
    pub(super) run: Option<RunResultRef>,
    /// Number of decimals that the source printed, for a single quoted result.
    pub(super) decimals: Option<usize>,
    /// Reason why the value must not be printed.
    pub(super) withheld: Option<String>,
    /// Latest day among the days of its values.
    pub(super) as_of: Option<String>,
}

/// Reference to a result of a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunResultRef {
    pub(super) alias: String,
    pub(super) part: RunPart,
    /// Treatments whose trials are in the result.
    pub(super) treatments: Vec<u32>,
}

/// Part of a run that a result is taken from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RunPart {
    /// A metric of a treatment.
    Treatment(u32),
    /// A point of a treatment's curve.
    Curve,
    /// A score of a suite, by its index.
    Score(usize),
}

/// The answer of a function in a binding.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FunctionAnswer {
    /// A number with its unit and its sources.
    Amount(Box<Amount>),
    /// Text taken from the data.
    Text(String),
    /// A rank among several values, as of a day.
    Place {
        /// Rank, counted from 1.
        place: usize,
        /// Number of ranked values.
        of: usize,
        as_of: Option<String>,
    },
}

impl From<Amount> for FunctionAnswer {
    fn from(amount: Amount) -> Self {
        FunctionAnswer::Amount(Box::new(amount))
    }
}

/// Reason why a value or a ratio is missing.
#[derive(Debug, thiserror::Error)]
pub(super) enum MissingValue {
    /// The value is withheld for this reason.
    #[error("{0}")]
    Withheld(String),
    #[error("{0} has no value")]
    Total(String),
    #[error("{counts} of {label} not recorded")]
    Counts { counts: String, label: String },
    #[error("`{metric}` of {label} has no value in run {run}")]
    InRun { metric: String, label: String, run: RunId },
    #[error("{dividend} is divided by {divisor}")]
    Quotient { dividend: String, divisor: f64 },
}

impl Amount {
    /// Creates a value computed from others. It has no printed digits and no denominators.
    pub(super) fn computed(label: &str, value: Quantity, better: Better, of: &[&Amount]) -> Self {
        let mut rows: Vec<usize> = of.iter().flat_map(|a| a.rows.iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup();
        let label = label.to_owned();
        Amount {
            entry: SystemResult { label, value, better, counts: DenominatorCounts::default() },
            benchmark: of.first().map_or_else(String::new, |a| a.benchmark.clone()),
            metric: of.first().map_or_else(String::new, |a| a.metric.clone()),
            rows,
            run: None,
            decimals: None,
            withheld: of.iter().find_map(|a| a.withheld.clone()),
            as_of: of.iter().filter_map(|a| a.as_of.clone()).max(),
        }
    }

    /// Creates a placeholder for a missing value; `what` is its label and the reason.
    pub(super) fn missing(what: &str, unit: &str) -> Self {
        let mut amount =
            Amount::computed(what, Quantity::constant(f64::NAN, unit), Better::Neither, &[]);
        amount.withheld = Some(what.to_owned());
        amount
    }

    /// Returns the value under a basis, or the reason why it is missing.
    pub(super) fn under(&self, basis: Basis) -> Result<Quantity, MissingValue> {
        self.entry.quantity(basis).ok_or_else(|| match (basis, &self.withheld) {
            (_, Some(why)) => MissingValue::Withheld(why.clone()),
            (Basis::Total, None) => MissingValue::Total(self.entry.label.clone()),
            (Basis::Per(d), None) => {
                MissingValue::Counts { counts: plural(d), label: self.entry.label.clone() }
            }
        })
    }

    /// Returns the inputs of the value, for the derivation of a number.
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
                    result: result.clone().or_else(|| {
                        (leaf.kind == MetricKind::Quoted && run.is_none()).then_some(own)
                    }),
                    run: run.clone(),
                    source: from,
                }
            })
            .collect()
    }

    /// Returns two flags: true if the value rests on measured numbers, and true if it rests on
    /// quoted ones.
    pub(super) fn kinds(&self) -> (bool, bool) {
        let leaves = self.entry.value.leaves();
        let of = |quoted: bool| leaves.iter().any(|q| q.from_quoted() == quoted);
        (of(false), of(true))
    }

    pub(super) fn better(&self) -> Better {
        self.entry.better
    }
}

/// Returns the description of an input number.
fn what(leaf: &Quantity) -> String {
    match &leaf.derivation {
        assay_quoted::quantity::Derivation::Given(what) => what.clone(),
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
