//! Measures one tick of all monitors on this machine, and of each one alone.

use std::hint::black_box;
use std::path::Path;

use assay_observe::{Monitor, Recorder, Tree, all};
use assay_system::clock;
use criterion::{Criterion, criterion_group, criterion_main};

/// Samples `monitors` once, and keeps the recorder from growing.
fn tick(monitors: &mut [Box<dyn Monitor>], out: &mut Recorder) {
    let now = clock::monotonic_ns();
    for monitor in monitors {
        monitor.sample(now, out);
    }
    if out.room() < 4096 {
        out.discard_before(u64::MAX);
    }
}

fn sample(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tick");
    let tree = Tree::new(Path::new("/"));
    let mut monitors: Vec<Box<dyn Monitor>> =
        all().into_iter().filter_map(|spec| (spec.open)(&tree).ok()).collect();
    let mut out = Recorder::default();
    out.reserve(100_000);
    group.bench_function("all", |b| b.iter(|| tick(black_box(&mut monitors), &mut out)));
    for spec in all() {
        let Ok(monitor) = (spec.open)(&Tree::new(Path::new("/"))) else { continue };
        let mut monitor = [monitor];
        let mut out = Recorder::default();
        out.reserve(100_000);
        group.bench_function(spec.name, |b| b.iter(|| tick(black_box(&mut monitor), &mut out)));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = sample
}
criterion_main!(benches);
