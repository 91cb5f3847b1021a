//! Histories on a server: the API, the pages in a browser, points that a crontab submits; and
//! published histories.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::chromium::{Browser, program};
use crate::common::commits::{COMMITS, STEP, git, repository_with};
use crate::common::served::{Served, serve, serve_with};
use crate::common::{Done, World, done, eventually};
use serde_json::{Value, json};

/// Writes the experiment of the repository's program to the server's folder; points are measured
/// along with v1.
fn experiment(world: &World, repo: &Path) -> String {
    fs::create_dir_all(world.path("experiments")).unwrap();
    let text = format!(
        "name = \"prog\"\nworkload = \"command\"\n[source]\nrepo = \"{}\"\n\
         build = \"sh build.sh\"\n\
         [params]\ncommand = \"./prog\"\n[factors]\nrev = [\"v1\", \"main\"]\n\
         [compare]\nbaseline = {{ rev = \"v1\" }}\n[observe]\nmonitors = []\n\
         [on]\nconfirmed = \"tee -a {}\"\n",
        repo.display(),
        world.path("called").display()
    );
    world.write("experiments/prog.toml", &text).display().to_string()
}

/// Measures a history of every commit.
fn filled(world: &World, file: &str) {
    let done =
        world.run(&["history", file, "--rev", "v1..main", "--fill", "--blocks", "3", "--quiet"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
}

fn change(served: &Served, id: &str) -> Value {
    let shown = served.get(&format!("/api/v1/histories/{id}")).json();
    let changes = shown["series"][0]["changes"].as_array().unwrap().clone();
    assert_eq!(changes.len(), 1, "{shown:#}");
    changes[0].clone()
}

/// Checks that both sides are profiled after a confirmation, or that the reason is reported.
fn explained(served: &Served, id: &str) {
    let jobs = served.get("/api/v1/jobs").json();
    let text = jobs.to_string();
    let known = |id: &str| change(served, id)["known"]["functions"].clone();
    if let Err(why) = assay_observe::profile::profile_ability(Path::new("/")) {
        println!("skipped: because {why}");
        let said = known(id)["why"].as_str().unwrap().to_owned();
        assert!(said.contains("cannot be profiled here"), "{said}");
        return;
    }
    assert!(text.contains("profiles both sides of the change"), "{jobs:#}");
    let functions = eventually("both sides are profiled", || {
        Some(known(id)).filter(|functions| !functions.is_null())
    });
    assert!(functions["run"].is_string(), "{functions:#}");
    // The program sleeps for longer, which is no function's time on CPU; this is a valid result
    // too.
    assert!(functions["differences"].is_object() || functions["why"].is_string(), "{functions:#}");
}

#[test]
fn a_history_is_served_confirmed_acknowledged_and_published() {
    let world = World::new();
    let repo = repository_with(&world, "0.3");
    let file = experiment(&world, &repo);
    filled(&world, &file);
    // A history of a command line that is in none of the server's folders.
    let other = ["history", "--rev", "v1..main~9", "--build", "sh build.sh", "--monitors", "none"];
    let other = [&other[..], &["--fill", "--blocks", "2", "--", "./prog", "2"]].concat();
    assert_eq!(world.assay(&other).current_dir(&repo).output().unwrap().status.code(), Some(0));
    let served = serve(&world, &[]);
    let list = served.get("/api/v1/histories").json();
    let lines = list["histories"].as_array().unwrap();
    assert_eq!(lines.len(), 2, "{list}");
    let line = |points: u64| lines.iter().find(|l| l["points"] == points).unwrap();
    let id = line(COMMITS as u64)["id"].as_str().unwrap().to_owned();
    assert_eq!(line(COMMITS as u64)["undecided"], 1);
    let suspected = change(&served, &id);
    assert_eq!(suspected["change"]["state"], "suspected");
    let commit = suspected["commit"].as_str().unwrap().to_owned();
    // The server runs only experiments that may be submitted.
    let foreign = lines.iter().find(|l| l["id"] != id.as_str()).unwrap()["id"].as_str().unwrap();
    let refused =
        served.post(&format!("/api/v1/histories/{foreign}/confirm"), &json!({ "commit": commit }));
    assert_eq!(refused.status, 404, "it has no change: {}", refused.body);
    let at = format!("/api/v1/histories/{id}");
    let none = served.post(&format!("{at}/confirm"), &json!({ "commit": "0000" }));
    assert_eq!(none.status, 404, "{}", none.body);
    let job = served.post(&format!("{at}/confirm"), &json!({ "commit": commit }));
    assert_eq!(job.status, 201, "{}", job.body);
    let twice = served.post(&format!("{at}/confirm"), &json!({ "commit": commit }));
    assert!(twice.status == 409 || change(&served, &id)["change"]["state"] == "confirmed");
    served.until(job.json()["id"].as_u64().unwrap(), "completed");
    let confirmed = change(&served, &id);
    assert_eq!(confirmed["change"]["state"], "confirmed", "{confirmed:#}");
    explained(&served, &id);
    let lines = served.get("/api/v1/histories").json()["histories"].as_array().unwrap().clone();
    let own = lines.iter().find(|l| l["id"] == id.as_str()).unwrap();
    assert_eq!((&own["alarms"], &own["undecided"]), (&json!(1), &json!(0)));
    let metrics = served.get("/metrics");
    assert!(
        metrics.head.contains("application/openmetrics-text; version=1.0.0"),
        "{}",
        metrics.head
    );
    let confirmed = format!("history=\"{id}\",experiment=\"prog\",metric=\"elapsed\"");
    let line = |family: &str| {
        let start = format!("{family}{{{confirmed}");
        metrics.body.lines().find(|l| l.starts_with(&start)).unwrap_or_default().to_owned()
    };
    let ratio = line("assay_series_ratio");
    let ratio: f64 = ratio.rsplit_once(' ').unwrap().1.parse().unwrap();
    assert!(ratio > 2.0, "{}", metrics.body);
    assert!(metrics.body.contains("state=\"confirmed\"} 1\n"), "{}", metrics.body);
    assert!(metrics.body.ends_with("# EOF\n") && metrics.body.contains("assay_queue_depth 0\n"));
    assert_eq!(served.ask("GET", "/metrics", &[], "").status, 401, "no redirection to a page");
    // The hook of the experiment in the server's folder was called once, with its JSON.
    let called = fs::read_to_string(world.path("called")).unwrap();
    assert_eq!(called.matches("\"event\":\"confirmed\"").count(), 1, "{called}");
    // The command line has the result too.
    let seen = world.run(&["history", &file, "--rev", "v1..main"]);
    assert!(seen.code == 5 && seen.stdout.contains("confirmed: worse by"), "{}", seen.stdout);
    let acknowledge = |link: &str| {
        let body = json!({ "commit": commit, "note": "sleeps on purpose", "link": link });
        served.post(&format!("{at}/acknowledge"), &body)
    };
    assert_eq!(acknowledge("javascript:alert(1)").status, 400);
    assert_eq!(acknowledge("https://example.org/1").status, 200);
    let known = change(&served, &id);
    assert_eq!(known["change"]["state"], "acknowledged");
    assert_eq!(known["known"]["note"], "sleeps on purpose");
    assert_eq!(world.run(&["history", &file, "--rev", "v1..main"]).code, 0, "no alarm any more");
    let reset = |body: &Value| served.post(&format!("{at}/reset"), body);
    assert_eq!(reset(&json!({ "commit": "0000" })).status, 404);
    assert_eq!(reset(&json!({ "commit": commit, "undo": true })).status, 404, "it was not reset");
    let afresh = reset(&json!({ "commit": commit }));
    assert_eq!(afresh.status, 200, "{}", afresh.body);
    assert_eq!(afresh.json()["resets"], json!([commit]));
    assert_eq!(afresh.json()["series"][0]["changes"], json!([]));
    let stated = world.run(&["history", &file, "--rev", "v1..main"]);
    assert!(sentence_of(&stated.stdout).contains("starts afresh at"), "{}", stated.stdout);
    assert_eq!(reset(&json!({ "commit": commit, "undo": true })).status, 200);
    assert_eq!(change(&served, &id)["change"]["state"], "acknowledged");
    let nowhere = world.run(&["history", &file, "--rev", "v1..main", "--reset", "v1"]);
    assert!(nowhere.code == 2 && printed(&nowhere).contains("at v1"), "{}", nowhere.stderr);
    // A page of a part of the range does not change the recorded range.
    world.run(&["history", &file, "--rev", "v1..main~6"]);
    assert_eq!(served.get(&at).json()["revisions"], COMMITS as u64 + 1);

    let out = world.path("out").display().to_string();
    let published = world.run(&["publish", "--history", "prog", "-o", &out]);
    assert_eq!(published.code, 0, "{}", published.stderr);
    let page = fs::read_to_string(world.path("out/index.html")).unwrap();
    assert!(page.contains("sleeps on purpose") && page.contains("https://example.org/1"), "{page}");
    assert!(page.contains("<svg") && !page.contains("/runs/"), "{page}");
    assert!(page.contains(&format!("change {STEP}")), "{page}");
    let data = fs::read_to_string(world.path("out/history.json")).unwrap();
    let data: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(data.as_array().unwrap().len(), 2, "both are called prog");
    let again = world.run(&["publish", "--history", "-o", &out]);
    assert!(again.code == 2 && printed(&again).contains("--force"), "{}", again.stderr);
    assert_eq!(world.run(&["publish", "--history", "-o", &out, "--force"]).code, 0);
    let unknown =
        world.run(&["publish", "--history", "else", "-o", &world.path("x").display().to_string()]);
    assert!(unknown.code == 2 && printed(&unknown).contains("`else`"), "{}", unknown.stderr);
    on_a_site(&world, &id);
}

/// Checks that the site has a page of each history with links to its runs, and rewrites it only
/// after changes.
fn on_a_site(world: &World, id: &str) {
    world.write("quoted.csv", "time,revision,t\n2026-01-01,a,1\n2026-01-02,b,1.1\n");
    assert_eq!(world.run(&["history", "import", "csv", "quoted.csv"]).code, 0);
    let site = || world.run(&["site", "-o", "site"]);
    let first = site();
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    assert!(first.stdout.contains("3 histories"), "{}", first.stdout);
    let page = fs::read_to_string(world.path(&format!("site/histories/{id}.html"))).unwrap();
    assert!(page.contains("sleeps on purpose") && page.contains("<svg"), "{page}");
    let runs: Vec<&str> = page.split("href=\"../runs/").skip(1).collect();
    assert!(!runs.is_empty());
    for run in runs {
        let file = format!("site/runs/{}", run.split('"').next().unwrap());
        assert!(world.path(&file).is_file(), "{file}");
    }
    let list = fs::read_to_string(world.path("site/histories/index.html")).unwrap();
    let quoted = "quoted-quoted.html";
    assert!(list.contains(&format!("href=\"{id}.html\"")) && list.contains(quoted), "{list}");
    assert!(world.path("site/histories").join(quoted).is_file());
    let again = site();
    assert!(again.stdout.contains("pages: 0 built"), "{}", again.stdout);
}

/// Returns the messages of a command in one line.
fn printed(done: &Done) -> String {
    sentence_of(&done.stderr)
}

fn sentence_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs the command of a crontab's line as cron does: with `sh` and few environment variables.
fn by_cron(world: &World, command: &str) -> Done {
    let line = command.replacen("assay", env!("CARGO_BIN_EXE_assay"), 1);
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env_clear().current_dir(world.path("."));
    shell.envs([("PATH", "/usr/bin:/bin"), ("LOGNAME", "cron")]);
    done(shell.env("HOME", world.path("home")).env("ASSAY_STATE", world.path("state")))
}

#[test]
fn a_crontab_submits_each_commit_of_a_branch_once() {
    let world = World::new();
    let repo = repository_with(&world, "0.3");
    experiment(&world, &repo);
    let served = serve(&world, &[]);
    let wrong = by_cron(&world, "assay submit prog --rev nope");
    assert!(wrong.code == 2 && printed(&wrong).contains("no revision `nope`"), "{}", wrong.stderr);
    let nightly = || by_cron(&world, "assay submit prog --rev main");
    let points = || served.get("/api/v1/histories").json()["histories"][0]["points"].clone();
    let first = nightly();
    assert!(first.code == 0 && first.stdout.starts_with("job 1: prog, "), "{}", first.stderr);
    assert_eq!(served.until(1, "completed")["submitted_by"], "cron");
    assert_eq!(points(), 2, "the reference and main");
    // The next night has the same commit, so no point is missing.
    let again = nightly();
    assert!(again.code == 2 && printed(&again).contains("already measured"), "{}", again.stderr);
    assert_eq!(served.get("/api/v1/jobs").json()["over"].as_array().unwrap().len(), 1);
    // A new commit is measured along with the reference of the first.
    git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "one more"]);
    assert_eq!(nightly().code, 0);
    served.until(2, "completed");
    assert_eq!(points(), 3);
    // A point can be scheduled for later.
    git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "and another"]);
    let later = by_cron(&world, "assay submit prog --rev main --at 2099-01-01T00:00:00Z");
    assert_eq!(later.code, 0, "{}", later.stderr);
    assert_eq!(served.job(3)["not_before"], "2099-01-01T00:00:00Z");
}

#[test]
fn schedules_of_an_earlier_version_are_reported_and_do_not_stop_the_server() {
    let world = World::new();
    fs::create_dir_all(world.path("state/schedules")).unwrap();
    let warnings = |name: &str| {
        let log = fs::File::create(world.path(name)).unwrap();
        let mut served = serve_with(&world, &[], log.into());
        assert_eq!(served.get("/api/v1/jobs").status, 200);
        assert_eq!(served.get("/api/v1/schedules").status, 404);
        served.kill();
        fs::read_to_string(world.path(name)).unwrap()
    };
    assert!(!warnings("empty.log").contains("schedule"));
    for id in [1, 4] {
        let schedule = json!({
            "schema_version": 1, "id": id, "every": "day at 02:00",
            "submit": { "experiment": "prog", "rev": "main" },
            "created_at": "2026-11-20T10:00:00Z", "next": "2026-11-24T02:00:00Z", "last": null
        });
        world.write(&format!("state/schedules/{id:06}.json"), &schedule.to_string());
    }
    let log = warnings("two.log");
    assert_eq!(log.matches("2 schedules").count(), 1, "{log}");
    assert!(sentence_of(&log).contains(&world.path("state/schedules").display().to_string()));
    let line = "\n  MIN HOUR * * * assay submit EXPERIMENT --rev REV\n";
    assert!(log.ends_with(line), "{log}");
}

#[test]
fn the_pages_of_histories_in_a_browser() {
    let Some(program) = program() else { return };
    let world = World::new();
    let repo = repository_with(&world, "0.3");
    let file = experiment(&world, &repo);
    filled(&world, &file);
    let mut table = "time,revision,ms,bytes\n".to_owned();
    for i in 0..60 {
        let level = if i < 30 { 10 } else { 14 };
        writeln!(table, "2026-01-01,r{i},{level}.{},{}", i * 7 % 5, i % 3).unwrap();
    }
    let csv = world.write("nightly.csv", &table).display().to_string();
    assert_eq!(world.run(&["history", "import", "csv", &csv]).code, 0);
    let served = serve(&world, &[]);
    let mut browser = Browser::start(program, &world.path("."));
    browser.size(1280, 900);
    browser.go(&format!("http://{}/login#token={}", served.address, served.token));
    browser.until("location.pathname === '/queue' && document.readyState === 'complete'");
    browser.click("nav.site a[href='/history']");
    assert_eq!(browser.value("document.querySelectorAll('figure.small').length"), 3);
    browser.picture("history-all");
    browser.click("figure.small a");
    browser.until("location.pathname.startsWith('/history/') && location.hash.startsWith('#s-')");
    // A point shows its commit, author date and subject, by pointer and keyboard, and links to its
    // run.
    browser.value("document.querySelectorAll('.history a.m')[9].focus()");
    let read = browser.text(".readout");
    assert!(read.contains("change ") && read.contains("20"), "{read}");
    browser.picture("history");
    let run = browser.value("document.querySelector('.history a.m').getAttribute('href')");
    assert!(run.as_str().unwrap().starts_with("/runs/2"), "{run}");
    // Contrast of text and background, in light and dark (WCAG 2.2, 1.4.3).
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("dark", 390)] {
        browser.scheme(scheme);
        browser.size(width, 844);
        browser.until("document.documentElement.scrollWidth <= window.innerWidth");
        let minimum = browser.value(CONTRAST).as_f64().unwrap();
        assert!(minimum >= 4.5, "{scheme}: {minimum}");
        browser.picture(&format!("history-{scheme}-{width}"));
    }
    browser.size(1280, 900);
    browser.click(".card form[action$='/confirm'] button");
    browser.until("location.pathname === '/queue'");
    served.until(1, "completed");
    browser.go(&format!("http://{}/history", served.address));
    browser.click("figure.small a");
    browser.until("!!document.querySelector('.change-state-confirmed')");
    browser.value("document.querySelector('.card details').open = true");
    browser.value("document.querySelector('input[name=note]').value = 'wanted'");
    browser.value("document.querySelector('input[name=link]').value = 'https://example.org/7'");
    browser.click(".card form[action$='/acknowledge'] button");
    browser.until("!!document.querySelector('.change-state-acknowledged')");
    assert!(browser.text("main").contains("wanted"));
    assert_eq!(browser.text(".card a[href='https://example.org/7']"), "https://example.org/7");
    // After the button, the browser's address is that of the change, and points to the card.
    let there = "document.querySelector(location.hash)?.classList.contains('card')";
    assert_eq!(browser.value(there), true);
    // A reset ends the change, is shown, and can be undone, which restores the known facts about
    // the change.
    browser.value("document.querySelectorAll('.card details')[1].open = true");
    browser.picture("history-actions");
    browser.click(".card form[action$='/reset'] button");
    browser.until("!document.querySelector('.change-state')");
    assert!(browser.text("main").contains("starts afresh at"));
    browser.click("form[action$='/reset'] button");
    browser.until("!!document.querySelector('.change-state-acknowledged')");
    assert!(!browser.text("main").contains("starts afresh at"));
    browser.go(&format!("http://{}/history/imported/nightly?series=0", served.address));
    let text = browser.text("main");
    assert!(text.contains("cannot be confirmed") && text.contains("at r30"), "{text}");
    assert_eq!(browser.value("document.querySelectorAll('form[action$=confirm]').length"), 0);
    browser.picture("history-quoted");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// JavaScript for the smallest contrast between a text and its background.
const CONTRAST: &str = "(() => {
    const part = (c) => { const s = c / 255; \
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; };
    const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number); \
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); };
    const ground = (n) => { \
    for (; n; n = n.parentElement) { const c = getComputedStyle(n).backgroundColor; \
    if (c !== 'rgba(0, 0, 0, 0)' && c !== 'transparent') return c; } \
    return 'rgb(255, 255, 255)'; };
    let minimum = 99;
    for (const n of document.querySelectorAll('main *')) {
      const own = [...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim());
      if (!own || !n.getClientRects().length || n.closest('title, desc')) continue;
      const style = getComputedStyle(n);
      const ink = light(n.closest('svg') ? style.fill : style.color);
      const paper = light(ground(n));
      minimum = Math.min(minimum, (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05));
    }
    return minimum;
  })()";
