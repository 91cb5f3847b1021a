//! Numbers for publication, with unit, origin, derivation and uncertainty. Arithmetic preserves all
//! of these, so that a number keeps its kind all the way to a page.

use assay_model::{Interval, MetricKind, units};
use serde::Serialize;

/// Maximum number of values that a formula prints one by one.
const FORMULA: usize = 40;

/// A number with the information that is needed to publish it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quantity {
    pub value: f64,
    /// Symbol of the unit (`bops`, `bops/core`, `1`).
    pub unit: String,
    /// Origin of the number. A computed number is *derived*, or *estimated* if any operand is an
    /// estimate.
    pub kind: MetricKind,
    /// Interval of the number: `null` if its uncertainty is unknown, both ends at the value for an
    /// exact count.
    pub interval: Option<Interval>,
    /// Derivation of the number.
    pub derivation: Derivation,
    /// Runs and quoted results that the number is based on, each listed once.
    pub provenance: Vec<String>,
}

/// Computation that produced a number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Derivation {
    /// No computation: the number was read. The text describes it (`cores of Sun Blade X6275`).
    Given(String),
    /// The first operand divided by the second.
    Quotient(Box<Quantity>, Box<Quantity>),
    /// The product of both operands.
    Product(Box<Quantity>, Box<Quantity>),
    /// The first operand minus the second.
    Difference(Box<Quantity>, Box<Quantity>),
    /// The operand in another unit: times the first factor, divided by the second.
    Scaled(Box<Quantity>, [f64; 2]),
    /// Several operands combined by a function with this name (`mean`).
    Together(String, Vec<Quantity>),
}

impl Quantity {
    /// Creates a number that was read: `what` describes it, `provenance` is the run or source that
    /// contains it.
    pub fn given(value: f64, unit: &str, kind: MetricKind, what: &str, provenance: &str) -> Self {
        Quantity {
            value,
            unit: unit.to_owned(),
            kind,
            interval: None,
            derivation: Derivation::Given(what.to_owned()),
            provenance: vec![provenance.to_owned()],
        }
    }

    /// Creates an exact count that was read.
    pub fn count(value: f64, unit: &str, kind: MetricKind, what: &str, provenance: &str) -> Self {
        let interval = Some(Interval { low: value, high: value, level: 1.0 });
        Quantity { interval, ..Quantity::given(value, unit, kind, what, provenance) }
    }

    /// Creates a constant of a formula. It has no provenance and is not among the
    /// [`leaves`](Self::leaves).
    pub fn constant(value: f64, unit: &str) -> Self {
        let interval = Some(Interval { low: value, high: value, level: 1.0 });
        let derivation = Derivation::Given(String::new());
        let (unit, provenance) = (unit.to_owned(), Vec::new());
        Quantity { value, unit, kind: MetricKind::Derived, interval, derivation, provenance }
    }

    #[must_use]
    pub fn with_interval(self, interval: Option<Interval>) -> Self {
        Quantity { interval, ..self }
    }

    /// Divides this by `other`; `None` if the quotient is not finite. Equal units give a plain
    /// ratio (`1`). For the interval, errors are assumed to be independent: half-widths on the log
    /// scale are added in quadrature. The result has no interval if either side has none.
    pub fn per(&self, other: &Quantity) -> Option<Quantity> {
        let unit = if self.unit == other.unit {
            "1".to_owned()
        } else if other.unit == "1" {
            self.unit.clone()
        } else {
            format!("{}/{}", self.unit, other.unit)
        };
        let made = Derivation::Quotient(Box::new(self.clone()), Box::new(other.clone()));
        self.combined(other, self.value / other.value, unit, made)
    }

    /// Multiplies this by `other`, with the interval as in [`Quantity::per`]; `None` if the product
    /// is not finite.
    pub fn times(&self, other: &Quantity) -> Option<Quantity> {
        let unit = match (self.unit.as_str(), other.unit.as_str()) {
            (unit, "1") | ("1", unit) => unit.to_owned(),
            (a, b) => format!("{a} {b}"),
        };
        let made = Derivation::Product(Box::new(self.clone()), Box::new(other.clone()));
        self.combined(other, self.value * other.value, unit, made)
    }

    /// Subtracts `other`, in the unit of this and without an interval; `None` if the difference is
    /// not finite.
    pub fn subtract(&self, other: &Quantity) -> Option<Quantity> {
        let made = Derivation::Difference(Box::new(self.clone()), Box::new(other.clone()));
        let difference = self.combined(other, self.value - other.value, self.unit.clone(), made)?;
        Some(difference.with_interval(None))
    }

    /// Converts the number to `unit`: times `by[0]`, divided by `by[1]`.
    #[must_use]
    pub fn scaled(&self, by: [f64; 2], unit: &str) -> Quantity {
        let [times, over] = by;
        let scale = |x: f64| x * times / over;
        Quantity {
            value: scale(self.value),
            unit: unit.to_owned(),
            interval: self.interval.map(|i| Interval {
                low: scale(i.low),
                high: scale(i.high),
                level: i.level,
            }),
            derivation: Derivation::Scaled(Box::new(self.clone()), by),
            kind: self.kind,
            provenance: self.provenance.clone(),
        }
    }

    /// Creates a number that `how` computes from several numbers of one unit, such as their `mean`
    /// or `sum`. `None` for an empty list, for different units, or if `value` is not finite. The
    /// result has no interval, because the correlation of the errors is unknown.
    pub fn together(how: &str, value: f64, of: &[Quantity]) -> Option<Quantity> {
        let first = of.first()?;
        if !value.is_finite() || of.iter().any(|q| q.unit != first.unit) {
            return None;
        }
        let mut provenance: Vec<String> = Vec::new();
        for p in of.iter().flat_map(|q| &q.provenance) {
            if !provenance.contains(p) {
                provenance.push(p.clone());
            }
        }
        let kind = of.iter().fold(MetricKind::Derived, |kind, q| combined_kind(kind, q.kind));
        let derivation = Derivation::Together(how.to_owned(), of.to_vec());
        let unit = first.unit.clone();
        Some(Quantity { value, unit, kind, interval: None, derivation, provenance })
    }

    /// Returns the numbers that were read and from which this one was computed, in the order of the
    /// formula.
    pub fn leaves(&self) -> Vec<&Quantity> {
        match &self.derivation {
            Derivation::Given(_) if self.provenance.is_empty() => Vec::new(),
            Derivation::Given(_) => vec![self],
            _ => self.operands().into_iter().flat_map(Quantity::leaves).collect(),
        }
    }

    /// Returns the operands of the last step of the computation; empty for a number that was read.
    fn operands(&self) -> Vec<&Quantity> {
        match &self.derivation {
            Derivation::Given(_) => Vec::new(),
            Derivation::Quotient(a, b)
            | Derivation::Product(a, b)
            | Derivation::Difference(a, b) => vec![a, b],
            Derivation::Scaled(a, _) => vec![a],
            Derivation::Together(_, of) => of.iter().collect(),
        }
    }

    fn combined(
        &self,
        other: &Quantity,
        value: f64,
        unit: String,
        derivation: Derivation,
    ) -> Option<Quantity> {
        if !value.is_finite() {
            return None;
        }
        let mut provenance = self.provenance.clone();
        provenance
            .extend(other.provenance.iter().filter(|p| !self.provenance.contains(p)).cloned());
        let interval = combined_interval(value, self, other, &derivation);
        Some(Quantity {
            value,
            unit,
            kind: combined_kind(self.kind, other.kind),
            interval,
            derivation,
            provenance,
        })
    }

    /// Returns true if this number is based on a number that somebody else published.
    pub fn from_quoted(&self) -> bool {
        match &self.derivation {
            Derivation::Given(_) => self.kind == MetricKind::Quoted,
            _ => self.operands().into_iter().any(Quantity::from_quoted),
        }
    }

    /// Returns the label to print with the number: `measured`, `derived from quoted`.
    pub fn kind_words(&self) -> &'static str {
        match (self.kind, self.from_quoted()) {
            (MetricKind::Measured, _) => "measured",
            (MetricKind::Quoted, _) => "quoted",
            (MetricKind::Derived, false) => "derived",
            (MetricKind::Derived, true) => "derived from quoted",
            (MetricKind::Estimated, false) => "estimated",
            (MetricKind::Estimated, true) => "estimated from quoted",
        }
    }

    /// Formats the number for a table: with four significant digits, or with its whole integer part
    /// if that is longer (`483.2`, `26424`); halves are rounded away from zero, as people do.
    pub fn text(&self) -> String {
        if self.value.abs() >= 1000.0 || self.value.fract() == 0.0 {
            format!("{:.0}", self.value.round())
        } else {
            units::significant(self.value, 4)
        }
    }

    /// Formats the computation as a formula with its numbers: `422782 bops / 16 core`.
    pub fn formula(&self) -> String {
        match &self.derivation {
            Derivation::Given(what) if what.is_empty() => self.operand(),
            Derivation::Given(what) => format!("{} {} ({what})", self.value, self.unit),
            Derivation::Quotient(a, b) => format!("{} / {}", a.operand(), b.operand()),
            Derivation::Product(a, b) => format!("{} x {}", a.operand(), b.operand()),
            Derivation::Difference(a, b) => format!("{} - {}", a.operand(), b.operand()),
            Derivation::Scaled(a, [times, over]) => {
                let by = |sign, n| if n == 1.0 { String::new() } else { format!(" {sign} {n}") };
                format!("{}{}{}", a.operand(), by("x", *times), by("/", *over))
            }
            Derivation::Together(how, of) => {
                let shown = of.iter().take(if of.len() > FORMULA { 3 } else { FORMULA });
                let mut values: Vec<String> = shown.map(Quantity::operand).collect();
                if of.len() > FORMULA {
                    values.push(format!("... {} values", of.len()));
                }
                format!("{how}({})", values.join(", "))
            }
        }
    }

    /// Formats the number as an operand of a formula: with its unit, in parentheses if it was
    /// computed.
    pub fn operand(&self) -> String {
        match &self.derivation {
            Derivation::Given(_) if self.unit == "1" => self.value.to_string(),
            Derivation::Given(_) => format!("{} {}", self.value, self.unit),
            Derivation::Together(..) => self.formula(),
            _ => format!("({})", self.formula()),
        }
    }
}

/// Returns *estimated* if either operand is an estimate, and *derived* otherwise.
fn combined_kind(a: MetricKind, b: MetricKind) -> MetricKind {
    if a == MetricKind::Estimated || b == MetricKind::Estimated {
        MetricKind::Estimated
    } else {
        MetricKind::Derived
    }
}

/// Computes the interval of a product or quotient of two independent positive quantities: on the
/// log scale, the distances of the ends from the value are added in quadrature. An exact operand
/// (both ends at its value) adds nothing. `None` if an operand has no interval or is not positive,
/// or if the levels differ.
fn combined_interval(value: f64, a: &Quantity, b: &Quantity, how: &Derivation) -> Option<Interval> {
    let (ia, ib) = (a.interval?, b.interval?);
    let exact = |i: Interval| i.low == i.high;
    let level = match (exact(ia), exact(ib)) {
        (true, true) => return Some(Interval { low: value, high: value, level: 1.0 }),
        (true, false) => ib.level,
        (false, true) => ia.level,
        (false, false) if ia.level == ib.level => ia.level,
        (false, false) => return None,
    };
    let spread = |q: &Quantity, i: Interval| {
        let positive = i.low > 0.0 && q.value > 0.0 && i.high.is_finite();
        positive.then(|| ((q.value / i.low).ln().max(0.0), (i.high / q.value).ln().max(0.0)))
    };
    let ((down_a, up_a), (down_b, up_b)) = (spread(a, ia)?, spread(b, ib)?);
    // The upper end of the divisor gives the lower end of the quotient.
    let (down_b, up_b) =
        if matches!(how, Derivation::Quotient(..)) { (up_b, down_b) } else { (down_b, up_b) };
    let (down, up) = (down_a.hypot(down_b), up_a.hypot(up_b));
    Some(Interval { low: value * (-down).exp(), high: value * up.exp(), level })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(value: f64, unit: &str) -> Quantity {
        Quantity::given(value, unit, MetricKind::Quoted, "x", "somewhere")
    }

    fn measured(value: f64, low: f64, high: f64) -> Quantity {
        Quantity::given(value, "ops/s", MetricKind::Measured, "throughput", "run 1")
            .with_interval(Some(Interval { low, high, level: 0.95 }))
    }

    #[test]
    fn kinds_survive_arithmetic() {
        let cores = Quantity::count(4.0, "core", MetricKind::Measured, "cores", "run 1");
        assert_eq!(measured(8.0, 7.0, 9.0).per(&cores).unwrap().kind_words(), "derived");
        let watts = Quantity { kind: MetricKind::Estimated, ..quoted(2.0, "W") };
        assert_eq!(measured(8.0, 7.0, 9.0).per(&watts).unwrap().kind, MetricKind::Estimated);
        let both = quoted(422_782.0, "bops").per(&quoted(875.0, "W")).unwrap();
        assert_eq!(both.kind_words(), "derived from quoted");
        assert_eq!((both.unit.as_str(), both.provenance.len()), ("bops/W", 1));
        assert_eq!(both.formula(), "422782 bops / 875 W");
        let again = both.per(&watts).unwrap();
        assert_eq!(again.kind_words(), "estimated from quoted");
        assert_eq!(again.formula(), "(422782 bops / 875 W) / 2 W");
    }

    #[test]
    fn an_exact_count_scales_the_interval_and_an_unknown_one_ends_it() {
        let cores = Quantity::count(4.0, "core", MetricKind::Measured, "cores", "run 1");
        let each = measured(8.0, 7.0, 9.0).per(&cores).unwrap().interval.unwrap();
        assert!((each.low - 1.75).abs() < 1e-12 && (each.high - 2.25).abs() < 1e-12);
        assert_eq!(each.level, 0.95);
        assert_eq!(measured(8.0, 7.0, 9.0).per(&quoted(2.0, "W")).unwrap().interval, None);
    }

    #[test]
    fn errors_of_both_sides_add_in_squares_on_the_log_scale() {
        let a = measured(1.0, (-0.03f64).exp(), 0.03f64.exp());
        let b = measured(1.0, (-0.04f64).exp(), 0.04f64.exp());
        let ratio = a.per(&b).unwrap();
        let i = ratio.interval.unwrap();
        assert!((i.high.ln() - 0.05).abs() < 1e-12 && (i.low.ln() + 0.05).abs() < 1e-12);
        assert_eq!(ratio.unit, "1");
    }

    #[test]
    fn texts_have_four_digits_or_the_whole_number() {
        let text = |v| quoted(v, "bops").text();
        assert_eq!([text(102_958.5), text(111_845.5)], ["102959", "111846"]);
        assert_eq!([text(483.18), text(16.0), text(0.25)], ["483.2", "16", "0.2500"]);
    }

    #[test]
    fn constants_are_no_leaves_and_a_scale_keeps_its_factors() {
        let ratio = quoted(1049.0, "s").per(&quoted(381.0, "s")).unwrap();
        let more = ratio.subtract(&Quantity::constant(1.0, "1")).unwrap().scaled([100.0, 1.0], "%");
        assert_eq!(more.formula(), "((1049 s / 381 s) - 1) x 100");
        assert_eq!((more.leaves().len(), more.kind_words()), (2, "derived from quoted"));
        assert!((more.value - 175.328).abs() < 1e-3 && more.unit == "%");
        let minutes = measured(90.0, 60.0, 120.0).scaled([1.0, 60.0], "min");
        assert_eq!(minutes.interval.unwrap().high, 2.0);
        assert_eq!(minutes.formula(), "90 ops/s / 60");
    }

    #[test]
    fn what_is_no_number_is_none() {
        assert_eq!(quoted(1.0, "bops").per(&quoted(0.0, "W")), None);
    }
}
