//! What controls do about a trial beside setting their level: while its program runs, and after it.

use std::fmt;
use std::sync::mpsc::Receiver;

use assay_model::{MetricValue, Observation, TrialRecord};

/// What a control has to say of a trial: called once after it, with the control still set.
pub type After = Box<dyn FnOnce(&mut TrialRecord) + Send>;
/// What a control looks at while the program runs, on a thread of its own, until the sender is gone.
pub type During = Box<dyn FnOnce(&Receiver<()>) -> After + Send>;

/// The hooks of the controls of one treatment.
#[derive(Default)]
pub(crate) struct Hooks {
    pub during: Vec<During>,
    pub after: Vec<After>,
    /// Figures that controls measured while they were set, and how.
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

/// Runs `program` with each of `during` beside it; what it returns, and what they then have to say.
pub fn beside<T>(during: Vec<During>, program: impl FnOnce() -> T) -> (T, Vec<After>) {
    std::thread::scope(|scope| {
        let looking: Vec<_> = during
            .into_iter()
            .map(|look| {
                let (end, ended) = std::sync::mpsc::channel();
                (end, scope.spawn(move || look(&ended)))
            })
            .collect();
        let returned = program();
        let join = |(end, thread): (_, std::thread::ScopedJoinHandle<'_, After>)| {
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
        let look: During = Box::new(|end| {
            let ended = end.recv().is_err();
            Box::new(move |record| record.notes.push(format!("ended: {ended}")))
        });
        let (returned, after) = beside(vec![look], || 7);
        assert_eq!((returned, after.len()), (7, 1));
        assert_eq!(beside(Vec::new(), || 8).0, 8);
    }
}
