//! Access to the server: permissions, duration of sessions and limits on connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use crate::common::served::{Served, serve, sleeper};
use crate::common::{World, eventually};
use serde_json::json;

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

/// Signs in and returns the cookie as a header.
fn signed_in(served: &Served, token: &str) -> String {
    let origin = format!("Origin: http://{}", served.address);
    let answer = served.ask("POST", "/login", &[FORM, &origin], &format!("token={token}"));
    assert_eq!(answer.status, 303, "{}", answer.body);
    let line = answer.head.lines().find(|l| l.to_lowercase().starts_with("set-cookie")).unwrap();
    format!("Cookie: {}", line.split_once(' ').unwrap().1.split(';').next().unwrap())
}

fn read_token(world: &World) -> String {
    std::fs::read_to_string(world.path("state/serve.read-token")).unwrap().trim().to_owned()
}

#[test]
fn a_session_is_random_outlives_the_server_and_ends_with_signing_out() {
    let world = World::new();
    let mut served = serve(&world, &[]);
    let (one, two) = (signed_in(&served, &served.token), signed_in(&served, &served.token));
    assert_ne!(one, two, "two browsers have two sessions");
    served.kill();
    let served = serve(&world, &[]);
    let status = |cookie: &str| served.ask("GET", "/queue", &[cookie], "").status;
    assert_eq!((status(&one), status(&two)), (200, 200));
    let origin = format!("Origin: http://{}", served.address);
    assert_eq!(served.ask("POST", "/logout", &[&one, &origin], "").status, 303);
    // The old cookie is invalid now; the other browser is still signed in.
    assert_eq!((status(&one), status(&two)), (303, 200));
    drop(served);
    let served = serve(&world, &[]);
    assert_eq!(served.ask("GET", "/queue", &[&one], "").status, 303);
    let kept = std::fs::read_to_string(world.path("state/serve.sessions")).unwrap();
    let value = two.rsplit('=').next().unwrap();
    assert!(!kept.contains(value) && !kept.contains(&served.token), "{kept}");
}

#[test]
fn who_has_the_reading_token_may_look_and_change_nothing() {
    let world = World::new();
    sleeper(&world, "long", "30", 5);
    let served = serve(&world, &["--rate", "1000"]);
    let posted = served.post("/api/v1/jobs", &json!({ "experiment": "long" }));
    assert_eq!(posted.status, 201);
    served.until(1, "running");
    let token = read_token(&world);
    let bearer = format!("Authorization: Bearer {token}");
    let cookie = signed_in(&served, &token);
    let origin = format!("Origin: http://{}", served.address);
    let get = |path: &str, by: &str| served.ask("GET", path, &[by], "");
    for path in ["/api/v1/jobs", "/api/v1/jobs/1", "/api/v1/runs", "/api/v1/experiments/long"] {
        assert_eq!(get(path, &bearer).status, 200, "{path}");
    }
    for path in ["/queue", "/archive", "/live/1", "/landscapes"] {
        assert_eq!(get(path, &cookie).status, 200, "{path}");
    }
    assert_eq!(get("/api/v1/status", &bearer).json()["read_only"], true);
    assert_eq!(served.get("/api/v1/status").json()["read_only"], false);
    // Every write in the API's document and on the pages.
    let document = served.get("/api/v1/openapi.json").json();
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys().filter(|m| *m != "get") {
            let path = path.replace("{id}", "1");
            let answer = served.ask(&method.to_uppercase(), &path, &[&bearer], "{}");
            assert_eq!(answer.status, 403, "{method} {path}: {}", answer.body);
            tried += 1;
        }
    }
    assert!(tried >= 4, "{tried}");
    for path in [
        "/queue/new",
        "/queue/new/plan",
        "/queue/new/long",
        "/queue/1/cancel",
        "/queue/1/resume",
        "/queue/1/move",
    ] {
        let answer = served.ask("POST", path, &[&cookie, &origin, FORM], "");
        assert_eq!(answer.status, 403, "{path}: {}", answer.body);
    }
    for path in ["/queue/new", "/queue/new/long", "/queue/new?workload=noop", "/queue/1/cancel"] {
        assert_eq!(get(path, &cookie).status, 403, "{path}");
    }
    for path in ["/queue", "/queue/part", "/live/1"] {
        let page = get(path, &cookie).body;
        assert!(!page.contains("/cancel") && !page.contains("/queue/new"), "{path}: {page}");
    }
    assert_eq!(served.job(1)["state"], "running", "nothing has happened to it");
    let mut shell = world.assay(&["cancel", "1"]);
    let refused = crate::common::done(shell.env("ASSAY_TOKEN", &token));
    assert!(refused.code == 2 && refused.stderr.contains("serve.token"), "{}", refused.stderr);
    let mut shell = world.assay(&["pending"]);
    assert_eq!(crate::common::done(shell.env("ASSAY_TOKEN", &token)).code, 0);
    assert_eq!(served.ask("POST", "/logout", &[&cookie, &origin], "").status, 303);
    assert_eq!(get("/queue", &cookie).status, 303);
}

fn of_the_owner_alone(path: &Path) {
    let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            of_the_owner_alone(&entry.unwrap().path());
        }
    }
}

#[test]
fn nobody_else_on_the_machine_reads_the_queue_or_the_keys() {
    let world = World::new();
    sleeper(&world, "short", "0.01", 1);
    let served = serve(&world, &[]);
    served.post("/api/v1/jobs", &json!({ "experiment": "short" }));
    served.until(1, "completed");
    signed_in(&served, &served.token);
    of_the_owner_alone(&world.path("state/queue"));
    for name in ["serve.token", "serve.read-token", "serve.sessions"] {
        of_the_owner_alone(&world.path(&format!("state/{name}")));
    }
}

#[test]
fn a_length_that_is_not_true_ends() {
    let world = World::new();
    let served = serve(&world, &[]);
    let request = |length: usize, body: &str| {
        format!(
            "POST /api/v1/jobs HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}",
            served.address, served.token
        )
    };
    // The limit also applies before the sender is known: the sign-in page does not wait longer.
    let stranger = format!(
        "POST /login HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\n{FORM}\r\n\
        Content-Length: 100\r\n\r\nt",
        served.address
    );
    let (late, stranger) = std::thread::scope(|scope| {
        let stranger = scope.spawn(|| served.raw(stranger.as_bytes()).unwrap());
        (served.raw(request(1000, "{").as_bytes()).unwrap(), stranger.join().unwrap())
    });
    assert_eq!((late.status, stranger.status), (408, 408), "{}{}", late.body, stranger.body);
    let large = served.raw(request(99_999_999_999, "{").as_bytes()).unwrap();
    assert_eq!(large.status, 413, "{}", large.body);
}

/// Opens connections that never finish their request.
fn slow(served: &Served, count: usize) -> Vec<TcpStream> {
    (0..count)
        .map(|_| {
            let mut stream = TcpStream::connect(&served.address).unwrap();
            stream.write_all(b"GET /queue HTTP/1.1\r\nHost: 127").unwrap();
            stream
        })
        .collect()
}

/// Returns true if the server has closed the connection.
fn ended(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let mut bytes = [0; 256];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(e) => return e.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}

#[test]
fn strangers_who_hold_connections_keep_nobody_out() {
    let world = World::new();
    let served = serve(&world, &["--connections", "40", "--connections-per-address", "30"]);
    // A client that has shown its token, and stays connected.
    let mut known = TcpStream::connect(&served.address).unwrap();
    known.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let ask = format!(
        "GET /api/v1/status HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        served.address, served.token
    );
    let mut answered = || {
        let mut bytes = [0; 4096];
        known.write_all(ask.as_bytes()).unwrap();
        let n = known.read(&mut bytes).unwrap();
        assert!(
            bytes[..n].starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&bytes[..n])
        );
    };
    answered();
    let mut strangers = slow(&served, 100);
    // The server closes all but 29 connections of strangers, the places that the known client
    // leaves, without a timeout.
    let mut count = || strangers.iter_mut().filter_map(|s| ended(s).then_some(())).count();
    eventually("the oldest are ended", || (count() >= 71).then_some(()));
    assert_eq!(served.get("/api/v1/status").status, 200);
    answered();
    // The remaining ones are closed by the timeout.
    eventually("a head that never comes is not waited for", || (count() == 100).then_some(()));
}

#[test]
fn when_all_places_are_taken_by_those_who_are_known_the_next_is_refused_with_the_reason() {
    let world = World::new();
    let served = serve(&world, &["--connections", "6", "--connections-per-address", "3"]);
    let events = format!(
        "GET /api/v1/observe HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        served.address, served.token
    );
    let viewers: Vec<TcpStream> = (0..3)
        .map(|_| {
            let mut stream = TcpStream::connect(&served.address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stream.write_all(events.as_bytes()).unwrap();
            let mut begin = [0; 12];
            stream.read_exact(&mut begin).unwrap();
            assert_eq!(&begin, b"HTTP/1.1 200");
            stream
        })
        .collect();
    let next = served.raw(b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    assert_eq!(next.status, 503, "{}", next.head);
    drop(viewers);
    eventually("there is a place again", || {
        (served.get("/api/v1/status").status == 200).then_some(())
    });
}
