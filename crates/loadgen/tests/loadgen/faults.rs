//! Tests of the generator against servers that misbehave.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::support::{Request, fake, never, one_length, quick, requests};
use assay_loadgen::send::content::Content;
use assay_loadgen::{
    Arrivals, Config, Error, ErrorKind, LoadEnd, LoadReport, Mode, Protocol, Target, preload, run,
};

const LENGTH: u32 = 40;

fn config(target: &Target) -> Config {
    let mut config = quick(target);
    config.mix.classes = one_length(LENGTH);
    config.op_timeout = Duration::from_millis(80);
    config.give_up = Duration::from_millis(400);
    config
}

/// Returns the correct value of a key.
fn value(key: &str) -> Vec<u8> {
    let id = u64::from_str_radix(key.strip_prefix("assay:").unwrap(), 16).unwrap();
    let mut out = Vec::new();
    Content::new(1, LENGTH).write(id, LENGTH, 0, &mut out);
    out
}

fn answer(key: &str, value: &[u8]) -> Vec<u8> {
    let mut out = format!("VALUE {key} 0 {}\r\n", value.len()).into_bytes();
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\nEND\r\n");
    out
}

/// Starts a server whose every `nth` response to a get is made by `wrong`.
fn wrong_answers(nth: usize, wrong: fn(&str, &mut TcpStream)) -> Target {
    fake(move |mut stream, _| {
        for (number, request) in requests(&stream).enumerate() {
            let written = match request {
                Request::Get(key) if number % nth == nth - 1 => {
                    wrong(&key, &mut stream);
                    Ok(())
                }
                Request::Get(key) => stream.write_all(&answer(&key, &value(&key))),
                Request::Set(..) => stream.write_all(b"STORED\r\n"),
            };
            if written.is_err() {
                return;
            }
        }
    })
}

fn send(stream: &mut TcpStream, bytes: &[u8]) {
    // The generator may have disconnected by now.
    stream.write_all(bytes).ok();
}

/// Runs against a server with some wrong responses: the run continues, and all errors are of
/// `kind`.
fn finds(kind: ErrorKind, wrong: fn(&str, &mut TcpStream)) -> LoadReport {
    let mut config = config(&wrong_answers(7, wrong));
    if kind != ErrorKind::TimedOut {
        // On a busy machine a good response may take long, too.
        config.op_timeout = Duration::from_secs(30);
        config.give_up = Duration::from_secs(60);
    }
    let report = run(&config, &never(), |_, _| {}).unwrap();
    assert_eq!(report.ended, LoadEnd::Complete);
    assert!(report.errors.count(kind) > 0, "{:?}", report.errors);
    assert!(report.completed() > 0);
    assert!(!report.errors.texts.is_empty());
    report
}

fn finds_only(kind: ErrorKind, wrong: fn(&str, &mut TcpStream)) {
    let report = finds(kind, wrong);
    assert_eq!(report.errors.count(kind), report.errors.total(), "{:?}", report.errors);
    assert_eq!(report.reconnects, 0, "the connection can still be used");
}

#[test]
fn no_server_is_an_error_that_names_it() {
    let target = Target::Tcp(crate::support::free_address());
    let message = run(&config(&target), &never(), |_, _| {}).unwrap_err().to_string();
    let Target::Tcp(address) = &target else { unreachable!() };
    assert!(message.contains(address) && message.contains("is a server running"), "{message}");
    let nowhere = Target::Unix("/nonexistent/socket".into());
    let error = preload(&config(&nowhere), &never()).unwrap_err();
    assert!(matches!(error, Error::Connect { number: 1, .. }), "{error}");
    let unknown = Target::Tcp("no-port".to_owned());
    assert!(matches!(run(&config(&unknown), &never(), |_, _| {}), Err(Error::Resolve { .. })));
}

#[test]
fn a_value_of_the_wrong_length_is_found() {
    finds_only(ErrorKind::WrongLength, |key, s| send(s, &answer(key, &value(key)[1..])));
    finds_only(ErrorKind::WrongLength, |key, s| {
        send(s, &answer(key, &[value(key), vec![0]].concat()));
    });
}

#[test]
fn one_wrong_byte_is_found() {
    finds_only(ErrorKind::WrongContent, |key, s| {
        let mut wrong = value(key);
        wrong[39] ^= 1;
        send(s, &answer(key, &wrong));
    });
}

#[test]
fn another_key_is_found_by_name_and_by_content() {
    finds_only(ErrorKind::WrongKey, |key, s| send(s, &answer("assay:0000000777", &value(key))));
    finds_only(ErrorKind::WrongContent, |key, s| send(s, &answer(key, &value("assay:0000000777"))));
}

#[test]
fn a_server_error_is_kept_in_its_words() {
    let report = finds(ErrorKind::ServerError, |_, s| {
        send(s, b"SERVER_ERROR out of memory storing object\r\n");
    });
    let text = &report.errors.texts[0].1;
    assert!(text.contains("SERVER_ERROR out of memory storing object") && text.contains("assay:"));
    finds_only(ErrorKind::ClientError, |_, s| send(s, b"ERROR\r\n"));
}

#[test]
fn garbage_closes_the_connection_and_the_run_goes_on() {
    let report = finds(ErrorKind::Garbled, |_, s| send(s, b"220 mail.example ready\r\n"));
    assert!(report.reconnects > 0);
    assert!(report.errors.texts.iter().any(|t| t.1.contains("220 mail")), "{:?}", report.errors);
    finds(ErrorKind::Garbled, |_, s| send(s, b"STORED\r\n"));
}

#[test]
fn a_value_longer_than_it_says_is_garbage() {
    finds(ErrorKind::Garbled, |key, s| {
        let text = format!("VALUE {key} 0 {LENGTH}\r\n");
        send(s, &[text.as_bytes(), &value(key), b"extra\r\nEND\r\n"].concat());
    });
}

#[test]
fn half_an_answer_then_silence_times_out() {
    let report = finds(ErrorKind::TimedOut, |key, s| {
        send(s, &answer(key, &value(key))[..30]);
        // Sends nothing more until the generator closes the connection.
        requests(s).for_each(drop);
    });
    assert!(report.reconnects > 0 && report.unanswered > 0);
}

#[test]
fn half_an_answer_then_the_end_is_a_lost_connection() {
    let report = finds(ErrorKind::ConnectionLost, |key, s| {
        send(s, &answer(key, &value(key))[..30]);
        s.shutdown(std::net::Shutdown::Both).ok();
    });
    assert!(report.reconnects > 0);
}

#[test]
fn a_server_that_never_answers_ends_the_run() {
    let target = fake(|stream, _| requests(&stream).for_each(drop));
    for mode in [config(&target).mode, Mode::Open { rate: 500.0, arrivals: Arrivals::Even }] {
        let mut config = config(&target);
        config.mode = mode;
        config.steady = Duration::from_secs(60);
        let report = run(&config, &never(), |_, _| {}).unwrap();
        assert!(matches!(report.ended, LoadEnd::TimedOut(_)), "{:?}", report.ended);
        assert_eq!(report.completed(), 0);
        assert!(report.errors.count(ErrorKind::TimedOut) > 0);
        assert_eq!(report.quantile(0.5), None, "what was never answered has no median");
    }
}

#[test]
fn an_answer_that_comes_too_late_times_out() {
    let report = finds(ErrorKind::TimedOut, |key, s| {
        std::thread::sleep(Duration::from_millis(200));
        send(s, &answer(key, &value(key)));
    });
    assert!(report.reconnects > 0);
    // Timed-out operations are not among the response times: they count as slower than any other.
    assert!(report.times(None).max() < 200_000_000 && report.unanswered > 0);
    assert_eq!(report.quantile(1.0), None);
}

#[test]
fn a_server_that_does_not_know_the_meta_commands_is_reported() {
    let target = fake(|mut stream, _| {
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        for _ in lines.map_while(Result::ok) {
            send(&mut stream, b"ERROR\r\n");
        }
    });
    for depth in [1, 8] {
        let mut config = config(&target);
        (config.protocol, config.depth, config.mix.get_share) = (Protocol::Meta, depth, 1.0);
        let report = run(&config, &never(), |_, _| {}).unwrap();
        assert_eq!(
            (report.completed(), report.evicted),
            (0, 0),
            "depth {depth}: {:?}",
            report.errors
        );
        assert!(report.errors.count(ErrorKind::ClientError) > 0, "{:?}", report.errors);
        assert!(report.errors.texts.iter().any(|t| t.1.ends_with("ERROR")), "{:?}", report.errors);
    }
}

#[test]
fn a_server_that_closes_every_connection_is_gone() {
    let target = fake(|stream, _| drop(stream));
    let report = run(&config(&target), &never(), |_, _| {}).unwrap();
    assert!(matches!(report.ended, LoadEnd::ServerGone(_)), "{:?}", report.ended);
    assert_eq!(report.completed(), 0);
    assert!(report.errors.count(ErrorKind::ConnectionLost) > 0);
}

#[test]
fn a_server_of_another_protocol_is_distinguished() {
    let target = fake(|mut stream, _| {
        requests(&stream).for_each(|_| send(&mut stream, b"ERROR\r\n"));
    });
    let mut config = config(&target);
    config.protocol = Protocol::Binary;
    config.steady = Duration::from_millis(200);
    // The fake reads lines and sees none: the generator waits and times out.
    let report = run(&config, &never(), |_, _| {}).unwrap();
    assert_eq!(report.completed(), 0);
    assert!(report.errors.total() > 0);
}

#[test]
fn too_many_connections_are_refused_before_the_first() {
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let Some(hard) = hard.filter(|h| *h < 900_000) else {
        eprintln!("skipped: because this process may open any number of files");
        return;
    };
    let mut config = config(&Target::Tcp(crate::support::free_address()));
    config.connections = hard as usize;
    let error = run(&config, &never(), |_, _| {}).unwrap_err();
    assert!(matches!(error, Error::OpenFiles { .. }), "{error}");
}

/// Tests the stall that a closed loop hides: the server stops once for 200 ms. In the open loop
/// every operation that was due meanwhile carries its share of the stall; the schedule tells how
/// many.
#[test]
fn a_stall_is_charged_to_every_operation_that_was_due() {
    let first = OnceLock::new();
    let target = fake(move |mut stream, _| {
        for request in requests(&stream) {
            // From 100 to 300 ms after the first request the server sends nothing.
            let now = first.get_or_init(Instant::now).elapsed();
            let left = Duration::from_millis(300).saturating_sub(now);
            if now >= Duration::from_millis(100) {
                std::thread::sleep(left);
            }
            match request {
                Request::Get(key) => send(&mut stream, &answer(&key, &value(&key))),
                Request::Set(..) => send(&mut stream, b"STORED\r\n"),
            }
        }
    });
    let mut config = config(&target);
    config.mode = Mode::Open { rate: 500.0, arrivals: Arrivals::Even };
    config.op_timeout = Duration::from_secs(5);
    config.give_up = Duration::from_secs(10);
    config.ramp_up = Duration::ZERO;
    config.steady = Duration::from_secs(2);
    config.ramp_down = Duration::from_millis(500);
    let report = run(&config, &never(), |_, _| {}).unwrap();
    let times = report.times(None);
    assert_eq!(times.len() + report.unanswered, 1000, "everything due was counted");
    // Operations due in the first half of the stall take at least 100 ms each, and there are 50 of
    // them. A machine that stalls by itself only adds to them.
    let slow = times.count_between(95_000_000, u64::MAX) + report.unanswered;
    assert!(slow >= 48, "{slow} of {}", times.len());
    let late = report.late.unwrap();
    assert!(late.all.max() >= 95_000_000, "the wait for a connection is on record");
}
