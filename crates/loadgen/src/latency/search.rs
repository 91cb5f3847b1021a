//! Search for the highest rate that keeps a bound on response times, by open-loop runs.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_stats::percentile::supports;

use crate::config::{Config, Mode, Think};
use crate::latency::report::{Errors, LoadEnd, LoadReport};
use crate::{Error, run};

/// Share of a requested rate from which it counts as kept.
pub(crate) const KEPT: f64 = 0.98;

/// The bound of a search, and its limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchBound {
    /// Quantile that is bound, such as 0.99.
    pub quantile: f64,
    /// Maximum of that quantile in ns.
    pub limit_ns: u64,
    /// First rate to try, in operations per second; `None` takes half of the closed loop's
    /// throughput.
    pub first_rate: Option<f64>,
    /// Relative precision, such as 0.05: the search ends when the answer and the lowest rate that
    /// broke the bound differ by less.
    pub precision: f64,
    /// Maximum number of runs.
    pub most_steps: u32,
}

impl Default for SearchBound {
    fn default() -> Self {
        SearchBound {
            quantile: 0.99,
            limit_ns: 1_000_000,
            first_rate: None,
            precision: 0.05,
            most_steps: 40,
        }
    }
}

/// Result of one run at one rate.
#[derive(Debug, Clone, PartialEq)]
pub struct RatePoint {
    /// Requested rate in operations per second.
    pub rate: f64,
    /// Bounded quantile of the response time in ns; `None` if it falls among unanswered operations,
    /// or if there are too few operations to estimate it.
    pub bound_ns: Option<u64>,
    /// True if the rate was kept without errors and unanswered operations.
    pub kept: bool,
    /// Correct responses of the whole run, ramps included.
    pub answered: u64,
    /// Errors in the responses.
    pub errors: Errors,
}

impl RatePoint {
    fn new(rate: f64, report: &LoadReport, quantile: f64) -> Self {
        let total = report.times(None).len() + report.unanswered;
        let carried = supports(total as f64, quantile).then(|| report.quantile(quantile));
        let throughput = report.throughput().unwrap_or(f64::NAN);
        RatePoint {
            rate,
            bound_ns: carried.flatten(),
            kept: report.ended == LoadEnd::Complete
                && report.errors.total() == 0
                && report.unanswered == 0
                && throughput >= KEPT * rate,
            answered: report.series.iter().map(|bin| bin.operations).sum(),
            errors: report.errors.clone(),
        }
    }
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchReport {
    /// Highest rate that kept the bound; `None` if no rate did.
    pub best: Option<RatePoint>,
    /// Lowest rate above `best` that broke the bound; `None` if no rate did.
    pub above: Option<RatePoint>,
    /// True if both rates lie within the precision and both results were repeated: `best` kept the
    /// bound in another run, `above` broke it in two of at most three.
    pub confirmed: bool,
    /// All runs in order; true if the run kept the bound.
    pub steps: Vec<(RatePoint, bool)>,
}

/// Finds the highest rate at which the quantile stays within the bound, by [`search`]. Each step is
/// a run of `config` as an open loop with even arrivals (or those of `config.mode`, if it is open).
///
/// # Errors
/// A run could not start, or [`Error::Search`]: the bound makes no sense, or a step was too short
/// to estimate the quantile.
pub fn search_max(
    config: &Config,
    bound: SearchBound,
    stop: &AtomicBool,
    mut on_step: impl FnMut(&RatePoint, bool),
) -> Result<SearchReport, Error> {
    let mut measure = |rate: f64| {
        let report = run(&config.at_rate(rate), stop, |_, _| {})?;
        if let LoadEnd::ServerGone(_) = report.ended {
            let why = report.errors.texts.first().map_or("for an unknown reason", |t| t.1.as_str());
            return Err(Error::Search(format!(
                "the server went away at {rate:.0} operations/s ({why})"
            )));
        }
        Ok(RatePoint::new(rate, &report, bound.quantile))
    };
    let first = match bound.first_rate {
        Some(rate) => rate,
        None => closed_throughput(config, stop)? / 2.0,
    };
    search(first, bound, stop, &mut measure, &mut on_step)
}

fn closed_throughput(config: &Config, stop: &AtomicBool) -> Result<f64, Error> {
    let closed = Config { mode: Mode::Closed { think: Think::None }, ..config.clone() };
    let report = run(&closed, stop, |_, _| {})?;
    report.throughput().filter(|t| *t > 0.0 && report.ended == LoadEnd::Complete).ok_or_else(|| {
        let why = report.errors.texts.first().map_or("no operation was answered", |t| t.1.as_str());
        Error::Search(format!("the closed loop that it starts from failed: {why}"))
    })
}

/// The two rates between which the answer lies.
#[derive(Default)]
struct Bracket {
    best: Option<RatePoint>,
    above: Option<RatePoint>,
}

impl Bracket {
    /// Returns the next rate: outside the bracket while one end is missing, else its geometric
    /// middle.
    fn next(&self, first: f64) -> f64 {
        match (&self.best, &self.above) {
            (None, None) => first,
            (Some(best), None) => best.rate * 2.0,
            (None, Some(above)) => above.rate / 2.0,
            (Some(best), Some(above)) => (best.rate * above.rate).sqrt(),
        }
    }

    fn learn(&mut self, point: &RatePoint, kept: bool) {
        let end = if kept { &mut self.best } else { &mut self.above };
        *end = Some(point.clone());
        // Drops an end that contradicts the new result.
        if kept && self.above.as_ref().is_some_and(|a| a.rate <= point.rate) {
            self.above = None;
        }
        if !kept && self.best.as_ref().is_some_and(|b| b.rate >= point.rate) {
            self.best = None;
        }
    }
}

/// Finds the highest rate at which the quantile stays within the bound, starting at `first`, with
/// one call of `measure` for each step.
///
/// The search doubles or halves the rate until the bound lies between two rates, then bisects
/// (geometrically), then repeats the answer; if it does not repeat, the search continues below it.
/// A rate breaks the bound when two of at most three runs do.
///
/// # Errors
/// `measure` failed, or [`Error::Search`]: the bound makes no sense, or a step was too short to
/// estimate the quantile.
pub fn search<E: From<Error>>(
    first: f64,
    bound: SearchBound,
    stop: &AtomicBool,
    measure: &mut dyn FnMut(f64) -> Result<RatePoint, E>,
    on_step: &mut dyn FnMut(&RatePoint, bool),
) -> Result<SearchReport, E> {
    let sound = first > 0.0 && bound.precision > 0.0 && (0.0..1.0).contains(&bound.quantile);
    if !sound || bound.limit_ns == 0 {
        return Err(Error::Search(format!(
            "first rate {first}, {bound:?}: all must be above 0, the quantile below 1"
        ))
        .into());
    }
    let mut bracket = Bracket::default();
    let mut steps: Vec<(RatePoint, bool)> = Vec::new();
    let mut confirmed = false;
    'search: while !confirmed {
        let rates = bracket.best.as_ref().zip(bracket.above.as_ref());
        let near = rates.filter(|(low, high)| high.rate / low.rate < 1.0 + bound.precision);
        let rate = near.map_or_else(|| bracket.next(first), |(low, _)| low.rate);
        // Disturbances on a machine make responses late, hardly ever early. So one run that keeps
        // the bound is enough, while a broken bound must break in two of three runs.
        let mut verdicts = [0, 0];
        while verdicts[1] < 2 && verdicts[0] < 1 + u32::from(verdicts[1] > 0) {
            if steps.len() >= bound.most_steps as usize || stop.load(Ordering::Acquire) {
                break 'search;
            }
            let point = measure(rate)?;
            let kept = keeps(&point, bound)?;
            on_step(&point, kept);
            verdicts[usize::from(!kept)] += 1;
            steps.push((point, kept));
        }
        let kept = verdicts[1] < 2;
        confirmed = near.is_some() && kept;
        // Takes the last run that agrees with the verdict.
        if let Some((point, _)) = steps.iter().rev().find(|s| s.1 == kept) {
            bracket.learn(point, kept);
        }
    }
    Ok(SearchReport { best: bracket.best, above: bracket.above, confirmed, steps })
}

/// True if a run kept the bound.
fn keeps(point: &RatePoint, bound: SearchBound) -> Result<bool, Error> {
    if point.kept && point.bound_ns.is_none() {
        return Err(Error::Search(format!(
            "at {:.0} operations/s the measurement window holds too few operations for the \
             quantile {}; make it longer",
            point.rate, bound.quantile
        )));
    }
    Ok(point.kept && point.bound_ns.is_some_and(|t| t <= bound.limit_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(rate: f64, time: u64) -> RatePoint {
        RatePoint { rate, bound_ns: Some(time), kept: true, answered: 0, errors: Errors::default() }
    }

    fn find(first: f64, mut server: impl FnMut(f64, usize) -> u64) -> SearchReport {
        let stop = AtomicBool::new(false);
        let mut n = 0;
        let mut measure = |rate: f64| {
            n += 1;
            Ok::<_, Error>(point(rate, server(rate, n)))
        };
        search(first, SearchBound::default(), &stop, &mut measure, &mut |_, _| {}).unwrap()
    }

    /// A queue whose response time is 10 µs / (1 − rate / 100,000) keeps 1 ms up to 99,000.
    #[test]
    fn finds_the_knee_from_below_and_from_above() {
        let queue = |rate: f64, _| (10_000.0 / (1.0 - rate / 1e5).max(1e-9)) as u64;
        for first in [10.0, 500.0, 99_000.0, 5e6] {
            let found = find(first, queue);
            let (best, above) = (found.best.unwrap().rate, found.above.unwrap().rate);
            assert!(found.confirmed, "{first}: {} steps", found.steps.len());
            assert!(best <= 99_000.1 && above > 99_000.0, "{first}: {best} {above}");
            assert!(above / best < 1.05);
        }
    }

    /// The first result of the answer is luck: the repeat breaks the bound, and the answer moves
    /// down.
    #[test]
    fn an_answer_that_does_not_repeat_is_not_given() {
        let mut seen = std::collections::BTreeSet::new();
        let found = find(1000.0, |rate, _| {
            let again = !seen.insert(rate as u64);
            let limit = if again { 3_000.0 } else { 4_000.0 };
            if rate <= limit { 1 } else { u64::MAX }
        });
        let best = found.best.expect("a rate below 3000 keeps the bound").rate;
        assert!(best <= 3_000.0, "{best}");
    }

    /// Every fifth run is disturbed by the machine.
    #[test]
    fn a_hiccup_now_and_then_does_not_move_the_answer() {
        let found = find(500.0, |rate, n| if n % 5 == 0 || rate > 20_000.0 { u64::MAX } else { 1 });
        let best = found.best.unwrap().rate;
        assert!((19_000.0..=20_000.0).contains(&best) && found.confirmed, "{best}");
    }

    #[test]
    fn ends_within_its_steps_when_nothing_keeps_or_nothing_breaks_the_bound() {
        let never = find(1000.0, |_, _| u64::MAX);
        assert_eq!((never.best, never.confirmed, never.steps.len()), (None, false, 40));
        let always = find(1000.0, |_, _| 1);
        assert_eq!((always.above, always.confirmed, always.steps.len()), (None, false, 40));
    }

    #[test]
    fn too_short_a_window_is_an_error() {
        let stop = AtomicBool::new(false);
        let mut measure =
            |rate: f64| Ok::<_, Error>(RatePoint { bound_ns: None, ..point(rate, 1) });
        let error = search(1.0, SearchBound::default(), &stop, &mut measure, &mut |_, _| {});
        assert!(error.unwrap_err().to_string().contains("longer"));
    }
}
