//! Whether the steady phases of several nodes coincide, and whether their clocks held still.

use std::time::Duration;

use assay_model::{Finding, Severity, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes_file::{Did, NodeEntry};

/// How far steady phases coincide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coincidence {
    /// From the first beginning of a steady phase to the last, ns.
    pub begin_spread_ns: u64,
    /// From the first end to the last, ns.
    pub end_spread_ns: u64,
    /// How well both are known: the worst node's clock, ns.
    pub error_ns: u64,
    /// The node that began last.
    pub last_to_begin: String,
    /// The node that ended first.
    pub first_to_end: String,
    /// The part of the longest steady phase in which all nodes were in theirs, 0 to 1.
    pub common: f64,
    /// Whether the programs said what their phases are; else the whole run of each is taken.
    pub declared: bool,
    /// The bound of the experiment, ns.
    pub bound_ns: u64,
}

/// Looks at the windows of the nodes that ran the workload.
pub(crate) fn coincide(nodes: &[NodeEntry], bound: Duration) -> Option<Coincidence> {
    let ran: Vec<(&NodeEntry, (u64, u64))> = nodes
        .iter()
        .filter(|n| n.did == Did::Ran && n.exit.is_some())
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
    Some(Coincidence {
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

/// What is to be said of it.
pub(crate) fn findings(nodes: &[NodeEntry], coincidence: Option<&Coincidence>) -> Vec<Finding> {
    let time = |ns: u64| units::format_value(ns as f64 * 1e-9, "s");
    let finding = |id: &str, name: &str, message: String, remedy: &str| Finding {
        id: id.into(),
        name: name.into(),
        severity: Severity::Warning,
        message,
        remedy: remedy.into(),
        treatments: Vec::new(),
    };
    let mut found = Vec::new();
    if let Some(c) = coincidence {
        let begins = c.begin_spread_ns.saturating_add(c.error_ns) > c.bound_ns;
        // A program that has no phases ends when its work does; that nodes differ is a result.
        let ends = c.declared && c.end_spread_ns.saturating_add(c.error_ns) > c.bound_ns;
        if begins || ends {
            found.push(finding(
                "N2",
                "phases-coincide",
                format!(
                    "the steady phases of the nodes begin within {} of each other (last: {}) and end within {} \
                     (first: {}), known to {}; the bound is {}, and {:.0} % of the longest is common to all",
                    time(c.begin_spread_ns),
                    c.last_to_begin,
                    time(c.end_spread_ns),
                    c.first_to_end,
                    time(c.error_ns),
                    time(c.bound_ns),
                    100.0 * c.common
                ),
                "measure for longer, so that the edges matter less, or raise `where.phase_bound` with a reason",
            ));
        }
        let drifted: Vec<&NodeEntry> =
            nodes.iter().filter(|n| n.clock.drift_ns().is_some_and(|d| d > c.bound_ns)).collect();
        if let Some(worst) = drifted.iter().max_by_key(|n| n.clock.drift_ns()) {
            found.push(finding(
                "N3",
                "clocks-hold",
                format!(
                    "the clock of node {} moved by {} against the collector's during the trial; the bound is {}",
                    worst.node,
                    time(worst.clock.drift_ns().unwrap_or(0)),
                    time(c.bound_ns)
                ),
                "see that the nodes keep time (chrony, and the clock source tsc)",
            ));
        }
    }
    found
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
                NodeEntry::of(&part)
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
        assert!(findings(&nodes, Some(&c)).is_empty());
        let c = coincide(&nodes, Duration::from_millis(10)).unwrap();
        let found = findings(&nodes, Some(&c));
        assert_eq!(found[0].id, "N2");
        assert!(found[0].message.contains("last: n1"), "{}", found[0].message);
        assert!(coincide(&[], Duration::ZERO).is_none());
    }

    #[test]
    fn a_clock_that_moves_is_found() {
        let mut nodes = entries(&[0, 0], 0);
        nodes[1].clock = clock(0, 30_000_000);
        let c = coincide(&nodes, Duration::from_millis(10)).unwrap();
        let found = findings(&nodes, Some(&c));
        assert!(found.iter().any(|f| f.id == "N3" && f.message.contains("n1")), "{found:?}");
    }
}
