//! Series over revisions or time, as quoted values.

use std::collections::{BTreeMap, HashMap};

use assay_model::TrialOutcome;
use assay_stats::series::{QuotedPoint, QuotedSeries};

use crate::readers::file::unit::multiple;
use crate::readers::result::{ForeignResult, mean};

/// The series of a file.
#[derive(Debug, Clone, Default)]
pub struct ForeignSeries {
    /// The series, each with at least one point.
    pub series: Vec<QuotedSeries>,
    /// Number of values that are not finite numbers, which the series omit.
    pub excluded: usize,
    /// Index of each series by its name and base unit.
    index: HashMap<(String, String), usize>,
}

impl ForeignSeries {
    /// Adds a point to the series with this name and unit; counts a value that is not a finite
    /// number as excluded.
    pub(in crate::readers) fn put(
        &mut self,
        name: &str,
        unit: &str,
        point: (&str, &str),
        value: Option<f64>,
    ) {
        let Some(value) = value.filter(|v| v.is_finite()) else {
            self.excluded += 1;
            return;
        };
        let (time, revision) = (point.0.to_owned(), point.1.to_owned());
        self.add(name, unit, [QuotedPoint { time, revision, value }]);
    }

    /// Adds points to a series. If the series started in another multiple of the unit (`ns` and now
    /// `us`), converts the points to that one.
    fn add(&mut self, name: &str, unit: &str, points: impl IntoIterator<Item = QuotedPoint>) {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        let (factor, base) = multiple(&unit);
        let at = *self.index.entry((name.clone(), base)).or_insert_with(|| {
            self.series.push(QuotedSeries { name, unit: unit.clone(), points: Vec::new() });
            self.series.len() - 1
        });
        let series = &mut self.series[at];
        let scale = if series.unit == unit { 1.0 } else { factor / multiple(&series.unit).0 };
        series
            .points
            .extend(points.into_iter().map(|p| QuotedPoint { value: p.value * scale, ..p }));
    }

    /// Adds the points of another file.
    pub(in crate::readers) fn extend(&mut self, more: ForeignSeries) {
        self.excluded += more.excluded;
        for series in more.series {
            self.add(&series.name, &series.unit, series.points);
        }
    }

    /// Sorts the points of each series; points with equal keys keep their order.
    pub(in crate::readers) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&QuotedPoint) -> K) {
        for series in &mut self.series {
            series.points.sort_by_key(&key);
        }
    }

    /// Makes a series for each metric of each treatment: the means of the trials that started at
    /// the same time. Returns `None` if a trial has no time.
    pub(in crate::readers) fn of_result(result: &ForeignResult) -> Option<Self> {
        let mut all = ForeignSeries::default();
        for (i, treatment) in result.treatments.iter().enumerate() {
            let levels =
                treatment.levels.iter().map(|(factor, l)| format!("{factor}={}, ", l.to_text()));
            let levels: String = levels.collect();
            let mut metrics: BTreeMap<(jiff::Timestamp, &str, &str), Vec<f64>> = BTreeMap::new();
            for trial in result.trials.iter().filter(|t| t.treatment == i) {
                let time: jiff::Timestamp = trial.started_at.parse().ok()?;
                if trial.outcome != TrialOutcome::Completed {
                    all.excluded += 1;
                    continue;
                }
                for metric in &trial.metrics {
                    let values = metrics
                        .entry((time, metric.name.as_str(), metric.unit.as_str()))
                        .or_default();
                    values.extend(metric.value);
                }
            }
            for ((time, name, unit), values) in metrics {
                all.put(&format!("{levels}{name}"), unit, (&time.to_string(), ""), mean(&values));
            }
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_goes_on_in_another_multiple_of_its_unit() {
        let mut all = ForeignSeries::default();
        all.put("parse", "ns/iter", ("1", "a"), Some(990.0));
        all.put("parse", "us/iter", ("2", "b"), Some(1.1));
        all.put("parse", "B/iter", ("2", "b"), Some(64.0));
        assert_eq!(all.series.len(), 2);
        let (series, values) = (&all.series[0], all.series[0].points.iter().map(|p| p.value));
        assert_eq!(
            (series.unit.as_str(), values.collect::<Vec<_>>()),
            ("ns/iter", vec![990.0, 1100.0])
        );
    }
}
