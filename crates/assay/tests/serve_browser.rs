//! The server's pages in a real browser: sign in, submit, watch to the end, compare, cancel; a phone's
//! width, dark, and what its content security policy forbids.
#![allow(clippy::unwrap_used)] // this is a test

mod common;

use common::World;
use common::chromium::{Browser, program};
use common::served::{Served, serve, sleeper};

/// Nothing of a page is wider than the screen.
const FITS: &str = "document.documentElement.scrollWidth <= window.innerWidth";

fn signed_in(world: &World, served: &Served, program: &str) -> Browser {
    let mut browser = Browser::start(program, &world.path("."));
    browser.size(1280, 900);
    browser.go(&format!("http://{}/login#token={}", served.address, served.token));
    browser.until("location.pathname === '/queue' && document.readyState === 'complete'");
    browser
}

#[test]
fn from_submitting_to_comparing() {
    let Some(program) = program() else {
        println!("skipped: because no Chromium is installed (Debian package chromium)");
        return;
    };
    let world = World::new();
    sleeper(&world, "watched", "0.4", 6);
    sleeper(&world, "short", "0.01", 6);
    world.write("experiments/broken.toml", "name = \"broken\"\nworklod = \"noop\"\n");
    let served = serve(&world, &[]);
    let mut browser = signed_in(&world, &served, program);
    assert_eq!(browser.value("location.hash"), "", "the token does not stay in the address");
    assert!(browser.text("main").contains("worklod"), "a mistake in a file is shown");
    browser.picture("queue-empty");

    browser.go(&format!("http://{}/queue/new/watched", served.address));
    assert_eq!(browser.value("document.querySelector('#set-command').disabled"), true);
    browser.picture("form");
    browser.value("document.querySelector('#blocks').value = '7'; document.querySelector('#tags').value = 'nightly'");
    browser.click("main form.fields button");
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
    browser.until("document.querySelector('#live-state').textContent.includes('completed')");
    assert_eq!(browser.text("#live-count"), "14 of 14 trials");
    // What the page counted is what was recorded.
    let rows = browser.value(
        "[...document.querySelectorAll('#live-treatments tr')].map(r => r.cells[1].textContent)",
    );
    assert_eq!(rows, serde_json::json!(["7", "7"]));

    browser.click("#live-run a");
    assert!(browser.text("h1").contains("Is one sleep longer?"));
    let run = served.job(1)["run"].as_str().unwrap().to_owned();
    let shown = world.run(&["compare", &run]).stdout;
    let page = browser.text("main#main");
    // Every interval that the terminal prints stands on the page, to the digit.
    let intervals: Vec<&str> =
        shown.split_whitespace().filter(|w| w.starts_with('(') && w.contains("..")).collect();
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
    let Some(program) = program() else {
        println!("skipped: because no Chromium is installed (Debian package chromium)");
        return;
    };
    let world = World::new();
    sleeper(&world, "long", "30", 5);
    let served = serve(&world, &[]);
    let mut browser = Browser::start(program, &world.path("."));
    browser.go(&format!("http://{}/archive", served.address));
    assert_eq!(browser.value("location.pathname"), "/login", "nothing without the token");
    browser.value("document.querySelector('#token').value = 'not the token'");
    browser.click("#login button");
    assert!(browser.text("main").contains("That is not the token."));
    browser.value(&format!("document.querySelector('#token').value = '{}'", served.token));
    browser.click("#login button");
    browser.until("location.pathname === '/queue'");

    assert_eq!(world.run(&["submit", "long"]).code, 0);
    served.until(1, "running");
    browser.go(&format!("http://{}/live/1", served.address));
    browser.until("document.querySelector('#live').dataset.seen > 1");
    browser.click("form[action='/queue/1/cancel'] button");
    served.until(1, "cancelled");
    browser.go(&format!("http://{}/queue", served.address));
    assert!(browser.text("main table").contains("cancelled"));
    // Every control has a name that a screen reader can say.
    let nameless = "[...document.querySelectorAll('button, a, input:not([type=hidden]), select')].filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).length";
    assert_eq!(browser.value(nameless), 0);
    browser.click("nav.site form button");
    assert_eq!(browser.value("location.pathname"), "/login", "signed out");
    browser.go(&format!("http://{}/queue", served.address));
    assert_eq!(browser.value("location.pathname"), "/login");
}
