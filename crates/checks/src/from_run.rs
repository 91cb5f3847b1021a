//! Evidence of a run in the archive. What the archive does not hold stays unrecorded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_environment::{EnvDiff, cpulist};
use assay_model::{
    Analysis, Comparison, Experiment, Kind, LedgerEntry, LedgerEvent, LimitedBy, Load, Observation,
    Order, Outcome, ParamType, Plan, RunState, Scalar, SeriesShape, Stop, SuiteMember, SuiteScore,
    SystemDescription, Treatment, TrialRecord, ValidationResult, Verdict,
};

use crate::{
    After, Binary, Build, CacheStart, ClockHeat, ComparisonEvidence, CpuResources, EnergyEvidence,
    Evidence, ExcludedTrial, Exclusions, Generator, HostLoad, Known, Limiter, Loop, MeanOf,
    MeanOperator, MeanUse, Merge, Multiplicity, NumberEvidence, OutputEvidence, Pages,
    PercentileEvidence, PowerSource, Registered, RepeatEvidence, Schedule, Scheduled,
    SelfComparison, Snapshots, Statistic, Stopping, SuiteArm, SuiteEvidence, Timing,
    TreatmentEvidence, Tuning, Unit, VerdictBasis, WarmupRule, Work, WorkTiming,
};

use crate::from_nodes::placement;

/// Earlier versions looked at the watched facts again once a second, and did not record it.
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
    let mut shared = Shared::of(m);
    Evidence {
        treatments: ordered(m.plan).map(|t| treatment(m, t, &mut shared)).collect(),
        factors: Some(m.plan.factors.clone()),
        environment: match (compared, m.system) {
            (false, _) => Known::Absent(none("nothing is compared")),
            // One machine, one boot, and the controls that differ are factors.
            (true, Some(_)) if !imported(m) => Known::Is(EnvDiff::default()),
            // On which machines another program ran its treatments is not in its files.
            (true, _) => Known::NotRecorded,
        },
        comparisons: if compared {
            Known::Is(m.analysis.comparisons.iter().map(|c| comparison(m, c)).collect())
        } else {
            Known::Absent(none("nothing is compared"))
        },
        schedule: Some(schedule(m)),
        self_comparison: self_comparison(m),
        multiplicity: Some(Multiplicity {
            tests: m.analysis.comparisons.len() as u32,
            correction: m.experiment.compare.gate.then(|| "Holm".to_owned()),
            headline_is_best: None,
        }),
        stopping: stopping(m),
        exclusions: Some(exclusions(m)),
        suite: suite(m),
        means: means(m),
        percentiles: percentiles(m),
        claim: Known::Absent(none("a run makes no claim")),
        audited: None,
        numbers: Known::Is(numbers(m)),
        metrics: Known::Absent(none("all treatments have the metrics of one workload")),
        denominators: Known::Absent(none("totals are compared")),
        energy: energy(m),
        prices: Known::Absent(none("no price is stated")),
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
            dirty: dirty(m),
            rerun: None,
        }),
        in_trials: m.records.iter().flat_map(|r| r.findings.iter().cloned()).collect(),
        unseen: unseen(m),
        imported: imported(m),
        several_machines: m.experiment.place.is_remote(),
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

/// What the treatments of a run have in common, held once however many they are.
struct Shared {
    snapshots: Option<Arc<Snapshots>>,
    /// Settings of the operating system, by what controls set of them.
    os: BTreeMap<BTreeMap<String, String>, Arc<BTreeMap<String, String>>>,
}

impl Shared {
    fn of(m: &RunMaterial<'_>) -> Self {
        let snapshots = m.system.map(|s| Arc::new(snapshots(s, m.records)));
        Shared { snapshots, os: BTreeMap::new() }
    }

    fn os(&mut self, system: &SystemDescription, t: &Treatment) -> Arc<BTreeMap<String, String>> {
        let set = settings(t);
        self.os.entry(set).or_insert_with_key(|set| Arc::new(os(system, set))).clone()
    }
}

fn treatment(m: &RunMaterial<'_>, t: &Treatment, shared: &mut Shared) -> TreatmentEvidence {
    let summary =
        m.analysis.summaries.iter().find(|s| s.treatment == t.id && s.metric == m.analysis.metric);
    let of: Vec<&TrialRecord> =
        m.records.iter().filter(|r| r.treatment == t.id && !r.warmup).collect();
    let counting = of.iter().filter(|r| r.counts()).count() as u32;
    TreatmentEvidence {
        label: named(m, t),
        id: Some(t.id),
        levels: t.levels.iter().map(|(k, v)| (k.clone(), v.to_text())).collect(),
        n: Some(summary.map_or(0, |s| s.summary.n)),
        processes: processes(&of),
        values: summary.map(|s| s.values.iter().copied().flatten().collect()),
        statistic: Some(Statistic::Geomean),
        warmup: Some(match m.experiment.design.all_warmup_blocks() {
            0 => WarmupRule::None,
            blocks => WarmupRule::Fixed(blocks),
        }),
        snapshots: shared.snapshots.clone(),
        cpus: cpus(m, t),
        placement: (!imported(m)).then(|| placement(m.system, &settings(t), &of)),
        pages: m.system.map(|s| pages(m, s, t)),
        os: m.system.map(|s| shared.os(s, t)).filter(|settings| !settings.is_empty()),
        layouts: randomised(m, t).map(|yes| if yes { counting } else { 1 }),
        work: (!imported(m)).then(|| work(m, t)),
        output: Some(output(&of)),
        binary: binary(m, t),
        host: host(m),
        clock: clock(m, t),
        timing: timing(m, &of),
        limiter: limiter(m, t, &of),
        generator: generator(m, t),
        series: series(m, t),
        tuned_on: tuned_on(m, t),
        build: build(m, t),
        ..TreatmentEvidence::default()
    }
}

/// The processes that the counting trials ran in, where their records say that some share one.
fn processes(of: &[&TrialRecord]) -> Option<u32> {
    let counting: Vec<&&TrialRecord> = of.iter().filter(|r| r.counts()).collect();
    let repeats = |r: &&&TrialRecord| {
        r.evidence.iter().any(|o| matches!(o, Observation::Repetition { index } if *index > 0))
    };
    let shared = counting.iter().filter(|r| repeats(r)).count();
    (shared > 0).then(|| (counting.len() - shared) as u32)
}

fn snapshots(system: &SystemDescription, records: &[TrialRecord]) -> Snapshots {
    let changed: BTreeMap<String, String> =
        records.iter().flat_map(|r| r.changed.clone()).collect();
    let from = records.iter().map(|r| r.start_ns).min().unwrap_or(0);
    let to = records.iter().map(|r| r.end_ns).max().unwrap_or(0);
    let looked = records.iter().flat_map(|r| &r.evidence);
    let looked = looked.into_iter().any(|o| matches!(o, Observation::Changed { .. }));
    let after = if !changed.is_empty() {
        After::Changed(changed)
    } else if looked || to.saturating_sub(from) >= LOOKED_AGAIN_NS {
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

fn pages(m: &RunMaterial<'_>, system: &SystemDescription, t: &Treatment) -> Pages {
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
        huge_share: huge_share(m, t),
    }
}

/// The share of the program's memory that large pages backed, where the control `pages` looked (mean).
fn huge_share(m: &RunMaterial<'_>, t: &Treatment) -> Option<f64> {
    let shares: Vec<f64> = seen(m, Some(t.id))
        .filter_map(|o| match o {
            Observation::LargePages { memory, large, .. } if *memory > 0 => {
                Some(*large as f64 / *memory as f64)
            }
            _ => None,
        })
        .collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

fn os(system: &SystemDescription, set: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let wanted = |p: &str| {
        ["kernel.", "libc.", "os.", "sysctl.", "cpu.governor"].iter().any(|w| p.starts_with(w))
    };
    let facts = system.facts.iter().filter(|(p, _)| wanted(p));
    let mut all: BTreeMap<String, String> =
        facts.filter_map(|(p, f)| Some((p.clone(), f.value()?.to_owned()))).collect();
    all.extend(set.clone());
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

/// The parameters of a treatment, without the folder of its revision: that is where the level is, no setting.
fn params<'t>(
    m: &RunMaterial<'_>,
    t: &'t Treatment,
) -> impl Iterator<Item = (&'t String, &'t Scalar)> {
    let revisions = m.experiment.source.is_some();
    t.params.iter().filter(move |(k, _)| !(revisions && *k == "folder"))
}

fn work(m: &RunMaterial<'_>, t: &Treatment) -> Work {
    let fixed = params(m, t).filter(|(k, _)| !m.plan.factors.contains(k));
    let dropped = settings(t).contains_key("drop_caches");
    let recorded = seen(m, Some(t.id)).find_map(|o| match o {
        Observation::Work { seed, mix, .. } => Some((*seed, mix.clone())),
        _ => None,
    });
    let (seed, mix) = recorded.unwrap_or_default();
    let drawn = |key: &str, recorded: Option<String>| {
        let set = t.params.iter().find(|(k, _)| *k == key || k.ends_with(&format!(".{key}")));
        set.map(|(_, v)| v.to_text()).or(recorded).unwrap_or_else(|| "none".to_owned())
    };
    // A time is of work that is done to its end; a rate is of a window.
    let time = m.analysis.unit == "s" || m.analysis.unit == "ns";
    Work {
        input: Some(input(m, t)),
        parameters: fixed.map(|(k, v)| (k.clone(), v.to_text())).collect(),
        seed: Some(drawn("seed", seed.map(|s| s.to_string()))),
        mix: Some(drawn("mix", Some(mix).filter(|mix| !mix.is_empty()))),
        cache: Some(if dropped { CacheStart::Cold } else { CacheStart::AsLeft }),
        timing: Some(if time { WorkTiming::EqualWork } else { WorkTiming::EqualTime }),
        operations: time.then(|| operations(m, t)),
    }
}

/// Operations of a trial, where the workload counts them (mean); one where it does not: the program's run.
fn operations(m: &RunMaterial<'_>, t: &Treatment) -> f64 {
    let counted = m.records.iter().filter(|r| r.treatment == t.id && r.counts());
    let counts: Vec<f64> = counted
        .filter_map(|r| operations_of(r).map(|o| o.0).or_else(|| r.metric("operations")))
        .collect();
    if counts.is_empty() { 1.0 } else { counts.iter().sum::<f64>() / counts.len() as f64 }
}

fn output(of: &[&TrialRecord]) -> OutputEvidence {
    let ended = |r: &&&TrialRecord| matches!(r.outcome, Outcome::Completed | Outcome::Invalid);
    let counting = |how: ValidationResult| {
        of.iter().filter(|r| r.counts() && r.validation == how).count() as u32
    };
    OutputEvidence {
        trials: of.iter().filter(ended).count() as u32,
        wrong: of.iter().filter(|r| r.outcome == Outcome::Invalid).count() as u32,
        message: of
            .iter()
            .find(|r| r.outcome == Outcome::Invalid && !r.error.is_empty())
            .map_or_else(String::new, |r| format!("trial {}: {}", r.number, r.error)),
        unchecked: counting(ValidationResult::ExitCodeOnly),
        // A trial that ran here and counts came to its check.
        unknown: counting(ValidationResult::NotReached),
        errors: of
            .iter()
            .filter(|r| r.counts())
            .filter_map(|r| operations_of(r))
            .map(|o| o.1)
            .reduce(|a, b| a + b),
    }
}

/// Answers and wrong answers of a trial, where its load counted them.
fn operations_of(r: &TrialRecord) -> Option<(f64, u64)> {
    r.evidence.iter().find_map(|o| match o {
        Observation::Operations { answered, wrong, .. } => Some((*answered as f64, *wrong)),
        Observation::Work { operations, errors, .. } => Some((*operations as f64, *errors)),
        _ => None,
    })
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
        sensitivity: c.sensitivity,
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
                treatment: *position.get(&r.treatment)?,
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
    // By which rule another program stopped is not in its files.
    if imported(m) {
        return None;
    }
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
        by_hand: m.ledger.iter().rev().find_map(|e| match &e.event {
            LedgerEvent::Ended { state, .. } => Some(*state == RunState::Interrupted),
            _ => None,
        }) == Some(true),
    })
}

fn exclusions(m: &RunMaterial<'_>) -> Exclusions {
    let excluded = m
        .records
        .iter()
        .filter(|r| !r.warmup && r.outcome != Outcome::Completed)
        .map(|r| ExcludedTrial {
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
    Exclusions { started, excluded, ratio_with_them: None }
}

/// The members that ran, beside those that the suite has.
fn suite(m: &RunMaterial<'_>) -> Known<SuiteEvidence> {
    let Some(results) = &m.analysis.suite else {
        return Known::Absent("the run is of one workload".to_owned());
    };
    let manifest = match m.plan.workload.param(&results.member).map(|p| &p.ty) {
        Some(ParamType::Choice { of }) => of.clone(),
        _ => Vec::new(),
    };
    let treatment = |(i, score): (usize, &SuiteScore)| {
        let has = |x: &&SuiteMember| x.ratio.is_some();
        let why = |x: &SuiteMember| {
            let why = if x.wrong { "its output was wrong" } else { "no trial of it counts" };
            (x.name.clone(), why.to_owned())
        };
        let against = results.comparisons.iter().find(|c| c.score == i);
        SuiteArm {
            label: if score.label == "-" { results.metric.clone() } else { score.label.clone() },
            members: score.members.iter().filter(has).map(|x| x.name.clone()).collect(),
            reasons: score.members.iter().filter(|x| !has(x)).map(why).collect(),
            against_first: against.and_then(|c| c.geomean.ratio.zip(c.totals)),
        }
    };
    Known::Is(SuiteEvidence {
        manifest,
        treatments: results.scores.iter().enumerate().map(treatment).collect(),
        // Wherever a run is shown, its suite is shown with every member.
        members_shown: Some(true),
    })
}

/// The mean of a suite.
fn means(m: &RunMaterial<'_>) -> Known<Vec<MeanUse>> {
    match &m.analysis.suite {
        None => Known::Absent("no mean over members is taken".to_owned()),
        Some(results) => Known::Is(vec![MeanUse {
            what: format!("the mean of the members' `{}`", results.metric),
            of: Some(MeanOf::NormalisedScores),
            operator: MeanOperator::Geometric,
        }]),
    }
}

/// The boundaries of which a run has watts, by the names of their metrics, and how those are measured.
const BOUNDARIES: [(&str, PowerSource); 3] = [
    ("power (package)", PowerSource::Rapl),
    ("power (node)", PowerSource::Platform),
    ("power (wall)", PowerSource::Wall),
];

/// The watts of each treatment, of each boundary. They are averages over the trials' own windows.
fn energy(m: &RunMaterial<'_>) -> Known<Vec<EnergyEvidence>> {
    let known = m.experiment.observe.meter.as_ref();
    let of = |(t, (metric, source)): (&Treatment, &(&str, PowerSource))| {
        let mut counting = m.records.iter().filter(|r| r.treatment == t.id && r.counts());
        counting.any(|r| r.metric(metric).is_some()).then(|| EnergyEvidence {
            label: named(m, t),
            source: Some(*source),
            recorded: true,
            meter: known.map(|k| k.model.clone()),
            uncertainty_percent: known.map(|k| k.uncertainty_percent),
            same_run: Some(true),
            same_window: Some(true),
            ..EnergyEvidence::default()
        })
    };
    let all = ordered(m.plan).flat_map(|t| BOUNDARIES.iter().map(move |b| (t, b)));
    let found: Vec<EnergyEvidence> = all.filter_map(of).collect();
    if found.is_empty() {
        return Known::Absent("neither power nor energy is stated".to_owned());
    }
    Known::Is(found)
}

/// The percentiles that are stated: those of the merged histograms that are not withheld, and those that
/// programs computed themselves, of which the trials have no histograms.
fn percentiles(m: &RunMaterial<'_>) -> Known<Vec<PercentileEvidence>> {
    let all = m.analysis.histograms.iter().flat_map(|h| &h.percentiles);
    let merged = all.filter(|p| p.value.is_some()).map(|p| PercentileEvidence {
        quantile: p.quantile,
        load: p.load.map(sent),
        // A run states them as what its requests saw; a claim about arrivals is made elsewhere.
        as_arrivals: p.load.map(|load| load == Load::Open),
        slips_charged: p.load.map(|load| load == Load::Open),
        hidden: None,
        n_eff: Some(p.samples as f64),
        merge: Some(if p.trials == 1 { Merge::One } else { Merge::Histograms }),
        ..PercentileEvidence::default()
    });
    let stated: Vec<PercentileEvidence> = merged.chain(computed_by_programs(m)).collect();
    if stated.is_empty() {
        return Known::Absent("no percentile is stated".to_owned());
    }
    Known::Is(stated)
}

fn sent(load: Load) -> Loop {
    match load {
        Load::Open => Loop::Open,
        Load::Closed => Loop::Closed,
    }
}

/// Percentiles among the metrics. What stands for several trials is a mean of theirs.
fn computed_by_programs<'a>(
    m: &'a RunMaterial<'_>,
) -> impl Iterator<Item = PercentileEvidence> + 'a {
    let times = m.analysis.summaries.iter().filter(|s| s.unit == "s" || s.unit == "ns");
    let own = times.filter(|s| s.percentile.is_none() && s.summary.n > 0);
    // Beside the tracer's the whole distribution of each trial is kept.
    let own = own.filter(|s| !s.metric.starts_with("io."));
    own.filter_map(|s| {
        let sending = seen(m, Some(s.treatment)).find_map(|o| match o {
            Observation::Sending { load, slips_charged, samples } => {
                Some((*load, *slips_charged, *samples))
            }
            _ => None,
        });
        Some(PercentileEvidence {
            metric: s.metric.clone(),
            quantile: quantile(&s.metric)?,
            load: sending.map(|(load, ..)| sent(load)),
            as_arrivals: sending.map(|(load, ..)| load == Load::Open),
            slips_charged: sending.map(|(_, charged, _)| charged),
            hidden: None,
            n_eff: sending.and_then(|(.., samples)| samples).map(|n| n as f64),
            merge: Some(if s.summary.n == 1 { Merge::One } else { Merge::Averaged }),
        })
    })
}

/// The quantile that a metric's name ends with: `latency.p99.9`, `set_p99`.
fn quantile(metric: &str) -> Option<f64> {
    let mut starts = metric.match_indices('p').filter(|(i, _)| {
        let before = metric[..*i].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric())
    });
    let percent = starts.find_map(|(i, _)| metric[i + 1..].parse::<f64>().ok())?;
    (0.0..100.0).contains(&percent).then_some(percent / 100.0)
}

/// Whether what ran lies in a version-controlled tree with changes that its commit does not have. A program in
/// no such tree is named by its content.
fn dirty(m: &RunMaterial<'_>) -> Option<bool> {
    let changed =
        |o: &Observation| matches!(o, Observation::SourceTree { changed, .. } if *changed > 0);
    if seen(m, None).any(changed) {
        return Some(true);
    }
    seen(m, None).any(|o| matches!(o, Observation::Program { .. })).then_some(false)
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
        headline: None,
    }
}

/// A comparison of identical code may be this old, days.
const MAX_FLOOR_AGE_DAYS: f64 = 30.0;

fn self_comparison(m: &RunMaterial<'_>) -> Known<SelfComparison> {
    match &m.analysis.floor {
        Some(known) => Known::Is(SelfComparison {
            age_days: Some(known.age_s / 86_400.0),
            policy_days: MAX_FLOOR_AGE_DAYS,
            floor: Some(1.0 + known.found.floor),
            alike: Some(known.differs.is_empty()),
        }),
        None => Known::Absent("none of this workload on this machine is kept".to_owned()),
    }
}

/// The parameter by which a kit says which of its inputs it reads.
const SIZE: &str = "size";
/// The input that builds with feedback are trained on.
const TRAINED_ON: &str = "train";

fn param(t: &Treatment, name: &str) -> Option<String> {
    t.params.get(name).map(Scalar::to_text)
}

/// The input of a treatment: the workload's, of the size that it is asked for.
fn input(m: &RunMaterial<'_>, t: &Treatment) -> String {
    let name = &m.plan.workload.name;
    match param(t, SIZE).filter(|_| !m.plan.factors.iter().any(|f| f == SIZE)) {
        Some(size) => format!("{name} of size {size}"),
        None => name.clone(),
    }
}

/// What a program that is built with feedback was trained on.
fn tuned_on(m: &RunMaterial<'_>, t: &Treatment) -> Known<Vec<String>> {
    if param(t, "feedback").as_deref() == Some("true") {
        return Known::Is(vec![format!("{} of size {TRAINED_ON}", m.plan.workload.name)]);
    }
    Known::Absent("no program was built with feedback".to_owned())
}

/// How a kit built the program: by the parameters of its toolchain, else by what it says of its build.
fn build(m: &RunMaterial<'_>, t: &Treatment) -> Option<Build> {
    let compiler = ["cc", "cxx", "fc"].iter().filter_map(|p| param(t, p)).collect::<Vec<_>>();
    if compiler.is_empty() {
        return build_by_commands(m, t);
    }
    let names = ["cflags", "cxxflags", "fflags", "ldflags", "portability"];
    let flags: Vec<String> = names
        .iter()
        .filter_map(|p| param(t, p))
        .flat_map(|f| f.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    Some(Build {
        compiler: Some(compiler.join(" ")),
        lto: Some(flags.iter().any(|f| f.starts_with("-flto"))),
        pgo: Some(param(t, "feedback").as_deref() == Some("true")),
        tuning: tuning(t),
        flags: Some(flags),
    })
}

fn tuning(t: &Treatment) -> Option<Tuning> {
    param(t, "tuning").map(|w| if w == "peak" { Tuning::Peak } else { Tuning::Base })
}

/// Programs that compile what their command line names.
const COMPILERS: [&str; 10] =
    ["cc", "c++", "gcc", "g++", "clang", "clang++", "gfortran", "flang", "rustc", "ifx"];

/// How a kit built the program, by the commands that it ran. Of tools that find their flags in files (make,
/// cargo) the flags are not known.
fn build_by_commands(m: &RunMaterial<'_>, t: &Treatment) -> Option<Build> {
    let (tools, commands) = seen(m, Some(t.id)).find_map(|o| match o {
        Observation::Build { tools, commands } => Some((tools, commands)),
        _ => None,
    })?;
    let words: Vec<Vec<&str>> = commands.iter().map(|c| c.split_whitespace().collect()).collect();
    let compiles = |words: &&Vec<&str>| {
        let name = words.first().map(|w| w.rsplit('/').next().unwrap_or(w)).unwrap_or_default();
        // `gcc-12`, `x86_64-linux-gnu-gcc`
        COMPILERS.iter().any(|c| {
            name == *c || name.starts_with(&format!("{c}-")) || name.ends_with(&format!("-{c}"))
        })
    };
    let own: Vec<&Vec<&str>> = words.iter().filter(compiles).collect();
    let flags: Option<Vec<String>> = (!own.is_empty()).then(|| {
        let all = own.iter().flat_map(|words| words.iter().skip(1));
        all.filter(|w| w.starts_with('-')).map(|w| (*w).to_owned()).collect()
    });
    let has = |prefix: &str| flags.as_ref().map(|f| f.iter().any(|f| f.starts_with(prefix)));
    Some(Build {
        compiler: (!tools.is_empty()).then(|| tools.join("; ")),
        lto: has("-flto"),
        pgo: has("-fprofile-use"),
        tuning: tuning(t),
        flags,
    })
}

/// What was seen in the trials of a treatment; in those of all, where it is of the machine before the run.
fn seen<'a>(m: &'a RunMaterial<'_>, of: Option<u32>) -> impl Iterator<Item = &'a Observation> {
    let mine = move |r: &&TrialRecord| of.is_none_or(|id| r.treatment == id);
    m.records.iter().filter(mine).flat_map(|r| &r.evidence)
}

/// The machine before the run, which all treatments share.
fn host(m: &RunMaterial<'_>) -> Option<HostLoad> {
    let mut host = HostLoad::default();
    for seen in seen(m, None) {
        match seen {
            Observation::RunQueue { per_cpu, .. } => host.queue_per_cpu = Some(*per_cpu),
            Observation::Steal { percent } => host.steal_percent = Some(*percent),
            Observation::Pressure { percent, .. } => {
                let most = host.pressure_percent.map_or(*percent, |p: f64| p.max(*percent));
                host.pressure_percent = Some(most);
            }
            _ => {}
        }
    }
    (host != HostLoad::default()).then_some(host)
}

/// What could not be looked at, by check.
fn unseen(m: &RunMaterial<'_>) -> Vec<(&'static str, String)> {
    let of = |o: &Observation| match o {
        Observation::Unseen { of, what, why } => {
            Some((crate::seen::judged::of(*of).id, format!("{what}: {why}")))
        }
        _ => None,
    };
    seen(m, None).filter_map(of).collect()
}

fn clock(m: &RunMaterial<'_>, t: &Treatment) -> Option<ClockHeat> {
    let looks: Vec<(Option<f64>, Option<u64>)> = seen(m, Some(t.id))
        .filter_map(|o| match o {
            Observation::ClockRate { hz, throttled } => Some((*hz, *throttled)),
            _ => None,
        })
        .collect();
    let rates: Vec<f64> = looks.iter().filter_map(|l| l.0).collect();
    let throttles: Option<u64> = looks.iter().map(|l| l.1).sum();
    (!looks.is_empty()).then(|| ClockHeat {
        ghz: (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64 * 1e-9),
        throttles,
    })
}

/// The shortest trial beside the clock that it was timed with. Where the nodes of a trial were never in their
/// steady phases together there is no window, and nothing that could be too short; N2 tells of it.
fn timing(m: &RunMaterial<'_>, of: &[&TrialRecord]) -> Option<Timing> {
    let (resolution, overhead) = seen(m, None).find_map(|o| match o {
        Observation::Clock { resolution, overhead } => Some((*resolution, *overhead)),
        _ => None,
    })?;
    let windows = of.iter().filter(|r| r.counts()).filter_map(|r| {
        let (from, to) = r.window();
        to.checked_sub(from).filter(|ns| *ns > 0).map(|ns| ns as f64 * 1e-9)
    });
    Some(Timing {
        sample_s: windows.reduce(f64::min),
        resolution_s: Some(resolution),
        overhead_s: Some(overhead),
        ..Timing::default()
    })
}

/// The programs that a treatment's trials ran: more than one where it changed on the way.
fn binary(m: &RunMaterial<'_>, t: &Treatment) -> Option<Binary> {
    let mut binary = Binary::default();
    for seen in seen(m, Some(t.id)) {
        let Observation::Program { program } = seen else { continue };
        let again = binary.hashes.contains_key("executable");
        let part = if again { "executable, later" } else { "executable" };
        binary.hashes.insert(part.to_owned(), program.sha256.clone());
        binary.hashes.extend(program.libraries.clone());
        binary.built_features = program.isa_level.map(|l| (1..=l).map(level_name).collect());
    }
    let flags = m.system.and_then(|s| s.get("cpu.flags"));
    binary.host_features = flags.map(|f| (1..=isa_level(f)).map(level_name).collect());
    (!binary.hashes.is_empty()).then_some(binary)
}

/// The x86 instruction-set level of a processor with these flags (System V ABI, AMD64 supplement, table 3.1).
fn isa_level(flags: &str) -> u32 {
    const LEVELS: [&[&str]; 3] = [
        &["cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"],
        &["abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"],
        &["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"],
    ];
    let has: BTreeSet<&str> = flags.split_whitespace().collect();
    let levels = LEVELS.iter().take_while(|level| level.iter().all(|f| has.contains(f)));
    1 + levels.count() as u32
}

fn level_name(level: u32) -> String {
    format!("x86-64-v{level}")
}

/// CPUs' worth of time from which a program that waits for nothing else is limited by computing.
const COMPUTING: f64 = 0.9;

/// What limited a treatment: what its load generator saw, else what its trials used of the CPUs.
fn limiter(m: &RunMaterial<'_>, t: &Treatment, of: &[&TrialRecord]) -> Option<Limiter> {
    let recorded: Vec<&Vec<String>> = seen(m, Some(t.id))
        .filter_map(|o| match o {
            Observation::Limit { by, reasons, .. } if *by != LimitedBy::Unknown => Some(reasons),
            _ => None,
        })
        .collect();
    if let Some(first) = recorded.first() {
        return Some(Limiter { statement: first.join("; "), ceilings: Vec::new() });
    }
    let used: Vec<f64> = of
        .iter()
        .filter(|r| r.counts())
        .filter_map(|r| r.resources)
        .filter(|u| u.wall_s > 0.0)
        .map(|u| (u.user_s + u.system_s) / u.wall_s)
        .collect();
    let mean = (!used.is_empty()).then(|| used.iter().sum::<f64>() / used.len() as f64)?;
    let statement = if mean >= COMPUTING {
        format!("computing: its trials used {mean:.2} CPUs on average")
    } else {
        String::new()
    };
    Some(Limiter { statement, ceilings: Vec::new() })
}

/// The load generator of a workload that has one.
fn generator(m: &RunMaterial<'_>, t: &Treatment) -> Known<Generator> {
    let busy: Vec<Option<f64>> = seen(m, Some(t.id))
        .filter_map(|o| match o {
            Observation::Limit { generator_busy, .. } => Some(*generator_busy),
            _ => None,
        })
        .collect();
    if busy.is_empty() {
        return Known::Absent("the program makes its own load".to_owned());
    }
    let text = |key: &str| t.params.get(key).map(Scalar::to_text).unwrap_or_default();
    let same_host = text("server.address").is_empty();
    let (client, server) = (text("client.cpus"), text("server.cpus"));
    let list = |of: &str| cpulist::parse(of).unwrap_or_default();
    let apart = !client.is_empty()
        && !server.is_empty()
        && list(&client).iter().all(|c| !list(&server).contains(c));
    let config: Vec<String> = t
        .params
        .iter()
        .filter(|(k, _)| k.starts_with("client.") && !m.plan.factors.contains(k))
        .map(|(k, v)| format!("{k}={}", v.to_text()))
        .collect();
    Known::Is(Generator {
        cpu_share: busy.iter().flatten().copied().reduce(f64::max),
        // Nothing goes over a network on one host.
        network_share: same_host.then_some(0.0),
        same_host: Some(same_host),
        pinned_apart: Some(apart),
        config: Some(config.join(" ")),
    })
}

fn series(m: &RunMaterial<'_>, t: &Treatment) -> Known<Vec<SeriesShape>> {
    let shapes: Vec<SeriesShape> = seen(m, Some(t.id))
        .filter_map(|o| match o {
            Observation::Settling { shape, .. } => Some(*shape),
            _ => None,
        })
        .collect();
    if shapes.is_empty() {
        return Known::Absent("a trial gives one number, not a series".to_owned());
    }
    Known::Is(shapes)
}
