//! A claim that quotes fairly, and changes that violate each rule.

use assay_quoted::pack::PackEvidence;
use assay_quoted::pack::fair_use::*;

use super::{Cases, check};

fn result(what: &str) -> QuotedUse {
    QuotedUse {
        what: what.to_owned(),
        benchmark: Some("SPECjbb2005".to_owned()),
        metric: Some("SPECjbb2005 bops".to_owned()),
        source: Some("https://www.spec.org/jbb2005/results/".to_owned()),
        public: Some(true),
        compliant: Some(true),
        licensee: Some("a vendor".to_owned()),
        retrieved: Some("2009-08-25".to_owned()),
        estimated: Some(false),
        estimate_labelled: None,
        retired: Some(true),
        retirement_stated: Some(true),
        beside: Some(["chips", "cores", "parallelism"].map(str::to_owned).to_vec()),
    }
}

/// Returns a fair quotation of two results.
pub fn sound() -> FairUse {
    FairUse {
        results: vec![result("the result of A"), result("the result of B")],
        basis_stated: Some(true),
        sites_named: Some(vec!["www.spec.org".to_owned()]),
        trademark_line: Some("SPEC is a registered trademark of its owner".to_owned()),
        compares_benchmarks: Some(vec!["SPECjbb2005".to_owned(); 2]),
        true_as_of: Some("2009-08-25".to_owned()),
        checked_as_of: Some(true),
        derived: Some(true),
        derived_marked_near_metric: Some(true),
    }
}

type Change = fn(&mut FairUse);

const FAULTS: &[(&str, Change)] = &[
    ("FU1", |f| f.results[1].source = None),
    ("FU1", |f| f.results[1].public = Some(false)),
    ("FU2", |f| f.results[1].licensee = Some(" ".to_owned())),
    ("FU3", |f| f.results[1].retrieved = None),
    ("FU4", |f| f.sites_named = Some(vec!["example.org".to_owned()])),
    ("FU5", |f| f.basis_stated = Some(false)),
    ("FU6", |f| f.results[1].compliant = Some(false)),
    ("FU7", |f| f.compares_benchmarks = Some(vec!["SPECjbb2005".into(), "TPC-C".into()])),
    ("FU8", |f| f.results[1].metric = None),
    ("FU9", |f| f.trademark_line = Some(String::new())),
    ("FU9", |f| f.trademark_line = Some("all rights reserved".to_owned())),
    ("FU10", |f| f.checked_as_of = Some(false)),
    ("FU10", |f| f.true_as_of = None),
    ("FU11", |f| {
        (f.results[1].estimated, f.results[1].estimate_labelled) = (Some(true), Some(false));
    }),
    ("FU12", |f| f.derived_marked_near_metric = Some(false)),
    ("FU13", |f| f.results[1].retirement_stated = Some(false)),
    ("FU14", |f| f.results[1].beside = Some(vec!["chips".to_owned()])),
];

const GAPS: &[(&str, Change)] = &[
    ("FU1", |f| f.results[1].public = None),
    ("FU2", |f| f.results.clear()),
    ("FU3", |f| f.results.clear()),
    ("FU4", |f| f.sites_named = None),
    ("FU5", |f| f.basis_stated = None),
    ("FU6", |f| f.results[1].compliant = None),
    ("FU7", |f| f.compares_benchmarks = None),
    ("FU8", |f| f.results.clear()),
    ("FU9", |f| f.trademark_line = None),
    ("FU10", |f| f.checked_as_of = None),
    ("FU11", |f| f.results[1].estimated = None),
    ("FU12", |f| f.derived = None),
    ("FU13", |f| f.results[1].retired = None),
    ("FU14", |f| f.results[1].beside = None),
];

#[test]
fn every_rule_passes_fails_and_is_unknown() {
    check(&Cases {
        pack: "fair-use",
        sound,
        wrap: |f| PackEvidence::FairUse(f),
        faults: FAULTS,
        gaps: GAPS,
    });
}
