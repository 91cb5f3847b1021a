//! Tests of the generator against a real memcached.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::support::{Memcached, never, one_length, quick};
use assay_loadgen::latency::report::{Errors, Operation};
use assay_loadgen::{
    Arrivals, Config, ErrorKind, LoadEnd, LoadReport, Mode, Popularity, Protocol, Think, preload,
    run,
};
use assay_model::{LimitedBy, Phase};

/// Preloads and runs; the statistics must agree with each other and with the server's.
fn check(config: &Config, server: &Memcached) -> LoadReport {
    let loaded = preload(config, &never()).unwrap();
    assert_eq!(loaded.errors.total(), 0, "{:?}", loaded.errors);
    assert_eq!((loaded.stored, loaded.ended), (config.mix.keys, LoadEnd::Complete));
    let before = (server.stat("cmd_get"), server.stat("cmd_set"));
    let report = run(config, &never(), |_, _| {}).unwrap();
    assert_eq!(report.ended, LoadEnd::Complete);
    assert_eq!(report.errors.total(), 0, "{:?}", report.errors);
    assert_eq!((report.evicted, report.unanswered, report.reconnects), (0, 0, 0));
    let all: u64 = report.series.iter().map(|b| b.operations).sum();
    let asked = server.stat("cmd_get") + server.stat("cmd_set") - before.0 - before.1;
    // Responses after the last bin are in the server's statistics only.
    let outstanding = (config.connections * config.depth) as u64;
    assert!((all..=all + outstanding).contains(&asked), "{all} answers, {asked} requests");
    assert!(report.completed() > 0 && report.completed() <= all);
    for cell in &report.cells {
        assert!(cell.times.is_empty() || cell.times.min() > 0, "{cell:?}");
    }
    report
}

fn with(protocol: Protocol, depth: usize, server: &Memcached) -> Config {
    Config { protocol, depth, ..quick(&server.target) }
}

#[test]
fn every_protocol_at_every_depth_over_a_unix_socket() {
    let Some(server) = Memcached::unix(&[]) else { return };
    for protocol in [Protocol::Text, Protocol::Meta, Protocol::Binary] {
        for depth in [1, 2, 64, 1024] {
            let mut config = with(protocol, depth, &server);
            config.mix.hit_ratio = 0.8;
            config.steady = Duration::from_millis(150);
            let report = check(&config, &server);
            let share = report.hit_ratio().unwrap();
            assert!((share - 0.8).abs() < 0.1, "{protocol:?} {depth}: {share}");
            let sets = report.completed_of(Operation::Set) as f64 / report.completed() as f64;
            assert!((sets - 0.1).abs() < 0.05, "{protocol:?} {depth}: {sets}");
        }
    }
}

#[test]
fn every_protocol_over_tcp_with_two_threads() {
    let Some(server) = Memcached::tcp(&[]) else { return };
    for (protocol, depth) in [(Protocol::Text, 1), (Protocol::Text, 64), (Protocol::Meta, 64)] {
        let mut config = with(protocol, depth, &server);
        config.threads = 2;
        config.mix.hit_ratio = 0.9;
        let report = check(&config, &server);
        assert_eq!(report.threads.len(), 2);
        assert!(report.threads.iter().all(|t| t.cpu_s > 0.0 && t.wall_s > 0.2));
        assert_eq!(report.series.len(), 40);
    }
}

#[test]
fn sizes_from_four_bytes_to_a_megabyte_and_a_skew() {
    let Some(server) = Memcached::tcp(&["-m", "256"]) else { return };
    for (length, protocol) in [
        (4, Protocol::Text),
        (4, Protocol::Meta),
        (900_000, Protocol::Meta),
        (900_000, Protocol::Text),
    ] {
        let mut config = with(protocol, 8, &server);
        config.mix.classes = one_length(length);
        config.mix.keys = 40;
        config.mix.popularity = Popularity::Zipf { exponent: 1.0 };
        check(&config, &server);
    }
}

#[test]
fn phases_are_reported_in_order_at_their_moments() {
    let Some(server) = Memcached::unix(&[]) else { return };
    let mut phases = Vec::new();
    let config = quick(&server.target);
    preload(&config, &never()).unwrap();
    let report = run(&config, &never(), |phase, at| phases.push((phase, at))).unwrap();
    let names: Vec<Phase> = phases.iter().map(|p| p.0).collect();
    assert_eq!(names, [Phase::RampUp, Phase::Steady, Phase::RampDown]);
    assert_eq!((phases[1].1, phases[2].1), report.window_ns);
    assert_eq!(phases[0].1, report.series_start_ns);
    assert_eq!(phases[1].1 - phases[0].1, 50_000_000);
    assert_eq!(phases[2].1 - phases[1].1, 300_000_000);
}

#[test]
fn an_open_loop_sends_what_is_due_and_nothing_else() {
    let Some(server) = Memcached::unix(&[]) else { return };
    for (arrivals, depth) in [(Arrivals::Even, 1), (Arrivals::Exponential, 8)] {
        let mut config = with(Protocol::Text, depth, &server);
        config.mode = Mode::Open { rate: 2000.0, arrivals };
        let report = check(&config, &server);
        let times = report.times(None).len();
        // 2000 per second for 0.3 s; the standard deviation of a Poisson count of 600 is 24.
        let spread = if arrivals == Arrivals::Even { 0 } else { 150 };
        assert!(times.abs_diff(600) <= spread, "{arrivals:?}: {times}");
        let late = report.late.unwrap();
        assert_eq!((late.all.len(), late.own.len(), late.unsent), (times, times, 0));
        assert_eq!(report.limit.limiter, LimitedBy::Load, "{:?}", report.limit);
    }
}

#[test]
fn think_times_bound_the_rate() {
    let Some(server) = Memcached::unix(&[]) else { return };
    let pause = Duration::from_millis(10);
    for think in [Think::Constant(pause), Think::Exponential(pause)] {
        let mut config = quick(&server.target);
        config.mode = Mode::Closed { think };
        let report = check(&config, &server);
        // Four connections, each at most once in 10 ms, for 0.3 s: 120 for constant times; 120 ± 11
        // expected for exponential ones.
        assert!(report.completed() < 200, "{think:?}: {}", report.completed());
        assert!(report.completed() > 4, "{think:?}: {}", report.completed());
    }
}

#[test]
fn a_server_that_is_killed_leaves_a_partial_report() {
    for mode in
        [Mode::Closed { think: Think::None }, Mode::Open { rate: 1000.0, arrivals: Arrivals::Even }]
    {
        let Some(mut server) = Memcached::tcp(&[]) else { return };
        let mut config = quick(&server.target);
        config.mode = mode;
        config.steady = Duration::from_secs(60);
        preload(&config, &never()).unwrap();
        let report = std::thread::scope(|scope| {
            let (steady, wait) = std::sync::mpsc::channel();
            let config = &config;
            let run = scope.spawn(move || {
                run(config, &never(), |phase, _| {
                    if phase == Phase::Steady {
                        steady.send(()).unwrap();
                    }
                })
            });
            wait.recv().unwrap();
            std::thread::sleep(Duration::from_millis(100));
            server.kill();
            run.join().unwrap().unwrap()
        });
        let LoadEnd::ServerGone(at_ns) = report.ended else { panic!("{:?}", report.ended) };
        assert_eq!(report.window_ns.1, at_ns);
        assert!(report.window_s() < 59.0 && report.window_s() > 0.0);
        assert!(report.completed() > 0, "what came before the death is kept");
        let bins = ((at_ns - report.series_start_ns) as f64 / 1e7).ceil() as usize;
        assert_eq!(report.series.len(), bins);
        assert!(report.errors.count(ErrorKind::ConnectionLost) > 0, "{:?}", report.errors);
    }
}

#[test]
fn a_run_that_is_stopped_keeps_what_it_has() {
    let Some(server) = Memcached::unix(&[]) else { return };
    let mut config = quick(&server.target);
    config.steady = Duration::from_secs(60);
    preload(&config, &never()).unwrap();
    let stop = AtomicBool::new(false);
    let report = run(&config, &stop, |phase, _| {
        stop.store(phase == Phase::Steady, std::sync::atomic::Ordering::Release);
    })
    .unwrap();
    assert!(matches!(report.ended, LoadEnd::Stopped(_)), "{:?}", report.ended);
    assert!(report.series.iter().map(|b| b.operations).sum::<u64>() > 0);
    assert_eq!(report.errors.total(), 0);
}

#[test]
fn a_server_that_is_full_says_so() {
    // Without evictions (-M) and with 64 MB, storing fails once the server is full.
    let Some(server) = Memcached::unix(&["-M", "-m", "64"]) else { return };
    let mut config = quick(&server.target);
    config.mix.classes = one_length(100_000);
    config.mix.keys = 2_000;
    let loaded = preload(&config, &never()).unwrap();
    let failed = loaded.errors.count(ErrorKind::ServerError);
    assert!(failed > 0 && loaded.stored > 0, "{loaded:?}");
    assert_eq!(loaded.stored + failed, 2_000);
    let text = &loaded.errors.texts[0].1;
    assert!(text.contains("SERVER_ERROR out of memory storing object"), "{text}");
    // The same in quiet batches, where the error names no request.
    config.protocol = Protocol::Meta;
    config.depth = 16;
    config.mix.get_share = 0.0;
    config.mix.keys = 200_000;
    let report = run(&config, &never(), |_, _| {}).unwrap();
    assert_eq!(report.ended, LoadEnd::Complete);
    assert!(report.errors.count(ErrorKind::ServerError) > 0, "{:?}", report.errors);
    assert_eq!(report.errors.count(ErrorKind::Garbled), 0, "{:?}", report.errors);
}

#[test]
fn a_value_above_the_item_limit_is_an_error_in_every_protocol() {
    let Some(server) = Memcached::tcp(&[]) else { return };
    for protocol in [Protocol::Text, Protocol::Meta, Protocol::Binary] {
        let mut config = with(protocol, 4, &server);
        // The default item limit is 1 MiB.
        config.mix.classes = one_length(1_200_000);
        config.mix.keys = 10;
        let loaded = preload(&config, &never()).unwrap();
        assert_eq!(
            (loaded.stored, loaded.errors.count(ErrorKind::ServerError)),
            (0, 10),
            "{protocol:?}"
        );
        let text = &loaded.errors.texts[0].1;
        assert!(text.to_lowercase().contains("too large"), "{text}");
    }
}

#[test]
fn evicted_keys_are_counted() {
    let Some(server) = Memcached::tcp(&["-m", "64"]) else { return };
    for protocol in [Protocol::Text, Protocol::Meta] {
        let mut config = with(protocol, 16, &server);
        config.mix.classes = one_length(20_000);
        config.mix.keys = 8_000;
        // memcached gives up after ten attempts to find room; if other connections are using the
        // oldest items at that moment, it answers SERVER_ERROR. Its authors intend this.
        let refused = |errors: &Errors| {
            let server = errors.count(ErrorKind::ServerError);
            assert!(errors.total() == server && server < 80, "{errors:?}");
            server
        };
        let loaded = preload(&config, &never()).unwrap();
        assert_eq!(loaded.stored + refused(&loaded.errors), 8_000, "{loaded:?}");
        // 8,000 times 20,000 bytes are 160 MB.
        let kept = server.stat("curr_items");
        assert!(kept < 7_000, "{protocol:?}: {kept} of 8,000 keys are there");
        let report = run(&config, &never(), |_, _| {}).unwrap();
        refused(&report.errors);
        let hits = report.completed_of(Operation::GetHit);
        let gets = hits + report.completed_of(Operation::GetMiss);
        // The same share as of the keys: 1,000 of 8,000.
        assert!(8 * report.evicted > gets, "{} of {gets} gets: {report:?}", report.evicted);
    }
}

#[test]
fn values_of_another_seed_are_wrong() {
    let Some(server) = Memcached::unix(&[]) else { return };
    let mut config = quick(&server.target);
    config.mix.classes = one_length(64);
    config.mix.get_share = 1.0;
    preload(&config, &never()).unwrap();
    config.seed += 1;
    let report = run(&config, &never(), |_, _| {}).unwrap();
    assert_eq!(report.completed_of(Operation::GetHit), 0);
    assert!(report.errors.count(ErrorKind::WrongContent) > 0);
}

#[test]
fn two_thousand_connections() {
    let Some(server) = Memcached::unix(&["-c", "4096", "-b", "4096"]) else { return };
    let mut config = quick(&server.target);
    config.connections = 2_000;
    assert!(check(&config, &server).completed() > 2_000);
}

#[test]
fn the_server_s_cpu_time_is_known_when_its_process_is() {
    let Some(server) = Memcached::unix(&[]) else { return };
    let mut config = quick(&server.target);
    config.server_pid = Some(server.pid());
    let report = check(&config, &server);
    assert!(report.limit.server.is_some_and(|s| s.cpus > 0.0 && s.busiest <= s.cpus + 1e-9));
    // Neither side is bound to CPUs here.
    assert_eq!(report.limit.limiter, LimitedBy::Generator, "{:?}", report.limit);
}
