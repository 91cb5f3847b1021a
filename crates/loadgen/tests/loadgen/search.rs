//! Tests of the search for the highest rate, against a real memcached.

use std::time::Duration;

use crate::support::{Memcached, never, quick};
use assay_loadgen::{Config, Error, LoadEnd, SearchBound, preload, run, search_max};

fn config(server: &Memcached) -> Config {
    let mut config = quick(&server.target);
    config.connections = 16;
    // A 99th percentile needs 1,000 operations: from 5,000 per second on.
    config.steady = Duration::from_millis(250);
    preload(&config, &never()).unwrap();
    config
}

#[test]
fn a_search_ends_between_a_rate_that_holds_and_one_that_does_not() {
    let Some(server) = Memcached::unix(&[]) else { return };
    let config = config(&server);
    let bound = SearchBound {
        quantile: 0.9,
        limit_ns: 50_000_000,
        precision: 0.5,
        most_steps: 12,
        ..SearchBound::default()
    };
    let mut reported = 0;
    let found = search_max(&config, bound, &never(), |_, _| reported += 1).unwrap();
    assert_eq!(reported, found.steps.len());
    assert!(found.steps.len() <= 12);
    if let (Some(best), Some(above)) = (&found.best, &found.above) {
        assert!(best.rate < above.rate, "{found:?}");
        assert!(best.bound_ns.unwrap() <= 50_000_000 && best.kept);
        assert!(!above.kept || above.bound_ns.is_none_or(|t| t > 50_000_000));
    }
    // A busy machine may keep no rate at all; but a confirmed result has both ends measured.
    assert!(!found.confirmed || (found.best.is_some() && found.above.is_some()));
}

#[test]
fn a_rate_too_low_for_the_quantile_is_refused() {
    let Some(server) = Memcached::unix(&[]) else { return };
    let bound = SearchBound {
        quantile: 0.9999,
        limit_ns: 1_000_000_000,
        first_rate: Some(100.0),
        ..SearchBound::default()
    };
    let error = search_max(&config(&server), bound, &never(), |_, _| {}).unwrap_err();
    assert!(matches!(error, Error::Search(_)), "{error}");
    assert!(error.to_string().contains("longer"), "{error}");
}

#[test]
fn a_rate_beyond_the_server_leaves_operations_unsent() {
    let Some(server) = Memcached::unix(&[]) else { return };
    let mut config = config(&server);
    config.mode = assay_loadgen::Mode::Open { rate: 1e8, arrivals: assay_loadgen::Arrivals::Even };
    let report = run(&config, &never(), |_, _| {}).unwrap();
    assert_eq!(report.ended, LoadEnd::Complete);
    let due = report.times(None).len() + report.unanswered;
    assert_eq!(due, 25_000_000, "all that was due is counted");
    assert!(report.late.as_ref().unwrap().unsent > 0);
    assert_eq!(report.quantile(0.99), None);
}
