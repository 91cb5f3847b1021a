//! The server's pages in a real browser: sign in, submit, watch to the end, compare, cancel; on a
//! phone's width, in dark, and with the limits of the content security policy.

use crate::common::World;
use crate::common::chromium::{Browser, FITS, program};
use crate::common::served::{beats, serve, sleeper};

#[test]
fn from_submitting_to_comparing() {
    let Some(program) = program() else { return };
    let world = World::new();
    sleeper(&world, "watched", "0.4", 6);
    sleeper(&world, "short", "0.01", 6);
    world.write("experiments/broken.toml", "name = \"broken\"\nworklod = \"noop\"\n");
    let served = serve(&world, &[]);
    let mut browser = Browser::signed_in(program, &world, &served);
    assert_eq!(browser.value("location.hash"), "", "the token does not stay in the address");
    browser.picture("queue-empty");
    browser.go(&format!("http://{}/queue/new", served.address));
    assert!(browser.text("main").contains("worklod"), "a mistake in a file is shown");

    browser.go(&format!("http://{}/queue/new/watched", served.address));
    assert_eq!(browser.value("document.querySelector('#set-command').disabled"), true);
    browser.picture("form");
    browser.value(
        "document.querySelector('#blocks').value = '7'; \
        document.querySelector('#tags').value = 'nightly'",
    );
    browser.click("#submit button");
    assert_eq!(browser.value("location.pathname"), "/queue");
    assert_eq!(served.job(1)["trials"], 14);
    browser.until("!!document.querySelector('.card.running a.button')");
    browser.picture("queue-running");

    browser.go(&format!("http://{}/live/1", served.address));
    browser.until("document.querySelector('#live').dataset.seen > 3");
    browser.until("document.querySelectorAll('#live-charts svg.chart').length > 0");
    let half = "document.querySelector('#live-progress').value >= 7";
    browser.until(half);
    browser.picture("live");
    browser.scheme("dark");
    browser.picture("live-dark");
    browser.size(390, 844);
    browser.until(FITS);
    browser.picture("live-phone-dark");
    browser.scheme("light");
    browser.size(1280, 900);
    browser.until("document.querySelector('#live-state').textContent.includes('trials ran')");
    assert_eq!(browser.text("#live-count"), "14 of 14 trials");
    assert_eq!(browser.value("!!document.querySelector('#live-cancel')"), false, "it is over");
    // The counts on the page are the recorded ones.
    let rows = browser.value(
        "[...document.querySelectorAll('#live-treatments tr')].map(r => r.cells[1].textContent)",
    );
    assert_eq!(rows, serde_json::json!(["7", "7"]));

    browser.click("#live-run a");
    assert!(browser.text("h1").contains("Is one sleep longer?"));
    let run = served.job(1)["run"].as_str().unwrap().to_owned();
    let shown = world.run(&["compare", &run]).stdout;
    // The terminal breaks lines at any space.
    let even = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (shown, page) = (even(&shown), even(&browser.text("main#main")));
    // The page has every interval that the terminal prints, to the digit.
    let intervals: Vec<&str> =
        shown.split('[').skip(1).filter_map(|rest| rest.split(']').next()).collect();
    assert!(intervals.len() >= 2, "{shown}");
    for interval in intervals {
        assert!(page.contains(interval), "{interval} of {shown}");
    }
    browser.picture("run");

    let second = world.run(&["submit", "watched", "--blocks", "6", "--wait"]);
    assert_eq!(second.code, 0, "{}", second.stderr);
    browser.go(&format!("http://{}/archive?text=watched&sort=oldest", served.address));
    assert!(browser.text("main").contains("2 runs"));
    browser.picture("archive");
    browser
        .value("document.querySelectorAll('input[name=runs]').forEach(i => { i.checked = true; })");
    browser.click("form[action='/compare'] button[type=submit]");
    let text = browser.text("main");
    assert!(text.contains("ratio to #1") && text.contains("#2"), "{text}");
    browser.picture("compare");
    let sides = browser.value("new URLSearchParams(location.search).getAll('runs').length");
    assert_eq!(sides, 2);
    browser.click("nav[aria-label=Denominator] li:nth-child(4) a");
    assert!(browser.text("main").contains("per thread"));
    browser.picture("compare-per-thread");

    for (path, name) in [
        ("queue", "queue"),
        ("archive", "archive"),
        ("landscapes/specjbb2005", "landscape"),
        ("observe", "observe"),
        ("machine", "machine"),
        ("queue/new/short", "form"),
    ] {
        browser.size(390, 844);
        browser.scheme("dark");
        browser.go(&format!("http://{}/{path}", served.address));
        if path == "observe" {
            browser.until("document.querySelectorAll('#live-charts svg.chart').length > 0");
        }
        assert_eq!(browser.value(FITS), true, "{path} is wider than a phone");
        let light = "getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'";
        assert_eq!(browser.value(light), false, "{path} is dark where dark is asked for");
        browser.picture(&format!("{name}-phone-dark"));
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_run_is_cancelled_and_a_wrong_token_gets_nothing() {
    let Some(program) = program() else { return };
    let world = World::new();
    sleeper(&world, "long", "30", 5);
    let served = serve(&world, &[]);
    let mut browser = Browser::start(program, &world.path("."));
    browser.go(&format!("http://{}/archive", served.address));
    assert_eq!(browser.value("location.pathname"), "/login", "nothing without the token");
    browser.value("document.querySelector('#token').value = 'not the token'");
    browser.click("#login button");
    assert!(browser.text("main").contains("Wrong token."));
    browser.value(&format!("document.querySelector('#token').value = '{}'", served.token));
    browser.click("#login button");
    browser.until("location.pathname === '/queue'");

    assert_eq!(world.run(&["submit", "long"]).code, 0);
    served.until(1, "running");
    browser.go(&format!("http://{}/live/1", served.address));
    browser.until("document.querySelector('#live').dataset.seen > 1");
    browser.click("#live-cancel");
    assert!(browser.text("h1").contains("Cancel long?"), "it asks first");
    assert_eq!(served.job(1)["state"], "running");
    browser.click("form[action='/queue/1/cancel'] button");
    served.until(1, "cancelled");
    browser.go(&format!("http://{}/queue", served.address));
    assert!(browser.text("main table").contains("cancelled"));
    // Every control has a name that a screen reader can read.
    let nameless = "[...document.querySelectorAll('button, a, input:not([type=hidden]), \
        select')].filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || \
        e.labels?.length)).length";
    assert_eq!(browser.value(nameless), 0);
    browser.click("nav.site form button");
    assert_eq!(browser.value("location.pathname"), "/login", "signed out");
    browser.go(&format!("http://{}/queue", served.address));
    assert_eq!(browser.value("location.pathname"), "/login");
}

#[test]
fn what_a_workload_says_over_time_is_drawn_and_laid_over_another_run() {
    let Some(program) = program() else { return };
    let world = World::new();
    beats(&world, "beating");
    let served = serve(&world, &[]);
    let mut browser = Browser::signed_in(program, &world, &served);
    for id in 1..=2 {
        assert_eq!(world.run(&["submit", "beating"]).code, 0);
        served.until(id, "completed");
    }
    let page = |path: &str| format!("http://{}/{path}", served.address);

    browser.go(&page("live/2"));
    browser.until("document.querySelectorAll('#live-charts svg.heat path').length > 1");
    let says = "[...document.querySelectorAll('#live-charts svg.heat desc')].map(d => \
        d.textContent).join()";
    assert!(browser.value(says).as_str().unwrap().contains("from 1 µs to 4 µs"), "{says}");
    browser.picture("live-heat");

    let run = served.job(1)["run"].as_str().unwrap().to_owned();
    browser.go(&page(&format!("runs/{run}")));
    // One heat map per treatment, drawn when it becomes visible; each column has a text for screen
    // readers.
    browser.value(
        "document.querySelector('#over-time-tab').click(); \
        document.querySelectorAll('#time details').forEach(d => { d.open = true; })",
    );
    browser.until("document.querySelectorAll('#time svg.heat').length === 2");
    let words = "[...document.querySelectorAll('#time svg.heat')].map(s => s.textContent).join()";
    assert!(browser.value(words).as_str().unwrap().contains("8 times; most (7) from 1 µs to 2 µs"));
    // The page has the result of `assay explain`.
    let reported = world.run(&["explain", &run]).stdout;
    let line = reported.lines().find(|l| l.contains("of the CPUs' time")).unwrap_or(&reported);
    let shown = browser.text("#explain");
    assert!(shown.contains("differ"), "{shown}\n{line}");
    assert!(shown.contains("not be its cause"), "{shown}");
    browser.picture("run-heat");

    let second = served.job(2)["run"].as_str().unwrap().to_owned();
    browser.go(&page(&format!("compare?runs={run},{second}")));
    // All four series have one axis.
    browser.value("document.querySelector('#over-time-tab').click()");
    browser.until("!!document.querySelector('#over-done-0')");
    let lines = "document.querySelectorAll('#over-done-0 g.series').length";
    assert_eq!(browser.value(lines), 4);
    browser.picture("compare-overlay");
    browser.go(&page(&format!("compare?runs={run},{second}&prices=1000,500&currency=EUR")));
    browser.click("nav[aria-label=Denominator] li:last-child a");
    let text = browser.text("main");
    assert!(text.contains("rate per price") && text.contains("EUR"), "{text}");
    browser.picture("compare-per-price");
    browser.go(&page(&format!("compare?runs={run},{second}&per=watt")));
    assert!(browser.text("main").contains("No run measured its power"));
    for width in [390, 1280] {
        browser.size(width, 844);
        browser.go(&page(&format!("compare?runs={run},{second}")));
        assert_eq!(browser.value(FITS), true, "compare at {width}");
        browser.go(&page(&format!("runs/{run}")));
        assert_eq!(browser.value(FITS), true, "a run at {width}");
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn block_io_is_watched_or_what_is_missing_is_reported() {
    let Some(program) = program() else { return };
    let world = World::new();
    sleeper(&world, "long", "30", 5);
    let served = serve(&world, &[]);
    let mut browser = Browser::signed_in(program, &world, &served);
    browser.go(&format!("http://{}/observe", served.address));
    assert_eq!(browser.value("!!document.querySelector('#observe-io')"), false, "not unasked");
    browser.click("nav[aria-label='Block I/O by'] li:nth-child(2) a");
    browser.until("!!document.querySelector('#observe-io p + *, #observe-io .notice')");
    // The API returns the same.
    let answer = served.get("/api/v1/observe/io?by=device");
    let text = browser.text("#observe-io");
    match answer.status {
        200 => {
            let report = answer.json();
            assert_eq!(report["by"], serde_json::json!(["device", "direction"]));
            let format = report["source"]["format"].as_str().unwrap();
            assert!(text.contains(format), "which way it is had: {format}\n{text}");
            for note in report["source"]["notes"].as_array().unwrap() {
                assert!(text.contains(note.as_str().unwrap()), "{note}\n{text}");
            }
            browser.until("document.querySelectorAll('#observe-io svg.chart').length > 1");
            browser.picture("observe-io");
        }
        503 => {
            let why = answer.json()["error"]["message"].as_str().unwrap().to_owned();
            println!("skipped: the charts of block I/O, because {why}");
            assert!(text.contains(&why), "{text}");
        }
        status => panic!("{status}: {}", answer.body),
    }
    // Filtered by program and device.
    let device = answer.json()["devices"][0]["device"].as_str().map(str::to_owned);
    if let Some(device) = device {
        let asked = format!("by=program&program=no%20such%20one&device={device}");
        let filtered = served.get(&format!("/api/v1/observe/io?{asked}"));
        assert_eq!(filtered.status, 200, "{}", filtered.body);
        let words = format!("{}", filtered.json()["selection"]);
        assert!(words.contains("program no such one") && words.contains(&device), "{words}");
        browser.value(&format!("document.querySelector('#device').value = '{device}'"));
        browser.value("document.querySelector('#program').value = 'no such one'");
        browser.click("form[action='/observe#io'] button");
        browser.until("location.search.includes('program=no')");
        browser.until(
            "document.querySelector('#observe-io').textContent.includes('Only program no such \
            one')",
        );
        assert_eq!(browser.value("document.querySelector('#device').value"), device.as_str());
        browser.picture("observe-io-filtered");
        // The filters stay when the dimension changes.
        let other =
            browser.value("document.querySelector(\"nav[aria-label='Block I/O by'] a\").href");
        assert!(other.as_str().unwrap().contains("program=no"), "{other}");
    }
    assert_eq!(served.get("/api/v1/observe/io?device=no-such-device").status, 503);
    assert_eq!(served.get("/api/v1/observe/io?program=%07").status, 400);
    browser.size(390, 844);
    browser.until(FITS);
    assert_eq!(served.get("/api/v1/observe/io?by=nothing").status, 400);
    // Another process may be running at one moment and not at the next.
    let page = served.get("/machine").body;
    assert!(page.contains("<h1>The machine is"), "{page}");
    // A run in progress is not disturbed.
    assert_eq!(world.run(&["submit", "long"]).code, 0);
    served.until(1, "running");
    assert_eq!(served.get("/api/v1/observe/io?by=device").status, 409);
    assert_eq!(served.get("/machine").status, 409);
    browser.until("document.querySelector('#observe-io').textContent.includes('would disturb it')");
    browser.until(
        "document.querySelector('#live-state').textContent.includes('closed the connection')",
    );
    assert_eq!(world.run(&["cancel", "1"]).code, 0);
    served.until(1, "cancelled");
    let complaints = browser.complaints.iter().filter(|c| !c.contains("409")).count();
    assert_eq!(complaints, 0, "{:?}", browser.complaints);
}
