//! A compliant result of a CPU suite, and changes that violate each rule.

use std::collections::BTreeMap;

use assay_quoted::pack::PackEvidence;
use assay_quoted::pack::cpu::*;

use super::{Cases, check, fair_use, of, pack};

const FIELDS: [&str; 33] = [
    "vendor",
    "model",
    "test-date",
    "hardware-available",
    "software-available",
    "sponsor",
    "tester",
    "licence",
    "cpu-name",
    "cpu-nominal-mhz",
    "cpu-max-mhz",
    "chips",
    "cores",
    "threads-per-core",
    "cpus-orderable",
    "cache-l1",
    "cache-l2",
    "cache-l3",
    "cache-other",
    "memory",
    "memory-modules",
    "disk",
    "other-hardware",
    "os",
    "system-state",
    "file-system",
    "compilers",
    "parallel",
    "other-software",
    "power-management",
    "pointer-size",
    "stopped-services",
    "tuning",
];

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|w| (*w).to_owned()).collect()
}

fn tuning(copies: u32, flags: &[&str], selected: f64, ratio: f64) -> CpuTuning {
    CpuTuning {
        copies: Some(copies),
        threads: Some(1),
        toolchain: Some(BTreeMap::from([("C".to_owned(), "gcc 14.2, ld 2.43".to_owned())])),
        flags: Some(BTreeMap::from([("C".to_owned(), words(flags))])),
        portability: Some(words(&["-DSUITE_LP64"])),
        environment: Some(BTreeMap::new()),
        submit: Some("taskset -c $copy".to_owned()),
        trained_on: Some("none".to_owned()),
        selected_s: Some(selected),
        ratio: Some(ratio),
        is_base: false,
    }
}

fn executions(order: &mut u32, member: &str, tuning: Tuning, times: &[f64]) -> Vec<CpuExecution> {
    let untimed = [InputSize::Test, InputSize::Train].map(|size| (size, false, 1.0));
    let timed = times.iter().map(|t| (InputSize::Reference, true, *t));
    untimed
        .into_iter()
        .chain(timed)
        .map(|(size, timed, seconds)| {
            *order += 1;
            CpuExecution {
                member: member.to_owned(),
                tuning,
                size,
                invocation: "1".to_owned(),
                order: *order,
                timed,
                seconds: Some(seconds),
                valid: Some(true),
            }
        })
        .collect()
}

/// Returns a compliant result: two members, four copies, base and peak; the second member's peak
/// repeats its base.
pub fn sound() -> CpuSuiteResult {
    let base = |s, r| tuning(4, &["-O2", "-g"], s, r);
    let mut second_peak = base(50.0, 8.0);
    second_peak.is_base = true;
    let mut trained = tuning(8, &["-O3", "-fprofile-use"], 80.0, 20.0);
    trained.trained_on = Some("train".to_owned());
    let member = |name: &str, reference, source: &str, base, peak| CpuMember {
        name: name.to_owned(),
        reference_s: Some(reference),
        source_names: Some(words(&[source])),
        base: Some(base),
        peak: Some(peak),
    };
    let mut order = 0;
    let mut all = executions(&mut order, "sort", Tuning::Base, &[102.0, 100.0, 98.0]);
    all.extend(executions(&mut order, "parse", Tuning::Base, &[50.0, 49.0]));
    all.extend(executions(&mut order, "sort", Tuning::Peak, &[79.0, 80.0, 81.0]));
    CpuSuiteResult {
        suite: "cpu-int rate".to_owned(),
        kind: Some(SuiteKind::Rate),
        members: vec![
            member("sort", 200.0, "sort.c", base(100.0, 8.0), trained),
            member("parse", 100.0, "lexer.c", base(50.0, 8.0), second_peak),
        ],
        executions: all,
        overall_base: Some(8.0),
        peak_reported: Some(true),
        overall_peak: Some((20.0f64 * 8.0).sqrt()),
        tree_file_systems: Some(words(&["/data"])),
        output_root: Some(false),
        run_file_systems: Some(words(&["/data", "/data"])),
        optimiser_remembers: Some(false),
        described_flags: Some(words(&["-O*", "-g", "-fprofile-use", "-DSUITE_*"])),
        disclosure: FIELDS.iter().map(|f| ((*f).to_owned(), "stated".to_owned())).collect(),
        system_measured: Some("a system".to_owned()),
        system_reported: Some("a system".to_owned()),
        parts_available: Some(true),
        power_reported: Some(true),
        power: Some(CpuPower {
            analyser_accepted: Some(true),
            calibrated: Some(true),
            separate_controller: Some(true),
            voltage_deviation_percent: Some(5.0),
            mains_deviation_percent: Some(1.0),
            bad_power_percent: Some(0.5),
            bad_other_percent: Some(1.0),
            uncertain_percent: Some(1.0),
            unknown_uncertainty_percent: Some(0.5),
            ambient_least_c: Some(20.0),
            on_battery: Some(false),
            of_the_timed_run: Some(true),
        }),
        estimated: Some(false),
        estimates_marked: None,
        energy_estimated: Some(false),
        published: Some(true),
        publication: Some(fair_use::sound()),
    }
}

type Change = fn(&mut CpuSuiteResult);

fn base(r: &mut CpuSuiteResult) -> &mut CpuTuning {
    r.members[0].base.as_mut().unwrap()
}

fn peak(r: &mut CpuSuiteResult) -> &mut CpuTuning {
    r.members[0].peak.as_mut().unwrap()
}

fn add_flag(t: &mut CpuTuning, flag: &str) {
    t.flags.as_mut().unwrap().get_mut("C").unwrap().push(flag.to_owned());
}

const FAULTS: &[(&str, Change)] = &[
    ("C1", |r| r.executions[3].invocation = "2".into()),
    ("C1", |r| r.executions.last_mut().unwrap().order = 0),
    ("C2", |r| r.executions[2].valid = Some(false)),
    ("C2", |r| {
        r.executions.remove(1);
    }),
    ("C3", |r| base(r).selected_s = Some(98.0)),
    ("C3", |r| {
        // Of two times the slower one counts: 50, not 49.
        r.members[1].base.as_mut().unwrap().selected_s = Some(49.0);
    }),
    ("C3", |r| r.executions.retain(|e| e.order < 3 || e.order > 4)),
    ("C4", |r| base(r).ratio = Some(2.0)),
    ("C4", |r| r.overall_base = Some(8.5)),
    ("C4", |r| r.members[1].base = None),
    ("C5", |r| base(r).copies = Some(8)),
    ("C6", |r| base(r).flags = Some(BTreeMap::from([("C".into(), words(&["-g", "-O2"]))]))),
    ("C6", |r| {
        base(r).toolchain = Some(BTreeMap::from([("C".to_owned(), "clang 19".to_owned())]));
    }),
    ("C7", |r| base(r).portability = Some(words(&["-DMY_FAST_PATH"]))),
    ("C7", |r| base(r).portability = Some(words(&["-m32"]))),
    ("C8", |r| add_flag(base(r), "-fprofile-use=x")),
    ("C8", |r| add_flag(base(r), "-fno-rtti")),
    ("C9", |r| add_flag(peak(r), "-include=sort.c")),
    ("C9", |r| peak(r).trained_on = Some("reference".to_owned())),
    ("C10", |r| add_flag(peak(r), "-fopenmp")),
    ("C11", |r| base(r).submit = Some(String::new())),
    ("C11", |r| {
        let set = BTreeMap::from([("OMP_NUM_THREADS".to_owned(), "4".to_owned())]);
        r.members.iter_mut().for_each(|m| m.base.as_mut().unwrap().environment = Some(set.clone()));
    }),
    ("C12", |r| r.tree_file_systems = Some(words(&["/data", "/other"]))),
    ("C12", |r| r.run_file_systems = Some(words(&["/data", "/other"]))),
    ("C12", |r| {
        r.disclosure.remove("file-system");
    }),
    ("C13", |r| r.optimiser_remembers = Some(true)),
    ("C14", |r| r.members[1].peak.as_mut().unwrap().ratio = Some(9.0)),
    ("C14", |r| r.members[1].peak = None),
    ("C15", |r| r.described_flags = Some(words(&["-O*"]))),
    ("C16", |r| {
        r.disclosure.remove("tester");
    }),
    ("C17", |r| r.system_reported = Some("a larger system".to_owned())),
    ("C17", |r| r.parts_available = Some(false)),
    ("C18", |r| r.power.as_mut().unwrap().analyser_accepted = Some(false)),
    ("C18", |r| r.power.as_mut().unwrap().ambient_least_c = Some(18.0)),
    ("C18", |r| r.power.as_mut().unwrap().bad_power_percent = Some(1.0)),
    ("C19", |r| r.energy_estimated = Some(true)),
    ("C19", |r| (r.estimated, r.estimates_marked) = (Some(true), Some(false))),
    ("C20", |r| r.publication.as_mut().unwrap().results[0].licensee = None),
];

const GAPS: &[(&str, Change)] = &[
    ("C1", |r| r.executions.clear()),
    ("C2", |r| r.executions[2].valid = None),
    ("C3", |r| base(r).selected_s = None),
    ("C4", |r| r.members[0].reference_s = None),
    ("C5", |r| base(r).copies = None),
    ("C6", |r| base(r).toolchain = None),
    ("C7", |r| base(r).portability = None),
    ("C8", |r| base(r).flags = None),
    ("C9", |r| r.members[0].source_names = None),
    ("C10", |r| r.kind = None),
    ("C11", |r| base(r).environment = None),
    ("C12", |r| r.run_file_systems = None),
    ("C13", |r| r.optimiser_remembers = None),
    ("C14", |r| r.peak_reported = None),
    ("C15", |r| r.described_flags = None),
    ("C16", |r| r.disclosure.clear()),
    ("C17", |r| r.parts_available = None),
    ("C18", |r| r.power.as_mut().unwrap().ambient_least_c = None),
    ("C19", |r| r.estimated = None),
    ("C20", |r| r.published = None),
];

#[test]
fn every_rule_passes_fails_and_is_unknown() {
    check(&Cases {
        pack: "cpu",
        sound,
        wrap: |r| PackEvidence::Cpu(r),
        faults: FAULTS,
        gaps: GAPS,
    });
}

#[test]
fn what_is_optional_need_not_be_there() {
    let mut result = sound();
    (result.peak_reported, result.overall_peak) = (Some(false), None);
    result.members.iter_mut().for_each(|m| m.peak = None);
    result.executions.retain(|e| e.tuning == Tuning::Base);
    (result.power_reported, result.power) = (Some(false), None);
    (result.published, result.publication) = (Some(false), None);
    let verdict = assay_quoted::pack::evaluate(&pack("cpu"), &PackEvidence::Cpu(&result));
    assert_eq!(verdict.verdict, assay_quoted::pack::Verdict::Reportable, "{verdict:?}");
}

#[test]
fn a_speed_suite_may_be_parallel() {
    let mut result = sound();
    result.kind = Some(SuiteKind::Speed);
    add_flag(peak(&mut result), "-fopenmp");
    let verdict = assay_quoted::pack::evaluate(&pack("cpu"), &PackEvidence::Cpu(&result));
    assert_eq!(of(&verdict, "C10"), assay_quoted::pack::RuleResult::Pass);
}

#[test]
fn nothing_recorded_is_invalid() {
    let nothing = CpuSuiteResult::default();
    let verdict = assay_quoted::pack::evaluate(&pack("cpu"), &PackEvidence::Cpu(&nothing));
    assert_eq!(verdict.verdict, assay_quoted::pack::Verdict::Invalid);
}

/// Returns the portability flags that a kit of a suite ships.
fn shipped(kit: &std::path::Path) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(kit.join("kit.toml")).ok()?;
    let kit: toml::Table = text.parse().unwrap();
    let params = kit["param"].as_array().unwrap();
    let own = params.iter().find(|p| p["name"].as_str() == Some("portability"))?;
    Some(own["default"].as_str()?.split_whitespace().map(str::to_owned).collect())
}

#[test]
fn the_flags_that_members_ship_are_approved() {
    let kits = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kits");
    let folders = ["cpu-int", "cpu-fp"].map(|suite| std::fs::read_dir(kits.join(suite)).unwrap());
    let mut flags = 0;
    for kit in folders.into_iter().flatten().flatten() {
        let Some(own) = shipped(&kit.path()) else { continue };
        flags += own.len();
        let mut result = sound();
        result.members.iter_mut().for_each(|m| {
            m.base.as_mut().unwrap().portability = Some(own.clone());
        });
        let verdict = assay_quoted::pack::evaluate(&pack("cpu"), &PackEvidence::Cpu(&result));
        let outcome = verdict.rules.iter().find(|r| r.id == "C7").unwrap();
        assert_eq!(outcome.result, assay_quoted::pack::RuleResult::Pass, "{}", outcome.evidence);
    }
    assert!(flags > 10, "the members' flags were not found");
}
