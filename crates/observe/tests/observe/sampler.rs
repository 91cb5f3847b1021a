//! Tests the sampler's schedule and its rows.

use std::path::Path;
use std::time::Duration;

use assay_observe::Sampler;
use assay_system::clock;

const INTERVAL: Duration = Duration::from_millis(100);

fn start(names: &[&str]) -> Sampler {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    Sampler::start(Path::new("/"), &names, INTERVAL).unwrap()
}

fn wait(sampler: &Sampler) -> u64 {
    sampler.wait_after(sampler.newest_ns(), Duration::from_secs(20)).unwrap()
}

#[test]
fn every_point_of_the_grid_is_sampled_or_counted_as_missed() {
    let sampler = start(&["memory"]);
    let base = sampler.newest_ns();
    while wait(&sampler) < base + 8 * INTERVAL.as_nanos() as u64 {}
    let missed = sampler.missed(0, u64::MAX);
    let times: Vec<u64> =
        sampler.window(0, u64::MAX).points("memory", "", "free").iter().map(|(t, _)| *t).collect();
    let point = |t: u64| (t - base) / INTERVAL.as_nanos() as u64;
    let points: Vec<u64> = times.iter().map(|t| point(*t)).collect();
    assert!(points[0] >= 1, "no sample comes before its time: {points:?}");
    assert!(points.is_sorted() && points.windows(2).all(|w| w[0] < w[1]), "{points:?}");
    let last = *points.last().unwrap();
    let sampled = points.len() as u64;
    // Missed points after the last sample may be counted already.
    assert!(sampled + missed >= last, "{points:?}, {missed} missed");
    assert!(last >= 8);
}

#[test]
fn a_forced_tick_comes_besides_the_schedule() {
    let sampler = start(&["memory"]);
    let base = sampler.newest_ns();
    assert!(sampler.tick_now() >= base);
    let before = wait(&sampler);
    // No sample is taken within the minimum span after the previous one.
    let forced = loop {
        let forced = sampler.tick_now();
        if forced > before {
            break forced;
        }
    };
    let again = sampler.tick_now();
    assert!(again == forced || again - forced >= 10_000_000, "two samples within the grain");
    wait(&sampler);
    let set = sampler.window(0, u64::MAX);
    let times: Vec<u64> = set.points("memory", "", "free").iter().map(|(t, _)| *t).collect();
    assert!(times.contains(&forced));
    assert!(times.windows(2).all(|w| w[1] - w[0] >= 10_000_000), "{times:?}");
    let narrow = sampler.window(forced, forced);
    assert!(!narrow.rows.is_empty() && narrow.rows.iter().all(|r| r.t_ns == forced));
}

#[test]
fn rows_can_be_let_go_while_it_runs() {
    let sampler = start(&["memory", "switches"]);
    let first = wait(&sampler);
    let second = wait(&sampler);
    sampler.discard_before(second);
    let set = sampler.window(0, u64::MAX);
    assert!(set.rows.iter().all(|row| row.t_ns >= second) && !set.rows.is_empty());
    assert!(set.rows.is_sorted_by_key(|row| row.t_ns));
    assert!(first < second && second <= clock::monotonic_ns());
    let rest = sampler.window(0, u64::MAX);
    assert!(rest.rows.len() >= set.rows.len());
}

#[test]
fn a_tree_without_anything_gives_reasons_and_no_rows() {
    let dir = tempfile::tempdir().unwrap();
    let sampler = Sampler::start(dir.path(), &["all".to_owned()], INTERVAL).unwrap();
    wait(&sampler);
    let reports = sampler.reports(0, u64::MAX);
    assert_eq!(reports.len(), assay_observe::all().len());
    for report in &reports {
        assert_eq!(report.samples, 0);
        assert!(report.not_seen[0].starts_with("not available: "), "{report:?}");
    }
    assert!(sampler.window(0, u64::MAX).rows.is_empty());
}
