//! Runs all monitors for a while and prints their cost: `monitors INTERVAL_S SECONDS
//! [summary|disk|cpu]`. With a view it prints that table as well. Start the built program itself:
//! under `cargo run`, the time that cargo took is included.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use assay_observe::Sampler;
use assay_observe::stat::{Frame, Renderer, View};
use assay_system::clock;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let mut seconds = |otherwise: f64| args.next().map_or(Ok(otherwise), |text| text.parse());
    let interval = Duration::from_secs_f64(seconds(1.0)?);
    let whole = Duration::from_secs_f64(seconds(10.0)?);
    let view = match args.next().as_deref() {
        Some("summary") => Some(View::Summary),
        Some("disk") => Some(View::Disk),
        Some("cpu") => Some(View::Cpu),
        Some(other) => return Err(format!("there is no view `{other}`").into()),
        None => None,
    };

    let sampler = Sampler::start(Path::new("/"), &["all".to_owned()], interval)?;
    let start = sampler.newest_ns();
    let end = start + whole.as_nanos() as u64;
    if let Some(view) = view {
        show(&sampler, view, interval, end);
    } else {
        std::thread::sleep(whole);
    }
    sampler.tick_now();
    let reports = sampler.reports(start, u64::MAX);
    let missed = sampler.missed(start, u64::MAX);
    let samples = sampler.window(0, u64::MAX);
    let cpu_s = clock::process_cpu_time().as_secs_f64();
    println!("rows {}, series {}, ticks missed {missed}", samples.rows.len(), samples.series.len());
    for report in reports {
        println!("{}: {} rows", report.observer, report.samples);
        for reason in report.not_seen {
            println!("  {reason}");
        }
    }
    let wall_s = (clock::monotonic_ns() - start) as f64 / 1e9;
    println!(
        "own CPU time {cpu_s:.6} s in {wall_s:.3} s: {:.4} % of one core",
        100.0 * cpu_s / wall_s
    );
    Ok(())
}

fn show(sampler: &Sampler, view: View, interval: Duration, end_ns: u64) {
    let mut at = sampler.newest_ns();
    let mut renderer = None;
    while at < end_ns {
        let Some(now) = sampler.wait_after(at, interval * 3) else { break };
        at = now;
        let Some(frame) = Frame::newest(&sampler.window(now, now)) else { continue };
        let renderer = renderer.get_or_insert_with(|| {
            let renderer = Renderer::new(view, 80, &frame);
            print!("{}", renderer.header());
            renderer
        });
        print!("{}", renderer.lines(&frame));
        sampler.discard_before(now);
    }
}
