//! Observations of trials other than the metric, arranged by key.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use assay_traces::TRACE_FILES;

/// True if a source counts everything in a trial, so that a missing key means a count of 0. With
/// this many keys some would differ by chance, so all the intervals of a source together get the
/// confidence level of the comparison.
fn is_complete(source: &str) -> bool {
    TRACE_FILES.iter().any(|file| file.complete && file.tracer == source)
}

/// Identity of an observation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObservationKey<'a> {
    pub(super) source: &'a str,
    pub(super) subject: Cow<'a, str>,
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
}

impl<'a> ObservationKey<'a> {
    pub(super) fn new(
        source: &'a str,
        subject: impl Into<Cow<'a, str>>,
        name: &'a str,
        unit: &'a str,
    ) -> Self {
        ObservationKey { source, subject: subject.into(), name, unit }
    }

    /// Returns the value of one unit as a share of the time of the window; `None` if the
    /// observation is not a time.
    pub(super) fn share_of_time(&self) -> Option<f64> {
        // `resources` is in seconds of CPU time per second of the trial.
        if self.source == "resources" {
            return (self.unit == "s/s").then_some(1.0);
        }
        let field = assay_observe::field(self.source, self.name)?;
        let whole = field.chart.and_then(|(chart, _)| chart.subject);
        (field.is_time() && whole.is_none_or(|whole| self.subject == whole)).then_some(0.01)
    }
}

/// Observations of the trials of two treatments, by key.
#[derive(Default)]
pub(super) struct PairedObservations<'a> {
    /// Index into `values` of each key.
    pub(super) places: BTreeMap<ObservationKey<'a>, usize>,
    /// Each key with its values and the numbers of the trials that had them, in order.
    values: Vec<(ObservationKey<'a>, Vec<(u32, f64)>)>,
    /// Pairs of source and trial that have any observation of a complete source.
    counted: BTreeSet<(&'a str, u32)>,
    /// Number of the current trial, from 1.
    trial: u32,
    /// Predicted index of the next key: most trials report the same keys in the same order.
    next: usize,
}

impl<'a> PairedObservations<'a> {
    /// Starts the next trial: later values belong to it.
    pub(super) fn next_trial(&mut self) {
        (self.trial, self.next) = (self.trial + 1, 0);
    }

    /// Returns a reference to the current trial's value of a key, inserting 0 if it is missing.
    pub(super) fn entry(&mut self, key: ObservationKey<'a>) -> &mut f64 {
        if is_complete(key.source) {
            self.counted.insert((key.source, self.trial));
        }
        let expected = self.values.get(self.next).is_some_and(|(known, _)| *known == key);
        let at = if expected { self.next } else { self.place(key) };
        self.next = at + 1;
        let values = &mut self.values[at].1;
        if values.last().is_none_or(|(trial, _)| *trial != self.trial) {
            values.push((self.trial, 0.0));
        }
        let last = values.len() - 1;
        &mut values[last].1
    }

    fn place(&mut self, key: ObservationKey<'a>) -> usize {
        let new = self.values.len();
        let at = *self.places.entry(key.clone()).or_insert(new);
        if at == new {
            self.values.push((key, Vec::new()));
        }
        at
    }

    /// Returns a trial's value of the key at `place`.
    pub(super) fn value(&self, place: usize, trial: u32) -> Option<f64> {
        let values = &self.values[place].1;
        values.binary_search_by_key(&trial, |(of, _)| *of).ok().map(|at| values[at].1)
    }

    /// Returns true if the trial counted everything of a source.
    pub(super) fn counts(&self, source: &str, trial: u32) -> bool {
        is_complete(source) && self.counted.contains(&(source, trial))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_keys_in_any_order() {
        let key = |name| ObservationKey::new("metric", "", name, "s");
        let call = ObservationKey::new("syscalls", "read", "calls", "calls");
        let mut seen = PairedObservations::default();
        for names in [["a", "b", "c"], ["a", "b", "c"], ["c", "a", "a"], ["b", "d", "c"]] {
            seen.next_trial();
            for name in names {
                *seen.entry(key(name)) += 1.0;
            }
        }
        *seen.entry(call.clone()) = 7.0;
        let of = |name| [1, 2, 3, 4].map(|trial| seen.value(seen.places[&key(name)], trial));
        assert_eq!(of("a"), [Some(1.0), Some(1.0), Some(2.0), None]);
        assert_eq!(of("b"), [Some(1.0), Some(1.0), None, Some(1.0)]);
        assert_eq!(of("c"), [Some(1.0); 4]);
        assert_eq!(of("d"), [None, None, None, Some(1.0)]);
        assert_eq!(seen.value(seen.places[&call], 4), Some(7.0));
        assert_eq!([3, 4].map(|trial| seen.counts("syscalls", trial)), [false, true]);
        assert!(!seen.counts("metric", 4));
    }
}
