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
    /// Relative difference of neighboring rates, such as 0.05.
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
    /// True if the answer lies between both rates with a probability of at least [`SURE`]; they
    /// differ by the precision then.
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

/// Probability that a run breaks the bound although its rate keeps it: disturbances on a machine
/// make responses late, hardly ever early.
const LATE: f64 = 0.3;
/// Probability that a run keeps the bound although its rate breaks it.
const EARLY: f64 = 0.05;
/// Probability of the answer at which the search ends.
pub const SURE: f64 = 0.9;
/// Half of the octaves that are searched, around the first rate.
const OCTAVES: f64 = 16.0;

/// Probabilities, up to a factor, of the answers: that no rate keeps the bound, that only the
/// lowest does, the lowest two, and so on. Neighboring rates differ by the precision.
struct Answers {
    first: f64,
    /// Logarithm of the ratio of neighboring rates.
    step: f64,
    probabilities: Vec<f64>,
}

impl Answers {
    fn new(first: f64, precision: f64) -> Self {
        let step = precision.ln_1p();
        let half = (OCTAVES * std::f64::consts::LN_2 / step).ceil();
        // A density with heavy tails: steps grow while the answer is far from the first rate.
        let prior = |i: usize| 1.0 / (1.0 + (2.0 * (i as f64 - 0.5 - half) * step).powi(2));
        let probabilities = (0..2 * half as usize + 2).map(prior).collect();
        Answers { first, step, probabilities }
    }

    fn rate(&self, number: usize) -> f64 {
        let half = (self.probabilities.len() - 2) / 2;
        self.first * (self.step * (number as f64 - half as f64)).exp()
    }

    /// Returns the rate at which keeping and breaking the bound are most nearly equally probable.
    fn next(&self) -> usize {
        let (mut breaks, half) = (0.0, self.probabilities.iter().sum::<f64>() / 2.0);
        let number = self.probabilities.iter().position(|p| {
            breaks += p;
            breaks - p / 2.0 >= half
        });
        number.map_or(0, |n| n.saturating_sub(1))
    }

    fn learn(&mut self, number: usize, kept: bool) {
        let chance = |keeps: bool| match (keeps, kept) {
            (true, true) => 1.0 - LATE,
            (true, false) => LATE,
            (false, true) => EARLY,
            (false, false) => 1.0 - EARLY,
        };
        for (keep, probability) in self.probabilities.iter_mut().enumerate() {
            *probability *= chance(number < keep);
        }
    }

    /// Returns the most probable answer, as a number of rates that keep the bound, and its
    /// probability.
    fn best(&self) -> (usize, f64) {
        let numbered = self.probabilities.iter().enumerate();
        let (number, best) = numbered.max_by(|a, b| a.1.total_cmp(b.1)).unwrap_or((0, &0.0));
        (number, best / self.probabilities.iter().sum::<f64>())
    }
}

/// Finds the highest rate at which the quantile stays within the bound, starting at `first`, with
/// one call of `measure` for each step.
///
/// This is a probabilistic bisection (Horstein 1963; Waeber, Frazier, Henderson 2013): each step
/// updates the probabilities of all answers, so disturbed runs do not mislead the search. It ends
/// when one answer has a probability of at least [`SURE`].
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
    if first.is_nan() || first <= 0.0 {
        let why = "nothing was answered before the search: there is no rate to begin at; measure \
                   for longer";
        return Err(Error::Search(why.to_owned()).into());
    }
    let sound = bound.precision > 0.0 && (0.0..1.0).contains(&bound.quantile);
    if !sound || bound.limit_ns == 0 {
        return Err(
            Error::Search(format!("{bound:?}: all must be above 0, the quantile below 1")).into()
        );
    }
    let mut answers = Answers::new(first, bound.precision);
    let mut steps: Vec<(RatePoint, bool)> = Vec::new();
    while answers.best().1 < SURE
        && steps.len() < bound.most_steps as usize
        && !stop.load(Ordering::Acquire)
    {
        let number = answers.next();
        let point = measure(answers.rate(number))?;
        let kept = keeps(&point, bound)?;
        on_step(&point, kept);
        answers.learn(number, kept);
        steps.push((point, kept));
    }
    let (number, probability) = answers.best();
    // Halfway between the highest rate that keeps the bound and the lowest that breaks it.
    let edge = answers.rate(number) * (-answers.step / 2.0).exp();
    let seen = |kept: bool| steps.iter().filter(move |s| s.1 == kept).map(|s| &s.0);
    let best = seen(true).filter(|p| p.rate < edge).max_by(|a, b| a.rate.total_cmp(&b.rate));
    let above = seen(false).filter(|p| p.rate > edge).min_by(|a, b| a.rate.total_cmp(&b.rate));
    Ok(SearchReport {
        confirmed: probability >= SURE && best.is_some() && above.is_some(),
        best: best.cloned(),
        above: above.cloned(),
        steps,
    })
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
            assert!(above / best < 1.0501);
        }
    }

    /// Repeated searches of rates that break the bound with a given probability, in 300 worlds.
    fn misses(breaks: impl Fn(f64) -> f64) -> usize {
        let mut state = 1u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let miss =
            |_: &u32| {
                let truth = 20_000.0 * 3f64.powf(random());
                let found = find(45_000.0, |rate, _| {
                    if random() < breaks((rate / truth).ln()) { u64::MAX } else { 1 }
                });
                found.best.is_none_or(|best| (best.rate / truth).ln().abs() > 0.1)
            };
        (0..300).filter(miss).count()
    }

    #[test]
    fn disturbed_runs_do_not_move_the_answer() {
        let step = |late: f64| move |x: f64| if x > 0.0 { 1.0 } else { late };
        assert_eq!(misses(step(0.0)), 0);
        assert!(misses(step(0.2)) <= 6, "{}", misses(step(0.2)));
        assert!(misses(step(0.3)) <= 15, "{}", misses(step(0.3)));
        let gradual = |x: f64| 1.0 / (1.0 + (-x / 0.05).exp());
        assert!(misses(gradual) <= 15, "{}", misses(gradual));
    }

    #[test]
    fn ends_within_its_steps_when_nothing_keeps_or_nothing_breaks_the_bound() {
        let never = find(1000.0, |_, _| u64::MAX);
        assert_eq!((never.best, never.confirmed), (None, false));
        let always = find(1000.0, |_, _| 1);
        assert_eq!((always.above, always.confirmed), (None, false));
        assert!(never.steps.len() <= 40 && always.steps.len() <= 40);
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
