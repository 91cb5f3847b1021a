//! The sound fixture's quoted results, denominators, power and prices.

use std::collections::BTreeMap;

use assay_checks::*;
use assay_stats::means::Quantity;

use super::sound::texts;

pub fn suite() -> SuiteEvidence {
    let arm = |label: &str, values: &[f64]| SuiteArm {
        label: label.to_owned(),
        values: ["sort", "parse", "render"]
            .iter()
            .zip(values)
            .map(|(m, v)| ((*m).to_owned(), *v))
            .collect(),
        reasons: BTreeMap::from([("solve".to_owned(), "does not build with gcc 14".to_owned())]),
    };
    SuiteEvidence {
        manifest: texts(&["sort", "parse", "render", "solve"]),
        arms: vec![arm("A", &[10.0, 20.0, 30.0]), arm("B", &[9.0, 18.0, 28.0])],
        quantity: Quantity::Amount,
        members_shown: Some(true),
    }
}

pub fn denominators() -> DenominatorEvidence {
    let system = |label: &str, value: f64, cores: f64| DenominatorSystem {
        label: label.to_owned(),
        value,
        counts: BTreeMap::from([("core".to_owned(), cores), ("chip".to_owned(), 1.0)]),
        basis: BTreeMap::from([
            ("core".to_owned(), Basis::Enabled),
            ("chip".to_owned(), Basis::Enabled),
        ]),
    };
    DenominatorEvidence {
        claimed: "core".to_owned(),
        higher_is_better: true,
        systems: vec![system("A", 100.0, 8.0), system("B", 80.0, 8.0)],
        matrix_shown: Some(true),
    }
}

pub fn energy() -> Vec<EnergyEvidence> {
    let of = |label: &str| EnergyEvidence {
        label: label.to_owned(),
        source: Some(PowerSource::Wall),
        meter: Some("a meter".to_owned()),
        uncertainty_percent: Some(0.5),
        calibrated_days_ago: Some(100.0),
        same_run: Some(true),
        same_window: Some(true),
    };
    vec![of("A"), of("B")]
}

pub fn prices() -> Vec<PriceEvidence> {
    let of = |label: &str, scope: &[&str]| PriceEvidence {
        label: label.to_owned(),
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
        url: Some("https://example.org/result".to_owned()),
        public: Some(true),
        archived_sha256: Some("cc".to_owned()),
        tester: Some("the rival".to_owned()),
        retrieved: Some("2026-11-20".to_owned()),
        newer_known: Some(false),
    }
}
