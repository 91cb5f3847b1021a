//! Connects many viewers to one live run, and reports whether each gets every event, and how late.
//! Used by `bench/serve.sh`.
//!
//! Usage: `viewers HOST:PORT JOB VIEWERS SECONDS`, with the token in `ASSAY_TOKEN`. The run's
//! program sends its own time in notes (`t=<nanoseconds of CLOCK_MONOTONIC>`); the delay is the
//! time from there to the viewer.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // this is a benchmark

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

struct Seen {
    ids: Vec<u64>,
    delays_ms: Vec<f64>,
}

fn watch(address: &str, job: &str, token: &str, seconds: u64) -> Seen {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(
        stream,
        "GET /api/v1/jobs/{job}/events HTTP/1.1\r\nHost: {address}\r\n\
        Authorization: Bearer {token}\r\n\r\n"
    )
    .unwrap();
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut seen = Seen { ids: Vec::new(), delays_ms: Vec::new() };
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let now = assay_system::clock::monotonic_ns();
        if let Some(id) = line.strip_prefix("id: ") {
            seen.ids.push(id.parse().unwrap());
        } else if !line.contains("\"status\"")
            && let Some((_, at)) = line.split_once("\"text\":\"t=")
        {
            let at: u64 = at.split('"').next().unwrap().parse().unwrap();
            seen.delays_ms.push((now - at) as f64 / 1e6);
        }
        if Instant::now() >= until {
            break;
        }
    }
    seen
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, job, viewers, seconds] = arguments.as_slice() else {
        println!("viewers HOST:PORT JOB VIEWERS SECONDS");
        std::process::exit(2);
    };
    let token = std::env::var("ASSAY_TOKEN").unwrap();
    let (viewers, seconds): (usize, u64) = (viewers.parse().unwrap(), seconds.parse().unwrap());
    let all: Vec<Seen> = std::thread::scope(|scope| {
        let handles: Vec<_> =
            (0..viewers).map(|_| scope.spawn(|| watch(address, job, &token, seconds))).collect();
        handles.into_iter().map(|h| h.join().unwrap()).collect()
    });
    // Ids rise by one from the status on, so a gap is lost events.
    let lost: u64 =
        all.iter().flat_map(|s| s.ids.windows(2)).map(|w| (w[1] - w[0]).saturating_sub(1)).sum();
    let events: usize = all.iter().map(|s| s.ids.len()).sum();
    let mut delays: Vec<f64> = all.iter().flat_map(|s| s.delays_ms.iter().copied()).collect();
    delays.sort_by(f64::total_cmp);
    let at = |share: f64| {
        delays.get(((delays.len() as f64 * share) as usize).min(delays.len().max(1) - 1))
    };
    let text = |v: Option<&f64>| v.map_or("no value".to_owned(), |v| format!("{v:.2} ms"));
    println!("viewers {viewers}, events {events}, lost {lost}, delays measured {}", delays.len());
    println!(
        "delay: median {}, p99 {}, longest {}",
        text(at(0.5)),
        text(at(0.99)),
        text(delays.last())
    );
    let silent = all.iter().filter(|s| s.ids.len() < 2).count();
    if lost > 0 || silent > 0 {
        println!("{silent} viewers saw nothing");
        std::process::exit(1);
    }
}
