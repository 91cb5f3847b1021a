//! Checks related figures of a file against each other: a mean against its values, a rate against
//! count and time, percentiles against their order. Every reader fills [`Figures`]. If two figures
//! contradict each other, nobody can know which one is wrong, so the contradiction becomes evidence
//! and the metric has no value.

use assay_model::{MetricValue, Observation};

use crate::readers::result::{ForeignResult, ForeignTrial, mean};

/// Tolerance between a printed figure and the one computed from its values, as a fraction: larger
/// than the rounding of every supported program, smaller than any mistake worth finding.
const ROUNDING: f64 = 1e-3;
/// Tolerance for rates, whose time is taken a little later than their count.
const RATE: f64 = 1e-2;
/// Tolerance for the order of percentiles, which a histogram rounds to one of at least 64 buckets
/// per octave.
const BUCKET: f64 = 2e-2;
/// Resolution of printed times in seconds.
const TIME: f64 = 1e-3;

/// Figures that a file states for one metric; absent ones are `None` or empty.
#[derive(Debug, Default)]
pub(crate) struct Figures<'a> {
    /// The values that mean, minimum and maximum refer to.
    pub(crate) values: &'a [f64],
    pub(crate) mean: Option<f64>,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    /// Pairs of percent and value.
    pub(crate) percentiles: Vec<(f64, f64)>,
    /// Largest value that the histogram behind the percentiles can represent; larger values are
    /// reported as this one.
    pub(crate) ceiling: Option<f64>,
    pub(crate) rate: Option<f64>,
    pub(crate) count: Option<f64>,
    pub(crate) seconds: Option<f64>,
    /// Resolution of the printed figures (unit in the last place), where coarser than the
    /// tolerances above.
    pub(crate) resolution: f64,
}

impl Figures<'_> {
    /// Returns the figures of `name` that are metrics: `name.mean`, `name.min`, `name.max`,
    /// `name.p99`.
    pub(crate) fn of_metrics(metrics: &[MetricValue], name: &str) -> Self {
        let mut out = Figures::default();
        for m in metrics {
            match m.name.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')) {
                Some("mean") => out.mean = m.value,
                Some("min") => out.min = m.value,
                Some("max") => out.max = m.value,
                Some(other) => {
                    let percent = other.strip_prefix('p').and_then(|p| p.parse().ok());
                    out.percentiles.extend(percent.zip(m.value));
                }
                None => {}
            }
        }
        out
    }

    /// Returns the contradictions of the metric `name`.
    pub(crate) fn contradictions(&self, name: &str) -> Vec<Observation> {
        let mut out = Vec::new();
        let mut contradiction = |figure: &str, printed: f64, computed: f64| {
            let what = format!("the {figure} of {name} is");
            out.push(Observation::Disagreement { what, printed, computed });
        };
        let differ = |a: f64, b: f64, part: f64| {
            (a - b).abs() > part * a.abs().max(b.abs()) + self.resolution
        };
        let of_values = [
            ("mean", self.mean, mean(self.values)),
            ("minimum", self.min, self.values.iter().copied().reduce(f64::min)),
            ("maximum", self.max, self.values.iter().copied().reduce(f64::max)),
        ];
        for (figure, printed, computed) in of_values {
            if let (Some(printed), Some(computed)) = (printed, computed)
                && differ(printed, computed, ROUNDING)
            {
                contradiction(figure, printed, computed);
            }
        }
        // A latency above zero means that operations completed, at least one at a time, so a rate
        // of zero contradicts it.
        let counted = self.count.zip(self.seconds.filter(|s| *s > 0.0));
        let alone = self.mean.filter(|m| *m > 0.0 && self.rate == Some(0.0)).map(|m| 1.0 / m);
        if let (Some(rate), Some(computed)) = (self.rate, counted.map(|(n, s)| n / s).or(alone))
            && differ(rate, computed, RATE + self.seconds.map_or(0.0, |s| TIME / s))
        {
            contradiction("rate", rate, computed);
        }
        let mut percentiles = self.percentiles.clone();
        percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (min, max) = (
            self.min.map(|v| ("minimum".to_owned(), v)),
            self.max.map(|v| ("maximum".to_owned(), v)),
        );
        let steps = percentiles.iter().map(|(percent, v)| (format!("p{percent}"), *v));
        let order: Vec<(String, f64)> =
            min.clone().into_iter().chain(steps).chain(max.clone()).collect();
        let middle = self.mean.map(|v| ("mean".to_owned(), v));
        let range: Vec<(String, f64)> = min.into_iter().chain(middle).chain(max).collect();
        for pair in order.windows(2).chain(range.windows(2).filter(|_| self.mean.is_some())) {
            let [(low, a), (high, b)] = pair else { continue };
            if a > b && differ(*a, *b, BUCKET) {
                contradiction(&format!("{low} (at most the {high})"), *a, *b);
            }
        }
        for (percent, v) in
            percentiles.iter().filter(|(_, v)| self.ceiling.is_some_and(|c| *v >= c))
        {
            contradiction(
                &format!("p{percent}, the largest that its histogram has,"),
                *v,
                self.max.unwrap_or(*v),
            );
        }
        out
    }
}

impl ForeignTrial {
    /// Checks the figures of a metric against each other. A contradiction removes the values of the
    /// metrics with these names and of those below them (`latency.p99` is below `latency`).
    pub(crate) fn hold(&mut self, names: &[&str], figures: &Figures<'_>) {
        self.withhold(names, &figures.contradictions(names.first().unwrap_or(&"")));
    }

    fn withhold(&mut self, names: &[&str], found: &[Observation]) {
        let below = |metric: &str, name: &str| {
            metric.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        for metric in self.metrics.iter_mut().filter(|_| !found.is_empty()) {
            if names.iter().any(|name| below(&metric.name, name)) {
                metric.value = None;
            }
        }
        self.evidence.extend_from_slice(found);
    }
}

impl ForeignResult {
    /// Does the same for a metric of every trial of a treatment.
    pub(crate) fn hold(&mut self, treatment: usize, name: &str, figures: &Figures<'_>) {
        let found = figures.contradictions(name);
        for trial in self.trials.iter_mut().filter(|t| t.treatment == treatment) {
            trial.withhold(&[name], &found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(figures: &Figures<'_>) -> Vec<String> {
        let text = |o: Observation| match o {
            Observation::Disagreement { what, printed, computed } => {
                format!("{what} {printed}, {computed}")
            }
            other => panic!("{other:?}"),
        };
        figures.contradictions("x").into_iter().map(text).collect()
    }

    #[test]
    fn figures_that_follow_from_each_other_agree_or_are_named() {
        let good = || Figures {
            values: &[1.0, 2.0, 3.0],
            mean: Some(2.0),
            min: Some(1.0),
            max: Some(3.0),
            percentiles: vec![(99.0, 3.02), (50.0, 2.0)],
            ceiling: Some(100.0),
            rate: Some(33.4),
            count: Some(100.0),
            seconds: Some(3.0),
            resolution: 0.0,
        };
        let none: [&str; 0] = [];
        assert_eq!(found(&good()), none);
        assert_eq!(found(&Figures::default()), none);
        for (bad, says) in [
            (Figures { mean: Some(2.1), ..good() }, vec!["the mean of x is 2.1, 2"]),
            (Figures { max: Some(4.0), ..good() }, vec!["the maximum of x is 4, 3"]),
            (Figures { rate: Some(0.0), ..good() }, vec!["the rate of x is 0, 33.333333333333336"]),
            (Figures { rate: Some(0.0), count: None, ..good() }, vec!["the rate of x is 0, 0.5"]),
            (
                Figures { values: &[], mean: Some(9.0), ..good() },
                vec!["the mean (at most the maximum) of x is 9, 3"],
            ),
            (
                Figures { percentiles: vec![(50.0, 2.5), (99.0, 2.0)], ..good() },
                vec!["the p50 (at most the p99) of x is 2.5, 2"],
            ),
            (
                Figures { ceiling: Some(3.0), ..good() },
                vec!["the p99, the largest that its histogram has, of x is 3.02, 3"],
            ),
        ] {
            assert_eq!(found(&bad), says);
        }
        // A figure printed in whole units is no more exact than that.
        let coarse = Figures { percentiles: vec![(50.0, 4.0)], resolution: 1.0, ..good() };
        assert_eq!(found(&coarse), none);
    }
}
