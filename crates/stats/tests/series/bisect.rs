//! Tests the search for a commit on simulated commits, from fixed seeds.

use std::cell::RefCell;

use assay_stats::rng::Rng;
use assay_stats::series::bisect::{FoundStep, Search, SearchScope};

const COMMITS: usize = 64;

/// Returns the answer that consists of one commit.
fn only(commit: usize) -> Vec<FoundStep> {
    vec![FoundStep { first: commit, last: commit }]
}

/// Runs a search for one step to its end; `log_level` is the level of a commit.
fn search(
    seed: u64,
    skipped: &[usize],
    log_level: impl Fn(usize) -> f64,
) -> (Option<Vec<FoundStep>>, usize) {
    let mut search = Search::new(COMMITS, 0.02, SearchScope::First);
    ended(&mut search, seed, skipped, 0.02, log_level)
}

/// Runs `search` to its end and returns its answer and the number of trials.
fn ended(
    search: &mut Search,
    seed: u64,
    skipped: &[usize],
    noise: f64,
    log_level: impl Fn(usize) -> f64,
) -> (Option<Vec<FoundStep>>, usize) {
    let mut rng = Rng::new(seed);
    let mut trials = 0;
    while trials < 2000 {
        let known = search.posterior();
        let answer = search.answer(&known);
        if answer.is_some() {
            return (answer, trials);
        }
        let commits = search.next(&known, 3);
        let broken: Vec<usize> = commits.iter().copied().filter(|k| skipped.contains(k)).collect();
        if !broken.is_empty() {
            for k in broken {
                search.skip(k);
            }
            continue;
        }
        for _ in 0..2 {
            let machine = 0.3 * rng.normal();
            let block: Vec<(usize, f64)> = [0]
                .into_iter()
                .chain(commits.iter().copied())
                .map(|k| (k, machine + log_level(k) + noise * rng.normal()))
                .collect();
            trials += block.len();
            search.see(block);
        }
    }
    (None, trials)
}

#[test]
fn the_commit_is_found_whatever_the_machine_does_between_blocks() {
    let right = (0..60)
        .filter(|seed| {
            let step = 1 + *seed as usize * 7 % COMMITS;
            let (answer, _) = search(*seed, &[], |k| if k >= step { 0.03 } else { 0.0 });
            answer == Some(only(step))
        })
        .count();
    assert!(right >= 54, "{right} of 60");
}

#[test]
fn none_of_them_is_an_answer() {
    let none = (0..60).filter(|s| search(*s, &[], |_| 0.0).0 == Some(Vec::new())).count();
    assert!(none >= 57, "{none} of 60");
    // The search does not look for a change for the better.
    let better = search(1, &[], |k| if k >= 9 { -0.1 } else { 0.0 }).0;
    assert_eq!(better, Some(Vec::new()));
}

#[test]
fn commits_that_do_not_build_leave_a_range() {
    let step = 30;
    let (answer, _) = search(5, &[28, 29, 30, 31], |k| if k >= step { 0.2 } else { 0.0 });
    assert_eq!(answer, Some(vec![FoundStep { first: 28, last: 32 }]));
}

/// Steps up and down that leave the ends alike, in 60 commits, on a machine with noise of 5 %.
#[test]
fn steps_of_opposite_sign_are_all_named() {
    let both_named = |seed: &u64| {
        let [up, down] = if *seed < 5 { [12, 47] } else { [33, 21] };
        let sign = |k: usize, at: usize| if k >= at { 0.3 } else { 0.0 };
        let mut search = Search::new(60, 0.05, SearchScope::All);
        let (answer, _) = ended(&mut search, *seed, &[], 0.05, |k| sign(k, up) - sign(k, down));
        let mut both = [up, down].map(|k| FoundStep { first: k, last: k });
        both.sort_unstable_by_key(|s| s.last);
        answer.as_deref() == Some(&both[..])
    };
    let named = (0..10).filter(both_named).count();
    assert!(named >= 9, "{named} of 10");
}

/// Two steps in 33 commits. Between them the program is ten times faster, and in a third of its
/// trials the kernel books a tick of its CPU time elsewhere, which is 15 % of it there.
#[test]
fn noise_that_only_the_fast_commits_have_makes_no_steps() {
    let (mut named, mut open) = (0, 0);
    for seed in 0..20 {
        let rng = RefCell::new(Rng::new(seed));
        let level = |k: usize| match k {
            14..27 if rng.borrow_mut().uniform() < 0.35 => -2.5,
            14..27 => -2.3,
            27.. => -1.2,
            _ => 0.0,
        };
        let mut search = Search::new(33, 0.1, SearchScope::All);
        let (answer, trials) = ended(&mut search, seed, &[], 0.015, level);
        let found: Vec<usize> = answer.iter().flatten().map(|s| s.last).collect();
        println!("{seed}: {found:?}, {trials} trials");
        named += usize::from(found == [14, 27]);
        open += usize::from(answer.is_none());
    }
    assert!(named >= 15 && named + open >= 19, "{named} named, {open} open of 20");
}

/// Simulates repositories of 60 commits with a step for the worse and a step back, of 10 to 60 %,
/// at any two commits. The noise is 5 % with heavy tails, builds differ by 0.5 %, and a search has
/// about 1,000 trials at most. `bench/bisect-all.sh` runs this test.
#[test]
#[ignore = "a simulation of 20 searches"]
fn how_often_steps_of_opposite_sign_are_named() {
    let number = std::env::var("REPOSITORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let (mut named, mut open, mut all) = (0, 0, 0);
    for seed in 0..number {
        let mut rng = Rng::new(seed);
        let builds: Vec<f64> = (0..=60).map(|_| 0.005 * rng.normal()).collect();
        let (up, down) = loop {
            let [up, down] = [0, 1].map(|_| 1 + rng.below(60));
            if up != down {
                break (up, down);
            }
        };
        let height = (1.1 + 0.5 * rng.uniform()).ln();
        let mut search = Search::new(60, 0.05, SearchScope::All);
        let mut known = search.posterior();
        let (mut drift, mut trials) = (0.0, 0);
        while search.answer(&known).is_none() && trials < 1000 {
            let mut block = vec![0];
            block.extend(search.next(&known, 3));
            for _ in 0..2 {
                rng.shuffle(&mut block);
                let trial = |k: &usize| {
                    drift = 0.98 * drift + 0.002 * rng.normal();
                    // Student's t with 3 degrees of freedom.
                    let chi: f64 = (0..3).map(|_| rng.normal().powi(2)).sum();
                    let noise = 0.045 * rng.normal() / (chi / 3.0).sqrt();
                    let steps = f64::from(*k >= up) - f64::from(*k >= down);
                    (*k, height * steps + builds[*k] + drift + noise)
                };
                search.see(block.iter().map(trial).collect());
            }
            trials += 2 * block.len();
            known = search.posterior();
        }
        let answer = search.answer(&known);
        let found: Vec<usize> = search.steps(&known).iter().map(|s| s.last).collect();
        all += trials;
        open += usize::from(answer.is_none());
        named += usize::from(answer.is_some() && found == [up.min(down), up.max(down)]);
        eprintln!(
            "repository {seed}: {:.0} % at {up}, back at {down}; found {found:?}{}, {trials} \
            trials",
            100.0 * height.exp_m1(),
            if answer.is_none() { ", open" } else { "" },
        );
    }
    let wrong = number as usize - named - open;
    eprintln!(
        "two steps of opposite sign in 60 commits: both named {named}, open {open}, wrong {wrong} \
        of {number}; {} trials a search",
        all / number.max(1) as usize
    );
    assert!(20 * wrong <= number as usize, "{wrong} wrong of {number}");
}

#[test]
fn a_search_for_all_steps_ends_without_one() {
    let mut search = Search::new(60, 0.05, SearchScope::All);
    let answer = ended(&mut search, 1, &[], 0.03, |_| 0.0).0;
    assert_eq!(answer, Some(Vec::new()));
}

#[test]
fn a_first_look_at_a_large_step_leaves_little_for_none() {
    let mut search = Search::new(280, 0.02, SearchScope::First);
    let mut rng = Rng::new(4);
    for _ in 0..2 {
        let level = |k: usize| if k >= 160 { 57f64.ln() } else { 0.0 };
        let block = [0, 70, 140, 280];
        search.see(block.into_iter().map(|k| (k, level(k) + 0.02 * rng.normal())).collect());
    }
    let known = search.posterior();
    assert!(known.none < 0.01, "{known:?}");
    assert!(known.commits[140..].iter().sum::<f64>() > 0.99, "{known:?}");
}

#[test]
fn sizes_are_those_of_the_two_sides_and_what_remains_is_known() {
    let mut search = Search::new(COMMITS, 0.02, SearchScope::First);
    // A step of a factor of 3 at 20 and one of 4 at 50.
    let level = |k: usize| {
        if k >= 50 {
            12f64.ln()
        } else if k >= 20 {
            3f64.ln()
        } else {
            0.0
        }
    };
    let (answer, _) = ended(&mut search, 6, &[], 0.02, level);
    let [found] = answer.as_deref().unwrap() else { panic!("{answer:?}") };
    let size = if found.last == 20 { 3.0 } else { 4.0 };
    let sides = [(found.last, 1.0), (found.first - 1, -1.0)];
    let step = search.difference(&sides).unwrap();
    let range = step.interval(0.999).unwrap();
    assert!(range.low.exp() < size && size < range.high.exp(), "{found:?} {range:?}");
    let rest = [(COMMITS, 1.0), (0, -1.0), (found.last, -1.0), (found.first - 1, 1.0)];
    let remains = search.difference(&rest).unwrap().value.exp();
    assert!((remains * size / 12.0 - 1.0).abs() < 0.1, "{remains}");
    assert_eq!(search.difference(&[(1, 1.0), (0, -1.0)]), None, "not measured");
}

#[test]
fn one_commit_and_no_data_are_no_trouble() {
    let mut one = Search::new(1, 0.02, SearchScope::First);
    let known = one.posterior();
    assert_eq!((one.answer(&known), one.next(&known, 3)), (None, vec![1]));
    one.skip(1);
    assert_eq!(one.next(&known, 3), Vec::<usize>::new());
    // Identical values and failed trials.
    let mut odd = Search::new(4, 0.02, SearchScope::First);
    for _ in 0..15 {
        odd.see(vec![(0, 1.0), (2, 1.0), (4, 1.0)]);
        odd.see(vec![(0, 1.0)]);
        odd.see(vec![(9, 1.0), (0, f64::NAN)]);
    }
    assert_eq!(odd.answer(&odd.posterior()), Some(Vec::new()));
}

#[test]
fn one_wild_trial_is_no_step() {
    let mut rng = Rng::new(8);
    let mut wild = Search::new(4, 0.02, SearchScope::First);
    for i in 0..15 {
        let away = if i == 3 { 5.0 } else { 0.0 };
        wild.see(vec![
            (0, 0.01 * rng.normal()),
            (2, 0.01 * rng.normal()),
            (4, away + 0.01 * rng.normal()),
        ]);
    }
    assert_eq!(wild.answer(&wild.posterior()), Some(Vec::new()));
}
