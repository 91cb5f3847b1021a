//! The system under test in short.

use assay_model::SystemDescription;

use super::Style;
use crate::document::{Part, Parts, terminal};
use crate::parts::system::{counted, described, key_facts};

/// The key facts, those that could not be read with the reason, and how many more are recorded.
pub fn system(system: &SystemDescription, style: Style) -> String {
    let mut all = Parts::default();
    all.titled(described(system));
    all.push(Part::Pairs(key_facts(system).map(|(name, _, v)| (name.to_owned(), v)).collect()));
    all.note(counted(system));
    terminal::parts(&all, style)
}
