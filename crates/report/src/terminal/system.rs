//! The system under test in short.

use assay_model::SystemDescription;

use super::Style;
use super::writer::Writer;
use crate::document::Tone;
use crate::parts::system::{counted, described, key_facts};

/// The key facts, those that could not be read with the reason, and how many more are recorded.
pub fn system(system: &SystemDescription, style: Style) -> String {
    let mut w = Writer::new(style);
    w.heading(&described(system));
    let pairs: Vec<(&str, String)> =
        key_facts(system).map(|(name, _, value)| (name, value)).collect();
    w.pairs(&pairs);
    w.wrapped(2, &counted(system), Tone::Soft);
    w.finish()
}
