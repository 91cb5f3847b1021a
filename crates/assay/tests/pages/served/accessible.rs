//! Pages in a real browser: axe-core finds nothing on any kind of page, in light, dark and on a
//! phone; the main tasks work with the keyboard alone; charts are drawn when their tab is opened.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::World;
use crate::common::chromium::{Browser, FITS, program};
use crate::common::served::{serve, sleeper};
use serde_json::json;

const SCREENS: [(&str, u32, u32, &str); 3] =
    [("light", 1280, 900, "light"), ("dark", 1280, 900, "dark"), ("phone", 390, 844, "light")];

/// Presses a key, given by its name.
fn press(browser: &mut Browser, key: &str) {
    let code = match key {
        "Tab" => 9,
        "Enter" => 13,
        "End" => 35,
        "Home" => 36,
        "ArrowLeft" => 37,
        "ArrowRight" => 39,
        _ => panic!("no code of {key}"),
    };
    let text = if key == "Enter" { "\r" } else { "" };
    for kind in ["keyDown", "keyUp"] {
        let mut event =
            json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
        if kind == "keyDown" && !text.is_empty() {
            event["text"] = text.into();
        }
        browser.call("Input.dispatchKeyEvent", &event);
    }
}

/// Presses Tab until the element that a selector matches has the focus; returns the number of
/// stops.
fn tab_to(browser: &mut Browser, selector: &str) -> u32 {
    for stops in 1..=200 {
        press(browser, "Tab");
        let there = format!("!!document.activeElement?.matches({selector:?})");
        if browser.value(&there) == true {
            return stops;
        }
    }
    panic!("no number of tabs leads to {selector}");
}

/// Opens each tab of the page in turn and calls `with` with its id.
fn each_tab(browser: &mut Browser, mut with: impl FnMut(&mut Browser, &str)) {
    let tabs = browser.value("[...document.querySelectorAll('[role=tab]')].map((t) => t.id)");
    for id in tabs.as_array().unwrap() {
        let id = id.as_str().unwrap();
        browser.value(&format!("document.getElementById({id:?}).click()"));
        browser.until(
            "![...document.querySelectorAll('.panel:not([hidden]) \
            [data-chart]')].some((p) => !p.closest('details:not([open])'))",
        );
        with(browser, id);
    }
}

#[test]
fn axe_finds_nothing_on_any_kind_of_page() {
    let Some(program) = program() else { return };
    let Some(axe) = crate::common::axe::source() else { return };
    let world = World::new();
    sleeper(&world, "short", "0.01", 6);
    sleeper(&world, "watched", "0.4", 2000);
    let run =
        ["run", "--blocks", "6", "--tag", "nightly", "--vs", "sleep 0.02", "--", "sleep", "0.01"];
    for _ in 0..2 {
        assert_eq!(world.run(&run).code, 0);
    }
    assert_eq!(world.run(&["site", "--posts", "posts", "-o", "out"]).code, 0);
    let served = serve(&world, &[]);
    let signed_in = |folder: &str| {
        std::fs::create_dir(world.path(folder)).unwrap();
        let mut browser = Browser::start(program, &world.path(folder));
        browser.go(&format!("http://{}/login", served.address));
        browser.value(&format!("document.querySelector('#token').value = '{}'", served.token));
        browser.click("#login button");
        browser
    };
    let browser = signed_in("one");
    let runs = served.get("/api/v1/runs").json();
    let ids: Vec<&str> =
        runs["runs"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap()).collect();
    served.submit("watched");
    served.until(1, "running");
    let at = |path: &str| format!("http://{}/{path}", served.address);
    let file = |path: &str| format!("file://{}", world.path("out").join(path).display());
    let pages = [
        ("run", at(&format!("runs/{}", ids[0]))),
        ("compare", at(&format!("compare?runs={},{}", ids[0], ids[1]))),
        ("compare-form", at("compare")),
        ("landscapes", at("landscapes")),
        ("landscape", at("landscapes/specjbb2005")),
        ("archive", at("archive")),
        ("submit", at("queue/new/short")),
        ("submit-start", at("queue/new")),
        ("queue", at("queue")),
        ("cancel", at("queue/1/cancel")),
        ("live", at("live/1")),
        ("observe", at("observe")),
        ("history", at("history")),
        ("site", file("index.html")),
        ("site-run", file(&format!("runs/{}/index.html", ids[0]))),
        ("site-search", file("search.html")),
        ("site-system", file("systems/index.html")),
        ("site-workload", file("workloads/command.html")),
        ("site-post", file("posts/2005-10-04-dynamic-tsb/index.html")),
        ("site-landscape", file("landscapes/dd-buffer-size.html")),
        ("no-such-run", at("runs/20000101-000000-0000")),
        ("login", at("login")),
    ];
    // Two browsers share the list of pages.
    let looks: Vec<_> = SCREENS.iter().flat_map(|s| pages.iter().map(move |p| (s, p))).collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = |mut browser: Browser| {
        while let Some(((screen, width, height, scheme), (name, url))) =
            looks.get(next.fetch_add(1, Ordering::Relaxed))
        {
            browser.size(*width, *height);
            browser.scheme(scheme);
            browser.go(url);
            assert_eq!(browser.value("location.pathname") == "/login", *name == "login", "{name}");
            let look = |browser: &mut Browser, part: &str| {
                let found = crate::common::axe::findings(browser, &axe);
                let found = found.into_iter().map(|f| format!("{screen} {name} {part}: {f}"));
                wrong.lock().unwrap().extend(found);
                assert_eq!(browser.value(FITS), true, "{screen} {name} {part} is too wide");
                browser.picture(&format!("{name}-{screen}-{part}"));
            };
            look(&mut browser, "");
            each_tab(&mut browser, look);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| work(signed_in("other")));
        work(browser);
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} places:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_main_job_needs_no_mouse() {
    let Some(program) = program() else { return };
    let world = World::new();
    sleeper(&world, "short", "0.01", 6);
    let served = serve(&world, &[]);
    let mut browser = Browser::signed_in(program, &world, &served);

    // Submit an experiment, and wait for its end.
    browser.go(&format!("http://{}/queue/new/short", served.address));
    tab_to(&mut browser, "main form.fields button[type=submit]");
    press(&mut browser, "Enter");
    browser.until("location.pathname === '/queue'");
    let run = served.until(1, "completed")["run"].as_str().unwrap().to_owned();

    // The page of the run: the first screen, the tabs, from a number to its trials and back.
    browser.go(&format!("http://{}/runs/{run}", served.address));
    let open = "document.querySelector('.panel:not([hidden])').id";
    assert_eq!(browser.value(open), "answer");
    press(&mut browser, "Tab");
    assert_eq!(browser.value("document.activeElement.className"), "skip");
    tab_to(&mut browser, "[role=tab]");
    assert_eq!(browser.value("document.activeElement.getAttribute('aria-selected')"), "true");
    press(&mut browser, "ArrowRight");
    assert_eq!(browser.value(open), "comparison");
    press(&mut browser, "End");
    assert_eq!(browser.value(open), "files");
    press(&mut browser, "Home");
    assert_eq!(browser.value(open), "answer");
    let before = browser.value("history.length");
    let stops = tab_to(&mut browser, "a.from");
    assert!(stops < 12, "{stops} stops between the tabs and the first number");
    press(&mut browser, "Enter");
    browser.until(&format!("{open} === 'executed'"));
    browser.until("!!document.querySelector('tr.lit')");
    assert!(browser.value("history.length").as_u64() > before.as_u64(), "back leads back");
    browser.value("history.back()");
    browser.until(&format!("{open} === 'answer'"));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn charts_are_drawn_when_their_tab_is_opened() {
    let Some(program) = program() else { return };
    let world = World::new();
    let run = ["run", "--blocks", "3", "--vs", "sleep 2.4", "--", "sleep", "2.2"];
    assert_eq!(world.run(&run).code, 0);
    assert_eq!(world.run(&["publish", "last", "-o", "page"]).code, 0);
    let mut browser = Browser::start(program, &world.path("."));
    let page = format!("file://{}", world.path("page/index.html").display());
    let charts = "document.querySelectorAll('svg.chart:not(.mini)').length";
    browser.go(&page);
    assert_eq!(browser.value(charts), 1, "the first screen");
    browser.value("document.querySelector('#executed-tab').click()");
    browser.until(&format!("{charts} > 1"));
    // The address can name a tab, or a trial within a tab.
    browser.go("about:blank");
    browser.go(&format!("{page}#trial-2"));
    browser.until("document.querySelector('.panel:not([hidden])').id === 'executed'");
    // A crosshair goes through all charts with the same clock.
    browser.value("document.querySelector('#over-time-tab').click()");
    browser.until("document.querySelectorAll('#over-time svg[data-span]').length > 0");
    browser.value(
        "document.querySelectorAll('#over-time details').forEach((d) => { d.open = true; })",
    );
    browser.until("document.querySelectorAll('#over-time .clock svg[data-span]').length > 1");
    let shown = "(() => { \
        const all = [...document.querySelector('.clock').querySelectorAll('svg[data-span]')]; \
        const marks = all[0].querySelectorAll('[data-cx]'); marks[0].focus(); \
        return all.filter((s) => \
        Number(s.querySelector('.crosshair').getAttribute('x1')) > 0).length; })()";
    assert!(browser.value(shown).as_u64() > Some(1), "{:?}", browser.complaints);
    // Without JavaScript all panels are visible, one below the other.
    browser.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    browser.go("about:blank");
    browser.call("Page.navigate", &json!({ "url": page }));
    browser.until("document.readyState === 'complete' && !!document.querySelector('#main')");
    let hidden =
        "[...document.querySelectorAll('.panel')].filter((p) => !p.checkVisibility()).length";
    assert_eq!(browser.value(hidden), 0);
    assert_eq!(browser.complaints, Vec::<String>::new());
}
