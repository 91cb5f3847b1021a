//! Trials of `block-size` in real processes on real files.

mod dd;
mod trial;

use std::collections::BTreeSet;

use assay_model::{Exit, Phase, TrialRecord, ValidationResult};
use assay_testing::alone;
use assay_workloads::builtin::block_size::BlockSize;
use assay_workloads::{TrialContext, Workload, WorkloadError};
use trial::{assay, cpus, params, trial};

fn passed(record: &TrialRecord) {
    assert_eq!(record.exit, Some(Exit::Code(0)), "{}", record.error);
    assert!(matches!(record.validation, ValidationResult::Passed { .. }), "{record:?}");
}

fn visited(record: &TrialRecord) -> BTreeSet<u64> {
    record.curve("throughput").unwrap().points.iter().map(|p| p[0] as u64).collect()
}

const SMALL: &[(&str, &str)] =
    &[("file_size", "4 MiB"), ("min_time", "2 ms"), ("budget", "500 ms")];

/// Minimum time for a few sizes, long enough that other programs cannot take all slices of a size.
const OFTEN: (&str, &str) = ("min_time", "200 ms");

fn with(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn a_sweep_covers_refines_and_validates() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    let params = params(SMALL);
    let mut records: Vec<TrialRecord> = Vec::new();
    for number in 1..=2 {
        let record = trial(number, &params, dir, &records).unwrap();
        passed(&record);
        let sizes = visited(&record);
        for k in 0..=16 {
            assert!(sizes.contains(&(1 << k)), "2^{k}");
        }
        for k in 1..25 {
            let page = 4096 * k;
            assert!([page - 1, page, page + 1].iter().all(|s| sizes.contains(s)), "{page}");
        }
        assert!(sizes.contains(&102_400));
        let order: Vec<f64> =
            record.curve("throughput").unwrap().points.iter().map(|p| p[0]).collect();
        assert!(!order.is_sorted(), "sizes are visited in random order");
        // On a loaded machine, every slice that would show the overhead of dd may be disturbed; a
        // note reports this.
        let tells_dd = record.metric("dd_overhead").is_some();
        let dd = record.curve("dd").map_or(0, |c| c.points.len());
        assert_eq!(dd, if tells_dd { sizes.len() } else { 0 });
        assert_ne!(tells_dd, record.notes.iter().any(|n| n.contains("there is no curve `dd`")));
        for metric in ["throughput", "peak_throughput", "best_size", "excluded_fraction"] {
            assert!(record.metric(metric).is_some(), "{metric}: {:?}", record.notes);
        }
        let phases: Vec<Phase> = record.phases.iter().map(|p| p.phase).collect();
        assert_eq!(phases, [Phase::RampUp, Phase::Steady, Phase::RampDown]);
        records.push(record);
    }
    let (first, second) = (visited(&records[0]), visited(&records[1]));
    assert!(second.difference(&first).count() >= 20, "the second trial adds sizes");
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 1, "one file for both");
}

#[test]
fn processes_work_at_once() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    if cpus().len() < 2 {
        println!("skipped: because there is only one CPU");
        return;
    }
    let record = trial(
        1,
        &params(&with(&[("processes", "2"), ("buffer_size", "512, 64 KiB"), OFTEN])),
        dir,
        &[],
    )
    .unwrap();
    passed(&record);
    assert_eq!(visited(&record), BTreeSet::from([512, 65536]));
    assert!(record.curve("dd").is_none(), "dd is one process");
    // Each process compares one block at each size.
    let ValidationResult::Passed { detail } = &record.validation else { unreachable!() };
    assert!(detail.starts_with("4 blocks"), "{detail}");
}

#[test]
fn more_processes_than_cpus() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    let many = (2 * cpus().len() + 1).min(64).to_string();
    let params = params(&[
        ("file_size", "1 MiB"),
        ("processes", &many),
        ("buffer_size", "4096"),
        ("min_time", "1 ms"),
    ]);
    let record = trial(1, &params, dir, &[]).unwrap();
    passed(&record);
    assert_eq!(record.metric("excluded_fraction"), Some(0.0), "sharing CPUs is what is measured");
    assert!(record.metric("throughput").unwrap() > 0.0);
}

#[test]
fn writing() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    let params = params(&with(&[
        ("direction", "write"),
        ("processes", "2"),
        ("buffer_size", "1000, 4096"),
        OFTEN,
    ]));
    let record = trial(1, &params, dir, &[]).unwrap();
    passed(&record);
    assert_eq!(visited(&record).len(), 2);
    let sizes: Vec<u64> =
        std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().metadata().unwrap().len()).collect();
    assert_eq!(sizes, [4 << 20, 4 << 20], "a file for each, and no file grew");
}

#[test]
fn past_the_page_cache() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    let params = params(&with(&[("cache", "direct"), ("min_time", "1 ms")]));
    let record = match trial(1, &params, dir, &[]) {
        Ok(record) => record,
        Err(error) => {
            assert!(error.to_string().contains("O_DIRECT"), "{error}");
            println!("skipped: because {error}");
            return;
        }
    };
    passed(&record);
    assert!(visited(&record).iter().all(|s| s.is_multiple_of(512)));
    assert!(record.notes.iter().any(|n| n.contains("multiples of")), "{:?}", record.notes);
    let odd = trial::params(&with(&[("cache", "direct"), ("buffer_size", "1000")]));
    let error = trial(2, &odd, dir, &[]).unwrap_err().to_string();
    assert!(error.contains("multiples of"), "{error}");
}

#[test]
fn a_wrong_byte_is_found() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    let params = params(&with(&[("buffer_size", "4 MiB, 8192")]));
    passed(&trial(1, &params, dir, &[]).unwrap());
    let file = std::fs::read_dir(dir).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[1_234_567] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let record = trial(2, &params, dir, &[]).unwrap();
    let ValidationResult::Failed { detail } = &record.validation else {
        panic!("not noticed: {:?}", record.validation);
    };
    assert!(detail.contains("byte 1234567 "), "{detail}");
}

#[test]
fn a_file_that_is_gone_is_a_clear_error() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    let params = params(SMALL);
    let cpus = cpus();
    let context = TrialContext {
        number: 1,
        block: 0,
        treatment: 0,
        params: &params,
        cpus: &cpus,
        trial_dir: dir,
        run_dir: dir,
        cache_dir: dir,
        exe: &assay(),
        previous: &[],
    };
    let workload = BlockSize;
    workload.prepare(&context).unwrap();
    let launch = workload.launch(&context).unwrap();
    let file = std::fs::read_dir(dir).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(&file).unwrap();
    let output = std::process::Command::new(&launch.argv[0])
        .args(&launch.argv[1..])
        .env("ASSAY_METRICS", dir.join("events"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("assay-block-size.data") && stderr.contains("No such file"),
        "{stderr}"
    );
}

#[test]
fn a_persons_file_is_read_and_kept() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    let file = dir.join("mine");
    let content: Vec<u8> = (0..300_000u64).map(|i| ((i * i) >> 3) as u8).collect();
    std::fs::write(&file, &content).unwrap();
    let path = file.to_str().unwrap().to_owned();
    let run = tempfile::tempdir().unwrap();
    let params = params(&[("path", &path), ("min_time", "1 ms"), ("buffer_size", "77, 4096")]);
    let record = trial(1, &params, run.path(), &[]).unwrap();
    passed(&record);
    assert_eq!(std::fs::read(&file).unwrap(), content);
}

#[test]
fn a_folder_is_left_as_it_was() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    let run = tempfile::tempdir().unwrap();
    let path = dir.to_str().unwrap().to_owned();
    for direction in ["read", "write"] {
        let params = params(&[
            ("path", &path),
            ("file_size", "1 MiB"),
            ("direction", direction),
            ("min_time", "1 ms"),
            ("buffer_size", "4096"),
        ]);
        passed(&trial(1, &params, run.path(), &[]).unwrap());
        assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0, "{direction}");
    }
    let gone = params(&[("path", "/no/such/folder")]);
    let error = BlockSize.check(&gone).unwrap_err();
    assert!(matches!(error, WorkloadError::Param(_)), "{error}");
}

#[test]
fn nonsense_is_a_usage_error() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    for (name, json, code) in [("nothing", "{}", 2), ("block-size", "{]", 1), ("noop", "{}", 0)] {
        let output = std::process::Command::new(assay())
            .args(["__work", name, json])
            .env("ASSAY_METRICS", dir.join("events"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{name}");
        assert_eq!(output.stderr.is_empty(), code == 0, "{name}");
    }
}
