//! The search for a commit on made-up commits, from fixed seeds.

use assay_history::bisect::{Answer, Search};
use assay_stats::rng::Rng;

const COMMITS: usize = 64;

/// Runs a search to its end; `log_level` is the level of a commit.
fn search(
    seed: u64,
    skipped: &[usize],
    log_level: impl Fn(usize) -> f64,
) -> (Option<Answer>, usize) {
    let mut rng = Rng::new(seed);
    let mut search = Search::new(COMMITS, 0.02);
    let mut trials = 0;
    while trials < 2000 {
        if let Some(answer) = search.answer() {
            return (Some(answer), trials);
        }
        let commits = search.next(3);
        let broken: Vec<usize> = commits.iter().copied().filter(|k| skipped.contains(k)).collect();
        if !broken.is_empty() {
            for k in broken {
                search.skip(k);
            }
            continue;
        }
        let machine = 0.3 * rng.normal();
        let block: Vec<(usize, f64)> = [0]
            .into_iter()
            .chain(commits)
            .map(|k| (k, machine + log_level(k) + 0.02 * rng.normal()))
            .collect();
        trials += block.len();
        search.see(block);
    }
    (None, trials)
}

#[test]
fn the_commit_is_found_whatever_the_machine_does_between_blocks() {
    let right = (0..60)
        .filter(|seed| {
            let step = 1 + *seed as usize * 7 % COMMITS;
            let (answer, _) = search(*seed, &[], |k| if k >= step { 0.03 } else { 0.0 });
            answer == Some(Answer::Commit { first: step, last: step })
        })
        .count();
    assert!(right >= 54, "{right} of 60");
}

#[test]
fn none_of_them_is_an_answer() {
    let none = (0..60).filter(|s| search(*s, &[], |_| 0.0).0 == Some(Answer::None)).count();
    assert!(none >= 57, "{none} of 60");
    // A change for the better is not what is searched.
    let better = search(1, &[], |k| if k >= 9 { -0.1 } else { 0.0 }).0;
    assert_eq!(better, Some(Answer::None));
}

#[test]
fn commits_that_do_not_build_leave_a_range() {
    let step = 30;
    let (answer, _) = search(5, &[28, 29, 30, 31], |k| if k >= step { 0.2 } else { 0.0 });
    assert_eq!(answer, Some(Answer::Commit { first: 28, last: 32 }));
}

#[test]
fn two_steps_are_found_one_after_the_other() {
    let steps = [10, 50];
    let level = |k: usize| {
        if k >= 50 {
            0.35
        } else if k >= 10 {
            0.05
        } else {
            0.0
        }
    };
    let (answer, _) = search(3, &[], level);
    let Some(Answer::Commit { first, last }) = answer else { panic!("{answer:?}") };
    assert!(first == last && steps.contains(&first), "{answer:?}");
    // Before it, with the last commit before it as the bad end; after it, with itself as the good end.
    let (before, _) = search(4, &[], |k| level(k.min(first - 1)));
    let (after, _) = search(5, &[], |k| level(k + first) - level(first));
    let (other, none) = if first == 50 { (before, after) } else { (after, before) };
    let place = if first == 50 { 10 } else { 50 - first };
    assert_eq!(other, Some(Answer::Commit { first: place, last: place }));
    assert_eq!(none, Some(Answer::None));
}

#[test]
fn one_commit_and_no_data_are_no_trouble() {
    let mut one = Search::new(1, 0.02);
    assert_eq!((one.answer(), one.next(3)), (None, vec![1]));
    one.skip(1);
    assert_eq!(one.next(3), Vec::<usize>::new());
    let sum = |s: &Search| {
        let p = s.posterior();
        p.none + p.commits.iter().sum::<f64>()
    };
    assert!((sum(&one) - 1.0).abs() < 1e-9);
    // Identical values and failed trials.
    let mut odd = Search::new(4, 0.02);
    for _ in 0..15 {
        odd.see(vec![(0, 1.0), (2, 1.0), (4, 1.0)]);
        odd.see(vec![(0, 1.0)]);
        odd.see(vec![(9, 1.0), (0, f64::NAN)]);
    }
    assert!((sum(&odd) - 1.0).abs() < 1e-9);
    assert_eq!(odd.answer(), Some(Answer::None));
}

#[test]
fn one_wild_trial_is_no_step() {
    let mut rng = Rng::new(8);
    let mut wild = Search::new(4, 0.02);
    for i in 0..15 {
        let away = if i == 3 { 5.0 } else { 0.0 };
        wild.see(vec![
            (0, 0.01 * rng.normal()),
            (2, 0.01 * rng.normal()),
            (4, away + 0.01 * rng.normal()),
        ]);
    }
    assert_eq!(wild.answer(), Some(Answer::None));
}
