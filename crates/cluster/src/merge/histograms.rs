//! Adds the histograms of several nodes. Percentiles of nodes are never averaged.

use std::collections::BTreeMap;

use assay_model::TrialHistogram;
use assay_model::units::seconds_of;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{DeserializeError, Deserializer, Serializer, V2Serializer};

/// Adds the histograms of each name. A histogram that cannot be added is left out, with a note.
pub(crate) fn merge(
    nodes: &[(&str, &BTreeMap<String, TrialHistogram>)],
    notes: &mut Vec<String>,
) -> BTreeMap<String, TrialHistogram> {
    let mut merged = BTreeMap::new();
    let Some((_, first)) = nodes.first() else { return merged };
    for (name, base) in *first {
        match add(name, base, nodes) {
            Ok(sum) => {
                merged.insert(name.clone(), sum);
            }
            Err(why) => notes.push(format!("the histogram `{name}` could not be merged: {why}")),
        }
    }
    merged
}

fn add(
    name: &str,
    base: &TrialHistogram,
    nodes: &[(&str, &BTreeMap<String, TrialHistogram>)],
) -> Result<TrialHistogram, String> {
    let mut sum: Option<Histogram<u64>> = None;
    let mut timed_out = 0u64;
    let mut one_load = true;
    for (node, histograms) in nodes {
        let theirs = histograms.get(name).ok_or(format!("node {node} lacks it"))?;
        if theirs.unit != base.unit
            || theirs.at != base.at
            || theirs.percentiles != base.percentiles
        {
            return Err(format!("node {node} recorded something else"));
        }
        one_load &= theirs.load == base.load;
        timed_out = timed_out.saturating_add(theirs.timed_out);
        let read = read_histogram(&theirs.hdr).map_err(|e| format!("node {node}: {e}"))?;
        match &mut sum {
            None => {
                let mut read = read;
                read.auto(true);
                sum = Some(read);
            }
            Some(sum) => sum.add(read).map_err(|e| format!("node {node}: {e}"))?,
        }
    }
    let sum = sum.ok_or("no node has it")?;
    let load = base.load.filter(|_| one_load);
    Ok(TrialHistogram { hdr: write(&sum)?, timed_out, load, ..base.clone() })
}

/// Returns a quantile of a histogram in `unit`; `None` without a unit of time, or if the
/// quantile falls among operations that timed out: these count as slower than any other.
pub(crate) fn quantile(histogram: &TrialHistogram, quantile: f64, unit: &str) -> Option<f64> {
    let values = read_histogram(&histogram.hdr).ok()?;
    let recorded = values.len();
    let samples = recorded + histogram.timed_out;
    let rank = ((quantile.clamp(0.0, 1.0) * samples as f64).ceil() as u64).max(1);
    if recorded == 0 || rank > recorded {
        return None;
    }
    let value = values.value_at_quantile((rank as f64 / recorded as f64).min(1.0)) as f64;
    Some(value * seconds_of(&histogram.unit)? / seconds_of(unit)?)
}

/// Reason why a text is no histogram.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    #[error("it is not base64 ({0})")]
    Base64(#[from] base64::DecodeError),
    #[error("it is not an HdrHistogram V2 ({0})")]
    Format(#[from] DeserializeError),
}

/// Reads a histogram from its base64 text.
///
/// # Errors
/// The text is not base64 of an HdrHistogram V2.
pub fn read_histogram(hdr: &str) -> Result<Histogram<u64>, HistogramError> {
    let bytes = STANDARD.decode(hdr.trim())?;
    Ok(Deserializer::new().deserialize(&mut bytes.as_slice())?)
}

fn write(histogram: &Histogram<u64>) -> Result<String, String> {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(histogram, &mut bytes).map_err(|e| e.to_string())?;
    Ok(STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: std::ops::Range<u64>, timed_out: u64) -> TrialHistogram {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        for value in values {
            histogram.record(value).unwrap();
        }
        TrialHistogram {
            unit: "us".into(),
            hdr: write(&histogram).unwrap(),
            timed_out,
            percentiles: BTreeMap::from([("p50".to_owned(), 0.5)]),
            ..TrialHistogram::default()
        }
    }

    #[test]
    fn the_sum_has_the_values_of_all() {
        let (a, b) = (histogram(0..100, 0), histogram(1000..1100, 2));
        let (a, b) = (BTreeMap::from([("t".to_owned(), a)]), BTreeMap::from([("t".to_owned(), b)]));
        let mut notes = Vec::new();
        let merged = merge(&[("n1", &a), ("n2", &b)], &mut notes);
        let sum = &merged["t"];
        assert_eq!((read_histogram(&sum.hdr).unwrap().len(), sum.timed_out), (200, 2));
        let half = quantile(sum, 0.5, "s").unwrap();
        assert!(
            (half - 1e-3).abs() < 2e-6,
            "{half}: the 101st of 202, not the mean of two medians"
        );
        assert_eq!(quantile(sum, 0.999, "s"), None, "it lies among those without an answer");
        assert_eq!(quantile(sum, 0.5, "1"), None);
        assert!(notes.is_empty());
        let none = BTreeMap::new();
        assert!(merge(&[("n1", &a), ("n2", &none)], &mut notes).is_empty());
        assert!(notes[0].contains("node n2 lacks it"), "{notes:?}");
    }
}
