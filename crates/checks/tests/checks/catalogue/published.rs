//! Quoted results, denominators, power and prices of the sound fixture.

use std::collections::BTreeMap;

use assay_checks::*;

use super::sound::{set, texts};

pub fn suite() -> SuiteEvidence {
    let treatment = |label: &str, against_first| SuiteArm {
        label: label.to_owned(),
        members: set(&["sort", "parse", "render"]),
        reasons: BTreeMap::from([("solve".to_owned(), "does not build with gcc 14".to_owned())]),
        against_first,
    };
    SuiteEvidence {
        manifest: texts(&["sort", "parse", "render", "solve"]),
        treatments: vec![treatment("A", None), treatment("B", Some((1.1, 1.08)))],
        members_shown: Some(true),
    }
}

pub fn denominators() -> DenominatorEvidence {
    let system = |label: &str| DenominatorSystem {
        label: label.to_owned(),
        count: Some(8.0),
        inferred: false,
        basis: Some(Basis::Enabled),
    };
    DenominatorEvidence {
        claimed: "core".to_owned(),
        words: "per core".to_owned(),
        systems: vec![system("A"), system("B")],
        several: true,
        flips: Vec::new(),
        matrix_shown: true,
    }
}

/// An order that reverses under another denominator.
pub fn flip() -> OrderReversal {
    OrderReversal { ahead: "A".to_owned(), instead: "B".to_owned(), under: "in total".to_owned() }
}

pub fn energy() -> Vec<EnergyEvidence> {
    let of = |label: &str| EnergyEvidence {
        label: label.to_owned(),
        source: Some(PowerSource::Wall),
        recorded: true,
        meter: Some("a meter".to_owned()),
        uncertainty_percent: Some(0.5),
        same_run: Some(true),
        same_window: Some(true),
        ..EnergyEvidence::default()
    };
    vec![of("A"), of("B")]
}

pub fn prices() -> Vec<PriceEvidence> {
    let of = |label: &str, scope: &[&str]| PriceEvidence {
        label: label.to_owned(),
        recorded: true,
        currency: Some("EUR".to_owned()),
        date: Some("2026-11-01".to_owned()),
        scope: Some(texts(scope)),
        public_terms: Some(true),
        discount: Some(0.0),
        support_years: Some(3.0),
    };
    vec![of("A", &["server", "memory"]), of("B", &["memory", "server"])]
}

pub fn quote() -> QuoteEvidence {
    QuoteEvidence {
        what: "the rival's result".to_owned(),
        document: Some("https://example.org/result".to_owned()),
        dated: Some("2026-11-20".to_owned()),
        later_than: None,
        newer: None,
    }
}
