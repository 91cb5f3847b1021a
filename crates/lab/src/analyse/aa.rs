//! The A/A floor: how far apart identical treatments come out on this machine. A run that compares
//! a treatment with itself finds the floor, the state folder keeps it, and later runs of the same
//! workload quote it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use assay_model::{
    Better, Experiment, FactorLevel, FactorLevels, KnownFloor, Labelled, MetricKind, MetricValue,
    Plan, RunId, SCHEMA_VERSION, SelfComparison, Setting, Stop, SystemDescription, Treatment,
    TrialRecord,
};
use assay_stats::comparison::aa::{MIN_COMPARISONS, floor};

use crate::clock::now_utc;
use crate::error::wrong;
use crate::pairs::pairs;
use crate::{LabError, read_experiment};

/// Blocks of one comparison of an A/A run, unless the run has fewer.
pub const BLOCKS_EACH: u32 = 10;
/// Environment variable whose value tells the two treatments apart. No program reads it.
const VARIABLE: &str = "ASSAY_ARM";
/// File in the state folder that keeps the A/A runs, one JSON object per line.
const KEPT: &str = "self-comparisons.jsonl";

/// Result of an A/A run.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AaFloor {
    /// Number of comparisons of identical treatments.
    pub comparisons: u32,
    /// Number of blocks in each comparison.
    pub blocks_each: u32,
    /// 95th percentile of the ratios (larger over smaller value), minus 1; `null` if too few
    /// comparisons have a result.
    pub floor: Option<f64>,
    /// Largest ratio, minus 1.
    pub worst: Option<f64>,
}

/// Returns the experiment of `assay doctor --aa`: one command of about 20 ms of CPU time, compared
/// with itself.
///
/// # Errors
/// Never for the built-in text; the error type is that of reading any experiment.
pub fn aa_experiment(comparisons: u32) -> Result<Experiment, LabError> {
    let text = r#"
name = "aa-floor"
title = "By how much do identical treatments differ on this machine?"
workload = "command"
[params]
command = "sh -c 'i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done'"
[observe]
monitors = []
"#;
    let mut experiment = read_experiment("the A/A experiment", text)?;
    find_floor(&mut experiment, Some(comparisons.saturating_mul(BLOCKS_EACH)))?;
    Ok(experiment)
}

/// Makes an experiment compare its one treatment with itself.
///
/// # Errors
/// The experiment has factors.
pub fn with_itself(experiment: &mut Experiment) -> Result<(), LabError> {
    if let Some(factor) = experiment.factors.keys().next() {
        let message = format!("an A/A run has one treatment, and `{factor}` is a factor");
        let help = format!("fix it with --set {factor}=LEVEL");
        return Err(wrong(&["factors", factor], message, help).into());
    }
    // Both values have the same length, so that the environment has the same size in both
    // treatments.
    let name: String = experiment.name.chars().take(50).collect();
    let level = |value: &str, label| {
        FactorLevel::Labelled(Labelled { label: format!("{name} {label}"), value: value.into() })
    };
    let levels = vec![level("a", "#1"), level("b", "#2")];
    experiment.factors.insert(format!("controls.env.{VARIABLE}"), FactorLevels::List(levels));
    experiment.tags.push("aa".to_owned());
    Ok(())
}

/// Makes an experiment measure the A/A floor of its one treatment in `blocks` blocks.
///
/// # Errors
/// The experiment has factors, or `blocks` is too small.
pub fn find_floor(experiment: &mut Experiment, blocks: Option<u32>) -> Result<(), LabError> {
    let least = MIN_COMPARISONS as u32 * 3;
    let blocks = blocks.unwrap_or(MIN_COMPARISONS as u32 * BLOCKS_EACH);
    if blocks < least {
        let message = format!("{blocks} blocks are too few for an A/A floor");
        let help =
            format!("give {least} or more: {MIN_COMPARISONS} comparisons of at least 3 blocks");
        return Err(wrong(&["design", "blocks"], message, help).into());
    }
    with_itself(experiment)?;
    let design = &mut experiment.design;
    design.stop = Stop::Fixed;
    design.blocks = Some(blocks);
    let trials = blocks.saturating_add(design.all_warmup_blocks()).saturating_mul(2);
    design.max_trials = design.max_trials.max(trials);
    Ok(())
}

/// Returns true if the plan compares a treatment with itself.
pub fn is_self_comparison(plan: &Plan) -> bool {
    let names_arm = |name: &String| name.strip_prefix("controls.env.") == Some(VARIABLE);
    plan.treatments.len() == 2 && plan.factors.iter().all(names_arm)
}

/// Computes the floor from the records of an A/A run: consecutive blocks form groups, and each
/// group is one comparison.
pub fn aa_floor(plan: &Plan, records: &[TrialRecord]) -> AaFloor {
    let other = plan.treatments.iter().map(|t| t.id).find(|id| *id != plan.baseline);
    let (base, other_values) =
        pairs(records, plan.baseline, other.unwrap_or(plan.baseline), &plan.metric);
    let logs: Vec<f64> = base
        .iter()
        .zip(&other_values)
        .filter_map(|(a, b)| Some(((*b)? / (*a)?).ln()))
        .filter(|log| log.is_finite())
        .collect();
    let each = (blocks(plan) / MIN_COMPARISONS).clamp(3, BLOCKS_EACH as usize);
    let ratios: Vec<f64> = logs
        .chunks_exact(each)
        .map(|group| (group.iter().sum::<f64>() / each as f64).exp())
        .collect();
    let worst = ratios
        .iter()
        .map(|r| r.ln().abs())
        .fold(None, |m: Option<f64>, l| Some(m.map_or(l, |m| m.max(l))));
    AaFloor {
        comparisons: ratios.len() as u32,
        blocks_each: each as u32,
        floor: floor(&ratios).map(|f| f.ratio - 1.0),
        worst: worst.map(|w| w.exp() - 1.0),
    }
}

/// Returns the floor as a run metric of an A/A run, `None` for other runs.
pub(crate) fn floor_metric(plan: &Plan, records: &[TrialRecord]) -> Option<MetricValue> {
    is_self_comparison(plan).then(|| {
        MetricValue::new(
            "aa_floor",
            aa_floor(plan, records).floor,
            "1",
            Better::Lower,
            MetricKind::Derived,
        )
    })
}

/// Counts the blocks of the plan without warm-up.
fn blocks(plan: &Plan) -> usize {
    let mut blocks: Vec<u32> = plan.trials.iter().filter(|t| !t.warmup).map(|t| t.block).collect();
    blocks.dedup();
    blocks.len()
}

/// Describes the kind of machine in words. For a cluster job it starts with the names of the job's
/// nodes.
fn machine(system: &SystemDescription) -> String {
    format!(
        "{}: {}, {} CPUs{}, kernel {}",
        system.get("cluster.node_names").unwrap_or_else(|| system.text("host.name")),
        system.text("cpu.model"),
        system.text("cpu.threads"),
        assay_model::environment::cpu_limits(system),
        system.text("kernel.release")
    )
}

/// Returns the controls of a treatment except the variable that tells treatments apart.
fn controls(treatment: &Treatment) -> Vec<Setting> {
    treatment.controls.iter().filter(|s| s.key != VARIABLE).cloned().collect()
}

/// Appends the floor of an A/A run to the file in the state folder. Does nothing if the run has no
/// floor.
pub(crate) fn keep(
    state_dir: &Path,
    run: &RunId,
    plan: &Plan,
    records: &[TrialRecord],
    system: &SystemDescription,
) -> io::Result<()> {
    let found = aa_floor(plan, records);
    let (Some(floor), Some(treatment)) = (found.floor, plan.treatment(plan.baseline)) else {
        return Ok(());
    };
    let kept = SelfComparison {
        schema_version: SCHEMA_VERSION,
        run: run.clone(),
        at: now_utc(),
        machine: machine(system),
        workload: plan.workload.name.clone(),
        params: treatment.params.clone(),
        controls: controls(treatment),
        metric: plan.metric.clone(),
        comparisons: found.comparisons,
        blocks_each: found.blocks_each,
        floor,
    };
    let mut line = serde_json::to_vec(&kept)?;
    line.push(b'\n');
    fs::create_dir_all(state_dir)?;
    // Each line is written in a single write, so that two runs that end at the same time do not
    // interleave their lines.
    OpenOptions::new().create(true).append(true).open(state_dir.join(KEPT))?.write_all(&line)
}

/// Returns the A/A run of this machine, workload and metric that is most like `plan`, and the
/// newest of several. `None` if the state folder has none.
pub fn newest_self_comparison(
    state_dir: &Path,
    plan: &Plan,
    system: &SystemDescription,
) -> Option<KnownFloor> {
    let text = fs::read_to_string(state_dir.join(KEPT)).ok()?;
    let here = machine(system);
    // A line that cannot be parsed was written by a newer version or cut off by a crash.
    text.lines()
        .filter_map(|line| serde_json::from_str::<SelfComparison>(line).ok())
        .filter(|kept| kept.machine == here)
        .filter(|kept| kept.workload == plan.workload.name && kept.metric == plan.metric)
        .filter(|kept| {
            plan.treatments.iter().any(|t| t.params == kept.params && controls(t) == kept.controls)
        })
        .filter_map(|found| {
            let age_s = age_s(&found.at)?;
            Some(KnownFloor { differs: differs(&found, plan), age_s, found })
        })
        .min_by(|a, b| {
            (a.differs.len(), a.age_s)
                .partial_cmp(&(b.differs.len(), b.age_s))
                .unwrap_or(std::cmp::Ordering::Equal)
        })
}

/// Returns the seconds since the timestamp `at`, never below 0.
fn age_s(at: &str) -> Option<f64> {
    let at: jiff::Timestamp = at.parse().ok()?;
    Some((jiff::Timestamp::now().duration_since(at).as_secs_f64()).max(0.0))
}

/// Names the number of blocks as a difference if the A/A run had more blocks per comparison than
/// the plan has.
fn differs(found: &SelfComparison, plan: &Plan) -> Vec<String> {
    let more = (blocks(plan) < found.blocks_each as usize)
        .then(|| format!("the blocks ({} each, here {})", found.blocks_each, blocks(plan)));
    more.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PreparedExperiment;

    fn plan(blocks: u32) -> Plan {
        let mut experiment = aa_experiment(20).unwrap();
        experiment.design.blocks = Some(blocks);
        PreparedExperiment::from_experiment(experiment, &assay_workloads::KitPaths::default())
            .unwrap()
            .plan
    }

    #[test]
    fn the_kept_run_most_like_the_plan_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let system = SystemDescription {
            schema_version: SCHEMA_VERSION,
            taken_at: now_utc(),
            facts: std::collections::BTreeMap::new(),
        };
        let plan = plan(10);
        assert!(is_self_comparison(&plan));
        assert_eq!(newest_self_comparison(dir.path(), &plan, &system), None);
        let same = SelfComparison {
            schema_version: SCHEMA_VERSION,
            run: "20261101-000000-0001".parse().unwrap(),
            at: "2026-11-01T00:00:00.000Z".into(),
            machine: machine(&system),
            workload: "command".into(),
            params: plan.treatments[0].params.clone(),
            controls: Vec::new(),
            metric: "elapsed".into(),
            comparisons: 20,
            blocks_each: 10,
            floor: 0.01,
        };
        let newer = SelfComparison {
            run: "20261102-000000-0002".parse().unwrap(),
            at: "2026-11-02T00:00:00.000Z".into(),
            ..same.clone()
        };
        let mut other = SelfComparison { at: "2026-11-03T00:00:00.000Z".into(), ..same.clone() };
        other.params.insert("shell".into(), "sh".into());
        let elsewhere = SelfComparison { machine: "another".into(), ..newer.clone() };
        let lines: Vec<String> = [&newer, &other, &elsewhere, &same]
            .map(|kept| serde_json::to_string(kept).unwrap())
            .into();
        let text = format!("{}\nnot json\n{{\"schema_ver", lines.join("\n"));
        fs::write(dir.path().join(KEPT), text).unwrap();
        let known = newest_self_comparison(dir.path(), &plan, &system).unwrap();
        assert_eq!((known.found, known.differs), (newer, Vec::new()));
        assert!(known.age_s > 0.0);
        let fewer = newest_self_comparison(dir.path(), &self::plan(3), &system).unwrap();
        assert_eq!(fewer.differs, ["the blocks (10 each, here 3)"]);
        fs::write(dir.path().join(KEPT), serde_json::to_string(&other).unwrap()).unwrap();
        assert_eq!(newest_self_comparison(dir.path(), &plan, &system), None);
    }

    #[test]
    fn one_treatment_alone_is_compared_with_itself() {
        let text = "name = \"x\"\nworkload = \"noop\"\n[factors]\n\"controls.nice\" = [0, 1]";
        let mut experiment = read_experiment("x", text).unwrap();
        let error = find_floor(&mut experiment, None).unwrap_err().to_string();
        assert!(error.contains("--set controls.nice=LEVEL"), "{error}");
        experiment.factors.clear();
        assert!(find_floor(&mut experiment, Some(59)).unwrap_err().to_string().contains("give 60"));
        find_floor(&mut experiment, Some(60)).unwrap();
        assert_eq!(experiment.design.blocks, Some(60));
    }
}
