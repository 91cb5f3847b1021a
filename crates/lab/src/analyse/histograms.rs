//! Merged histograms of a treatment's trials, and the percentiles of the sum. Percentiles of trials
//! are never averaged, because the mean of two 99th percentiles is not the 99th percentile of
//! anything.

use std::collections::BTreeMap;

use assay_cluster::merge::read_histogram;
use assay_model::{HistogramSummary, Percentile, Plan, TrialHistogram, TrialRecord, units};
use assay_stats::percentile::supports;
use hdrhistogram::Histogram;

/// Quantiles that are reported for every histogram.
const QUANTILES: [f64; 3] = [0.5, 0.99, 0.999];

/// Merges the histograms of each treatment's trials that count, by name.
pub(crate) fn merge(plan: &Plan, records: &[TrialRecord]) -> Vec<HistogramSummary> {
    let mut found = Vec::new();
    for treatment in &plan.treatments {
        let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
        for record in records.iter().filter(|r| r.treatment == treatment.id && r.counts()) {
            for (name, histogram) in &record.histograms {
                sums.entry(name)
                    .or_insert_with(|| Sum::new(histogram))
                    .add(record.number, histogram);
            }
        }
        let summary = |(name, sum): (&str, Sum<'_>)| HistogramSummary {
            treatment: treatment.id,
            label: treatment.label(),
            name: name.to_owned(),
            ..sum.summary()
        };
        found.extend(sums.into_iter().map(summary));
    }
    found
}

/// Histograms of one name while they are being added up.
struct Sum<'a> {
    first: &'a TrialHistogram,
    values: Histogram<u64>,
    timed_out: u64,
    trials: u32,
    /// Reason why the sum is unusable; empty if it is usable.
    fault: String,
    /// True if all trials sent their requests under the same load (open or closed loop).
    one_load: bool,
}

impl<'a> Sum<'a> {
    fn new(first: &'a TrialHistogram) -> Self {
        Sum {
            first,
            // The histogram grows as values are added. Its precision is that of the first one
            // added.
            values: Histogram::new(3).expect("three digits are allowed"),
            timed_out: 0,
            trials: 0,
            fault: String::new(),
            one_load: true,
        }
    }

    fn add(&mut self, trial: u32, next: &TrialHistogram) {
        let read = match read_histogram(&next.hdr) {
            Ok(_) if next.unit != self.first.unit => {
                Err(format!("it is in {}, others are in {}", next.unit, self.first.unit))
            }
            Ok(_) if next.at != self.first.at || next.percentiles != self.first.percentiles => {
                Err("it recorded something else than the others".to_owned())
            }
            other => other.map_err(|e| e.to_string()),
        };
        let added = read.and_then(|read| {
            if self.trials == 0 {
                self.values = read;
                self.values.auto(true);
                return Ok(());
            }
            self.values.add(read).map_err(|e| format!("it does not fit the others ({e})"))
        });
        match added {
            Err(why) if self.fault.is_empty() => {
                self.fault = format!("the histogram of trial {trial} cannot be used: {why}");
            }
            _ => {}
        }
        self.one_load &= next.load == self.first.load;
        self.timed_out += next.timed_out;
        self.trials += 1;
    }

    fn summary(&self) -> HistogramSummary {
        // Times are in seconds, as in metrics.
        let (factor, unit) = units::in_seconds(&self.first.unit);
        let mut wanted: Vec<(f64, Option<&String>)> = QUANTILES.map(|q| (q, None)).to_vec();
        for (metric, quantile) in &self.first.percentiles {
            wanted.retain(|(q, named)| q != quantile || named.is_some());
            wanted.push((*quantile, Some(metric)));
        }
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let whole = !self.values.is_empty() && self.fault.is_empty();
        let value = |v: u64| whole.then_some(v as f64 * factor);
        HistogramSummary {
            treatment: 0,
            label: String::new(),
            name: String::new(),
            unit: unit.to_owned(),
            at: self.first.at,
            minimum: value(self.values.min()),
            maximum: value(self.values.max()),
            timed_out: self.timed_out,
            percentiles: wanted
                .into_iter()
                .map(|(q, metric)| self.percentile(q, metric, factor))
                .collect(),
        }
    }

    fn percentile(&self, quantile: f64, metric: Option<&String>, factor: f64) -> Percentile {
        let recorded = self.values.len();
        let samples = recorded + self.timed_out;
        let rank =
            ((quantile.clamp(0.0, 1.0) * samples as f64).ceil() as u64).clamp(1, samples.max(1));
        let beyond = samples.saturating_sub(rank);
        let withheld = if !self.fault.is_empty() {
            self.fault.clone()
        } else if !supports(samples as f64, quantile) {
            let word = if beyond == 1 { "sample lies" } else { "samples lie" };
            format!("{beyond} {word} beyond it, ten are needed")
        } else if rank > recorded {
            format!("it is among the {} operations without an answer", self.timed_out)
        } else {
            String::new()
        };
        let value = withheld.is_empty().then(|| {
            let share = (rank as f64 / recorded as f64).min(1.0);
            self.values.value_at_quantile(share) as f64 * factor
        });
        Percentile {
            quantile,
            metric: metric.cloned(),
            value,
            samples,
            beyond,
            trials: self.trials,
            load: self.first.load.filter(|_| self.one_load),
            withheld,
        }
    }
}

/// Returns the merged percentile behind a treatment's metric, if the metric is one. The percentile
/// is withheld if the treatment's trials keep no histogram but those of other treatments do.
pub(crate) fn of_metric(
    merged: &[HistogramSummary],
    treatment: u32,
    metric: &str,
) -> Option<Percentile> {
    let whole = || merged.iter().filter(|h| h.at.is_none());
    let named = |h: &&HistogramSummary| -> Option<Percentile> {
        h.percentiles.iter().find(|p| p.metric.as_deref() == Some(metric)).cloned()
    };
    let own = whole().filter(|h| h.treatment == treatment).find_map(|h| named(&h));
    own.or_else(|| {
        let other = whole().find_map(|h| named(&h))?;
        Some(Percentile {
            value: None,
            samples: 0,
            beyond: 0,
            trials: 0,
            load: None,
            withheld: "its trials have no histogram".to_owned(),
            ..other
        })
    })
}

/// Returns the merged percentiles behind a treatment's curve, sorted by x; empty if the curve does
/// not consist of percentiles.
pub(crate) fn of_curve<'a>(
    merged: &'a [HistogramSummary],
    treatment: u32,
    curve: &str,
) -> Vec<(f64, &'a Percentile)> {
    let of = |h: &'a HistogramSummary| {
        let found = h.percentiles.iter().find(|p| p.metric.as_deref() == Some(curve))?;
        Some((h.at?, found))
    };
    let mut points: Vec<(f64, &Percentile)> =
        merged.iter().filter(|h| h.treatment == treatment).filter_map(of).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use hdrhistogram::serialization::{Serializer as _, V2Serializer};

    use super::*;

    fn histogram(values: impl Iterator<Item = u64>) -> TrialHistogram {
        let mut h = Histogram::<u64>::new_with_bounds(1, 1_000_000_000_000, 3).unwrap();
        values.for_each(|v| h.record(v).unwrap());
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&h, &mut bytes).unwrap();
        TrialHistogram {
            unit: "ns".into(),
            hdr: base64::engine::general_purpose::STANDARD.encode(bytes),
            percentiles: BTreeMap::from([("p99".to_owned(), 0.99)]),
            load: Some(assay_model::Load::Open),
            ..TrialHistogram::default()
        }
    }

    fn sum(of: &[TrialHistogram]) -> HistogramSummary {
        let mut sum = Sum::new(&of[0]);
        (1..).zip(of).for_each(|(trial, h)| sum.add(trial, h));
        sum.summary()
    }

    fn p(of: &HistogramSummary, q: f64) -> &Percentile {
        of.percentiles.iter().find(|p| p.quantile == q).unwrap()
    }

    /// Adds a quick trial and a slow one. The 99th percentile of all requests is in the bulk of the
    /// slow trial, nowhere near the mean of 1 ms and 100 ms.
    #[test]
    fn percentiles_are_of_all_trials_together() {
        let quick = histogram((0..100_000).map(|_| 1_000_000));
        let slow = histogram((0..2000).map(|_| 100_000_000));
        let merged = sum(&[quick, slow]);
        let p99 = p(&merged, 0.99);
        assert!((p99.value.unwrap() / 0.1 - 1.0).abs() < 1e-3, "{p99:?}");
        assert_eq!((p99.samples, p99.beyond, p99.trials), (102_000, 1020, 2));
        assert_eq!((p99.metric.as_deref(), p99.load), (Some("p99"), Some(assay_model::Load::Open)));
        assert!((p(&merged, 0.5).value.unwrap() / 1e-3 - 1.0).abs() < 1e-3);
        assert_eq!(merged.unit, "s");
    }

    #[test]
    fn two_trials_carry_what_none_of_them_does() {
        let half = || histogram((1..=500).map(|i| i * 1000));
        assert!(p(&sum(&[half()]), 0.99).value.is_none());
        assert_eq!(p(&sum(&[half()]), 0.99).withheld, "5 samples lie beyond it, ten are needed");
        let both = sum(&[half(), half()]);
        let p99 = p(&both, 0.99);
        assert!((p99.value.unwrap() / 495e-6 - 1.0).abs() < 2e-3, "{p99:?}");
        assert_eq!(p(&both, 0.999).value, None);
    }

    #[test]
    fn what_has_no_answer_is_longer_than_anything() {
        let lost = TrialHistogram { timed_out: 20, ..histogram((1..=980).map(|i| i * 1000)) };
        let merged = sum(&[lost]);
        assert!(p(&merged, 0.99).withheld.contains("among the 20 operations"), "{merged:?}");
        assert!((p(&merged, 0.5).value.unwrap() / 500e-6 - 1.0).abs() < 2e-3);
    }

    #[test]
    fn a_treatment_without_histograms_has_no_percentile() {
        let merged =
            [HistogramSummary { treatment: 1, ..sum(&[histogram((1..=5000).map(|i| i * 9))]) }];
        assert!(of_metric(&merged, 1, "p99").unwrap().value.is_some());
        let other = of_metric(&merged, 2, "p99").unwrap();
        assert_eq!((other.value, other.quantile, other.trials), (None, 0.99, 0));
        assert!(other.withheld.contains("no histogram"));
        assert_eq!(of_metric(&merged, 1, "throughput"), None);
    }

    #[test]
    fn a_damaged_histogram_withholds_and_names_the_trial() {
        let good = histogram((1..=5000).map(|i| i * 1000));
        for bad in ["", "!", "AAAA", &good.hdr[..good.hdr.len() / 2]] {
            let bad = TrialHistogram { hdr: bad.to_owned(), ..good.clone() };
            let merged = sum(&[good.clone(), bad]);
            assert!(merged.percentiles.iter().all(|p| p.value.is_none()), "{merged:?}");
            assert!(p(&merged, 0.5).withheld.contains("trial 2 cannot be used"), "{merged:?}");
        }
        let other = TrialHistogram { unit: "ms".into(), ..good.clone() };
        assert!(p(&sum(&[good, other]), 0.5).withheld.contains("it is in ms"));
    }
}
