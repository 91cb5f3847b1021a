//! CPU times that the ranks of a trial report.

use std::collections::BTreeMap;

/// CPU time that a rank reported.
#[derive(Debug, Clone, PartialEq)]
pub struct RankCpuTime {
    /// Number of the rank.
    pub rank: usize,
    pub node: String,
    /// Number of CPUs that it shares with the other ranks of its task.
    pub cpus: usize,
    /// CPU time in user mode, seconds.
    pub user_s: f64,
    /// CPU time in the kernel, seconds.
    pub system_s: f64,
}

const MARK: &str = "assay-rank ";

impl RankCpuTime {
    pub(super) fn line(&self) -> String {
        let RankCpuTime { rank, node, cpus, user_s, system_s } = self;
        format!("{MARK}{rank} {node} {cpus} {user_s:.6} {system_s:.6}")
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix(MARK)?.split_whitespace();
        Some(RankCpuTime {
            rank: words.next()?.parse().ok()?,
            node: words.next()?.to_owned(),
            cpus: words.next()?.parse().ok()?,
            user_s: words.next()?.parse().ok().filter(|v: &f64| v.is_finite())?,
            system_s: words.next()?.parse().ok().filter(|v: &f64| v.is_finite())?,
        })
    }
}

/// Parses the ranks' reports in the output; `None` unless every rank from 0 to `ranks` - 1
/// reported.
pub fn used(printed: &str, ranks: usize) -> Option<Vec<RankCpuTime>> {
    let reports: BTreeMap<usize, RankCpuTime> =
        printed.lines().filter_map(RankCpuTime::parse).map(|u| (u.rank, u)).collect();
    let whole = reports.len() == ranks && reports.keys().copied().eq(0..ranks);
    whole.then(|| reports.into_values().collect())
}

/// Formats the number of ranks on each node (`n1: 2, n2: 2`).
pub fn placed(used: &[RankCpuTime]) -> String {
    let mut nodes: Vec<(&str, usize)> = Vec::new();
    for one in used {
        match nodes.iter_mut().find(|(name, _)| *name == one.node) {
            Some((_, count)) => *count += 1,
            None => nodes.push((&one.node, 1)),
        }
    }
    let shown = nodes.iter().take(8).map(|(name, count)| format!("{name}: {count}"));
    let more = if nodes.len() > 8 {
        format!(", and {} more nodes", nodes.len() - 8)
    } else {
        String::new()
    };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ranks_used_is_known_when_every_one_reported_it() {
        let one = |rank, node: &str| RankCpuTime {
            rank,
            node: node.into(),
            cpus: 2,
            user_s: 0.25,
            system_s: 0.5,
        };
        let all = [one(0, "n1"), one(1, "n1"), one(2, "n2")];
        let text = format!("noise\n{}\n{}\n{}\n", all[2].line(), all[0].line(), all[1].line());
        assert_eq!(used(&text, 3).unwrap(), all);
        assert_eq!(placed(&all), "n1: 2, n2: 1");
        assert_eq!(used(&text, 4), None);
        assert_eq!(used(&text.replace("assay-rank 2", "assay-rank 9"), 3), None);
        assert_eq!(used("assay-rank 0 n1 1 nan 1\n", 1), None);
    }
}
