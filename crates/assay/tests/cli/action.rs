//! The GitHub action and the GitLab job: every step of `action.yml` runs as the runner runs it, in
//! a checkout of a repository whose main branch has moved, with a local server in place of the API.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use assay_testing::git;
use serde_json::{Value, json};

use crate::common::{World, repository};

fn file(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

/// Returns the code blocks of the page about CI in a language.
fn blocks_of_page(language: &str) -> Vec<String> {
    let page = file("docs/track/ci.md");
    let begin = format!("```{language}\n");
    let blocks = page.split(&begin).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Reads the part of YAML that `action.yml` and the jobs use: maps and lists in block style, plain,
/// quoted, folded and literal scalars. A list in brackets stays a text.
fn yaml(text: &str) -> Value {
    let lines = text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut lines: Vec<(usize, String)> =
        lines.map(|l| (depth(l), l.trim_start().to_owned())).collect();
    lines.reverse();
    block(&mut lines, 0)
}

/// Reads a map or list from the end of `lines`, at this depth.
fn block(lines: &mut Vec<(usize, String)>, at: usize) -> Value {
    let (mut list, mut map) = (Vec::new(), serde_json::Map::new());
    while let Some((depth, line)) = lines.pop_if(|(depth, _)| *depth >= at) {
        assert_eq!(depth, at, "{line}");
        if let Some(item) = line.strip_prefix("- ") {
            if item.contains(": ") {
                lines.push((at + 2, item.to_owned()));
                list.push(block(lines, at + 2));
            } else {
                list.push(scalar(item));
            }
            continue;
        }
        let (key, rest) = line.split_once(':').unwrap_or_else(|| panic!("{line}"));
        let deeper = lines.last().map_or(0, |(depth, _)| *depth);
        let value = match rest.trim() {
            "" if deeper > at => block(lines, deeper),
            text @ (">-" | "|") => {
                let mut parts = Vec::new();
                while let Some((_, line)) = lines.pop_if(|(depth, _)| *depth > at) {
                    parts.push(line);
                }
                Value::String(parts.join(if text == "|" { "\n" } else { " " }))
            }
            text => scalar(text),
        };
        map.insert(key.to_owned(), value);
    }
    if list.is_empty() { Value::Object(map) } else { Value::Array(list) }
}

fn scalar(text: &str) -> Value {
    let quoted = |q: char| text.strip_prefix(q).and_then(|t| t.strip_suffix(q));
    Value::String(quoted('"').or_else(|| quoted('\'')).unwrap_or(text).to_owned())
}

/// Replaces the expressions `${{ ... }}` of a text.
fn expand(text: &Value, contexts: &Value) -> String {
    let mut parts = text.as_str().unwrap().split("${{");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (expression, rest) = part.split_once("}}").unwrap();
        out += &evaluate(expression.trim(), contexts);
        out += rest;
    }
    out
}

/// Evaluates `||`, `!=`, texts and properties; all that action.yml uses.
fn evaluate(expression: &str, contexts: &Value) -> String {
    if let Some((first, rest)) = expression.split_once(" || ") {
        let first = evaluate(first, contexts);
        return if first.is_empty() { evaluate(rest, contexts) } else { first };
    }
    if let Some((left, right)) = expression.split_once(" != ") {
        return (evaluate(left, contexts) != evaluate(right, contexts)).to_string();
    }
    if let Some(text) = expression.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        return text.to_owned();
    }
    let known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    assert!(expression.chars().all(known), "the test cannot evaluate `{expression}`");
    let mut names = expression.split('.');
    let mut value = contexts.get(names.next().unwrap()).unwrap_or_else(|| panic!("{expression}"));
    for name in names {
        value = &value[name];
    }
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Comments of pull request 7, served like GitHub's API.
#[derive(Default)]
struct Api {
    comments: Vec<Value>,
    /// Status of requests that write, in place of that of success.
    refuses: Option<u16>,
    requests: Vec<String>,
}

impl Api {
    fn serve() -> (String, Arc<Mutex<Api>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let api = Arc::new(Mutex::new(Api::default()));
        let shared = Arc::downgrade(&api);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Some(api) = shared.upgrade() else { return };
                api.lock().unwrap().answer(stream.unwrap());
            }
        });
        (url, api)
    }

    fn answer(&mut self, stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let header = |name: &str| lines.iter().find_map(|l| l.strip_prefix(name));
        assert_eq!(header("Authorization: "), Some("Bearer a-token"), "{lines:?}");
        let mut body = vec![0; header("Content-Length: ").map_or(0, |n| n.parse().unwrap())];
        reader.read_exact(&mut body).unwrap();
        let request = lines[0].strip_suffix(" HTTP/1.1").unwrap();
        self.requests.push(request.to_owned());
        let (status, answer) = self.respond(request, &body);
        let text = answer.to_string();
        let head = format!("HTTP/1.1 {status} -\r\nContent-Length: {}\r\n", text.len());
        write!(reader.get_mut(), "{head}Connection: close\r\n\r\n{text}").unwrap();
    }

    fn respond(&mut self, request: &str, body: &[u8]) -> (u16, Value) {
        let (method, path) = request.split_once(' ').unwrap();
        let path = path.strip_prefix("/repos/o/prog/issues/").unwrap();
        if let (true, Some(status)) = (method != "GET", self.refuses) {
            return (status, json!({ "message": "Resource not accessible by integration" }));
        }
        let text = |body| serde_json::from_slice::<Value>(body).unwrap()["body"].clone();
        match (method, path) {
            ("GET", path) => {
                let page = path.strip_prefix("7/comments?per_page=100&page=").unwrap();
                let page: usize = page.parse().unwrap();
                let all: Vec<&Value> = self.comments.iter().skip(100 * (page - 1)).collect();
                (200, json!(all[..all.len().min(100)]))
            }
            ("POST", "7/comments") => {
                self.add("Bot", "NONE", &text(body));
                (201, self.comments.last().unwrap().clone())
            }
            ("PATCH", path) => {
                let id: usize = path.strip_prefix("comments/").unwrap().parse().unwrap();
                self.comments[id]["body"] = text(body);
                (200, self.comments[id].clone())
            }
            _ => (404, Value::Null),
        }
    }

    fn add(&mut self, kind: &str, association: &str, body: &Value) {
        let id = self.comments.len();
        self.comments.push(json!({
            "id": id, "body": body, "user": { "type": kind }, "author_association": association,
            "html_url": format!("https://example.org/comment-{id}"),
        }));
    }

    /// Returns the comments of the action.
    fn written(&self) -> Vec<&str> {
        let all = self.comments.iter().filter(|c| c["user"]["type"] == "Bot");
        all.map(|c| c["body"].as_str().unwrap()).collect()
    }
}

/// Runs the action in a checkout.
struct Runner {
    world: World,
    /// Repository on the server.
    origin: PathBuf,
    /// Checkout of the job.
    workspace: PathBuf,
    event: Value,
    event_name: &'static str,
    token: &'static str,
    url: String,
    api: Arc<Mutex<Api>>,
}

/// Result of one use of the action.
struct Used {
    code: i32,
    log: String,
    summary: String,
    outputs: BTreeMap<String, String>,
    /// Path and key of the cached builds.
    cache: Option<(String, String)>,
}

impl Used {
    fn read(&self, output: &str) -> String {
        fs::read_to_string(&self.outputs[output]).unwrap()
    }
}

const SLOW: &str = "sleep 0.2";
const QUICK: &str = "sleep 0.05";
const BROKEN: &str = "#broken";

/// Commits a program that notes its arguments; returns the commit.
fn commit(repo: &Path, program: &str, note: &str) -> String {
    let text = format!("#!/bin/sh\nprintf '%s|' \"$@\" > \"$SEEN\"\n{program}\n");
    fs::write(repo.join("prog.in"), text).unwrap();
    fs::write(repo.join("note"), note).unwrap();
    let build = "! grep '^#broken' prog.in && [ -z \"$BUILD$OPTIONS$COMMAND\" ] || exit 1\n\
                 cp prog.in prog && chmod +x prog\n";
    fs::write(repo.join("build.sh"), build).unwrap();
    fs::write(repo.join("Makefile"), "all:\n\tsh build.sh\n").unwrap();
    git(repo, &["add", "."]);
    git(repo, &["commit", "--quiet", "-m", note]);
    git(repo, &["rev-parse", "HEAD"])
}

impl Runner {
    /// Makes a pull request with `program`, cut from a slow main that became quick afterwards, and
    /// checks out GitHub's test merge. `None` if a program of the action is missing.
    fn of_pull_request(program: &str) -> Option<Runner> {
        for needed in ["curl", "jq"] {
            if Command::new(needed).arg("--version").output().is_err() {
                println!("skipped: because {needed} is not installed");
                return None;
            }
        }
        let world = World::new();
        let (origin, workspace) = (world.path("origin"), world.path("work space"));
        fs::create_dir(&origin).unwrap();
        git(&origin, &["init", "--quiet"]);
        let old = commit(&origin, SLOW, "old");
        git(&origin, &["checkout", "--quiet", "-b", "pr"]);
        let head = commit(&origin, program, "change");
        git(&origin, &["checkout", "--quiet", "main"]);
        let main = commit(&origin, QUICK, "old");
        // The test merge has the program of the pull request.
        git(&origin, &["checkout", "--quiet", "--detach", "main"]);
        git(&origin, &["merge", "--quiet", "--no-commit", "-s", "ours", "pr"]);
        git(&origin, &["checkout", "pr", "--", "."]);
        git(&origin, &["commit", "--quiet", "-m", &format!("Merge {head} into {main}")]);
        git(&origin, &["update-ref", "refs/pull/7/merge", "HEAD"]);
        git(&origin, &["checkout", "--quiet", "main"]);
        let (url, api) = Api::serve();
        let event = json!({ "pull_request": { "number": 7, "base": { "sha": old } } });
        let (event_name, token) = ("pull_request", "a-token");
        let runner = Runner { world, origin, workspace, event, event_name, token, url, api };
        runner.check_out("refs/pull/7/merge", &[]);
        Some(runner)
    }

    /// Checks out a reference as `actions/checkout` does, with all branches unless `depth` limits
    /// it, and empties the folder of the job.
    fn check_out(&self, reference: &str, depth: &[&str]) {
        let _ = fs::remove_dir_all(&self.workspace);
        fs::create_dir(&self.workspace).unwrap();
        git(&self.workspace, &["init", "--quiet"]);
        let from = format!("file://{}", self.origin.display());
        git(&self.workspace, &["remote", "add", "origin", &from]);
        let job = format!("+{reference}:refs/remotes/job");
        let refs = [job.as_str(), "+refs/heads/*:refs/remotes/origin/*"];
        let refs = if depth.is_empty() { &refs[..] } else { &refs[..1] };
        git(&self.workspace, &[&["fetch", "--quiet"], depth, &["origin"], refs].concat());
        git(&self.workspace, &["checkout", "--quiet", "--detach", "refs/remotes/job"]);
        self.new_job();
    }

    fn new_job(&self) {
        let _ = fs::remove_dir_all(self.world.path("temp"));
        fs::create_dir(self.world.path("temp")).unwrap();
    }

    /// Uses the action with the defaults of these tests and `inputs`.
    fn uses(&self, inputs: &[(&str, &str)]) -> Used {
        let action = yaml(&file("action.yml"));
        let mut contexts = json!({
            "github": {
                "token": self.token, "event": self.event, "action_ref": "main",
                "action_repository": "o/assay",
            },
            "runner": { "os": "Linux", "arch": "X64" }, "strategy": { "job-index": 0 },
            "inputs": {}, "steps": {},
        });
        for (name, input) in action["inputs"].as_object().unwrap() {
            contexts["inputs"][name] = expand(&input["default"], &contexts).into();
        }
        let usual = [
            ("path", env!("CARGO_BIN_EXE_assay")),
            ("command", "./prog"),
            ("build", "sh build.sh"),
            ("margin", "40 %"),
            ("profile", "never"),
            ("options", "--monitors\nnone"),
        ];
        for (name, value) in usual.iter().chain(inputs) {
            assert!(contexts["inputs"].get(name).is_some(), "action.yml has no input {name}");
            contexts["inputs"][name] = (*value).into();
        }
        let summary = self.world.write("summary", "");
        let (mut code, mut log, mut cache) = (0, String::new(), None);
        for step in action["runs"]["steps"].as_array().unwrap() {
            let holds = step.get("if").is_none_or(|c| expand(c, &contexts) == "true");
            if !holds || code != 0 {
                continue;
            }
            if let Some(used) = step.get("uses") {
                assert_eq!(used, "actions/cache@v5");
                let with = |name: &str| expand(&step["with"][name], &contexts);
                cache = Some((with("path"), with("key")));
                continue;
            }
            assert_eq!(step["shell"], "bash");
            let (script, output) =
                (expand(&step["run"], &contexts), self.world.write("output", ""));
            let script = self.world.write("step.sh", &script);
            let mut shell = self.shell();
            for (name, value) in step["env"].as_object().unwrap() {
                shell.env(name, expand(value, &contexts));
            }
            shell
                .args(["--noprofile", "--norc", "-eo", "pipefail"])
                .arg(script)
                .env("RUNNER_TEMP", self.world.path("temp"))
                .env("GITHUB_ACTION_PATH", repository())
                .env("GITHUB_OUTPUT", &output)
                .env("GITHUB_STEP_SUMMARY", &summary)
                .env("GITHUB_API_URL", &self.url)
                .env("GITHUB_SERVER_URL", &self.url)
                .env("GITHUB_REPOSITORY", "o/prog")
                .env("GITHUB_WORKFLOW", "bench")
                .env("GITHUB_JOB", "gate")
                .env("GITHUB_EVENT_NAME", self.event_name);
            if self.event_name == "pull_request" {
                shell.env("GITHUB_BASE_REF", "main");
            }
            let done = shell.output().unwrap();
            code = done.status.code().unwrap();
            log += &(String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr));
            let Some(id) = step.get("id").and_then(Value::as_str) else { continue };
            for line in fs::read_to_string(&output).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                contexts["steps"][id]["outputs"][name] = value.into();
            }
        }
        let outputs = action["outputs"].as_object().unwrap().iter();
        let outputs = outputs.map(|(name, o)| (name.clone(), expand(&o["value"], &contexts)));
        let summary = fs::read_to_string(summary).unwrap();
        Used { code, log, summary, outputs: outputs.collect(), cache }
    }

    /// Returns a shell in the checkout, whose folders of assay are those of the world.
    fn shell(&self) -> Command {
        let mut shell = Command::new("bash");
        shell.current_dir(&self.workspace).env("SEEN", self.world.path("seen"));
        for (name, value) in self.world.assay(&[]).get_envs() {
            shell.env(name, value.unwrap());
        }
        shell.env_remove("ASSAY_ARCHIVE").env_remove("ASSAY_CACHE");
        let assay = Path::new(env!("CARGO_BIN_EXE_assay")).parent().unwrap();
        let path = format!("{}:{}", assay.display(), std::env::var("PATH").unwrap());
        shell.env("XDG_CACHE_HOME", self.world.path("xdg")).env("PATH", path);
        shell
    }

    fn written(&self) -> Vec<String> {
        self.api.lock().unwrap().written().into_iter().map(str::to_owned).collect()
    }
}

#[test]
fn a_test_merge_is_judged_by_what_it_changes_and_its_comment_is_replaced() {
    let Some(runner) = Runner::of_pull_request(SLOW) else { return };
    // An older result, an outsider's copy of the marker, and more comments than fit on a page.
    fs::write(runner.workspace.join("gate.md"), "an older result").unwrap();
    let marker = "<!-- assay gate: bench, gate, 0, 1 -->";
    let copy = json!(format!("{marker}\nmine"));
    for _ in 0..100 {
        runner.api.lock().unwrap().add("User", "NONE", &copy);
    }
    let used = runner.uses(&[]);
    assert_eq!(used.code, 5, "{}", used.log);
    assert_eq!(used.outputs["verdict"], "worse");
    // The first parent is main's tip, and not the older one of the event.
    let base = &git(&runner.origin, &["rev-parse", "main"])[..10];
    let head = &git(&runner.workspace, &["rev-parse", "HEAD"])[..10];
    let sentence = format!("HEAD ({head}) is worse than origin/main ({base}) by more than");
    for text in [&used.log, &used.summary, &used.read("markdown")] {
        assert!(text.contains(&sentence), "{text}");
        assert!(!text.contains("older result"), "{text}");
    }
    assert!(used.log.contains("::error title=assay gate (worse)::HEAD ("), "{}", used.log);
    assert!(used.read("junit").contains("<failure"), "{}", used.read("junit"));
    assert!(used.read("json").contains("\"head_commit\""), "{}", used.read("json"));
    let runs = Path::new(&used.outputs["archive"]).join("runs");
    assert_eq!(fs::read_dir(runs).unwrap().count(), 1);
    let written = runner.written();
    assert_eq!(written.len(), 1, "{written:?}");
    assert!(written[0].starts_with(marker) && written[0].contains(&sentence), "{written:?}");
    // The builds are where the cache of the action saves them, and the next job reuses them.
    let (path, key) = used.cache.unwrap();
    assert!(Path::new(&path).read_dir().unwrap().count() >= 2, "{path}");
    assert!(path.ends_with("assay/revisions"), "{path}");
    assert!(key.starts_with("assay-builds-Linux-X64-") && key.len() > 50, "{key}");
    assert!(used.log.contains("building"), "{}", used.log);
    // A later job, in which the pull request is as quick as main.
    runner.new_job();
    git(&runner.workspace, &["checkout", "--quiet", "--detach", "HEAD^1"]);
    let quick = commit(&runner.workspace, QUICK, "quick");
    let again = runner.uses(&[("head", &quick)]);
    assert_eq!(again.code, 0, "{}", again.log);
    assert!(!again.log.contains(&format!("building origin/main ({base})")), "{}", again.log);
    assert_eq!(again.cache.unwrap().1, key);
    let written = runner.written();
    assert!(written.len() == 1 && !written[0].contains("is worse"), "{written:?}");
    assert!(again.log.contains("comment: https://example.org/comment-100"), "{}", again.log);
    let requests = runner.api.lock().unwrap().requests.join("\n");
    assert!(requests.contains("page=2") && requests.contains("PATCH"), "{requests}");
}

#[test]
fn uses_in_one_job_stay_apart_and_arguments_arrive_as_given() {
    let Some(runner) = Runner::of_pull_request(QUICK) else { return };
    fs::write(runner.workspace.join("file.c"), "").unwrap();
    let command = r#"./prog 'a b' --re '*.c' "d\"q" e\ f 'g$HOME' "#;
    let used = runner.uses(&[("command", command), ("metric", "user"), ("budget", "1 s")]);
    // The older base of the event would make the pull request better.
    assert!(used.code == 0 && used.outputs["verdict"] != "better", "{}", used.log);
    let seen = fs::read_to_string(runner.world.path("seen")).unwrap();
    assert_eq!(seen, "a b|--re|*.c|d\"q|e f|g$HOME|");
    assert!(used.read("json").contains("\"metric\": \"user\""), "{}", used.read("json"));
    let experiment =
        "name = \"of-file\"\nworkload = \"command\"\n[params]\ncommand = \"./prog x\"\n";
    fs::write(runner.workspace.join("bench.toml"), experiment).unwrap();
    let other = [("command", ""), ("experiment", "bench.toml"), ("budget", "1 s")];
    let other = runner.uses(&other);
    assert_eq!(other.code, 0, "{}", other.log);
    assert!(other.summary.contains("of-file"), "{}", other.summary);
    for output in ["markdown", "junit", "json", "archive"] {
        assert_ne!(used.outputs[output], other.outputs[output]);
    }
    assert!(!used.read("markdown").contains("of-file"));
    let benchmarks = "echo goos: linux; echo BenchmarkA-2 100 5000 ns/op";
    let suite = [("command", benchmarks), ("reader", "go-bench"), ("name", "a suite")];
    let suite = runner.uses(&[&suite[..], &[("options", "--shell"), ("budget", "2 s")]].concat());
    assert!(suite.read("json").contains("BenchmarkA"), "{}{}", suite.log, suite.read("json"));
    let written = runner.written();
    let first: Vec<&str> = written.iter().map(|w| w.lines().next().unwrap()).collect();
    let marker = |name: &str| format!("<!-- assay gate: bench, gate, 0, {name} -->");
    assert_eq!(first, ["1", "2", "a suite"].map(marker));
}

#[test]
fn a_build_that_fails_has_a_verdict_a_comment_and_an_error_for_the_ci() {
    let Some(runner) = Runner::of_pull_request(BROKEN) else { return };
    let used = runner.uses(&[]);
    assert_eq!((used.code, used.outputs["verdict"].as_str()), (3, "unknown"), "{}", used.log);
    let head = &git(&runner.workspace, &["rev-parse", "HEAD"])[..10];
    let sentence = format!("HEAD ({head}) does not build");
    assert!(used.summary.contains(&sentence), "{}", used.summary);
    assert!(used.log.contains("::error title=assay gate (unknown)::HEAD ("), "{}", used.log);
    assert!(used.read("junit").contains("type=\"does not build\""), "{}", used.read("junit"));
    assert!(runner.written()[0].contains(&sentence));
    // Without a base nothing is measured, and the result of the job before is not shown again.
    let base = [("base", "HEAD"), ("head", "HEAD^1"), ("options", "--exact")];
    let used = runner.uses(&base);
    assert_eq!((used.code, used.outputs["verdict"].as_str()), (3, "unknown"), "{}", used.log);
    assert!(used.summary.contains("failed with exit code 3"), "{}", used.summary);
    assert!(used.summary.contains("does not build, and the others"), "{}", used.summary);
    assert!(runner.written()[1].contains("failed with exit code 3"));
}

#[test]
fn a_fork_a_push_and_a_shallow_checkout_state_what_they_lack() {
    let Some(mut runner) = Runner::of_pull_request(QUICK) else { return };
    let short = [("budget", "1 s")];
    // The token of a pull request from a fork reads only.
    runner.api.lock().unwrap().refuses = Some(403);
    let used = runner.uses(&short);
    assert_eq!(used.code, 0, "{}", used.log);
    let reason = "no comment was written: the token may not write (HTTP 403)";
    assert!(used.log.contains(reason), "{}", used.log);
    assert!(used.summary.contains("### assay gate"), "{}", used.summary);
    runner.token = "";
    let used = runner.uses(&short);
    assert!(used.code == 0 && used.log.contains("there is no token"), "{}", used.log);
    // A push of two commits is compared with the commit before both.
    let before = git(&runner.origin, &["rev-parse", "main"]);
    commit(&runner.origin, QUICK, "one more");
    let after = commit(&runner.origin, SLOW, "slow");
    (runner.event, runner.event_name) = (json!({ "before": before }), "push");
    runner.check_out("refs/heads/main", &[]);
    let used = runner.uses(&[]);
    let sentence = format!("HEAD ({}) is worse than {} by more", &after[..10], &before[..10]);
    assert!(used.code == 5 && used.log.contains(&sentence), "{}", used.log);
    assert!(used.log.contains("the event is not about a pull request"), "{}", used.log);
    runner.event = json!({ "before": "0".repeat(40) });
    let used = runner.uses(&short);
    assert!(used.log.contains("the event names no earlier commit"), "{}", used.log);
    assert!(used.log.contains("HEAD~1 ("), "{}", used.log);
    // The default of actions/checkout.
    (runner.event, runner.event_name) =
        (json!({ "pull_request": { "number": 7, "base": { "sha": before } } }), "pull_request");
    runner.check_out("refs/pull/7/merge", &["--depth", "1"]);
    let used = runner.uses(&[]);
    assert_eq!((used.code, used.outputs["verdict"].as_str()), (2, "unknown"), "{}", used.log);
    assert!(used.log.contains("set fetch-depth: 0 at actions/checkout"), "{}", used.log);
    assert!(used.log.lines().any(|l| l.starts_with("    git fetch --unshallow")), "{}", used.log);
    // Two commits are enough for a test merge.
    runner.check_out("refs/pull/7/merge", &["--depth", "2"]);
    let used = runner.uses(&short);
    assert!(used.code == 0 && used.summary.contains(&before[..10]), "{}", used.log);
}

#[test]
fn a_release_is_installed_if_its_checksum_is_right() {
    let Some(runner) = Runner::of_pull_request(QUICK) else { return };
    let name = format!("assay-0.9.1-{}-linux", std::env::consts::ARCH);
    let release = runner.world.path("release");
    let bin = release.join(&name).join("bin");
    fs::create_dir_all(&bin).unwrap();
    // A program that starts the one under test, which is large.
    let starts = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_assay"));
    fs::write(bin.join("assay"), starts).unwrap();
    let pack = format!(
        "chmod +x {name}/bin/assay && tar -czf {name}.tar.gz {name} && sha256sum *.gz > SHA256SUMS"
    );
    let packed = Command::new("sh").args(["-c", &pack]).current_dir(&release).status().unwrap();
    assert!(packed.success());
    let sums = fs::read_to_string(release.join("SHA256SUMS")).unwrap();
    let sum = sums.split(' ').next().unwrap();
    let url = format!("file://{}", release.display());
    let archive = release.join(format!("{name}.tar.gz"));
    let (url, archive) = (url.as_str(), archive.to_str().unwrap());
    let of_release = [("path", ""), ("url", url), ("version", "v0.9.1"), ("budget", "0 s")];
    let uses = |more: &[(&str, &str)]| runner.uses(&[&of_release[..], more].concat());
    let used = uses(&[]);
    assert!(used.log.contains(&format!("SHA-256 {sum}, as in {url}/SHA256SUMS")), "{}", used.log);
    assert!(used.outputs.contains_key("verdict") && used.log.contains("building"), "{}", used.log);
    let used = uses(&[("sha256", sum), ("command", "./missing")]);
    assert!(used.log.contains("as in the input sha256"), "{}", used.log);
    let used = uses(&[("path", archive), ("sha256", sum), ("command", "./missing")]);
    assert!(used.log.contains("assay 0."), "{}", used.log);
    for (inputs, reason) in [
        ([("sha256", "abc"), ("path", "")], "but the input sha256 has abc"),
        ([("version", "1.2.3"), ("path", "")], "cannot download"),
        ([("version", ""), ("path", "")], "the action's own ref 'main' is not a version"),
        ([("version", ""), ("path", "no-such-program")], "no-such-program is no executable"),
        ([("version", ""), ("path", "gone.tar.gz")], "cannot read gone.tar.gz"),
    ] {
        let used = uses(&inputs);
        assert_eq!((used.code, used.outputs["verdict"].as_str()), (1, ""), "{}", used.log);
        let error = used.log.lines().any(|l| l.starts_with("::error ") && l.contains(reason));
        assert!(error, "{reason}: {}", used.log);
    }
    // Without a folder, the release of the action's own repository.
    let used = uses(&[("url", "")]);
    let own = format!("{}/o/assay/releases/download/v0.9.1/{name}.tar.gz", runner.url);
    assert!(used.code == 1 && used.log.contains(&format!("cannot download {own}")), "{}", used.log);
}

#[test]
fn the_job_of_gitlab_judges_a_test_merge_by_what_it_changes() {
    let Some(runner) = Runner::of_pull_request(SLOW) else { return };
    // The target moves once more after the merge was made.
    let base = git(&runner.origin, &["rev-parse", "main"]);
    commit(&runner.origin, SLOW, "later");
    runner.check_out("refs/pull/7/merge", &[]);
    let job = &yaml(&file("docs/track/gate.gitlab-ci.yml"))["assay-gate"];
    let lines = job["script"].as_array().unwrap().iter().map(|l| l.as_str().unwrap());
    let script = lines.collect::<Vec<_>>().join("\n");
    let mut shell = runner.shell();
    for (name, value) in job["variables"].as_object().unwrap() {
        let folder = runner.workspace.to_str().unwrap();
        shell.env(name, value.as_str().unwrap().replace("$CI_PROJECT_DIR", folder));
    }
    shell.args(["-e", "-c", &script]);
    shell.env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main").env("ASSAY_BUILD", "sh build.sh");
    shell.env("ASSAY_COMMAND", "./prog 'a b' '*'").env("ASSAY_MARGIN", "40 %");
    let done = shell.output().unwrap();
    let log = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(5), "{log}");
    assert_eq!(fs::read_to_string(runner.world.path("seen")).unwrap(), "a b|*|");
    let page = fs::read_to_string(runner.workspace.join("gate.md")).unwrap();
    let name = format!("merge base {} of origin/main and HEAD", &base[..10]);
    assert!(page.contains(&name), "{page}");
    let cases = fs::read_to_string(runner.workspace.join("gate.xml")).unwrap();
    assert!(cases.contains("<failure"), "{cases}");
}

#[test]
fn the_jobs_of_the_page_about_ci_work() {
    let Some(runner) = Runner::of_pull_request(SLOW) else { return };
    let [github, gitlab] = &blocks_of_page("yaml")[..] else { panic!("two jobs in YAML") };
    let (action, job) = (yaml(&file("action.yml")), yaml(github));
    let job = &job["jobs"]["gate"];
    assert_eq!(job["permissions"]["pull-requests"], "write");
    let steps = job["steps"].as_array().unwrap();
    let uses = |name: &str| {
        let found = steps.iter().find(|s| s["uses"].as_str().unwrap().starts_with(name));
        found.unwrap_or_else(|| panic!("{name}: {job}"))
    };
    assert_eq!(uses("actions/checkout@")["with"]["fetch-depth"], "0");
    let inputs = uses("OWNER/assay@v")["with"].as_object().unwrap();
    assert!(inputs.keys().all(|name| action["inputs"].get(name).is_some()), "{inputs:?}");
    let paths = uses("actions/upload-artifact@")["with"]["path"].as_str().unwrap();
    for output in paths.split("steps.assay.outputs.").skip(1) {
        let name = output.split(' ').next().unwrap();
        assert!(action["outputs"].get(name).is_some(), "{paths}");
    }
    let shipped = yaml(&file("docs/track/gate.gitlab-ci.yml"));
    for name in yaml(gitlab)["assay-gate"]["variables"].as_object().unwrap().keys() {
        assert!(shipped["assay-gate"]["variables"].get(name).is_some(), "{name}");
    }
    // Jenkins checks out the merge, without the branch that it is merged into.
    git(&runner.workspace, &["update-ref", "-d", "refs/remotes/origin/main"]);
    let [jenkins] = &blocks_of_page("groovy")[..] else { panic!("one pipeline") };
    let script = jenkins.split("'''").nth(1).unwrap();
    let mut shell = runner.shell();
    let done = shell.args(["-xec", script]).env("CHANGE_TARGET", "main").output().unwrap();
    let log = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(5), "{log}");
    let cases = fs::read_to_string(runner.workspace.join("gate.xml")).unwrap();
    assert!(cases.contains("<failure"), "{cases}");
    // The crontab measures a clone called prog in the home folder.
    let [cron] = &blocks_of_page("sh")[..] else { panic!("one crontab") };
    git(&runner.origin, &["tag", "v1.0", "main~1"]);
    let (from, to) = (runner.origin.to_str().unwrap(), runner.world.path("prog"));
    git(&runner.origin, &["clone", "--quiet", from, to.to_str().unwrap()]);
    let line = cron.lines().find_map(|l| l.strip_prefix("0 3 * * * ")).unwrap();
    let mut shell = runner.shell();
    let done = shell.args(["-c", line]).current_dir(runner.world.path("")).output().unwrap();
    let history = fs::read_to_string(to.join("history.txt")).unwrap();
    assert!(history.contains("2 of 2 revisions"), "{history}");
    let mail = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(mail.is_empty() && done.stderr.is_empty(), "{mail}");
}

#[test]
fn the_scripts_of_the_action_pass_shellcheck() {
    let scripts: Vec<PathBuf> =
        fs::read_dir(repository().join("action")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(scripts.len() >= 4, "{scripts:?}");
    match Command::new("shellcheck").args(scripts).output() {
        Err(_) => println!("skipped: because shellcheck is not installed"),
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout)),
    }
}
