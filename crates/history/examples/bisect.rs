//! The search by a posterior against `git bisect run` with ten repeats a step, on made-up commits.
//! Usage: cargo run --release -p assay-history --example bisect [REPEATS] [COMMITS_A_BLOCK] [BLOCKS_A_LOOK]
#![allow(clippy::print_stdout, missing_docs)]

use assay_history::bisect::{Answer, Search};
use assay_stats::rng::Rng;

const COMMITS: usize = 128;
const STEP: f64 = 0.03;
const NOISE: f64 = 0.02;

/// A machine that drifts: a random walk of 0.2 % from trial to trial that is pulled back to 0 slowly.
struct Machine {
    rng: Rng,
    drift: f64,
    trials: usize,
}

impl Machine {
    fn trial(&mut self, slower: bool) -> f64 {
        self.trials += 1;
        self.drift = 0.98 * self.drift + 0.002 * self.rng.normal();
        let level = if slower { (1.0 + STEP).ln() } else { 0.0 };
        level + self.drift + NOISE * self.rng.normal()
    }
}

/// What `git bisect run` does with a script that runs both programs `repeats` times in turn and calls a
/// commit bad when it is slower than the good end by half the step.
fn halving(machine: &mut Machine, step: usize, repeats: usize) -> usize {
    let (mut good, mut bad) = (0, COMMITS);
    while bad - good > 1 {
        let k = good.midpoint(bad);
        let sum: f64 = (0..repeats)
            .map(|_| {
                let own = machine.trial(k >= step);
                own - machine.trial(false)
            })
            .sum();
        if sum / repeats as f64 > STEP / 2.0 { bad = k } else { good = k }
    }
    bad
}

/// The same with all runs of a step in a row, against the middle of ten runs of each end at the start.
fn halving_alone(machine: &mut Machine, step: usize) -> usize {
    let mut mean = |slower: bool| (0..10).map(|_| machine.trial(slower)).sum::<f64>() / 10.0;
    let middle = f64::midpoint(mean(false), mean(true));
    let (mut good, mut bad) = (0, COMMITS);
    while bad - good > 1 {
        let k = good.midpoint(bad);
        if mean(k >= step) > middle { bad = k } else { good = k }
    }
    bad
}

type Way = (String, Box<dyn Fn(&mut Machine, usize) -> usize>);

fn main() {
    let number =
        |i: usize, or: usize| std::env::args().nth(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let (repeats, candidates, blocks) = (number(1, 200), number(2, 3), number(3, 1));
    for with_step in [true, false] {
        let (mut right, mut trials, mut open) = (0, 0, 0);
        for seed in 0..repeats {
            let mut machine = Machine { rng: Rng::new(seed as u64), drift: 0.0, trials: 0 };
            let step = if with_step { 1 + machine.rng.below(COMMITS) } else { usize::MAX };
            let mut search = Search::new(COMMITS, 0.02);
            let answer = loop {
                if let Some(answer) = search.answer() {
                    break Some(answer);
                }
                if machine.trials > 1000 {
                    break None;
                }
                let commits = search.next(candidates);
                for _ in 0..blocks {
                    let mut order: Vec<usize> = [0].into_iter().chain(commits.clone()).collect();
                    machine.rng.shuffle(&mut order);
                    let trials = order.into_iter().map(|k| (k, machine.trial(k >= step))).collect();
                    search.see(trials);
                }
            };
            trials += machine.trials;
            open += usize::from(answer.is_none());
            right += usize::from(match answer {
                Some(Answer::Commit { first, last }) => first == step && last == step,
                Some(Answer::None) => !with_step,
                None => false,
            });
        }
        let share = |k: usize| 100.0 * k as f64 / repeats as f64;
        println!(
            "{:16} posterior                 right {:5.1}%  open {:4.1}%  {:6.1} trials",
            if with_step { "one step of 3 %" } else { "no step" },
            share(right),
            share(open),
            trials as f64 / repeats as f64,
        );
    }
    let mut ways: Vec<Way> = vec![("halving, ten in a row".into(), Box::new(halving_alone))];
    for n in [10, 20, 30] {
        ways.push((format!("halving, {n} pairs a step"), Box::new(move |m, s| halving(m, s, n))));
    }
    for (name, way) in ways {
        let (mut right, mut trials) = (0, 0);
        for seed in 0..repeats {
            let mut machine = Machine { rng: Rng::new(seed as u64), drift: 0.0, trials: 0 };
            let step = 1 + machine.rng.below(COMMITS);
            right += usize::from(way(&mut machine, step) == step);
            trials += machine.trials;
        }
        println!(
            "one step of 3 %  {name:25} right {:5.1}%              {:6.1} trials",
            100.0 * right as f64 / repeats as f64,
            trials as f64 / repeats as f64,
        );
    }
}
