use std::sync::Arc;

use assay_model::{Method, SampleRow, SeriesKey, Verdict};
use assay_traces::profile::FILE;

use super::*;

fn comparison(unit: &str, better: Better, ratio: f64) -> Comparison {
    Comparison {
        metric: "elapsed".into(),
        unit: unit.into(),
        better,
        baseline: 0,
        treatment: 1,
        n: 4,
        ratio: Some(ratio),
        interval: None,
        method: Method::PairedT,
        sensitivity: None,
        sensitivity_method: Method::SignedRank,
        detectable: None,
        margin: None,
        verdict: Verdict::Better,
        reason: String::new(),
    }
}

fn record(number: u32, block: u32, treatment: u32) -> TrialRecord {
    let json = serde_json::json!({
        "schema_version": 1, "number": number, "attempt": 1, "block": block,
        "treatment": treatment, "warmup": false, "outcome": "completed", "started_at": "",
        "start_ns": 0, "end_ns": 100, "exit": null, "resources": null,
        "phases": [{"phase": "steady", "t_ns": 10}, {"phase": "ramp-down", "t_ns": 50}],
        "validation": {"result": "exit-code-only"},
        "stdout": {"bytes": 0, "kept": 0}, "stderr": {"bytes": 0, "kept": 0}
    });
    serde_json::from_value(json).unwrap()
}

/// Returns samples of user and system time: the given values inside the window, nonsense outside
/// it.
fn samples(user: f64, system: f64, switches: f64) -> SampleSet {
    let series = |monitor: &str, subject: &str, field: &str, unit: &str| SeriesKey {
        monitor: monitor.into(),
        subject: subject.into(),
        field: field.into(),
        unit: unit.into(),
    };
    let row = |t_ns, series, value| SampleRow { t_ns, series, value };
    SampleSet {
        series: vec![
            series("cpu", "all", "user", "%"),
            series("cpu", "all", "system", "%"),
            series("switches", "", "context_switches", "1/s"),
        ],
        rows: vec![
            row(5, 0, 99.0),
            row(20, 0, user - 1.0),
            row(20, 1, system),
            row(20, 2, switches),
            row(30, 0, user + 1.0),
            row(30, 1, f64::NAN),
            row(60, 0, 99.0),
        ],
    }
}

fn analysis() -> Analysis {
    serde_json::from_value(serde_json::json!({
        "metric": "elapsed", "unit": "s", "better": "lower", "confidence": 0.95,
        "summaries": [], "comparisons": [], "curves": [],
        "scaling": null, "run_metrics": [], "findings": []
    }))
    .unwrap()
}

fn explained(user: impl Fn(u32, u32) -> f64) -> Explanation {
    explained_with(user, &RunTraces::default())
}

fn explained_with(user: impl Fn(u32, u32) -> f64, traces: &RunTraces) -> Explanation {
    let mut records = Vec::new();
    let mut by_trial = BTreeMap::new();
    for block in 0..4 {
        for treatment in 0..2 {
            let number = block * 2 + treatment + 1;
            records.push(record(number, block, treatment));
            let switches = 1000.0 + f64::from(block % 2 * (1 + treatment));
            by_trial.insert(number, samples(user(block, treatment), 10.0, switches));
        }
    }
    let comparison = comparison("s", Better::Lower, 0.97);
    let analysis = analysis();
    let question = Question {
        records: &records,
        samples: &by_trial,
        traces,
        analysis: &analysis,
        comparison: &comparison,
    };
    explain(&question)
}

#[test]
fn what_differs_with_the_treatment_comes_first_as_a_share_of_time() {
    let e = explained(|block, treatment| {
        50.0 + f64::from(block) + if treatment == 1 { -3.0 + 0.1 * f64::from(block) } else { 0.0 }
    });
    let first = &e.observations[0];
    assert_eq!((first.source.as_str(), first.name.as_str()), ("cpu", "user"));
    // Samples outside the window do not count. Blocks are paired, so their drift cancels.
    assert!((first.baseline - 51.5).abs() < 1e-9 && (first.change.difference + 2.85).abs() < 1e-9);
    let time = first.of_time.unwrap();
    assert!((time.difference + 0.0285).abs() < 1e-12 && time.clear());
    assert!(first.standard_errors.unwrap() < -10.0);
    // Observations that are the same in every trial are counted, not listed.
    assert_eq!(e.unchanged, 1);
    let switches = e.observations.iter().find(|o| o.source == "switches").unwrap();
    assert!(switches.of_time.is_none() && !switches.change.clear());
    assert!((e.time_change.unwrap() + 0.03).abs() < 1e-12);
    assert!((e.account.unwrap().sum + 0.0285).abs() < 1e-12);
}

/// Returns four trials per side of a program with two functions. One of them takes longer in the
/// treatment, by the share `more`.
fn profiled(more: f64) -> RunTraces {
    let mut traces = RunTraces::default();
    for number in 1..=8u32 {
        let treated = number.is_multiple_of(2);
        let slow = 1000.0 * if treated { 1.0 + more } else { 1.0 };
        let text = format!("main;steady {}\nmain;slow {slow:.0}\n", 2000 + number % 3);
        let profile = assay_traces::profile::read(text.as_bytes(), "x.folded").unwrap();
        traces.insert(&FILE, number, Arc::new(profile));
    }
    traces
}

#[test]
fn functions_take_part_and_identical_programs_name_none() {
    let same = |_: u32, _: u32| 50.0;
    let of = |e: &Explanation, name: &str| {
        e.observations.iter().find(|o| o.source == FILE.tracer && o.subject == name).cloned()
    };
    let e = explained_with(same, &profiled(0.5));
    let slow = of(&e, "slow").unwrap();
    assert!(slow.change.clear() && slow.of_time.unwrap().clear(), "{slow:?}");
    assert!((slow.treatment / slow.baseline - 1.5).abs() < 1e-9, "{slow:?}");
    // The level is corrected: it is above the level of the comparison.
    assert!(slow.change.interval.unwrap().level > 0.95);
    assert_eq!(e.observations[0].subject, "slow", "the largest clear difference is first");
    assert!(!of(&e, "steady").unwrap().change.clear());
    assert!(e.notes.iter().any(|n| n.contains("functions of the program")), "{:?}", e.notes);
    let e = explained_with(same, &profiled(0.0));
    assert!(e.observations.iter().all(|o| o.source != FILE.tracer || !o.change.clear()));
}

#[test]
fn a_thread_that_was_kept_at_some_ticks_only_takes_no_part() {
    let mut set = SampleSet::default();
    for (series, (subject, ticks)) in
        [(ALL_TASKS, 4u64), ("srv", 4), ("srv/io", 3), ("short", 1)].into_iter().enumerate()
    {
        set.series.push(SeriesKey {
            monitor: TASKS.into(),
            subject: subject.into(),
            field: "user".into(),
            unit: "%".into(),
        });
        let row = |tick| SampleRow { t_ns: 11 + tick, series: series as u32, value: 50.0 };
        set.rows.extend((0..ticks).map(row));
    }
    set.rows.sort_by_key(|r| r.t_ns);
    let record = record(1, 0, 0);
    let question = Question {
        records: std::slice::from_ref(&record),
        samples: &BTreeMap::from([(1, set)]),
        traces: &RunTraces::default(),
        analysis: &analysis(),
        comparison: &comparison("s", Better::Lower, 1.0),
    };
    let mut seen = PairedObservations::default();
    seen.next_trial();
    observe(&record, &question, question.comparison, &mut seen);
    let of = |subject: &'static str| {
        let place = seen.places.get(&ObservationKey::new(TASKS, subject, "user", "%"))?;
        seen.value(*place, 1)
    };
    // The first tick of a window may precede a thread's first sample, so one missing tick is
    // allowed.
    assert_eq!([of(ALL_TASKS), of("srv"), of("srv/io")], [Some(50.0); 3]);
    assert_eq!(of("short"), None);
    assert_eq!(ObservationKey::new(TASKS, "srv", "user", "%").share_of_time(), Some(0.01));
}

#[test]
fn a_rate_is_turned_round_and_a_size_is_no_time() {
    let change = |unit, better, ratio| time_change(&comparison(unit, better, ratio));
    assert!((change("ops/s", Better::Higher, 1.25).unwrap() + 0.2).abs() < 1e-12);
    assert_eq!(change("B", Better::Lower, 0.9), None);
    assert_eq!(change("1", Better::Neither, 0.9), None);
}

/// Checks the post of October 2005: four parts of the time in TLB and TSB misses under Solaris 9
/// and 10, means of ten lines each, as published. The post names two of them (3.64 - 0.75 = 2.89,
/// against a gain of 2.88); all four give 2.56.
#[test]
fn the_posts_arithmetic_and_what_it_left_out() {
    let csv = concat!(env!("CARGO_MANIFEST_DIR"), "/../../published/trapstat.csv");
    let text = std::fs::read_to_string(csv).unwrap();
    let mut of: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for line in text.lines().filter(|l| l.starts_with("trap-s")) {
        let id: Vec<&str> = line.split(',').next().unwrap().split('-').collect();
        if let ["trap", system, _, part, "tim"] = id.as_slice() {
            // Fields from the end: the date, then the value.
            let value = line.rsplit(',').nth(1).unwrap().parse().unwrap();
            of.entry(((*part).to_owned(), (*system).to_owned())).or_default().push(value);
        }
    }
    let at = |part: &str, system: &str| {
        let lines = &of[&(part.to_owned(), system.to_owned())];
        assert_eq!(lines.len(), 10, "{part} {system}");
        mean(lines).unwrap()
    };
    let parts = ["itlb", "itsb", "dtlb", "dtsb"];
    // Time that Solaris 9 spent more than Solaris 10, so that a gain is positive.
    let account = Account::from_parts(parts.map(|p| (p, at(p, "s10"), at(p, "s9"))));
    let part = |name: &str| account.parts.iter().find(|p| p.0 == name).unwrap().1;
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(near(part("dtsb"), 3.64) && near(part("dtlb"), -0.75));
    let named = part("dtsb") + part("dtlb");
    let left_out = account.sum - named;
    assert!(near(named, 2.89) && near(left_out, -0.33), "{named} {left_out}");
    assert!(near(account.sum, 2.56));
    // The published gain agrees with the two parts that the post names, not with all four.
    let gain = 2.88;
    assert!((named - gain).abs() < 0.011 && (account.sum - gain).abs() > 0.3);
    // The column of totals, which is rounded separately, gives 2.53.
    assert!(near(at("total", "s9") - at("total", "s10"), 2.53));
}
