//! Merges the samples of several nodes, on the collector's clock. The subject of a series starts
//! with its node.

use assay_model::{SampleRow, SampleSet, SeriesKey};

use crate::message::NodePart;

/// Merges all samples; `None` if no node has any.
pub(crate) fn merge(parts: &[NodePart]) -> Option<SampleSet> {
    let mut all = SampleSet::default();
    for part in parts {
        let Some(samples) = &part.part.samples else { continue };
        let set = samples.set();
        let first = all.series.len() as u32;
        all.series.extend(set.series.into_iter().map(|s| SeriesKey {
            subject: if s.subject.is_empty() {
                part.name.clone()
            } else {
                format!("{}/{}", part.name, s.subject)
            },
            ..s
        }));
        all.rows.extend(set.rows.iter().map(|r| SampleRow {
            t_ns: part.clock.here(r.t_ns),
            series: first + r.series,
            value: r.value,
        }));
    }
    if all.rows.is_empty() {
        return None;
    }
    all.rows.sort_by_key(|r| r.t_ns);
    Some(all)
}
