//! Overlap of the nodes' steady phases, and drift of their clocks.

use std::time::Duration;

use assay_model::Observation;

use crate::message::NodeRole;
use crate::nodes_file::{NodeEntry, SteadyOverlap};

/// Computes the overlap of the windows of the nodes that ran the workload.
pub(crate) fn coincide(nodes: &[NodeEntry], bound: Duration) -> Option<SteadyOverlap> {
    let ran: Vec<(&NodeEntry, (u64, u64))> = nodes
        .iter()
        .filter(|n| n.did == NodeRole::Ran && n.exit.is_some())
        .map(|n| (n, n.window()))
        .collect();
    let begins = ran.iter().map(|(_, w)| w.0);
    let ends = ran.iter().map(|(_, w)| w.1);
    let (first, last) = (begins.clone().min()?, begins.max()?);
    let (early, late) = (ends.clone().min()?, ends.max()?);
    let longest = ran.iter().map(|(_, w)| w.1.saturating_sub(w.0)).max()?;
    let name = |found: Option<&(&NodeEntry, (u64, u64))>| {
        found.map(|(n, _)| n.node.clone()).unwrap_or_default()
    };
    Some(SteadyOverlap {
        begin_spread_ns: last - first,
        end_spread_ns: late - early,
        error_ns: ran.iter().map(|(n, _)| n.clock.error_ns()).max()?,
        last_to_begin: name(ran.iter().max_by_key(|(_, w)| w.0)),
        first_to_end: name(ran.iter().min_by_key(|(_, w)| w.1)),
        common: if longest == 0 { 0.0 } else { early.saturating_sub(last) as f64 / longest as f64 },
        declared: ran.iter().all(|(n, _)| !n.phases.is_empty()),
        bound_ns: u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX),
    })
}

/// Returns observations of the overlap and of the clock that moved most.
pub(crate) fn seen(nodes: &[NodeEntry], coincidence: Option<&SteadyOverlap>) -> Vec<Observation> {
    let Some(c) = coincidence else { return Vec::new() };
    let seconds = |ns: u64| ns as f64 * 1e-9;
    let mut seen = vec![Observation::Phases {
        begin_spread: seconds(c.begin_spread_ns),
        end_spread: seconds(c.end_spread_ns),
        error: seconds(c.error_ns),
        last_to_begin: c.last_to_begin.clone(),
        first_to_end: c.first_to_end.clone(),
        common: c.common,
        declared: c.declared,
        bound: seconds(c.bound_ns),
    }];
    if let Some(worst) = nodes.iter().max_by_key(|n| n.clock.drift_ns()) {
        seen.push(Observation::ClockDrift {
            node: worst.node.clone(),
            drift: seconds(worst.clock.drift_ns().unwrap_or(0)),
            bound: seconds(c.bound_ns),
        });
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::tests::{clock, node_part};

    fn entries(starts: &[u64], offset: i64) -> Vec<NodeEntry> {
        starts
            .iter()
            .enumerate()
            .map(|(i, start)| {
                let mut part = node_part(&format!("n{i}"), &[]);
                part.part.record.start_ns = start + 1_000_000;
                part.part.record.end_ns = start + 101_000_000;
                part.clock = clock(1_000_000, offset);
                NodeEntry::from_part(&part)
            })
            .collect()
    }

    #[test]
    fn windows_are_laid_over_each_other() {
        let nodes = entries(&[0, 20_000_000, 5_000_000], 1_000_000);
        let c = coincide(&nodes, Duration::from_millis(50)).unwrap();
        assert_eq!((c.begin_spread_ns, c.end_spread_ns), (20_000_000, 20_000_000));
        assert_eq!((c.last_to_begin.as_str(), c.first_to_end.as_str()), ("n1", "n0"));
        assert!((c.common - 0.8).abs() < 1e-9 && !c.declared);
        assert!(assay_checks::judge_observations(&seen(&nodes, Some(&c))).is_empty());
        let c = coincide(&nodes, Duration::from_millis(10)).unwrap();
        let found = assay_checks::judge_observations(&seen(&nodes, Some(&c)));
        assert_eq!(found[0].id, "N2");
        assert!(found[0].message.contains("last: n1"), "{}", found[0].message);
        assert!(coincide(&[], Duration::ZERO).is_none());
    }

    #[test]
    fn a_clock_that_moves_is_found() {
        let mut nodes = entries(&[0, 0], 0);
        nodes[1].clock = clock(0, 30_000_000);
        let c = coincide(&nodes, Duration::from_millis(10)).unwrap();
        let found = assay_checks::judge_observations(&seen(&nodes, Some(&c)));
        assert!(found.iter().any(|f| f.id == "N3" && f.message.contains("n1")), "{found:?}");
    }
}
