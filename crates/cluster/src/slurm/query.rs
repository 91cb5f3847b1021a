//! Queries of `squeue`, `sinfo` and `scontrol`.

use super::call;
use crate::ClusterError;

/// A job as listed by `squeue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobState {
    pub id: String,
    /// State of the job (`RUNNING`).
    pub state: String,
    /// Reason why it waits or ended (`Resources`).
    pub reason: String,
    /// Nodes as Slurm writes them (`n[1-4]`); empty before it has any.
    pub nodes: String,
}

impl JobState {
    /// True if the job waits or runs, so that it still has to end.
    pub fn active(&self) -> bool {
        ["PENDING", "RUNNING", "CONFIGURING", "SUSPENDED", "REQUEUED", "RESIZING", "STOPPED"]
            .contains(&self.state.as_str())
    }
}

/// Returns the newest job of this name; `None` if Slurm does not know one.
///
/// # Errors
/// Slurm cannot be queried.
pub fn job_named(name: &str) -> Result<Option<JobState>, ClusterError> {
    let name = format!("--name={name}");
    let text = call("squeue", &["--noheader", "--states=all", &name, "--format=%i|%T|%r|%N"])?;
    Ok(parse_jobs(&text).into_iter().next_back())
}

/// Parses lines of `id|state|reason|nodes`.
pub fn parse_jobs(text: &str) -> Vec<JobState> {
    let line = |line: &str| {
        let mut parts = line.trim().splitn(4, '|').map(str::to_owned);
        Some(JobState {
            id: parts.next().filter(|id| !id.is_empty())?,
            state: parts.next()?,
            reason: parts.next()?,
            nodes: parts.next().unwrap_or_default(),
        })
    };
    text.lines().filter_map(line).collect()
}

/// Expands a list of nodes (`n[1-3]` is n1, n2, n3).
///
/// # Errors
/// Slurm cannot be queried.
pub fn hostnames(list: &str) -> Result<Vec<String>, ClusterError> {
    if list.trim().is_empty() {
        return Ok(Vec::new());
    }
    let text = call("scontrol", &["show", "hostnames", list])?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// A node as listed by `sinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeState {
    pub name: String,
    /// State of the node (`idle`, `down*`).
    pub state: String,
    /// Reason for the state; empty for a healthy node.
    pub reason: String,
    pub cpus: String,
    pub partition: String,
    /// Version of its slurmd.
    pub version: String,
}

impl NodeState {
    /// True if the node can run a job now or later.
    pub fn usable(&self) -> bool {
        let state = self.state.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
        !self.state.ends_with('*')
            && ["idle", "mixed", "allocated", "completing", "reserved", "planned"].contains(&state)
    }
}

/// Returns the nodes of a partition (`None`: of all partitions), or those of a list.
///
/// # Errors
/// Slurm cannot be queried.
pub fn nodes(partition: Option<&str>, list: Option<&str>) -> Result<Vec<NodeState>, ClusterError> {
    let mut arguments = vec!["--noheader".to_owned(), "--Node".to_owned()];
    arguments.extend(partition.map(|p| format!("--partition={p}")));
    arguments.extend(list.map(|l| format!("--nodes={l}")));
    arguments
        .push("--Format=NodeList:|,StateLong:|,CPUs:|,Partition:|,Version:|,Reason:200".into());
    Ok(parse_nodes(&call("sinfo", &arguments)?))
}

/// Parses lines of `name|state|cpus|partition|version|reason`.
pub fn parse_nodes(text: &str) -> Vec<NodeState> {
    let line = |line: &str| {
        let mut parts = line.trim().splitn(6, '|').map(|p| p.trim().to_owned());
        Some(NodeState {
            name: parts.next().filter(|n| !n.is_empty())?,
            state: parts.next()?,
            cpus: parts.next()?,
            partition: parts.next()?,
            version: parts.next()?,
            reason: parts.next().filter(|r| r != "none").unwrap_or_default(),
        })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_read_and_known_to_be_over() {
        let jobs = parse_jobs(
            "7|PENDING|Resources|\n8|RUNNING|None|n[1-4]\n\n9|NODE_FAIL|NodeDown|n3\nnonsense\n",
        );
        assert_eq!(jobs.len(), 3);
        assert_eq!((jobs[1].nodes.as_str(), jobs[1].active()), ("n[1-4]", true));
        assert!(jobs[0].active() && !jobs[2].active());
    }

    #[test]
    fn nodes_are_read_and_known_to_be_down() {
        let text = "n1|idle|2|lab*|22.05.8|none\nn2|down*|2|lab*|22.05.8|Not responding\n";
        let nodes = parse_nodes(text);
        assert!(nodes[0].usable() && nodes[0].reason.is_empty());
        assert!(!nodes[1].usable());
        assert_eq!(nodes[1].reason, "Not responding");
        let idle_but_silent = NodeState { state: "idle*".into(), ..nodes[0].clone() };
        assert!(!idle_but_silent.usable());
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,200}") {
            parse_jobs(&text);
            parse_nodes(&text);
        }
    }
}
