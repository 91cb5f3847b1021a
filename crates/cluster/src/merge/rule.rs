//! Rules that merge the nodes' values of one metric: as its workload declares, else by its unit.

use std::collections::BTreeMap;

use assay_model::{Better, Merge, MetricValue, TrialHistogram, WorkloadSpec};

/// Rule for merging a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MergeRule {
    /// Sum of the values: rates, CPU time, energy, power.
    Sum,
    /// Largest value: the time of the slowest node, the largest resident set.
    Max,
    /// Smallest value: the worst node of a time for which higher is better.
    Min,
    /// Quantile of the nodes' histograms added together.
    Percentile,
    /// `copies x reference / elapsed` of a suite: the sum as if all nodes took as long as the
    /// slowest.
    SuiteRatio,
    /// `elapsed / copies` of a suite: the slowest node's time over the copies of all nodes.
    SuiteTime,
    /// A metric per watt: the merged metric over the merged power.
    PerWatt,
    /// Value of the node that ran the server for the others, the only one that reports it.
    Server,
    /// The common value, if every node has the same; else missing.
    Same,
    /// A percentile or mean of the tracer, which has no merged value.
    Traced,
}

assay_model::names! {
    /// Describes the rule in words.
    pub MergeRule::words:
        Sum = "the sum over the nodes",
        Max = "the largest of the nodes",
        Min = "the smallest of the nodes",
        Percentile = "from the nodes' histograms added together",
        SuiteRatio = "the sum over the nodes, each over the slowest one's time",
        SuiteTime = "the slowest node's time over the copies of all nodes",
        PerWatt = "the merged metric over the merged power",
        Server = "the value of the server's node",
        Traced = "missing on several nodes: each node's own is in its io.json",
        Same = "missing unless every node has the same value: its unit has no merge rule"
}

impl MergeRule {
    /// Returns the rule of a metric.
    pub fn for_metric(
        metric: &MetricValue,
        spec: &WorkloadSpec,
        histograms: &BTreeMap<String, TrialHistogram>,
    ) -> Self {
        let name = metric.name.as_str();
        let of_histogram = |h: &TrialHistogram| h.at.is_none() && h.percentiles.contains_key(name);
        if histograms.values().any(of_histogram) {
            return MergeRule::Percentile;
        }
        if let Some(suite) = &spec.suite {
            if name == suite.metric {
                return MergeRule::SuiteRatio;
            }
            if name == suite.time {
                return MergeRule::SuiteTime;
            }
        }
        match spec.metric(name).and_then(|m| m.merge) {
            Some(Merge::Sum) => MergeRule::Sum,
            Some(Merge::Max) => MergeRule::Max,
            Some(Merge::Min) => MergeRule::Min,
            Some(Merge::Same) => MergeRule::Same,
            None if name.starts_with("io.") && !metric.unit.ends_with("/s") => MergeRule::Traced,
            None => MergeRule::by_unit(metric),
        }
    }

    /// Returns the rule of a metric whose workload declares none.
    fn by_unit(metric: &MetricValue) -> Self {
        match metric.unit.as_str() {
            // The nodes run at the same time, so times are not added.
            "s" | "ms" | "us" | "ns" => match metric.better {
                Better::Higher => MergeRule::Min,
                Better::Lower | Better::Neither => MergeRule::Max,
            },
            "J" | "W" => MergeRule::Sum,
            "B" => MergeRule::Max,
            unit if unit.ends_with("/W") && metric.name.contains(" per watt (") => {
                MergeRule::PerWatt
            }
            unit if unit.ends_with("/s") => MergeRule::Sum,
            _ => MergeRule::Same,
        }
    }
}

/// Merges values by a simple rule; `None` if a node has no value.
pub(crate) fn simple(rule: MergeRule, values: &[Option<f64>]) -> Option<f64> {
    let values: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    let first = *values.first()?;
    match rule {
        MergeRule::Sum => Some(values.iter().sum()),
        MergeRule::Max => Some(values.iter().copied().fold(first, f64::max)),
        MergeRule::Min => Some(values.iter().copied().fold(first, f64::min)),
        MergeRule::Same => values.iter().all(|v| *v == first).then_some(first),
        MergeRule::Traced => (values.len() == 1).then_some(first),
        _ => None,
    }
}

/// Merges a suite's ratio or time, from each node's value and elapsed time.
pub(crate) fn suite(
    rule: MergeRule,
    values: &[Option<f64>],
    elapsed: &[Option<f64>],
) -> Option<f64> {
    let values: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    let elapsed: Vec<f64> = elapsed.iter().copied().collect::<Option<_>>()?;
    let slowest = elapsed.iter().copied().fold(0.0, f64::max);
    if values.len() != elapsed.len() || slowest <= 0.0 {
        return None;
    }
    let pairs = || values.iter().zip(&elapsed);
    let merged = match rule {
        MergeRule::SuiteRatio => pairs().map(|(ratio, t)| ratio * t / slowest).sum(),
        // A node's number of copies is its elapsed time over its time per copy.
        MergeRule::SuiteTime => slowest / pairs().map(|(each, t)| t / each).sum::<f64>(),
        _ => return None,
    };
    Some(merged).filter(|m: &f64| m.is_finite())
}

#[cfg(test)]
mod tests {
    use assay_model::{MetricKind, MetricSpec, SuiteSpec};

    use super::*;

    fn metric(name: &str, unit: &str, better: Better) -> MetricValue {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        MetricValue::new(name, Some(1.0), unit, better, MetricKind::Measured)
    }

    fn spec(suite: Option<SuiteSpec>) -> WorkloadSpec {
        let (name, help) = ("x".to_owned(), String::new());
        WorkloadSpec { name, help, params: Vec::new(), metrics: Vec::new(), suite }
    }

    #[test]
    fn rates_of_the_tracer_add_up_and_its_percentiles_do_not() {
        let of = |name: &str, unit: &str| {
            MergeRule::for_metric(
                &metric(name, unit, Better::Neither),
                &spec(None),
                &BTreeMap::new(),
            )
        };
        assert_eq!(of("io.reads", "I/Os/s"), MergeRule::Sum);
        assert_eq!(of("io.read_bytes", "B/s"), MergeRule::Sum);
        for (name, unit) in [("io.read_p99", "s"), ("io.read_size", "B")] {
            assert_eq!(of(name, unit), MergeRule::Traced);
        }
        assert_eq!(simple(MergeRule::Traced, &[Some(2.0)]), Some(2.0));
        assert_eq!(simple(MergeRule::Traced, &[Some(2.0), Some(2.0)]), None);
    }

    #[test]
    fn the_declaration_says_how_else_the_unit() {
        let mut spec = spec(None);
        spec.metrics = [("user", "s"), ("device_read", "B"), ("latency", "s")]
            .into_iter()
            .zip([Some(Merge::Sum), Some(Merge::Sum), None])
            .map(|((name, unit), merge)| MetricSpec {
                name: name.into(),
                unit: unit.into(),
                better: Better::Lower,
                kind: MetricKind::Measured,
                help: String::new(),
                merge,
                counted: false,
            })
            .collect();
        let rule = |name: &str, unit: &str, better| {
            MergeRule::for_metric(&metric(name, unit, better), &spec, &BTreeMap::new())
        };
        assert_eq!(rule("throughput", "ops/s", Better::Higher), MergeRule::Sum);
        assert_eq!(rule("elapsed", "s", Better::Lower), MergeRule::Max);
        assert_eq!(rule("user", "s", Better::Lower), MergeRule::Sum);
        assert_eq!(rule("latency", "s", Better::Lower), MergeRule::Max);
        assert_eq!(rule("spare", "s", Better::Higher), MergeRule::Min);
        assert_eq!(rule("peak_memory", "B", Better::Lower), MergeRule::Max);
        assert_eq!(rule("device_read", "B", Better::Lower), MergeRule::Sum);
        assert_eq!(rule("energy (node)", "J", Better::Lower), MergeRule::Sum);
        assert_eq!(rule("ops per watt (node)", "ops/s/W", Better::Higher), MergeRule::PerWatt);
        assert_eq!(rule("hit_ratio", "1", Better::Higher), MergeRule::Same);
    }

    #[test]
    fn values_are_merged_and_a_missing_one_is_not_passed_over() {
        let values = [Some(1.0), Some(3.0)];
        assert_eq!(simple(MergeRule::Sum, &values), Some(4.0));
        assert_eq!(simple(MergeRule::Max, &values), Some(3.0));
        assert_eq!(simple(MergeRule::Same, &values), None);
        assert_eq!(simple(MergeRule::Same, &[Some(2.0), Some(2.0)]), Some(2.0));
        assert_eq!(simple(MergeRule::Sum, &[Some(1.0), None]), None);
        assert_eq!(simple(MergeRule::Sum, &[]), None);
    }

    #[test]
    fn a_suite_over_nodes_is_as_slow_as_its_slowest() {
        let suite_spec =
            SuiteSpec { member: "member".into(), metric: "ratio".into(), time: "t".into() };
        let spec = spec(Some(suite_spec));
        let ratio = metric("ratio", "1", Better::Higher);
        assert_eq!(MergeRule::for_metric(&ratio, &spec, &BTreeMap::new()), MergeRule::SuiteRatio);
        // Reference 100 s; 2 copies in 50 s on the first node, 4 copies in 100 s on the second:
        // ratios 4 and 4.
        let elapsed = [Some(50.0), Some(100.0)];
        // Together 6 copies in 100 s: 6 x 100 / 100.
        assert_eq!(suite(MergeRule::SuiteRatio, &[Some(4.0), Some(4.0)], &elapsed), Some(6.0));
        let each = suite(MergeRule::SuiteTime, &[Some(25.0), Some(25.0)], &elapsed).unwrap();
        assert!((each - 100.0 / 6.0).abs() < 1e-9);
        assert_eq!(suite(MergeRule::SuiteRatio, &[Some(4.0), None], &elapsed), None);
    }
}
