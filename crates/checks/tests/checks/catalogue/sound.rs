//! Evidence without any fault: two treatments, ten trials each, interleaved, with a careful claim.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_checks::*;
use assay_model::{
    Fact, Interval, Method, MetricKind, Order, SeriesShape, SystemDescription, Verdict,
};
use assay_stats::rng::Rng;

use super::published::{denominators, energy, prices, quote, suite};

pub fn text_map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

pub fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

pub fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

pub fn interval(low: f64, high: f64) -> Interval {
    Interval { low, high, level: 0.95 }
}

pub fn system() -> SystemDescription {
    let facts = [
        ("cpu.model", "a processor"),
        ("cpu.threads", "16"),
        ("kernel.cmdline", "quiet"),
        ("kernel.release", "6.12.4"),
        ("libc.version", "2.41"),
        ("memory.total", "64 GiB"),
        ("os.id", "debian"),
    ];
    SystemDescription {
        facts: facts.iter().map(|(p, v)| ((*p).to_owned(), Fact::known(*v))).collect(),
        ..SystemDescription::default()
    }
}

/// Returns `n` values around `centre` with 1 % noise.
pub fn noise(n: usize, centre: f64, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..n).map(|_| centre * (0.01 * rng.normal()).exp()).collect()
}

fn treatment(label: &str, level: &str, centre: f64, seed: u64) -> TreatmentEvidence {
    TreatmentEvidence {
        label: label.to_owned(),
        id: None,
        first: None,
        levels: text_map(&[("threads", level)]),
        n: Some(24),
        processes: None,
        values: Some(noise(24, centre, seed)),
        samples: Some((0..4).map(|i| noise(120, centre, seed * 100 + i)).collect()),
        series: RecordedValue::Is(vec![SeriesShape::Flat; 4]),
        statistic: Some(Statistic::Geomean),
        warmup: Some(0),
        snapshots: Some(Arc::new(Snapshots {
            before: Some(system()),
            after: FactsAfterTrials::Same,
            boots: set(&["one"]),
        })),
        binary: Some(Binary {
            hashes: text_map(&[("executable", "aa"), ("libc", "bb")]),
            built_features: Some(set(&["sse2", "avx2"])),
            host_features: Some(set(&["sse2", "avx2"])),
        }),
        build: Some(Build {
            compiler: Some("gcc 14.2".to_owned()),
            flags: Some(texts(&["-O2"])),
            lto: Some(false),
            pgo: Some(false),
            tuning: Some(Tuning::Base),
        }),
        cpus: Some(CpuResources {
            usable: Some(8),
            chips: Some(1),
            cores: Some(8),
            threads_per_core: Some(2),
            quota: Some("none".to_owned()),
            numa_policy: Some("default".to_owned()),
            memory_channels: Some(2),
            instances: Some(1),
            limited: Some(0.02),
        }),
        placement: Some(Placement {
            nodes: Some(2),
            set: vec![BoundMemory {
                what: "controls.numa = bind:0".to_owned(),
                nodes: vec![0],
                bytes_by_node: vec![Ok([(0, 1 << 30), (1, 4096)].into()); 2],
            }],
        }),
        pages: Some(MemoryPages {
            mode: Some("madvise".to_owned()),
            pool: Some("0".to_owned()),
            huge_share: Some(0.2),
        }),
        os: Some(text_map(&[("kernel.release", "6.12.4"), ("sysctl.vm.swappiness", "60")]).into()),
        host: Some(HostLoad {
            queue_per_cpu: Some(0.0),
            steal_percent: Some(0.0),
            pressure_percent: Some(0.1),
        }),
        clock: Some(ClockHeat { ghz: Some(3.0), throttles: Some(0) }),
        layouts: Some(24),
        timing: Some(Timing {
            sample_s: Some(1.0),
            resolution_s: Some(1e-9),
            overhead_s: Some(5e-8),
            min_window_s: Some(30.0),
            window_s: Some(60.0),
        }),
        work: Some(Work {
            exits: None,
            input: Some("measured-input".to_owned()),
            parameters: text_map(&[("size", "10")]),
            seed: Some("42".to_owned()),
            mix: Some("90 % read".to_owned()),
            operations: Some(1e6),
            cache: Some(CacheStart::AsLeft),
            timing: Some(WorkTiming::EqualWork),
        }),
        output: Some(OutputEvidence {
            trials: 24,
            wrong: 0,
            message: String::new(),
            unchecked: 0,
            unknown: 0,
            errors: Some(0),
        }),
        tuned_on: RecordedValue::Is(texts(&["training-input"])),
        limiter: Some(Limiter {
            statement: "all CPUs are busy".to_owned(),
            ceilings: vec![Ceiling {
                what: "memory bandwidth".into(),
                reached: 9e9,
                ceiling: 2e10,
            }],
        }),
        generator: RecordedValue::Is(Generator {
            cpu_share: Some(0.4),
            network_share: Some(0.3),
            same_host: Some(true),
            pinned_apart: Some(true),
            config: Some("4 connections".to_owned()),
        }),
    }
}

pub fn comparison() -> ComparisonEvidence {
    ComparisonEvidence {
        label: "B".to_owned(),
        n: Some(24),
        ratio: Some(1.20),
        interval: Some(interval(1.18, 1.22)),
        method: Some(Method::PairedT),
        unit: Some(Unit::Trials),
        sensitivity: Some(interval(1.18, 1.22)),
        detectable: Some(1.01),
        margin: Some(0.02),
        verdict: Some(Verdict::Better),
        disputed: None,
        median_ratio: Some(1.2),
    }
}

pub fn claim() -> ClaimEvidence {
    ClaimEvidence {
        text: "B has 1.20 times the throughput of A on the order workload".to_owned(),
        verb: Some(Verb::States),
        ratio: Some(1.20),
        of_peak: Some(true),
        population: None,
        as_of: Some("2026-11-21".to_owned()),
        absolutes_shown: Some(true),
        speedup_base: None,
        is_speedup: Some(false),
    }
}

fn number(what: &str, printed: &str, exact: f64) -> NumberEvidence {
    NumberEvidence {
        what: what.to_owned(),
        printed: Some(printed.to_owned()),
        exact: Some(exact),
        interval: Some(interval(exact * 0.98, exact * 1.02)),
        deterministic: false,
        kind: Some(MetricKind::Measured),
        labelled: true,
        derivation: None,
    }
}

fn numbers() -> Vec<NumberEvidence> {
    let derived = NumberEvidence {
        kind: Some(MetricKind::Derived),
        derivation: Some(Derivation { marked: true, shown_as_official: false, base_nearby: true }),
        ..number("throughput per core", "12.5", 12.51)
    };
    let estimated = NumberEvidence {
        kind: Some(MetricKind::Estimated),
        ..number("throughput of the next model", "140", 140.2)
    };
    vec![number("throughput", "100.1", 100.08), derived, estimated]
}

fn metric(label: &str) -> MetricIdentity {
    MetricIdentity {
        label: label.to_owned(),
        metric: Some("throughput".to_owned()),
        unit: Some("ops/s".to_owned()),
        benchmark: Some("orders".to_owned()),
        version: Some("1".to_owned()),
        compatible: Vec::new(),
        category: text_map(&[("division", "closed")]),
    }
}

fn environment() -> assay_model::environment::EnvDiff {
    let mut other = system();
    other.facts.insert("env.TZ".to_owned(), Fact::known("UTC"));
    let mut diff = assay_model::environment::diff(&system(), &other, &[]);
    diff.accept("env.TZ", "nothing prints a time").unwrap();
    diff
}

fn schedule() -> Schedule {
    let trial = |i: usize| Scheduled {
        treatment: (i + i / 2) % 2,
        start_s: i as f64,
        end_s: i as f64 + 0.9,
        value: Some(100.0 + (i % 3) as f64),
    };
    Schedule { trials: (0..48).map(trial).collect(), order: Some(Order::Random) }
}

/// Returns sound evidence for a check: a claim states a ratio or a rank, so F56 has a claim of its
/// own.
pub fn evidence_for(id: &str) -> Evidence {
    let mut e = evidence();
    if id == "F56" {
        let population = Some("the systems of the table".to_owned());
        e.claim =
            RecordedValue::Is(ClaimEvidence { verb: Some(Verb::Best), population, ..claim() });
    }
    e
}

/// Returns evidence that passes all checks but F56, which does not apply.
pub fn evidence() -> Evidence {
    Evidence {
        in_trials: Vec::new(),
        unobserved: Vec::new(),
        imported: false,
        several_machines: false,
        treatments: vec![treatment("A", "1", 100.0, 1), treatment("B", "2", 120.0, 2)],
        factors: Some(texts(&["threads"])),
        environment: RecordedValue::Is(environment()),
        comparisons: RecordedValue::Is(vec![comparison()]),
        schedule: Some(schedule()),
        self_comparison: RecordedValue::Is(SelfComparison {
            age_days: Some(3.0),
            policy_days: 30.0,
            floor: Some(1.01),
            alike: Some(true),
        }),
        multiplicity: Some(Multiplicity {
            tests: 3,
            correction: Some("Holm".to_owned()),
            headline_is_best: Some(false),
        }),
        stopping: Some(StoppingRule {
            rule: Some("stop after 24 blocks".to_owned()),
            registered_before: Some(true),
            looks: 2,
            adjusted: Some(true),
            ended_on_significance: Some(false),
            by_hand: false,
        }),
        exclusions: Some(Exclusions { started: 48, ..Exclusions::default() }),
        suite: RecordedValue::Is(suite()),
        means: RecordedValue::Is(vec![MeanUse {
            what: "the overall score".to_owned(),
            of: Some(MeanOf::NormalisedScores),
            operator: MeanOperator::Geometric,
        }]),
        percentiles: RecordedValue::Is(vec![PercentileEvidence {
            metric: String::new(),
            quantile: 0.99,
            load: Some(Loop::Open),
            as_arrivals: Some(true),
            slips_charged: Some(true),
            hidden: Some(0),
            n_eff: Some(20_000.0),
            merge: Some(Merge::Histograms),
        }]),
        claim: RecordedValue::Is(claim()),
        audited: None,
        numbers: RecordedValue::Is(numbers()),
        metrics: RecordedValue::Is(vec![metric("A"), metric("B")]),
        denominators: RecordedValue::Is(denominators()),
        energy: RecordedValue::Is(energy()),
        prices: RecordedValue::Is(prices()),
        quotes: RecordedValue::Is(vec![quote()]),
        disclosures: RecordedValue::Is(vec![DisclosureEvidence {
            rules: "fair-use".to_owned(),
            required: texts(&["U1", "U2"]),
            ..DisclosureEvidence::default()
        }]),
        registered: Some(RegisteredItems {
            items: texts(&["throughput", "elapsed"]),
            shown: texts(&["elapsed", "throughput"]),
            reverses_headline: Some(false),
            headline: None,
        }),
        repeat: Some(RepeatEvidence {
            raw_data: Some(true),
            scripts: Some(true),
            version: Some("1.2.3".to_owned()),
            dirty: Some(false),
            rerun: Some((1.2, interval(1.17, 1.23))),
        }),
    }
}
