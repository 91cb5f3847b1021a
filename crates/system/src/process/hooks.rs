//! Hooks of a program: functions that run during a trial and after it.

use std::fmt;
use std::sync::mpsc::Receiver;

use assay_model::{MetricValue, Observation, TrialRecord};

/// A function that adds a control's remarks to a trial's record; called once after the trial, while
/// the control is still set.
pub type RecordHook = Box<dyn FnOnce(&mut TrialRecord) + Send>;
/// A function that observes the program on a thread of its own until the sender is dropped.
pub type ObserverHook = Box<dyn FnOnce(&Receiver<()>) -> RecordHook + Send>;

/// The hooks of all controls of a treatment.
#[derive(Default)]
pub(crate) struct Hooks {
    pub during: Vec<ObserverHook>,
    pub after: Vec<RecordHook>,
    /// Values that controls measured while they were set up, with their evidence.
    pub measured: Vec<(MetricValue, Observation)>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (during, after) = (self.during.len(), self.after.len());
        f.debug_struct("Hooks")
            .field("during", &during)
            .field("after", &after)
            .field("measured", &self.measured)
            .finish()
    }
}

/// Runs `program` while each function in `during` runs on a thread of its own. Returns the
/// program's result and the functions to call after the trial.
pub fn observe<T>(during: Vec<ObserverHook>, program: impl FnOnce() -> T) -> (T, Vec<RecordHook>) {
    std::thread::scope(|scope| {
        let looking: Vec<_> = during
            .into_iter()
            .map(|look| {
                let (end, ended) = std::sync::mpsc::channel();
                (end, scope.spawn(move || look(&ended)))
            })
            .collect();
        let returned = program();
        let join = |(end, thread): (_, std::thread::ScopedJoinHandle<'_, RecordHook>)| {
            drop::<std::sync::mpsc::Sender<()>>(end);
            thread.join().ok()
        };
        (returned, looking.into_iter().filter_map(join).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_beside_a_program_ends_with_it() {
        let look: ObserverHook = Box::new(|end| {
            let ended = end.recv().is_err();
            Box::new(move |record| record.notes.push(format!("ended: {ended}")))
        });
        let (returned, after) = observe(vec![look], || 7);
        assert_eq!((returned, after.len()), (7, 1));
        assert_eq!(observe(Vec::new(), || 8).0, 8);
    }
}
