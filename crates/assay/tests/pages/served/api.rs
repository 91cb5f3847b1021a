//! The server: its queue after kills, its permissions and its responses.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::served::{Served, serve, sleeper};
use crate::common::{World, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn trials(world: &World, run: &str) -> Vec<Value> {
    let shown = world.run(&["archive", "show", run, "--json"]);
    let result = shown.json();
    result["records"].as_array().unwrap().clone()
}

fn kill(pid: u64) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

/// Waits until a running job has ended a trial.
fn under_way(served: &Served, id: u64) -> Value {
    eventually("a trial has ended", || {
        let live = served.get(&format!("/api/v1/jobs/{id}/live"));
        (live.status == 200 && live.json()["done"].as_u64() > Some(0)).then_some(())
    });
    served.job(id)
}

#[test]
fn a_run_goes_on_when_its_server_is_killed_and_the_next_one_follows_it() {
    let world = World::new();
    sleeper(&world, "first", "0.15", 10);
    sleeper(&world, "second", "0.01", 1);
    let mut served = serve(&world, &[]);
    let (first, second) = (served.submit("first"), served.submit("second"));
    let before = under_way(&served, first);
    served.kill();
    let served = serve(&world, &[]);
    let job = served.job(first);
    assert_eq!((&job["state"], &job["process"]), (&json!("running"), &before["process"]));
    assert_eq!(served.job(second)["state"], "waiting");
    let done = served.until(first, "completed");
    assert_eq!(done["run"], before["run"]);
    assert_eq!(trials(&world, done["run"].as_str().unwrap()).len(), 20);
    served.until(second, "completed");
}

#[test]
fn a_run_that_is_killed_with_its_server_is_interrupted_and_resumed() {
    let world = World::new();
    sleeper(&world, "cut", "0.1", 10);
    sleeper(&world, "after", "0.01", 1);
    let mut served = serve(&world, &[]);
    let id = served.submit("cut");
    let job = under_way(&served, id);
    let after = served.post(
        "/api/v1/jobs",
        &json!({ "experiment": "after", "not_before": "2100-01-01T00:00:00Z" }),
    );
    let after = after.json()["id"].as_u64().unwrap();
    // Kills both at once, as a reboot does.
    served.kill();
    kill(job["process"]["pid"].as_u64().unwrap());
    let served = serve(&world, &[]);
    let cut = served.until(id, "interrupted");
    assert_eq!(cut["run"], job["run"], "{cut}");
    assert_eq!(served.job(after)["state"], "waiting");
    let run = job["run"].as_str().unwrap();
    let kept = trials(&world, run).len();
    assert!(kept > 0);
    let resumed = world.run(&["resume", &id.to_string()]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let waited = world.run(&["wait", &id.to_string()]);
    assert_eq!(waited.code, 0, "{}{}", waited.stdout, waited.stderr);
    assert!(waited.stdout.contains(run), "it is the same run: {}", waited.stdout);
    let all = trials(&world, run);
    let mut numbers: Vec<u64> = all.iter().map(|t| t["number"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>(), "each trial once");
    assert_eq!(world.run(&["archive", "verify"]).code, 0);
}

#[test]
fn the_shell_has_the_same_queue() {
    let world = World::new();
    sleeper(&world, "long", "20", 5);
    sleeper(&world, "short", "0.01", 2);
    let nobody = world.run(&["pending"]);
    assert_eq!(nobody.code, 2);
    assert!(nobody.stderr.contains("assay serve"), "{}", nobody.stderr);
    let served = serve(&world, &[]);
    assert_eq!(world.run(&["submit", "long"]).code, 0);
    let file = world.path("experiments/short.toml").display().to_string();
    let second = world.run(&["submit", &file, "--blocks", "3", "--json"]);
    assert_eq!(second.code, 0, "{}", second.stderr);
    let second = second.json();
    assert_eq!((&second["trials"], &second["state"]), (&json!(6), &json!("waiting")));
    served.until(1, "running");
    let pending = world.run(&["pending"]).stdout;
    assert!(pending.lines().all(|l| l.chars().count() <= 80), "{pending}");
    assert!(pending.find("long").unwrap() < pending.find("short").unwrap(), "{pending}");
    assert_eq!(world.run(&["cancel", "1"]).code, 0);
    served.until(1, "cancelled");
    assert_eq!(world.run(&["cancel", "1"]).code, 2, "it is over already");
    assert_eq!(world.run(&["wait", "1"]).code, 130);
    assert_eq!(world.run(&["wait", "2"]).code, 0);
    let unknown = world.run(&["submit", "nothing"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("`nothing`"), "{}", unknown.stderr);
    let second_server = world.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(second_server.code == 1, "{}", second_server.stderr);
    assert!(second_server.stderr.contains("already serves this queue"), "{}", second_server.stderr);
}

#[test]
fn only_what_the_folders_hold_is_run_and_nothing_that_names_a_program_is_changed() {
    let world = World::new();
    sleeper(&world, "good", "0.01", 1);
    let outside = world.write("outside.toml", "name = \"outside\"\nworkload = \"noop\"");
    let served = serve(&world, &[]);
    let refused = world.run(&["submit", &outside.display().to_string()]);
    assert!(refused.code == 2 && refused.stderr.contains("--allow-any"), "{}", refused.stderr);
    let change = |name: &str, value: &str| {
        served.post("/api/v1/jobs", &json!({ "experiment": "good", "set": { name: value } }))
    };
    assert_eq!(change("command", "touch /tmp/owned").status, 403);
    assert_eq!(change("prepare", "touch /tmp/owned").status, 403);
    assert_eq!(change("controls.sysctl.vm.swappiness", "1").status, 403);
    assert_eq!(change("nothing", "1").status, 400);
    for id in ["../outside", "/etc/passwd", "good.toml", "..%2foutside"] {
        let answer = served.post("/api/v1/jobs", &json!({ "experiment": id }));
        assert_eq!(answer.status, 404, "{id}: {}", answer.body);
    }
    drop(served);
    let served = serve(&world, &["--allow-any"]);
    let allowed = world.run(&["submit", &outside.display().to_string(), "--wait"]);
    assert_eq!(allowed.code, 0, "{}{}", allowed.stdout, allowed.stderr);
    drop(served);
}

#[test]
fn nobody_without_the_token_and_no_other_site() {
    let world = World::new();
    let served = serve(&world, &[]);
    let host = format!("Host: {}", served.address);
    let status =
        |method: &str, path: &str, headers: &[&str]| served.ask(method, path, headers, "").status;
    assert_eq!(status("GET", "/api/v1/jobs", &[]), 401);
    assert_eq!(status("GET", "/api/v1/jobs", &["Authorization: Bearer wrong"]), 401);
    assert_eq!(status("GET", "/queue", &[]), 303);
    let bearer = format!("Authorization: Bearer {}", served.token);
    assert_eq!(status("GET", "/api/v1/jobs", &[&bearer]), 200);
    assert_eq!(status("GET", "/api/v1/jobs", &[&bearer, "Host: evil.example"]), 421);
    // A token in the address is not accepted.
    assert_eq!(status("GET", &format!("/api/v1/jobs?token={}", served.token), &[]), 401);
    let form = "Content-Type: application/x-www-form-urlencoded";
    let origin = format!("Origin: http://{}", served.address);
    let sign_in = |headers: &[&str]| {
        served.ask("POST", "/login", headers, &format!("token={}", served.token))
    };
    assert_eq!(sign_in(&[form]).status, 403, "a write says where it comes from");
    assert_eq!(sign_in(&[form, "Origin: http://evil.example"]).status, 403);
    let signed = sign_in(&[form, &origin]);
    assert_eq!(signed.status, 303);
    let cookie = signed.head.lines().find(|l| l.to_lowercase().starts_with("set-cookie")).unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(&served.token), "the cookie is not the token");
    let value = cookie.split_once(' ').unwrap().1.split(';').next().unwrap();
    let cookie = format!("Cookie: {value}");
    assert_eq!(status("GET", "/queue", &[&cookie]), 200);
    assert_eq!(status("POST", "/queue/1/cancel", &[&cookie]), 403);
    assert_eq!(status("POST", "/queue/1/cancel", &[&cookie, "Origin: null"]), 403);
    assert_eq!(status("POST", "/queue/1/cancel", &[&cookie, &origin]), 404);
    let head = served.ask("GET", "/queue", &[&cookie, &host], "").head.to_lowercase();
    for wanted in ["script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "nosniff"] {
        assert!(head.contains(wanted), "{head}");
    }
    let wrong = (0..40)
        .map(|_| status("GET", "/api/v1/jobs", &["Authorization: Bearer wrong"]))
        .filter(|s| *s == 429)
        .count();
    assert!(wrong > 20, "guessing is slowed down: {wrong} of 40");
}

#[test]
fn every_operation_of_the_document_is_there() {
    let world = World::new();
    let served = serve(&world, &["--rate", "1000"]);
    let document = served.get("/api/v1/openapi.json").json();
    let nothing = "not found; GET /api/v1/openapi.json";
    let mut asked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            if path.ends_with("/observe") {
                continue; // this response never ends
            }
            let path =
                path.replace("{id}", "1").replace("{number}", "0").replace("{name}", "memcached");
            let answer =
                if method == "get" { served.get(&path) } else { served.post(&path, &json!({})) };
            assert!(!answer.body.contains(nothing), "{method} {path}: {}", answer.body);
            assert!(
                answer.status != 405 && (answer.status < 500 || answer.status == 503),
                "{method} {path}: {}",
                answer.status
            );
            asked += 1;
        }
    }
    assert!(asked >= 18, "{asked}");
    assert!(served.get("/api/v1/else").body.contains(nothing));
}

#[test]
fn a_wait_or_a_denominator_beyond_what_the_document_says_is_refused() {
    let world = World::new();
    sleeper(&world, "one", "0.01", 1);
    let served = serve(&world, &[]);
    let id = served.submit("one");
    assert_eq!(served.get(&format!("/api/v1/jobs/{id}?wait=50")).status, 200);
    assert_eq!(served.get(&format!("/api/v1/jobs/{id}?wait=51")).status, 400);
    let per = "/api/v1/landscapes/specjbb2005?per=";
    assert_eq!(served.get(&format!("{per}core,chip")).status, 200);
    assert_eq!(served.get(&format!("{per}moon")).status, 400);
    let run = served.until(id, "completed")["run"].as_str().unwrap().to_owned();
    let prices = format!("/compare?runs={run},{run}&prices=1");
    assert_eq!(served.get(&prices).status, 200, "one run is nothing to compare");
}

/// Random numbers that are the same in every test run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

#[test]
fn a_thousand_hostile_requests_bring_nothing_down_and_nothing_out() {
    let world = World::new();
    sleeper(&world, "good", "0.01", 1);
    world.write("secret.txt", "a secret beside the archive");
    let mut served = serve(&world, &["--rate", "100000", "--connections", "64"]);
    let id = served.submit("good");
    let run = served.until(id, "completed")["run"].as_str().unwrap().to_owned();
    // A link in a run's folder points out of it.
    let link = world.path(&format!("archive/runs/{run}/link.txt"));
    std::os::unix::fs::symlink(world.path("secret.txt"), &link).unwrap();
    // Clients that never finish their request.
    let slow: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(&served.address).unwrap();
            stream.write_all(b"GET /queue HTTP/1.1\r\nHost: 127").unwrap();
            stream
        })
        .collect();
    let starts = [
        "/api/v1/runs/",
        "/runs/",
        "/api/v1/jobs/",
        "/live/",
        "/assets/",
        "/",
        "/landscapes/",
        "/api/v1/experiments/",
        "/queue/new/",
        "/queue/new?run=",
        "/queue/new?workload=",
        "/api/v1/compare?runs=",
        "/archive?",
    ];
    let run_files = format!("{run}/files/");
    let parts = [
        "..",
        "%2e%2e",
        "%2e%2e%2f",
        "..%2f..%2f",
        "....//",
        "\\..\\",
        "%00",
        "%ff%fe",
        "secret.txt",
        "etc/passwd",
        "%252e%252e",
        "//",
        ";",
        "-1",
        "99999999999999999999",
        "'",
        "%27%20OR%201=1--",
        "<script>",
        "%3Cscript%3E",
        "sort=x",
        "page=-1",
        "since=yesterday",
        run_files.as_str(),
        "0",
        "link.txt",
        "{",
        "[",
        "\u{0}",
        "é",
    ];
    let methods = [
        "GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "HEAD", "CONNECT", "BREW",
        "G\0T",
    ];
    let token = format!("Authorization: Bearer {}", served.token);
    let mut numbers = Numbers(20_261_121);
    let mut answered = 0;
    for i in 0..1000 {
        let mut path = starts[numbers.below(starts.len())].to_owned();
        for _ in 0..=numbers.below(4) {
            path.push_str(parts[numbers.below(parts.len())]);
            if numbers.below(2) == 0 {
                path.push('/');
            }
        }
        let method = if i % 2 == 0 { "GET" } else { methods[numbers.below(methods.len())] };
        let length = [0, 1, 10, 300_000][numbers.below(4)];
        let claimed = if numbers.below(8) == 0 { 99_999_999_999_usize } else { length };
        let body = ["{", "x", "\u{0}", "["][numbers.below(4)].repeat(length);
        let kind = ["application/json", "text/plain", "application/x-www-form-urlencoded"]
            [numbers.below(3)];
        // The server does not wait for a body with a length that never comes.
        let body = if claimed == length { body } else { String::new() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{token}\r\nConnection: close\r\n\
            Content-Type: {kind}\r\nContent-Length: {claimed}\r\n\r\n{body}",
            served.address
        );
        if claimed != length {
            let mut stream = TcpStream::connect(&served.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            continue;
        }
        if let Some(answer) = served.raw(request.as_bytes()) {
            answered += 1;
            assert!(!answer.body.contains("a secret beside"), "{request}");
            assert!(!answer.body.contains("root:x:0"), "{request}");
            assert!(answer.status != 500, "{method} {path}: {}", answer.body);
        }
    }
    assert!(answered > 700, "{answered}");
    assert!(served.child.try_wait().unwrap().is_none(), "it lives");
    drop(slow);
    let files = served.get(&format!("/api/v1/runs/{run}/files")).json();
    let names: Vec<&str> =
        files.as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"plan.json") && !names.contains(&"link.txt"), "{names:?}");
    assert_eq!(served.get("/api/v1/status").status, 200);
}

#[test]
fn a_viewer_that_comes_back_misses_nothing() {
    let world = World::new();
    sleeper(&world, "watched", "0.05", 10);
    let served = serve(&world, &[]);
    let id = served.submit("watched");
    eventually("there is a run to watch", || {
        (served.get(&format!("/api/v1/jobs/{id}/live")).status == 200).then_some(())
    });
    let watch = |seen: Option<u64>, most: usize| {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let last = seen.map(|s| format!("Last-Event-ID: {s}\r\n")).unwrap_or_default();
        let request = format!(
            "GET /api/v1/jobs/{id}/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
            {last}\r\n",
            served.address, served.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut ids = Vec::new();
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if let Some(id) = line.strip_prefix("id: ") {
                ids.push(id.parse::<u64>().unwrap());
            }
            if ids.len() >= most || line.contains("\"event\":\"over\"") {
                break;
            }
        }
        ids
    };
    let mut seen = watch(None, 5);
    while served.job(id)["state"] != "completed" {
        seen.extend(watch(seen.last().copied(), 7));
    }
    seen.extend(watch(seen.last().copied(), usize::MAX));
    let first = seen[0];
    let expected: Vec<u64> = (first..first + seen.len() as u64).collect();
    assert_eq!(seen, expected, "every event once, in order");
    let events = std::fs::read_to_string(world.path("state/queue/000001/events.jsonl")).unwrap();
    assert_eq!(seen.last(), Some(&(events.lines().count() as u64)), "to the last");
}
