//! Prints the tables of `docs/internals/statistics.md`:
//! `cargo test --release -p assay-stats --test stats -- --ignored --nocapture`.

use crate::simulation::scaling::{TO_8, TO_32, predictions_of_64};
use crate::simulation::{
    Drift, Interval, SHAPES, TakenOff, block_bootstrap_coverage, coverage, looked_at, pocock,
    pooled_and_run_means, power, schedules, start_up,
};

const REPEATS: usize = 20_000;

#[test]
#[ignore = "prints tables; takes about a minute"]
fn print_the_tables() {
    println!(
        "| coverage of nominal 95 %, least..greatest of four shapes | n=3 | n=5 | n=10 | n=20 |"
    );
    println!("|---|---|---|---|---|");
    for interval in [
        Interval::PairedT,
        Interval::SignedRank,
        Interval::Welch,
        Interval::RankSum,
        Interval::Fieller,
        Interval::Bootstrap,
    ] {
        let cells = [3, 5, 10, 20].map(|n| {
            let repeats = if interval == Interval::Bootstrap { REPEATS / 10 } else { REPEATS };
            let found: Option<Vec<f64>> =
                SHAPES.iter().map(|s| coverage(interval, *s, n, repeats, 42)).collect();
            found.map_or("none".to_owned(), |c| {
                let low = c.iter().copied().fold(f64::INFINITY, f64::min);
                let high = c.iter().copied().fold(0.0, f64::max);
                format!("{low:.1}..{high:.1}")
            })
        });
        println!("| {interval:?} | {} |", cells.join(" | "));
    }
    let blocks =
        SHAPES.map(|s| format!("{:.1}", block_bootstrap_coverage(s, 20, REPEATS / 10, 42)));
    println!("block bootstrap of the mean log ratio, n=20, by shape: {}", blocks.join(" "));
    println!("pooled samples and run means, false alarms:");
    for (runs, samples) in [(3, 30), (5, 30), (10, 30), (20, 30), (10, 100)] {
        let (pooled, means) = pooled_and_run_means(runs, samples, REPEATS / 10, 42);
        println!("| {runs} runs of {samples} samples | {pooled:.1} | {means:.1} |");
    }
    for drift in [Drift::Linear, Drift::Correlated] {
        let [blocked, abab, random] = schedules(drift, REPEATS, 42);
        println!("| {drift:?} | {blocked:.1} | {abab:.1} | {random:.1} |");
    }
    let looks = crate::simulation::LOOKS_OF_ASSAY;
    let every: Vec<usize> = (6..=50).collect();
    println!("Pocock {:.1}", pocock(REPEATS, 42));
    println!("same looks at 0.05: {:.1}", looked_at(&looks, 0.05, REPEATS, 42));
    println!("after every pair from 6 to 50 at 0.05: {:.1}", looked_at(&every, 0.05, REPEATS, 42));
    for effect in [1.0, 1.02, 1.027] {
        let (direct, apart) = power(effect, REPEATS, 42);
        println!("effect {effect}: Welch {direct:.1}, intervals apart {apart:.1}");
    }
    for how in
        [TakenOff::OncePerTreatment, TakenOff::OncePerRun, TakenOff::PerTrial, TakenOff::Nothing]
    {
        let [same, slower] = [1.0, 1.03].map(|effect| start_up(how, effect, REPEATS, 42));
        println!("| start-up taken off {how:?} | {same:.1} | {slower:.1} |");
    }
    for (name, counts) in [("1-8", TO_8), ("1-32", TO_32)] {
        let (usl, linear) = predictions_of_64(&counts, REPEATS / 4, 42);
        println!("from {name}: USL {usl:.2?}, linear {linear:.2?}");
    }
}
