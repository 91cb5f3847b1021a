//! Compares the search by a posterior with `git bisect run` at ten repeats per step, on simulated
//! commits.
//!
//! Usage: cargo run --release -p assay-stats --example bisect [REPEATS [COMMITS [BLOCKS]]]
//!
//! COMMITS is the number of commits in a block, BLOCKS the number of blocks per look.
#![allow(clippy::print_stdout, missing_docs)]

use assay_stats::rng::Rng;
use assay_stats::series::bisect::{FoundStep, Search, SearchScope};

const COMMITS: usize = 128;
const STEP: f64 = 0.03;
const NOISE: f64 = 0.02;
const ONE_STEP: &str = "one step of 3 %";
const MAX_TRIALS: usize = 1000;

/// Disturbances by the machine and the builds in addition to the step.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    /// Standard deviation between builds, the same in every trial of a build.
    builds: f64,
    /// Degrees of freedom of the noise; 0 means normal.
    tails: usize,
}

const KINDS: [Kind; 4] = [
    Kind { name: "normal noise", builds: 0.0, tails: 0 },
    Kind { name: "builds vary by 0.5 %", builds: 0.005, tails: 0 },
    Kind { name: "heavy tails", builds: 0.0, tails: 3 },
    Kind { name: "both", builds: 0.005, tails: 3 },
];

/// A machine that drifts: a random walk of 0.2 % from trial to trial that returns slowly to 0.
struct Machine {
    rng: Rng,
    kind: Kind,
    builds: Vec<f64>,
    step: usize,
    drift: f64,
    trials: usize,
}

impl Machine {
    fn new(kind: Kind, seed: usize, with_step: bool) -> Self {
        let mut rng = Rng::new(seed as u64);
        let step = if with_step { 1 + rng.below(COMMITS) } else { usize::MAX };
        let builds = (0..=COMMITS).map(|_| kind.builds * rng.normal()).collect();
        Machine { rng, kind, builds, step, drift: 0.0, trials: 0 }
    }

    /// Returns ln(time) of one trial of a commit.
    fn trial(&mut self, commit: usize) -> f64 {
        self.trials += 1;
        self.drift = 0.98 * self.drift + 0.002 * self.rng.normal();
        let mut noise = NOISE * self.rng.normal();
        if self.kind.tails > 0 {
            // Student's t, scaled so that its middle half agrees with the normal one within a few
            // percent.
            let n = self.kind.tails;
            let chi: f64 = (0..n).map(|_| self.rng.normal().powi(2)).sum();
            noise *= 0.9 / (chi / n as f64).sqrt();
        }
        let level = if commit >= self.step { (1.0 + STEP).ln() } else { 0.0 };
        level + self.builds[commit] + self.drift + noise
    }
}

/// Simulates `git bisect run` with a script that runs both programs `repeats` times in turn and
/// calls a commit bad if it is slower than the good end by half the step.
fn halving(machine: &mut Machine, repeats: usize) -> usize {
    let (mut good, mut bad) = (0, COMMITS);
    while bad - good > 1 {
        let k = good.midpoint(bad);
        let sum: f64 = (0..repeats).map(|_| machine.trial(k) - machine.trial(0)).sum();
        if sum / repeats as f64 > STEP / 2.0 { bad = k } else { good = k }
    }
    bad
}

/// Simulates the same with all runs of a step in a row, against the midpoint between ten runs of
/// each end made at the start.
fn halving_alone(machine: &mut Machine) -> usize {
    let mut mean = |k: usize| (0..10).map(|_| machine.trial(k)).sum::<f64>() / 10.0;
    let middle = f64::midpoint(mean(0), mean(COMMITS));
    let (mut good, mut bad) = (0, COMMITS);
    while bad - good > 1 {
        let k = good.midpoint(bad);
        if mean(k) > middle { bad = k } else { good = k }
    }
    bad
}

/// Runs the search of this crate.
fn posterior(machine: &mut Machine, commits: usize, blocks: usize) -> Option<Vec<FoundStep>> {
    let mut search = Search::new(COMMITS, 0.02, SearchScope::First);
    while machine.trials < MAX_TRIALS {
        let known = search.posterior();
        let answer = search.answer(&known);
        if answer.is_some() {
            return answer;
        }
        let commits = search.next(&known, commits);
        for _ in 0..blocks {
            let mut order: Vec<usize> = [0].into_iter().chain(commits.clone()).collect();
            machine.rng.shuffle(&mut order);
            search.see(order.into_iter().map(|k| (k, machine.trial(k))).collect());
        }
    }
    None
}

/// Returns the information in bits that one pair with the good end yields about the step: the
/// capacity of a channel whose input is half the step to either side, with the normal noise of a
/// difference of two trials (midpoint rule over 8 standard deviations).
fn bits_a_pair() -> f64 {
    let half = STEP / 2.0 / (NOISE * 2f64.sqrt());
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (from, parts) = (-8.0 - half, 20_000);
    let width = -2.0 * from / f64::from(parts);
    let of = |i: i32| {
        let y = from + (f64::from(i) + 0.5) * width;
        let (slower, as_fast) = (density(y - half), density(y + half));
        // By symmetry both inputs contribute the same amount.
        slower * (2.0 * slower / (slower + as_fast)).log2() * width
    };
    (0..parts).map(of).sum()
}

/// Returns a lower bound on the trials, in pairs, that identify one commit with 95 % probability,
/// by Fano's inequality, if the size of the step and the noise are known in advance.
fn fewest_trials() -> f64 {
    let wrong: f64 = 0.05;
    let entropy = -wrong * wrong.log2() - (1.0 - wrong) * (1.0 - wrong).log2();
    let others = (COMMITS - 1) as f64;
    let needed = (COMMITS as f64).log2() - entropy - wrong * others.log2();
    2.0 * needed / bits_a_pair()
}

type Way = (String, Box<dyn Fn(&mut Machine) -> usize>);

fn main() {
    let number =
        |i: usize, or: usize| std::env::args().nth(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let (repeats, commits, blocks) = (number(1, 200), number(2, 3), number(3, 1));
    let share = |k: usize| 100.0 * k as f64 / repeats as f64;
    println!(
        "a pair with the good end tells {:.3} bits: {:.0} trials at least in pairs",
        bits_a_pair(),
        fewest_trials()
    );
    let mut ways: Vec<Way> = vec![("halving, ten in a row".into(), Box::new(halving_alone))];
    for n in [10, 30] {
        ways.push((format!("halving, {n} pairs a step"), Box::new(move |m| halving(m, n))));
    }
    for kind in KINDS {
        for with_step in [true, false] {
            let (mut right, mut trials, mut open) = (0, 0, 0);
            for seed in 0..repeats {
                let mut machine = Machine::new(kind, seed, with_step);
                let answer = posterior(&mut machine, commits, blocks);
                trials += machine.trials;
                open += usize::from(answer.is_none());
                let step = FoundStep { first: machine.step, last: machine.step };
                right += usize::from(match answer.as_deref() {
                    Some([one]) => *one == step,
                    Some(_) => !with_step,
                    None => false,
                });
            }
            println!(
                "{:20}  {:15}  {:22}  right {:5.1} %  wrong {:4.1} %  open {:4.1} %  {:5.1} trials",
                kind.name,
                if with_step { ONE_STEP } else { "no step" },
                "posterior",
                share(right),
                share(repeats - right - open),
                share(open),
                trials as f64 / repeats as f64,
            );
        }
        for (name, way) in &ways {
            let (mut right, mut trials) = (0, 0);
            for seed in 0..repeats {
                let mut machine = Machine::new(kind, seed, true);
                right += usize::from(way(&mut machine) == machine.step);
                trials += machine.trials;
            }
            println!(
                "{:20}  {ONE_STEP}  {name:22}  right {:5.1} %  wrong {:4.1} %{:15}{:5.1} trials",
                kind.name,
                share(right),
                share(repeats - right),
                "",
                trials as f64 / repeats as f64,
            );
        }
    }
}
