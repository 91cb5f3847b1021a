//! Tests of a writer that is killed, and of power failures.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use assay_archive::{Archive, Problem, ProblemKind, RunReader, RunWriter};
use assay_model::{LedgerEvent, RunId, RunState};

use crate::child;
use crate::fixture::{archive, create, next_attempt, record, samples, write, write_trial};

const RUN: &str = "ASSAY_TEST_RUN";

/// Not a test: the process that the tests below kill. It writes trials forever and acknowledges
/// each; given a run's id, it resumes that run.
#[test]
#[ignore = "started by the other tests of this file"]
fn child() {
    let Some(archive) = child::archive() else { return };
    let mut run = match std::env::var(RUN) {
        Ok(id) => archive.resume(&id.parse().unwrap()).unwrap(),
        Err(_) => create(&archive, "crash", &[]),
    };
    let known = run.reader().unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "run {}", run.id()).unwrap();
    for number in 1.. {
        let attempt = next_attempt(&known, number);
        write_one(&mut run, number, attempt);
        writeln!(out, "ack {number} {attempt}").unwrap();
    }
}

fn write_one(run: &mut RunWriter, number: u32, attempt: u32) {
    run.ledger(LedgerEvent::TrialStarted { number, attempt }).unwrap();
    let log = vec![b'a' + (number % 26) as u8; log_size(number)];
    let seen = has_samples(number).then(|| samples(number));
    write_trial(run, &record(number, attempt), &log, b"", seen.as_ref()).unwrap();
}

/// One of three trials prints nothing; a few print a lot.
fn log_size(number: u32) -> usize {
    match number {
        n if n.is_multiple_of(17) => 200 << 10,
        n if n.is_multiple_of(3) => 0,
        n => (n as usize * 791) % 9000 + 1,
    }
}

fn has_samples(number: u32) -> bool {
    number.is_multiple_of(5)
}

fn has_folder(number: u32) -> bool {
    log_size(number) > 0 || has_samples(number)
}

fn start(archive: &Archive, run: Option<&RunId>) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut command = child::command("crash::child", archive.path());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    match run {
        Some(id) => command.env(RUN, id.as_str()),
        None => command.env_remove(RUN),
    };
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map_while(Result::ok))
}

/// Waits until a child has acknowledged `trials` trials, spins `turns` times, kills the child, and
/// returns its run and everything that it acknowledged.
fn killed(
    archive: &Archive,
    run: Option<&RunId>,
    trials: usize,
    turns: u32,
) -> (RunId, Vec<(u32, u32)>) {
    let (mut child, mut lines) = start(archive, run);
    let mut id = run.cloned();
    let mut acknowledged = Vec::new();
    let mut take = |line: String| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            // The test harness prints "test crash::child ..." before it on the same line.
            [.., "run", of] => id = Some(of.parse().unwrap()),
            ["ack", number, attempt] => {
                acknowledged.push((number.parse().unwrap(), attempt.parse().unwrap()));
            }
            _ => {}
        }
        // With a known run and no trials to wait for, the child may be killed while it starts.
        id.is_some() && acknowledged.len() >= trials
    };
    for line in lines.by_ref() {
        if take(line) {
            break;
        }
    }
    for _ in 0..turns {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    lines.for_each(|line| {
        take(line);
    });
    child.wait().unwrap();
    (id.expect("the child says its run first"), acknowledged)
}

/// Asserts that every acknowledged trial is complete and that there is no half-written one.
fn assert_sound(archive: &Archive, id: &RunId, acknowledged: &[(u32, u32)]) -> RunReader {
    let run = archive.run(id).unwrap();
    assert_eq!(run.state(), RunState::Interrupted);
    let kept = run.all_attempts().unwrap();
    let keys: HashSet<(u32, u32)> = kept.iter().map(|r| (r.number, r.attempt)).collect();
    assert_eq!(keys.len(), kept.len());
    assert!(acknowledged.iter().all(|key| keys.contains(key)), "{acknowledged:?} {keys:?}");
    for kept in kept {
        let (number, attempt) = (kept.number, kept.attempt);
        assert_eq!(kept, record(number, attempt));
        let log = fs::metadata(run.trial_dir(number, attempt).join("stdout.log"));
        assert_eq!(log.map_or(0, |log| log.len() as usize), log_size(number));
        let seen = has_samples(number).then(|| samples(number));
        assert_eq!(run.samples(number, attempt).unwrap(), seen);
    }
    let problems = archive.verify(Some(id)).unwrap();
    // If a trial's end is not in the ledger yet, its files have no hash there.
    let fine = |p: &Problem| {
        use ProblemKind::{InterruptedTrial, Leftover, NotRecorded};
        matches!(p.kind, InterruptedTrial | Leftover | NotRecorded)
    };
    assert!(problems.iter().all(fine), "{problems:?}");
    run
}

/// Asserts that resuming the run removes leftovers and adds the missing entries to the ledger.
fn assert_resumes(archive: &Archive, id: &RunId) {
    let before = archive.run(id).unwrap().all_attempts().unwrap();
    let run = archive.resume(id).unwrap();
    let reader = run.reader().unwrap();
    assert_eq!(reader.all_attempts().unwrap(), before);
    let ended: HashSet<(u32, u32)> = reader
        .ledger()
        .iter()
        .filter_map(|e| match e.event {
            LedgerEvent::TrialEnded { number, attempt, .. } => Some((number, attempt)),
            _ => None,
        })
        .collect();
    assert!(before.iter().all(|r| ended.contains(&(r.number, r.attempt))));
    let folders = before.iter().filter(|r| has_folder(r.number)).count();
    assert_eq!(fs::read_dir(reader.dir().join("trials")).unwrap().count(), folders);
    assert!(!reader.dir().join("trials.tmp").exists());
    let (number, attempt) = (1, next_attempt(&reader, 1));
    drop(reader);
    let mut run = run;
    write_one(&mut run, number, attempt);
    drop(run);
    let problems = archive.verify(Some(id)).unwrap();
    let fine = |p: &Problem| matches!(p.kind, ProblemKind::InterruptedTrial | ProblemKind::Lost);
    assert!(problems.iter().all(fine), "{problems:?}");
    assert!(!archive.run(id).unwrap().dir().join("trials.tmp").exists());
}

/// Seeds a small random generator: the moments differ from run to run, and the seed is printed with
/// failures.
fn seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    now.as_nanos() as u64 | 1
}

fn draw(state: &mut u64, below: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % below
}

#[test]
fn every_acknowledged_trial_survives_kill_9_at_fifty_moments() {
    let (_folder, archive) = archive();
    let seed = seed();
    println!("seed {seed}");
    let mut chance = seed;
    let mut run: Option<RunId> = None;
    let mut all = Vec::new();
    for _ in 0..50 {
        let trials = draw(&mut chance, 40) as usize;
        let turns = draw(&mut chance, 200_000) as u32;
        let (id, acknowledged) = killed(&archive, run.as_ref(), trials, turns);
        if run.as_ref() != Some(&id) {
            all.clear();
        }
        all.extend(acknowledged);
        assert_sound(&archive, &id, &all);
        if draw(&mut chance, 4) == 0 {
            assert_resumes(&archive, &id);
        }
        // One in three continues with the same run, so that repaired runs are repaired again.
        run = (draw(&mut chance, 3) > 0).then_some(id);
    }
    let listed = archive.list(&assay_archive::Search::default()).unwrap();
    assert!(listed.iter().all(|run| run.state == RunState::Interrupted));
}

#[test]
fn thousands_of_trials_are_read_in_one_pass() {
    let (_folder, archive) = archive();
    let archive = archive.unflushed();
    let mut run = create(&archive, "long", &[]);
    for number in 1..=5000 {
        run.ledger(LedgerEvent::TrialStarted { number, attempt: 1 }).unwrap();
        write_trial(&mut run, &record(number, 1), b"", b"", None).unwrap();
    }
    let id = run.id().clone();
    drop(run);
    assert_eq!(archive.run(&id).unwrap().records().unwrap().len(), 5000);
    assert_eq!(archive.verify(Some(&id)).unwrap(), []);
    let files = fs::read_dir(archive.path().join("runs").join(id.as_str())).unwrap().count();
    assert_eq!(files, 7, "run.json experiment.toml plan.json system.json ledger records trials");
}

/// After a power failure, unflushed data may be missing at the end of each file, or be zeros.
/// Whatever remains can be read, verified and resumed.
#[test]
fn a_lost_power_loses_only_what_was_not_flushed() {
    let seed = seed();
    println!("seed {seed}");
    let mut chance = seed;
    let (_folder, archive) = archive();
    for _ in 0..30 {
        let mut run = create(&archive, "power", &[]);
        let (id, dir) = (run.id().clone(), run.dir().to_owned());
        for number in 1..=12 {
            run.ledger(LedgerEvent::TrialStarted { number, attempt: 1 }).unwrap();
            let log = vec![b'x'; log_size(number)];
            write_trial(&mut run, &record(number, 1), &log, b"", None).unwrap();
        }
        let lock = fs::read(dir.join("lock")).unwrap();
        drop(run);
        let text = String::from_utf8(lock).unwrap();
        fs::write(dir.join("lock"), text.replace("\"boot_id\": \"", "\"boot_id\": \"earlier"))
            .unwrap();
        let mut whole = [0; 2];
        for (i, name) in ["records.jsonl", "ledger.jsonl"].into_iter().enumerate() {
            let path = dir.join(name);
            let bytes = fs::read(&path).unwrap();
            // The first line of the ledger was flushed when the run was registered.
            let flushed =
                if i == 1 { bytes.iter().position(|b| *b == b'\n').unwrap() + 1 } else { 0 };
            let cut = flushed + draw(&mut chance, (bytes.len() - flushed + 1) as u64) as usize;
            let mut left = bytes[..cut].to_vec();
            whole[i] = left.split(|b| *b == b'\n').count() - 1;
            if draw(&mut chance, 2) == 0 {
                left.resize(bytes.len(), 0);
            }
            fs::write(&path, left).unwrap();
        }
        let reader = archive.run(&id).unwrap();
        assert_eq!(reader.state(), RunState::Interrupted);
        let expected: Vec<_> = (1..=whole[0] as u32).map(|n| record(n, 1)).collect();
        assert_eq!(reader.records().unwrap(), expected);
        assert_eq!(reader.ledger().len(), whole[1]);
        // After the first line, two lines per trial; trials whose record is missing are reported.
        let lost = ((whole[1] - 1) / 2).saturating_sub(whole[0]);
        let problems = archive.verify(Some(&id)).unwrap();
        let reported_in = |problems: &[Problem], file: &str| {
            let of = |p: &&Problem| p.kind == ProblemKind::Lost && p.path.ends_with(file);
            problems.iter().filter(of).count()
        };
        let cut = usize::from(whole[1] < 25);
        assert_eq!(reported_in(&problems, "records.jsonl"), lost);
        assert_eq!(reported_in(&problems, "ledger.jsonl"), cut, "{problems:?}");
        assert_eq!(ProblemKind::Lost.severity(), assay_model::Severity::Warning);
        assert!(problems.iter().all(|p| p.kind.severity() < assay_model::Severity::Invalid));
        assert_resumes(&archive, &id);
        // Repeat the same attempts, as a caller that counts records may do.
        let mut run = archive.resume(&id).unwrap();
        for number in whole[0] as u32 + 1..=12 {
            // They cannot be read while the ledger names an attempt that was lost.
            let recorded = run.reader().unwrap().all_attempts().unwrap_or_default();
            if !recorded.iter().any(|r| (r.number, r.attempt) == (number, 1)) {
                run.ledger(LedgerEvent::TrialStarted { number, attempt: 1 }).unwrap();
                write_trial(&mut run, &record(number, 1), b"", b"", None).unwrap();
            }
        }
        run.finish(RunState::Completed, "done").unwrap();
        assert_eq!(archive.run(&id).unwrap().records().unwrap().len(), 12);
        let problems = archive.verify(Some(&id)).unwrap();
        let reported =
            (reported_in(&problems, "records.jsonl"), reported_in(&problems, "ledger.jsonl"));
        assert_eq!((reported, problems.len()), ((lost, cut), lost + cut), "{problems:?}");
    }
}

#[test]
fn a_plan_that_was_cut_off_while_it_was_replaced() {
    let (_folder, archive) = archive();
    let mut run = create(&archive, "plan", &[]);
    let (id, plan) = (run.id().clone(), run.dir().join("plan.json"));
    let before = fs::read(&plan).unwrap();
    run.replace_plan(&crate::fixture::plan(40), "20 blocks fill 3 s").unwrap();
    drop(run);
    // The replacement is in the ledger but not yet renamed.
    let staged = plan.with_extension("json.tmp");
    fs::rename(&plan, &staged).unwrap();
    fs::write(&plan, before).unwrap();
    let reader = archive.run(&id).unwrap();
    assert_eq!(reader.plan().unwrap().trials.len(), 40);
    let kinds = |archive: &Archive| -> Vec<ProblemKind> {
        archive.verify(Some(&id)).unwrap().iter().map(|p| p.kind).collect()
    };
    assert_eq!(kinds(&archive), [ProblemKind::Leftover]);
    // A replacement that is not in the ledger is not the plan.
    let good = fs::read(&staged).unwrap();
    fs::write(&staged, &good[..good.len() / 2]).unwrap();
    assert_eq!(kinds(&archive), [ProblemKind::Leftover, ProblemKind::Hash]);
    fs::write(&staged, good).unwrap();
    let run = archive.resume(&id).unwrap();
    assert!(!staged.exists());
    assert_eq!(run.reader().unwrap().plan().unwrap().trials.len(), 40);
    drop(run);
    assert_eq!(kinds(&archive), []);
}

#[test]
fn a_run_whose_writer_died_is_taken_up() {
    let (_folder, archive) = archive();
    let (id, acknowledged) = killed(&archive, None, 5, 0);
    let mut run = archive.resume(&id).unwrap();
    let next = run.reader().unwrap();
    let number = acknowledged.len() as u32 + 3;
    write(&mut run, number, next_attempt(&next, number)).unwrap();
    run.finish(RunState::Completed, "done").unwrap();
    assert_eq!(archive.run(&id).unwrap().state(), RunState::Completed);
}
