//! Evidence of a run in the archive. What the archive does not hold stays unrecorded.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{
    Analysis, Comparison, Experiment, Kind, LedgerEntry, LedgerEvent, Load, Order, Outcome, Plan,
    Stop, SystemDescription, Treatment, TrialRecord, ValidationResult, Verdict,
};
use assay_sut::{EnvDiff, cpulist};

use super::{
    After, Arm, ComparisonEvidence, CpuResources, Evidence, Exclusions, Known, LeftOut, Loop,
    Merge, Multiplicity, NumberEvidence, OutputEvidence, Pages, PercentileEvidence, Registered,
    RepeatEvidence, Schedule, Scheduled, Snapshots, Statistic, Stopping, Unit, VerdictBasis,
    WarmupRule, Work,
};

/// The watched facts are looked at again at most once a second, so a shorter run is not.
const LOOKED_AGAIN_NS: u64 = 1_000_000_000;

/// What the archive holds of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunMaterial<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The plan.
    pub plan: &'a Plan,
    /// The latest attempt at every trial, in the order of the plan.
    pub records: &'a [TrialRecord],
    /// What was computed of them.
    pub analysis: &'a Analysis,
    /// The system under test at the start; `None`: not described.
    pub system: Option<&'a SystemDescription>,
    /// The ledger; empty: not read.
    pub ledger: &'a [LedgerEntry],
}

/// The evidence that a run gives by itself. Nothing in it is a claim.
pub fn from_run(m: &RunMaterial<'_>) -> Evidence {
    let none = |why: &str| why.to_owned();
    let compared = m.plan.treatments.len() > 1;
    let histograms = m.records.iter().any(|r| !r.histograms.is_empty());
    let energy = m.records.iter().flat_map(|r| &r.metrics).any(|x| x.unit == "J" || x.unit == "W");
    Evidence {
        arms: ordered(m.plan).map(|t| arm(m, t)).collect(),
        factors: Some(m.plan.factors.clone()),
        environment: match (compared, m.system) {
            (false, _) => Known::Absent(none("nothing is compared")),
            // One machine, one boot, and the controls that differ are factors.
            (true, Some(_)) => Known::Is(EnvDiff::default()),
            (true, None) => Known::NotRecorded,
        },
        comparisons: if compared {
            Known::Is(m.analysis.comparisons.iter().map(|c| comparison(m, c)).collect())
        } else {
            Known::Absent(none("nothing is compared"))
        },
        schedule: Some(schedule(m)),
        within_run: if histograms {
            Known::NotRecorded
        } else {
            Known::Absent(none("no number of the run is about the inside of a trial"))
        },
        self_comparison: Known::NotRecorded,
        multiplicity: Some(Multiplicity {
            tests: m.analysis.comparisons.len() as u32,
            correction: m.experiment.compare.gate.then(|| "Holm".to_owned()),
            headline_is_best: None,
        }),
        stopping: stopping(m),
        exclusions: Some(exclusions(m)),
        suite: Known::Absent(none("the run is of one workload")),
        means: Known::Absent(none("no mean over members is taken")),
        percentiles: percentiles(m),
        overhead: Known::Absent(none("no overhead is stated")),
        claim: Known::Absent(none("a run makes no claim")),
        numbers: Known::Is(numbers(m)),
        metrics: Known::Absent(none("all arms have the metrics of one workload")),
        denominators: Known::Absent(none("totals are compared")),
        energy: if energy {
            Known::NotRecorded
        } else {
            Known::Absent(none("neither power nor energy is stated"))
        },
        prices: Known::Absent(none("no price is stated")),
        baseline: Known::Absent(none("the baseline is a treatment of the same experiment")),
        quotes: Known::Absent(none("no result of others is quoted")),
        disclosures: Known::Absent(none("no benchmark with rules of its own is named")),
        registered: Some(registered(m)),
        repeat: Some(RepeatEvidence {
            raw_data: Some(true),
            scripts: Some(true),
            version: m.ledger.iter().find_map(|e| match &e.event {
                LedgerEvent::Planned { assay, .. } => Some(format!("assay {assay}")),
                _ => None,
            }),
            dirty: None,
            rerun: None,
        }),
    }
}

/// The baseline, then the others in the order of the plan.
fn ordered(plan: &Plan) -> impl Iterator<Item = &Treatment> {
    let others = plan.treatments.iter().filter(|t| t.id != plan.baseline);
    plan.treatment(plan.baseline).into_iter().chain(others)
}

/// A treatment's label; the experiment's name where nothing differs.
fn named(m: &RunMaterial<'_>, t: &Treatment) -> String {
    if t.levels.is_empty() { m.experiment.name.clone() } else { t.label() }
}

fn arm(m: &RunMaterial<'_>, t: &Treatment) -> Arm {
    let summary =
        m.analysis.summaries.iter().find(|s| s.treatment == t.id && s.metric == m.analysis.metric);
    let of: Vec<&TrialRecord> =
        m.records.iter().filter(|r| r.treatment == t.id && !r.warmup).collect();
    let counting = of.iter().filter(|r| r.counts()).count() as u32;
    Arm {
        label: named(m, t),
        treatment: Some(t.id),
        levels: t.levels.iter().map(|(k, v)| (k.clone(), v.to_text())).collect(),
        n: Some(summary.map_or(0, |s| s.summary.n)),
        values: summary.map(|s| s.values.iter().copied().flatten().collect()),
        statistic: Some(Statistic::Geomean),
        warmup: Some(match m.experiment.design.warmup_blocks {
            0 => WarmupRule::None,
            blocks => WarmupRule::Fixed(blocks),
        }),
        snapshots: m.system.map(|s| snapshots(s, m.records)),
        cpus: cpus(m, t),
        pages: m.system.map(|s| pages(s, t)),
        os: m.system.map(|s| os(s, t)),
        app: (!imported(m))
            .then(|| t.params.iter().map(|(k, v)| (k.clone(), v.to_text())).collect()),
        layouts: randomised(m, t).map(|yes| if yes { counting } else { 1 }),
        work: (!imported(m)).then(|| work(m, t)),
        output: Some(output(&of)),
        ..Arm::default()
    }
}

fn snapshots(system: &SystemDescription, records: &[TrialRecord]) -> Snapshots {
    let changed: BTreeMap<String, String> =
        records.iter().flat_map(|r| r.changed.clone()).collect();
    let from = records.iter().map(|r| r.start_ns).min().unwrap_or(0);
    let to = records.iter().map(|r| r.end_ns).max().unwrap_or(0);
    let after = if !changed.is_empty() {
        After::Changed(changed)
    } else if to.saturating_sub(from) >= LOOKED_AGAIN_NS {
        After::Same
    } else {
        After::NotTaken
    };
    Snapshots {
        before: Some(system.clone()),
        after,
        boots: system.get("boot.id").map(str::to_owned).into_iter().collect(),
    }
}

/// What a treatment's controls set, as paths of facts.
fn settings(t: &Treatment) -> BTreeMap<String, String> {
    let path = |control: &str, key: &str| match key {
        "" => control.to_owned(),
        key => format!("{control}.{key}"),
    };
    t.controls.iter().map(|s| (path(&s.control, &s.key), s.value.to_text())).collect()
}

fn cpus(m: &RunMaterial<'_>, t: &Treatment) -> Option<CpuResources> {
    let system = m.system?;
    let set = settings(t);
    let list = set.get("cpus").map(String::as_str).or_else(|| system.get("cgroup.cpuset"));
    let count = |path: &str| system.get(path)?.parse().ok();
    let usable = list.and_then(|l| cpulist::parse(l).ok()).map(|l| l.len() as u32);
    let (threads, cores): (Option<u32>, Option<u32>) = (count("cpu.threads"), count("cpu.cores"));
    Some(CpuResources {
        usable: usable.or(threads),
        chips: count("cpu.sockets"),
        cores,
        threads_per_core: threads.zip(cores).and_then(|(t, c)| t.checked_div(c)),
        quota: system.get("cgroup.cpu_quota").map(str::to_owned),
        numa_policy: Some(set.get("numa").cloned().unwrap_or_else(|| "default".to_owned())),
        memory_channels: None,
        // A trial is one execution of the workload.
        instances: Some(1),
    })
}

fn pages(system: &SystemDescription, t: &Treatment) -> Pages {
    let set = settings(t);
    let mode = set.get("thp").map(String::as_str).or_else(|| system.get("thp.enabled"));
    let pool = set.iter().find(|(k, _)| k.starts_with("hugepages")).map(|(_, v)| v.clone());
    let described: Vec<String> = system
        .facts
        .iter()
        .filter(|(p, _)| p.starts_with("hugepages.") && p.rsplit('.').next() == Some("count"))
        .filter_map(|(p, f)| Some(format!("{p}={}", f.value()?)))
        .collect();
    Pages {
        mode: mode.map(str::to_owned),
        pool: pool.or_else(|| (!described.is_empty()).then(|| described.join(", "))),
        huge_share: None,
    }
}

fn os(system: &SystemDescription, t: &Treatment) -> BTreeMap<String, String> {
    let wanted = |p: &str| {
        ["kernel.", "libc.", "os.", "sysctl.", "cpu.governor"].iter().any(|w| p.starts_with(w))
    };
    let facts = system.facts.iter().filter(|(p, _)| wanted(p));
    let mut all: BTreeMap<String, String> =
        facts.filter_map(|(p, f)| Some((p.clone(), f.value()?.to_owned()))).collect();
    all.extend(settings(t));
    all
}

/// Whether every trial had an address space of its own.
fn randomised(m: &RunMaterial<'_>, t: &Treatment) -> Option<bool> {
    match settings(t).get("aslr").map(String::as_str) {
        Some(set) => Some(set == "on" || set == "true"),
        None => Some(m.system?.get("sysctl.kernel.randomize_va_space")? == "2"),
    }
}

/// Whether another program ran the trials: which settings and work its names stand for is not known.
fn imported(m: &RunMaterial<'_>) -> bool {
    m.experiment.design.order == Order::Unknown
}

fn work(m: &RunMaterial<'_>, t: &Treatment) -> Work {
    let fixed = t.params.iter().filter(|(k, _)| !m.plan.factors.contains(k));
    let dropped = settings(t).contains_key("drop_caches");
    Work {
        input: Some(m.plan.workload.name.clone()),
        parameters: fixed.map(|(k, v)| (k.clone(), v.to_text())).collect(),
        cache: dropped.then_some(super::CacheStart::Cold),
        ..Work::default()
    }
}

fn output(of: &[&TrialRecord]) -> OutputEvidence {
    let ended = |r: &&&TrialRecord| matches!(r.outcome, Outcome::Completed | Outcome::Invalid);
    let counting = |how: ValidationResult| {
        of.iter().filter(|r| r.counts() && r.validation == how).count() as u32
    };
    OutputEvidence {
        trials: of.iter().filter(ended).count() as u32,
        wrong: of.iter().filter(|r| r.outcome == Outcome::Invalid).count() as u32,
        said: of
            .iter()
            .find(|r| r.outcome == Outcome::Invalid && !r.error.is_empty())
            .map_or_else(String::new, |r| format!("trial {}: {}", r.number, r.error)),
        unchecked: counting(ValidationResult::ExitCodeOnly),
        // A trial that ran here and counts came to its check.
        unknown: counting(ValidationResult::NotReached),
        errors: None,
    }
}

fn comparison(m: &RunMaterial<'_>, c: &Comparison) -> ComparisonEvidence {
    let label = m.plan.treatment(c.treatment).map_or_else(String::new, Treatment::label);
    let disputed = c.verdict == Verdict::Inconclusive && c.reason.contains("shape");
    ComparisonEvidence {
        label,
        n: Some(c.n),
        ratio: c.ratio,
        interval: c.interval,
        method: Some(c.method),
        unit: Some(Unit::Trials),
        twin: c.twin,
        detectable: c.detectable,
        margin: c.margin,
        // The experiment's file is in the ledger before the first trial.
        margin_declared_before: c.margin.map(|_| true),
        verdict: Some(c.verdict),
        basis: Some(VerdictBasis::RatioInterval),
        disputed: disputed.then(|| c.reason.clone()),
        median_ratio: None,
    }
}

fn schedule(m: &RunMaterial<'_>) -> Schedule {
    let position: BTreeMap<u32, usize> =
        ordered(m.plan).enumerate().map(|(i, t)| (t.id, i)).collect();
    let mut trials: Vec<Scheduled> = m
        .records
        .iter()
        .filter(|r| r.counts())
        .filter_map(|r| {
            Some(Scheduled {
                arm: *position.get(&r.treatment)?,
                start_s: r.start_ns as f64 / 1e9,
                end_s: r.end_ns as f64 / 1e9,
                value: r.metric(&m.analysis.metric),
            })
        })
        .collect();
    trials.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    Schedule { trials, order: Some(m.experiment.design.order) }
}

fn stopping(m: &RunMaterial<'_>) -> Option<Stopping> {
    let planned = m.ledger.iter().position(|e| matches!(e.event, LedgerEvent::Planned { .. }))?;
    let started = |e: &LedgerEntry| matches!(e.event, LedgerEvent::TrialStarted { .. });
    let first = m.ledger.iter().position(started).unwrap_or(usize::MAX);
    let looked = |e: &&LedgerEntry| matches!(e.event, LedgerEvent::Looked { .. });
    let LedgerEvent::Planned { stop_rule, .. } = &m.ledger[planned].event else { return None };
    Some(Stopping {
        rule: Some(stop_rule.clone()),
        registered_before: Some(planned < first),
        looks: m.ledger.iter().filter(looked).count() as u32,
        adjusted: Some(m.experiment.design.stop == Stop::Clear),
        ended_on_significance: Some(m.experiment.design.stop == Stop::Clear),
    })
}

fn exclusions(m: &RunMaterial<'_>) -> Exclusions {
    let left_out = m
        .records
        .iter()
        .filter(|r| !r.warmup && r.outcome != Outcome::Completed)
        .map(|r| LeftOut {
            trial: r.number,
            reason: Some(match r.outcome {
                Outcome::Invalid => "its output was wrong".to_owned(),
                Outcome::Interrupted => "it was interrupted".to_owned(),
                Outcome::TimedOut => "it ran past its time".to_owned(),
                _ => r.error.clone(),
            })
            .filter(|reason| !reason.is_empty()),
            failed: matches!(r.outcome, Outcome::Failed | Outcome::TimedOut),
        })
        .collect();
    let started = m.records.iter().filter(|r| !r.warmup).count() as u32;
    Exclusions { started, left_out, ratio_with_them: None }
}

/// The percentiles that are stated: those of the merged histograms that are not withheld.
fn percentiles(m: &RunMaterial<'_>) -> Known<Vec<PercentileEvidence>> {
    let all = m.analysis.histograms.iter().flat_map(|h| &h.percentiles);
    let stated: Vec<PercentileEvidence> = all
        .filter(|p| p.value.is_some())
        .map(|p| PercentileEvidence {
            quantile: p.quantile,
            load: p.load.map(|load| match load {
                Load::Open => Loop::Open,
                Load::Closed => Loop::Closed,
            }),
            // A run states them as what its requests saw; a claim about arrivals is made elsewhere.
            as_arrivals: p.load.map(|load| load == Load::Open),
            slips_charged: p.load.map(|load| load == Load::Open),
            hidden: None,
            n_eff: Some(p.samples as f64),
            merge: Some(if p.trials == 1 { Merge::One } else { Merge::Histograms }),
        })
        .collect();
    if stated.is_empty() {
        return Known::Absent("no percentile is stated".to_owned());
    }
    Known::Is(stated)
}

fn numbers(m: &RunMaterial<'_>) -> Vec<NumberEvidence> {
    let kind = m.plan.workload.metric(&m.analysis.metric).map(|s| s.kind);
    m.analysis
        .summaries
        .iter()
        .filter(|s| s.metric == m.analysis.metric)
        .map(|s| NumberEvidence {
            what: if s.label == "-" {
                s.metric.clone()
            } else {
                format!("{} of {}", s.metric, s.label)
            },
            exact: s.centre(),
            interval: s.interval(),
            kind: Some(kind.unwrap_or(Kind::Measured)),
            // The page prints the kind of every metric that was not measured.
            labelled: true,
            extrapolation: Known::Absent("it was measured at its size".to_owned()),
            ..NumberEvidence::default()
        })
        .collect()
}

fn registered(m: &RunMaterial<'_>) -> Registered {
    let treatments = m.plan.treatments.iter().map(Treatment::label);
    let measured: BTreeSet<String> = m
        .records
        .iter()
        .filter(|r| r.counts())
        .flat_map(|r| &r.metrics)
        .filter(|x| x.value.is_some())
        .map(|x| x.name.clone())
        .collect();
    let shown: BTreeSet<String> =
        m.analysis.summaries.iter().flat_map(|s| [s.label.clone(), s.metric.clone()]).collect();
    Registered {
        items: treatments.chain(measured).collect(),
        shown: shown.into_iter().collect(),
        reverses_headline: None,
    }
}
