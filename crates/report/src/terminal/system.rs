//! The system under test in short.

use assay_model::SystemDescription;

use super::Style;
use crate::document::{Part, Parts, terminal};
use crate::parts::system::{counted, described, key_facts};

/// The key facts, those that could not be read with the reason, and how many more are recorded.
pub fn system(system: &SystemDescription, style: Style) -> String {
    let mut all = Parts::default();
    all.titled(described(system));
    let key = key_facts(system).into_iter().map(|(name, _, value)| (name, value));
    all.push(Part::Pairs(key.collect()));
    all.note(counted(system));
    terminal::parts(&all, style)
}
