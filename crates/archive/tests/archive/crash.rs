//! A writer that is killed, and power that goes.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use assay_archive::{Archive, ProblemKind, RunReader};
use assay_model::{LedgerEvent, RunId, RunState};

use crate::fixture::{create, record, samples, write};

const ARCHIVE: &str = "ASSAY_TEST_ARCHIVE";
const RUN: &str = "ASSAY_TEST_RUN";

/// Not a test by itself: the process that the tests below kill. It writes trials without end and
/// says so after each; with a run's id it takes that up.
#[test]
#[ignore = "started by the other tests of this file"]
fn child() {
    let Some(path) = std::env::var_os(ARCHIVE) else {
        println!("skipped: because it is started by the other tests of this file");
        return;
    };
    let archive = Archive::open(path).unwrap();
    let mut run = match std::env::var(RUN) {
        Ok(id) => archive.resume(&id.parse().unwrap()).unwrap(),
        Err(_) => create(&archive, "crash", &[]),
    };
    let known = run.reader().unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "run {}", run.id()).unwrap();
    for number in 1.. {
        let attempt = known.next_attempt(number);
        run.ledger(LedgerEvent::TrialStarted { number, attempt }).unwrap();
        let log = vec![b'a' + (number % 26) as u8; log_size(number)];
        run.write_trial(&record(number, attempt), &log, b"", Some(&samples(number))).unwrap();
        writeln!(out, "ack {number} {attempt}").unwrap();
    }
}

/// Mostly small, now and then too large for the write-ahead file.
fn log_size(number: u32) -> usize {
    if number.is_multiple_of(17) { 200 << 10 } else { (number as usize * 791) % 9000 + 1 }
}

fn start(archive: &Path, run: Option<&RunId>) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crash::child", "--ignored", "--nocapture"]);
    command.env(ARCHIVE, archive).stdout(Stdio::piped()).stderr(Stdio::null());
    match run {
        Some(id) => command.env(RUN, id.as_str()),
        None => command.env_remove(RUN),
    };
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map_while(Result::ok))
}

/// Lets a child acknowledge `trials` trials, spins `turns` times, kills it, and gives its run and all
/// that it acknowledged.
fn killed(
    archive: &Path,
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
            // The harness prints "test crash::child ..." before it on the same line.
            [.., "run", of] => id = Some(of.parse().unwrap()),
            ["ack", number, attempt] => {
                acknowledged.push((number.parse().unwrap(), attempt.parse().unwrap()));
            }
            _ => {}
        }
        // With a known run and no trial asked for, it may be killed while it is starting.
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

/// Everything acknowledged is there, whole; nothing half-written is.
fn assert_sound(archive: &Archive, id: &RunId, acknowledged: &[(u32, u32)]) -> RunReader {
    let run = archive.run(id).unwrap();
    assert_eq!(run.state(), RunState::Interrupted);
    for (number, attempt) in acknowledged {
        assert_eq!(run.record(*number, *attempt).unwrap(), record(*number, *attempt));
    }
    for kept in run.all_attempts().unwrap() {
        let (number, attempt) = (kept.number, kept.attempt);
        assert_eq!(kept, record(number, attempt));
        assert_eq!(run.stdout(number, attempt).unwrap().len(), log_size(number));
        assert_eq!(run.samples(number, attempt).unwrap(), Some(samples(number)));
    }
    let ended = |e: &&assay_model::LedgerEntry| matches!(e.event, LedgerEvent::TrialEnded { .. });
    let in_ledger = run.ledger().iter().filter(ended).count();
    assert!(in_ledger >= acknowledged.len());
    assert_eq!(fs::read_dir(run.dir().join("trials")).unwrap().count(), in_ledger);
    let problems = archive.verify(Some(id)).unwrap();
    assert!(problems.iter().all(|p| p.kind == ProblemKind::InterruptedTrial), "{problems:?}");
    for left in ["wal", "lock", "trials.tmp"] {
        assert!(!run.dir().join(left).exists(), "{left}");
    }
    run
}

/// A small generator of its own: the moments differ from run to run and are printed when they fail.
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
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path()).unwrap();
    let seed = seed();
    println!("seed {seed}");
    let mut chance = seed;
    let mut run: Option<RunId> = None;
    let mut all = Vec::new();
    for _ in 0..50 {
        let trials = draw(&mut chance, 40) as usize;
        let turns = draw(&mut chance, 200_000) as u32;
        let (id, acknowledged) = killed(folder.path(), run.as_ref(), trials, turns);
        if run.as_ref() != Some(&id) {
            all.clear();
        }
        all.extend(acknowledged);
        assert_sound(&archive, &id, &all);
        // Every third goes on with the same run, so that repairs are repaired upon.
        run = (draw(&mut chance, 3) > 0).then_some(id);
    }
    let listed = archive.list(&assay_archive::Filter::default()).unwrap();
    assert!(listed.iter().all(|run| run.state == RunState::Interrupted));
}

#[test]
fn the_write_ahead_file_may_come_round_many_times() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path()).unwrap();
    // About 6 kB a trial: 500 trials are three times its size.
    let (id, acknowledged) = killed(folder.path(), None, 500, 1000);
    assert!(acknowledged.len() >= 500);
    assert_sound(&archive, &id, &acknowledged);
}

/// Files whose content had not reached the device are empty after a loss of power, folders are gone,
/// and the ledger ends early or in zeros: only what was flushed is there, which is the write-ahead
/// file and the ledger's first line.
#[test]
fn every_acknowledged_trial_survives_a_lost_power() {
    for damage in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(folder.path()).unwrap();
        let (id, acknowledged) = killed(folder.path(), None, 12, 0);
        assert!(acknowledged.iter().all(|(number, _)| number % 17 != 0), "only small ones");
        let run = folder.path().join("runs").join(id.as_str());
        let ledger = OpenOptions::new().write(true).open(run.join("ledger.jsonl")).unwrap();
        let text = fs::read_to_string(run.join("ledger.jsonl")).unwrap();
        let first = text.find('\n').unwrap() as u64 + 1;
        let length = ledger.metadata().unwrap().len();
        for (number, attempt) in &acknowledged {
            let trial = run.join(format!("trials/{number:04}"));
            assert_eq!(*attempt, 1);
            match damage {
                0 => fs::remove_dir_all(trial).unwrap(),
                1 => fs::write(trial.join("record.json"), "").unwrap(),
                2 => fs::write(trial.join("samples.parquet"), [0; 500]).unwrap(),
                _ => fs::remove_file(trial.join("record.json")).unwrap(),
            }
        }
        ledger.set_len(first + 7 * damage).unwrap();
        if damage > 1 {
            ledger.set_len(length).unwrap(); // a hole of zeros
        }
        assert_sound(&archive, &id, &acknowledged);
    }
}

#[test]
fn a_trial_that_tears_the_write_ahead_file_is_the_only_one_lost() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path()).unwrap();
    let (id, acknowledged) = killed(folder.path(), None, 9, 0);
    let run = folder.path().join("runs").join(id.as_str());
    let mut wal = fs::read(run.join("wal")).unwrap();
    // The ninth entry begins at the ninth magic; half of it never came.
    let starts: Vec<usize> =
        wal.windows(8).enumerate().filter(|(_, w)| *w == b"assayWA1").map(|(i, _)| i).collect();
    wal[starts[8] + 50..].fill(0);
    fs::write(run.join("wal"), wal).unwrap();
    fs::remove_dir_all(run.join("trials")).unwrap();
    fs::create_dir(run.join("trials")).unwrap();
    let text = fs::read_to_string(run.join("ledger.jsonl")).unwrap();
    let first = text.find('\n').unwrap() + 1;
    fs::write(run.join("ledger.jsonl"), &text[..first]).unwrap();
    assert_sound(&archive, &id, &acknowledged[..8]);
}

#[test]
fn a_run_whose_writer_died_is_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path()).unwrap();
    let (id, acknowledged) = killed(folder.path(), None, 5, 0);
    let mut run = archive.resume(&id).unwrap();
    let next = run.reader().unwrap();
    let number = acknowledged.len() as u32 + 3;
    write(&mut run, number, next.next_attempt(number)).unwrap();
    run.finish(RunState::Completed, "done").unwrap();
    assert_eq!(archive.run(&id).unwrap().state(), RunState::Completed);
}
