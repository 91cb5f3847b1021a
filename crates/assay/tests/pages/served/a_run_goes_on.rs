//! The page of a run in progress: its charts and readouts, and a server that dies, hangs and comes
//! back. Also signing in within an open tab.

use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::common::chromium::{Browser, program};
use crate::common::served::{serve, sleeper};
use crate::common::{World, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// A second server at the address of the first, killed when dropped.
struct Again(Child);

impl Drop for Again {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve_at(world: &World, address: &str) -> Again {
    let folder = world.path("experiments").display().to_string();
    let mut serve = world.assay(&["serve", &folder, "--listen", address]);
    let child = Again(serve.stdout(Stdio::null()).spawn().unwrap());
    eventually("the server is there again", || TcpStream::connect(address).ok());
    child
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

const LOST: &str = "!!document.querySelector('#connection')";
const WELL: &str = "!document.querySelector('#connection')";

#[test]
fn the_first_screen_moves_and_a_dead_server_is_named_until_it_comes_back() {
    let Some(program) = program() else { return };
    let world = World::new();
    sleeper(&world, "watched", "0.4", 30);
    let mut served = serve(&world, &["--rate", "1000"]);
    let mut browser = Browser::start(program, &world.path("."));
    browser.size(1280, 900);
    // In an open tab the address changes, but the page is not loaded again.
    browser.go(&format!("http://{}/login", served.address));
    browser.value("window.same = true");
    browser.value("location.hash = 'token=not the token'");
    browser.until("!window.same && document.body.textContent.includes('Wrong token')");
    browser.value(&format!("location.hash = 'token={}'", served.token));
    browser.until("location.pathname === '/queue' && document.readyState === 'complete'");

    served.submit("watched");
    served.until(1, "running");
    browser.go(&format!("http://{}/live/1", served.address));
    browser.until("document.querySelectorAll('#live-results circle').length > 3");
    let place = "document.querySelector('#live-results svg').getBoundingClientRect().bottom < 900";
    assert_eq!(browser.value(place), true, "the chart that moves is on the first screen");
    browser.until("document.querySelectorAll('#live-charts svg.chart').length > 0");
    browser.until(
        "[...document.querySelectorAll('#live-charts svg .axis text')].some(t => \
        /^[2-9]/.test(t.textContent))",
    );
    // One time axis, and every value axis begins at 0.
    let ends = browser.value(
        "[...new Set([...document.querySelectorAll('#live-charts svg:not(.heat)')].map(s => \
        [...s.querySelectorAll('.axis')].at(-1).textContent))].length",
    );
    assert_eq!(ends, 1);
    let origins = browser.value(
        "[...document.querySelectorAll('#live svg:not(.heat)')].every(s => /^0( \
        |$)/.test(s.querySelector('.axis text').textContent))",
    );
    assert_eq!(origins, true);
    let printed = browser.text("#live");
    assert!(
        !printed.contains(" 1  ·") && !printed.contains(": 0 1"),
        "a count has no unit: {printed}"
    );

    // The pointer on one chart shows the same moment in all charts.
    let at = browser.value(
        "(() => { const s = document.querySelector('#live-charts svg'); \
        s.scrollIntoView({ block: 'center' }); const b = s.getBoundingClientRect(); return [b.left \
        + b.width * .6, b.top + b.height / 2]; })()",
    );
    browser
        .call("Input.dispatchMouseEvent", &json!({ "type": "mouseMoved", "x": at[0], "y": at[1] }));
    let reported = "[...document.querySelectorAll('#live-charts .readout')].every(r => \
        r.textContent.includes('from now'))";
    browser.until(reported);
    browser.until("document.querySelectorAll('#live-charts .cross').length > 0");
    browser.picture("live-hover");
    browser.call("Input.dispatchMouseEvent", &json!({ "type": "mouseMoved", "x": 2, "y": 2 }));
    browser.until("!document.querySelector('#live-charts .cross')");
    browser.value("document.querySelector('#live-charts svg').focus()");
    browser.key("ArrowLeft", 37, "");
    browser.until(reported);
    browser.key("Escape", 27, "");
    browser.until("!document.querySelector('#live-charts .cross')");
    browser.value("scrollTo(0, 0)");

    // The server hangs, and continues.
    signal(served.child.id(), Signal::STOP);
    browser.until(LOST);
    signal(served.child.id(), Signal::CONT);
    browser.until(WELL);
    // The server dies, and another one starts; the run continues meanwhile.
    served.kill();
    browser.until(LOST);
    assert!(browser.text("#live-state").contains("continues by itself"));
    browser.picture("live-lost");
    let again = serve_at(&world, &served.address);
    browser.until(WELL);
    let seen = browser.value("document.querySelector('#live-progress').value").as_f64().unwrap();
    browser.until(&format!("document.querySelector('#live-progress').value > {seen}"));
    browser.go(&format!("http://{}/queue", served.address));
    browser.picture("queue-running");
    drop(again);
    browser.until(LOST);
    let _again = serve_at(&world, &served.address);
    browser.until(WELL);
    browser.go(&format!("http://{}/live/1", served.address));
    browser.until("document.querySelector('main').textContent.includes('trials ran')");
}

/// JavaScript for the flame graph of time on CPU.
const ON_CPU: &str = "document.querySelector('#live-profile svg.flame[id$=\"-on\"]')";

#[test]
fn the_profile_of_the_trial_that_runs_is_drawn_and_keeps_what_a_reader_did() {
    let Some(program) = program() else { return };
    let world = World::new();
    let able = world.run(&["profile", "--seconds", "1", "--", "true"]);
    if able.stderr.contains("cannot be profiled here") {
        println!("skipped: because {}", able.stderr);
        return;
    }
    std::fs::create_dir_all(world.path("experiments")).unwrap();
    world.write(
        "experiments/busy.toml",
        "name = \"busy\"\nworkload = \"command\"\n[params]\nshell = \"sh\"\n\
         command = \"while :; do :; done\"\n[design]\nblocks = 1\ntimeout = \"10 min\"\n\
         [observe]\nmonitors = []\ntracers = [\"profile\"]\n",
    );
    sleeper(&world, "plain", "1", 30);
    let served = serve(&world, &["--rate", "1000"]);
    served.submit("busy");
    served.until(1, "running");
    let mut browser = Browser::start(program, &world.path("."));
    browser.size(1280, 900);
    browser.go(&format!("http://{}/login", served.address));
    browser.value(&format!("location.hash = 'token={}'", served.token));
    browser.until("location.pathname === '/queue' && document.readyState === 'complete'");
    browser.go(&format!("http://{}/live/1", served.address));
    // As long as nobody looks at the profile, the run takes no snapshot.
    let events = world.path("state/queue/000001");
    assert!(!events.join("events.profile.json").exists());
    browser.value("document.querySelector('#live-profile summary').click()");
    // On a busy machine the first snapshots may contain only waits.
    browser.until(&format!("{ON_CPU}?.querySelectorAll('.f').length > 1"));
    browser.picture("live-profile");
    browser.scheme("dark");
    browser.picture("live-profile-dark");
    browser.scheme("light");
    let said = browser.text("#live-profile");
    assert!(said.contains("Trial 1") && said.contains("snapshot"), "{said}");
    // Search, zoom and inversion stay when the next snapshot comes.
    browser.value("document.querySelector('#live-profile').scrollIntoView()");
    browser.value(&format!(
        "(() => {{ const flame = {ON_CPU}, bar = flame.previousElementSibling; \
          const calls = [...flame.querySelectorAll('.f')].filter(c => c.getAttribute('y') === \
          '18'); \
          const widest = calls.reduce((a, b) => parseFloat(a.getAttribute('width')) < \
          parseFloat(b.getAttribute('width')) ? b : a); \
          window.label = widest.querySelector('title').textContent.split(' · ')[0]; \
          bar.querySelector('input').value = 'sh'; \
          bar.querySelector('input').dispatchEvent(new Event('input')); \
          bar.querySelectorAll('button')[1].click(); \
          widest.dispatchEvent(new MouseEvent('click', {{ bubbles: true }})); \
          window.first = document.querySelector('#live-profile p').textContent; }})()"
    ));
    browser.until("document.querySelector('#live-profile p').textContent !== window.first");
    let kept = browser.value(&format!(
        "(() => {{ const flame = {ON_CPU}, cells = [...flame.querySelectorAll('.f')]; const level \
          = String(flame.getAttribute('height') - 36); const zoomed = cells.find(c => \
          c.getAttribute('y') === level && c.querySelector('title').textContent.split(' · ')[0] \
          === window.label); return [flame.previousElementSibling.querySelector('input').value, \
          zoomed?.getAttribute('width'), Number(cells[0].getAttribute('y')) > 0]; }})()"
    ));
    assert_eq!(kept, json!(["sh", "100%", true]));
    browser.size(390, 844);
    let wide = browser.value("document.documentElement.scrollWidth <= innerWidth");
    assert_eq!(wide, true, "the page is too wide for a small screen");
    browser.picture("live-profile-390");
    // The API returns the same profile, or a reason if there is no profile.
    let made = served.get("/api/v1/jobs/1/profile").json();
    assert!(made["profile"]["stacks"].as_array().is_some_and(|s| !s.is_empty()), "{made:#}");
    served.post("/api/v1/jobs/1/cancel", &json!({}));
    served.until(1, "cancelled");
    let gone = served.get("/api/v1/jobs/1/profile");
    assert!(
        gone.status == 409 && gone.body.contains("none of its trials is running"),
        "{}",
        gone.body
    );
    served.submit("plain");
    served.until(2, "running");
    let none = served.get("/api/v1/jobs/2/profile");
    assert!(none.status == 409 && none.body.contains("not profiled"), "{}", none.body);
}
