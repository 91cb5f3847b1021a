//! The workload `redis`, from the command line: a real server and its faults, and a fake one whose
//! answers are wrong. After each test no process is left.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{Done, World, done, eventually, json, metric, repository, root, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Returns true if Redis is installed; prints the reason otherwise.
fn redis() -> bool {
    let there = Command::new("redis-server").arg("--version").output().is_ok();
    if !there {
        println!("skipped: because there is no redis-server (Debian package redis-server)");
    }
    there
}

/// Returns the server of a run in `world`: Redis replaces its command line, and its working folder
/// is that of the trial.
fn server(world: &World) -> Option<i32> {
    let scratch = world.path("scratch");
    std::fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let folder = std::fs::read_link(entry.path().join("cwd")).ok()?;
        let name = std::fs::read_to_string(entry.path().join("comm")).ok()?;
        let found = folder.starts_with(&scratch) && name.trim() == "redis-server";
        entry.file_name().to_str()?.parse().ok().filter(|_| found)
    })
}

/// Waits until the server is under load and returns its process.
fn loaded_server(world: &World) -> Pid {
    let busy = || {
        let pid = server(world)?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
        let ticks: u64 = fields.filter_map(|f| f.parse::<u64>().ok()).sum();
        // The server that is started for its description uses far less.
        (ticks >= 40).then_some(pid)
    };
    Pid::from_raw(eventually("the server is under load", busy)).unwrap()
}

/// Runs a trial of a few tenths of a second, with additional settings.
fn run(world: &World, more: &[&str]) -> Done {
    let ran = done(&mut command(world, more));
    assert_eq!(server(world), None, "a server was left running: {}", ran.stderr);
    ran
}

fn command(world: &World, more: &[&str]) -> Command {
    blocks(world, "1", more)
}

/// Returns a run of short trials.
fn blocks(world: &World, number: &str, more: &[&str]) -> Command {
    let mut all: Vec<&str> = "run redis --json --monitors none --blocks".split(' ').collect();
    all.push(number);
    let short = ["keys=2000", "ramp_up=100 ms", "steady=400 ms", "ramp_down=100 ms"];
    all.extend(short.iter().chain(more).flat_map(|set| ["--set", set]));
    world.assay(&all)
}

/// Returns the severity of a finding in a record.
fn severity(record: &Value, id: &str) -> Option<String> {
    let found = record["findings"].as_array()?.iter().find(|f| f["id"] == id)?;
    found["severity"].as_str().map(str::to_owned)
}

#[test]
fn every_operation_is_measured_checked_and_described() {
    if !redis() {
        return;
    }
    let world = World::new();
    let mix = [
        "server.memory=1131 MiB",
        "gets=0.5",
        "deletes=0.1",
        "increments=0.1",
        "multi_gets=0.1",
        "depth=4",
    ];
    let ran = run(&world, &mix);
    let record = ran.record("completed");
    assert!(metric(&record, "throughput").unwrap() > 0.0);
    for name in ["errors", "error_rate", "missing", "evictions", "expired"] {
        assert_eq!(metric(&record, name), Some(0.0), "{name}");
    }
    for name in ["server_hits", "server_misses", "server_cpu", "p50"] {
        assert!(metric(&record, name).unwrap() > 0.0, "{name}");
    }
    let detail = record["validation"]["detail"].as_str().unwrap();
    assert!(detail.contains("incr calls") && detail.contains("agree"), "{detail}");
    for name in ["response_time.multi-get", "response_time.increment", "response_time.delete.small"]
    {
        assert_eq!(record["histograms"][name]["unit"], "ns", "{name}");
    }
    let system = std::fs::read_to_string(world.runs()[0].join("system.json")).unwrap();
    let system = json(&system);
    let fact = |name: &str| system["facts"][format!("workload.server.{name}")]["value"].clone();
    assert!(fact("version").as_str().unwrap().contains("v="), "{}", fact("version"));
    assert_eq!(fact("setting.maxmemory"), (1131u64 << 20).to_string());
    assert_eq!(fact("setting.appendonly"), "no");
    assert_eq!(fact("setting.requirepass"), Value::Null, "secrets are not recorded");
    assert_eq!(world.run(&["archive", "verify"]).code, 0);
}

#[test]
fn every_transport_and_both_versions_of_the_protocol() {
    if !redis() {
        return;
    }
    let world = World::new();
    let mut ways = vec![vec!["transport=unix"], vec!["protocol=resp3", "depth=16"]];
    if Command::new("openssl").arg("version").output().is_ok() {
        ways.push(vec!["transport=tls", "depth=16"]);
    } else {
        println!("skipped: TLS, because there is no openssl");
    }
    for way in ways {
        let record = run(&world, &way).record("completed");
        assert_eq!(record["validation"]["result"], "passed", "{way:?}: {record:#}");
    }
}

#[test]
fn the_experiment_can_be_planned() {
    if !redis() {
        return;
    }
    let file = repository().join("experiments/redis-pipelining.toml").display().to_string();
    let ran = World::new().run(&["plan", &file]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn sizes_from_a_file_and_their_mistakes() {
    if !redis() {
        return;
    }
    let world = World::new();
    world.write("sizes", "# bytes weight\n10 3\n1000 1\n");
    let sizes = format!("sizes=file:{}", world.path("sizes").display());
    let record = run(&world, &[&sizes, "key_sizes=etc"]).record("completed");
    assert_eq!(record["histograms"]["response_time.set.all"]["unit"], "ns");
    for (text, word) in
        [("10 NaN\n", "line 1: `10 NaN`"), ("2\n", "4 to 1000000"), ("", "no length")]
    {
        world.write("sizes", text);
        let ran = run(&world, &[&sizes]);
        assert_eq!(ran.code, 2, "{text:?}: {}", ran.stderr);
        assert!(ran.stderr.replace("\n  ", " ").contains(word), "{text:?}: {}", ran.stderr);
    }
    for (set, word) in [
        ("sizes=normal:3", "it takes a distribution"),
        ("sizes=lognormal:300,NaN", "sigma above 0"),
        ("key_sizes=fixed:8", "key_sizes"),
        ("deletes=0.5", "sum of the shares"),
        ("sizes=file:/no/such/file", "/no/such/file"),
        ("sizes=etc size.small=9", "`size.small` is for `sizes = \"classes\"`"),
    ] {
        let ran = run(&world, &set.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, 2, "{set}: {}", ran.stderr);
        assert!(ran.stderr.replace("\n  ", " ").contains(word), "{set}: {}", ran.stderr);
    }
}

#[test]
fn evictions_void_required_hits_and_belong_to_a_read_through_cache() {
    if !redis() {
        return;
    }
    let world = World::new();
    let small = ["keys=20000", "server.options=--maxmemory-policy allkeys-lru"];
    let small = [&small[..], &["server.memory=9 MiB"]].concat();
    let record = run(&world, &small).record("completed");
    assert_eq!(severity(&record, "F16").as_deref(), Some("invalid"), "{}", record["findings"]);
    let record = run(&world, &[&small[..], &["read_through=true"]].concat()).record("completed");
    assert_eq!(severity(&record, "F16"), None, "{}", record["findings"]);
    assert!(metric(&record, "evictions").unwrap() > 0.0);
    assert!(metric(&record, "hit_ratio").unwrap() < 1.0);
    let ran = run(&world, &["keys=20000", "server.memory=9 MiB"]);
    let error = ran.record("failed")["error"].as_str().unwrap().to_owned();
    assert!(error.contains("-OOM") && error.contains("server.memory"), "{error}");
}

#[test]
fn a_server_that_is_killed_fails_the_trial() {
    if !redis() {
        return;
    }
    let world = World::new();
    let mut command = command(&world, &["steady=60 s"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    kill_process(loaded_server(&world), Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let record = json(&String::from_utf8_lossy(&output.stdout))["records"][0].clone();
    let error = record["error"].as_str().unwrap();
    assert!(error.contains("went away") && error.contains("signal: 9"), "{error}");
    wait_for("the server lives on", || server(&world).is_none());
}

#[test]
fn answers_that_a_stall_delays_are_missing_and_not_wrong() {
    if !redis() {
        return;
    }
    let world = World::new();
    let more = ["steady=6 s", "op_timeout=500 ms", "max_missing=0", "increments=0.1"];
    let mut command = command(&world, &more);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let server = loaded_server(&world);
    kill_process(server, Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    kill_process(server, Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    let record = json(&String::from_utf8_lossy(&output.stdout))["records"][0].clone();
    assert_eq!(record["outcome"], "completed", "{record:#}");
    assert!(metric(&record, "missing").unwrap() > 0.0);
    assert!(metric(&record, "missing_rate").unwrap() > 0.0);
    assert_eq!(metric(&record, "errors"), Some(0.0), "{record:#}");
    assert_eq!(severity(&record, "F16").as_deref(), Some("invalid"), "{}", record["findings"]);
    assert_eq!(output.status.code(), Some(4));
}

/// A Redis that the test starts on a socket, killed when dropped.
struct Own(Child);

impl Own {
    fn new(program: &Path, socket: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(["--port", "0", "--save", "", "--unixsocket"]).arg(socket);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let own = Own(command.spawn().unwrap());
        wait_for("redis makes no socket", || {
            std::os::unix::net::UnixStream::connect(socket).is_ok()
        });
        own
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a command and returns the lines of its answer.
fn ask(socket: &Path, request: &str) -> Vec<String> {
    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    write!(stream, "{request}\r\nQUIT\r\n").unwrap();
    BufReader::new(stream).lines().map_while(Result::ok).collect()
}

#[test]
fn a_server_that_runs_already_keeps_its_keys_and_may_not_be_exchanged() {
    if !redis() {
        return;
    }
    let world = World::new();
    let socket = world.path("own.sock");
    let own = Own::new(Path::new("redis-server"), &socket);
    assert_eq!(ask(&socket, "SET mine 1")[0], "+OK");
    let address = format!("server.address={}", socket.display());
    let asked = ["transport=unix", &address];
    let record = done(&mut command(&world, &asked)).record("completed");
    assert_eq!(record["validation"]["result"], "passed", "{record:#}");
    assert_eq!(metric(&record, "server_busy"), None, "what cannot be known is missing");
    assert_eq!((&*ask(&socket, "GET mine")[1], &*ask(&socket, "DBSIZE")[0]), ("1", ":2001"));
    // The same address is served by a new process before the load has ended.
    let mut command = command(&world, &[&asked[..], &["steady=8 s", "max_missing=1"]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("the load runs", || {
        let lines = ask(&socket, "INFO clients");
        let clients = lines.iter().find_map(|l| l.strip_prefix("connected_clients:"));
        clients.and_then(|n| n.parse::<u64>().ok()).filter(|n| *n > 64)
    });
    let next = world.path("next.sock");
    let _other = Own::new(Path::new("redis-server"), &next);
    std::fs::rename(&next, &socket).unwrap();
    drop(own);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let record = json(&text)["records"][0].clone();
    let told = format!("{} {}", record["error"], record["validation"]["detail"]);
    assert!(told.contains("run_id was") || told.contains("went away"), "{told}");
    assert_ne!(output.status.code(), Some(0), "{record:#}");
}

/// Answer of a fake server to a command.
type FakeAnswer = fn(&str) -> &'static [u8];

/// Starts a server that answers sets, and everything else with `answer`.
fn fake(answer: FakeAnswer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(&stream, answer));
        }
    });
    address
}

/// Reads requests until the connection ends; `None` then.
fn serve(mut stream: &TcpStream, answer: FakeAnswer) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    loop {
        let mut words = Vec::new();
        line.clear();
        reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
        let count = line.trim().strip_prefix('*').map_or(0, |n| n.parse().unwrap());
        for _ in 0..count {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let mut word = vec![0; line.trim().strip_prefix('$')?.parse::<usize>().ok()? + 2];
            reader.read_exact(&mut word).ok()?;
            words.push(String::from_utf8_lossy(&word).trim_end().to_owned());
        }
        let command = words.first().map_or("INFO", String::as_str);
        let told = answer(command);
        stream.write_all(if command == "SET" { b"+OK\r\n" } else { told }).ok()?;
    }
}

#[test]
fn every_kind_of_wrong_answer_makes_the_trial_invalid_and_is_named() {
    let world = World::new();
    let cases: [(FakeAnswer, &str, &str); 8] = [
        (|_| b"$4\r\nabcd\r\n", "gets=1", "wrong content"),
        (|_| b"$5\r\nabcde\r\n", "gets=1", "wrong length"),
        (|_| b":1\r\n", "gets=1", "a number without a request"),
        (|_| b"+OK\r\n", "gets=1", "an answer to another kind of request"),
        (|_| b"hello\r\n", "gets=1", "not an answer to a request"),
        (|_| b":7\r\n", "increments=1", "wrong number 7"),
        (|_| b":2\r\n", "deletes=1", "wrong number 2"),
        (|_| b"*1\r\n$-1\r\n", "multi_gets=1", "an array of another length"),
    ];
    for (answer, share, words) in cases {
        let address = format!("server.address={}", fake(answer));
        let gets = if share == "gets=1" { share } else { "gets=0" };
        let ran = done(&mut command(&world, &[&address, gets, share, "sizes=fixed:4", "keys=10"]));
        let record = json(&ran.stdout)["records"][0].clone();
        let told = format!("{} {}", record["error"], record["validation"]["detail"]);
        assert!(told.contains(words), "{words}: {told}");
        assert_ne!(ran.code, 0, "{words}: {told}");
    }
}

#[test]
fn refusals_are_counted_by_kind_and_limited() {
    let world = World::new();
    for (answer, name) in [
        ((|_| b"-OOM no memory\r\n") as FakeAnswer, "out of memory"),
        (|_| b"-LOADING data\r\n", "not ready"),
        (|_| b"-MOVED 1 h:1\r\n", "moved to another server"),
        (|_| b"-ERR unknown\r\n", "not understood by the server"),
        (|_| b"-NOAUTH required\r\n", "server error"),
    ] {
        let address = format!("server.address={}", fake(answer));
        let more = [&address, "gets=0.1", "keys=10", "max_errors=0.5"];
        let record = done(&mut command(&world, &more)).record("completed");
        assert_eq!(record["validation"]["result"], "passed", "{record:#}");
        assert!(record["notes"].to_string().contains(&format!(" {name} (the first")), "{record:#}");
        let rate = metric(&record, "error_rate").unwrap();
        assert!(rate > 0.0 && rate < 0.5, "{rate}");
        let ran = done(&mut command(&world, &more[..3]));
        let record = json(&ran.stdout)["records"][0].clone();
        assert_eq!(record["validation"]["result"], "failed", "{record:#}");
        assert_ne!(ran.code, 0, "{name}");
    }
}

#[test]
fn a_version_that_changes_between_trials_is_found() {
    /// Objects that were set; a trial sets ten before its load.
    static SETS: AtomicU64 = AtomicU64::new(0);
    let address = fake(|command| match command {
        "SET" => {
            SETS.fetch_add(1, Ordering::AcqRel);
            b""
        }
        "INFO" if SETS.load(Ordering::Acquire) < 10 => b"$19\r\nredis_version:7.0\r\n\r\n",
        "INFO" => b"$19\r\nredis_version:7.2\r\n\r\n",
        _ => b":1\r\n",
    });
    let world = World::new();
    let address = format!("server.address={address}");
    let ran = done(&mut blocks(&world, "2", &[&address, "gets=0", "deletes=1", "keys=10"]));
    let result = json(&ran.stdout);
    let details: Vec<String> = result["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["validation"]["detail"].to_string())
        .collect();
    let words = "version was 7.0 in an earlier trial and is 7.2";
    assert!(!details[0].contains(words) && details[1].contains(words), "{details:#?}");
    assert_ne!(ran.code, 0);
}

/// A small file system in memory, unmounted when dropped.
struct SmallDisk(std::path::PathBuf);

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_fills_makes_a_server_with_a_log_refuse_sets() {
    if !redis() {
        return;
    }
    if !root() {
        println!("skipped: because a small file system needs root");
        return;
    }
    let world = World::new();
    let folder = world.path("scratch");
    std::fs::create_dir_all(&folder).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"])
        .arg(&folder)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: because this user may not mount a tmpfs");
        return;
    }
    let _disk = SmallDisk(folder);
    let more = ["server.options=--appendonly yes", "gets=0", "steady=3 s"];
    let ran = run(&world, &more);
    let record = json(&ran.stdout)["records"][0].clone();
    let told = format!("{} {}", record["error"], record["validation"]["detail"]);
    assert!(told.contains("MISCONF") && told.contains("No space left"), "{told}");
    assert_ne!(ran.code, 0);
}

/// Returns a Valkey: the one on PATH, or the one that `scripts/test-packages` fetched.
fn valkey() -> Option<String> {
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(std::path::PathBuf::from).or(home);
    let fetched = cache.map(|cache| cache.join("assay-tests/valkey-server").display().to_string());
    let works = |program: &String| {
        Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
    };
    [Some("valkey-server".to_owned()), fetched].into_iter().flatten().find(works)
}

#[test]
fn valkey_is_measured_as_redis_is() {
    let Some(program) = valkey() else {
        println!("skipped: because there is no valkey-server (Debian 13, `scripts/test-packages`)");
        return;
    };
    let world = World::new();
    let path = format!("server.path={program}");
    let mix = ["gets=0.5", "deletes=0.1", "increments=0.1", "multi_gets=0.1", path.as_str()];
    let mut ways = vec![
        vec!["depth=4"],
        vec!["protocol=resp3", "depth=16"],
        vec!["transport=unix", "protocol=resp3"],
    ];
    if Command::new("openssl").arg("version").output().is_ok() {
        ways.extend([vec!["transport=tls"], vec!["transport=tls", "protocol=resp3", "depth=4"]]);
    } else {
        println!("skipped: TLS, because there is no openssl");
    }
    for way in ways {
        let record = run(&world, &[&mix[..], &way].concat()).record("completed");
        assert_eq!(record["validation"]["result"], "passed", "{way:?}: {record:#}");
        let detail = record["validation"]["detail"].as_str().unwrap();
        assert!(detail.contains("mget calls") && detail.contains("agree"), "{way:?}: {detail}");
        let version = record["notes"].to_string();
        assert!(version.contains("the server's version: valkey "), "{version}");
    }
}

/// Asserts that no file below `folder` has `secret`.
fn assert_absent(secret: &str, folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            assert_absent(secret, &entry.path());
        } else if let Ok(bytes) = std::fs::read(entry.path()) {
            let found = bytes.windows(secret.len()).any(|w| w == secret.as_bytes());
            assert!(!found, "{} has the password", entry.path().display());
        }
    }
}

/// Asserts that no process has `secret` on its command line or in its environment.
fn assert_unseen(secret: &str) {
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        for file in ["cmdline", "environ"] {
            let text = std::fs::read(entry.path().join(file)).unwrap_or_default();
            let path = entry.path();
            assert!(!String::from_utf8_lossy(&text).contains(secret), "{}", path.display());
        }
    }
}

#[test]
fn a_password_comes_from_a_file_and_goes_nowhere_else() {
    if !redis() {
        return;
    }
    let (world, files) = (World::new(), World::new());
    let secret = "onlyInTheFile41";
    let rules = format!("user default on >{secret} ~* &* +@all\nuser ann on >{secret} ~* &* +@all");
    let file = |name: &str, text: &str| files.write(name, text).display().to_string();
    let options = format!("server.options=--aclfile {}", file("users.acl", &rules));
    let password = format!("auth.password_file={}", file("password", &format!("{secret}\n")));
    let wrong = format!("auth.password_file={}", file("other", "another1\n"));
    for way in [vec!["depth=4"], vec!["protocol=resp3", "auth.user=ann"]] {
        let more = [&[options.as_str(), &password], &way[..]].concat();
        let record = run(&world, &more).record("completed");
        assert_eq!(record["validation"]["result"], "passed", "{way:?}: {record:#}");
    }
    let more = [options.as_str(), &password, "steady=2 s"];
    let child = command(&world, &more).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    loaded_server(&world);
    assert_unseen(secret);
    let ran = child.unwrap().wait_with_output().unwrap();
    // A finding about the machine changes the exit code.
    let measured = |code: i32| [0, 4].contains(&code);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code().is_some_and(measured), "{said}");
    let page = world.path("page").display().to_string();
    let published = world.run(&["publish", "last", "-o", &page]);
    // One trial has no interval, which the page lacks then.
    assert!(measured(published.code), "{}", published.stderr);
    assert!(Path::new(&page).join("index.html").exists());
    for (more, says) in [
        (vec![options.as_str(), &wrong], ["WRONGPASS", "check `auth.user` and the file"]),
        (vec![&options], ["NOAUTH", "requires a password; set `auth.password_file`"]),
    ] {
        let failed = run(&world, &more);
        let text = failed.stderr.replace("\n  ", " ");
        assert_eq!(failed.code, 3, "{text}");
        assert!(says.iter().all(|part| text.contains(part)), "{text}");
    }
    for (set, says) in [
        ("server.options=--requirepass x", "everybody on the machine can see"),
        ("auth.user=ann", "`auth.user` needs `auth.password_file`"),
        ("auth.password_file=/nonexistent", "/nonexistent: No such file"),
    ] {
        let refused = run(&world, &[set]);
        let text = refused.stderr.replace("\n  ", " ");
        assert!(refused.code == 2 && text.contains(says), "{set}: {text}");
    }
    assert_absent(secret, &world.path(""));
}
