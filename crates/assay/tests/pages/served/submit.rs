//! Submitting: a preview of the plan while typing, mistakes next to their fields, the text form,
//! repeating and cloning runs; and the main tasks with the keyboard alone.

use crate::common::World;
use crate::common::chromium::{Browser, FITS, program};
use crate::common::served::{Served, beats, serve, sleeper};
use serde_json::{Value, json};

fn plan(served: &Served, asked: &Value) -> Value {
    let answer = served.post("/api/v1/plan", asked);
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// Returns the fields that have mistakes.
fn wrong(draft: &Value) -> Vec<String> {
    let problems = draft["problems"].as_array().unwrap();
    problems.iter().map(|p| p["field"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_plan_says_what_would_be_run_and_where_the_mistakes_are() {
    let world = World::new();
    beats(&world, "beating");
    let served = serve(&world, &["--rate", "1000"]);
    let draft = plan(&served, &json!({ "experiment": "beating" }));
    assert_eq!((&draft["plan"]["trials"], &draft["plan"]["treatments"]), (&json!(6), &json!(2)));
    assert_eq!(draft["plan"]["total_s"], Value::Null, "no run tells how long it takes");
    assert_eq!(draft["plan"]["detectable_at"].as_array().unwrap().len(), 3);
    assert_eq!(wrong(&draft), Vec::<String>::new());
    let file = std::fs::read_to_string(world.path("experiments/beating.toml")).unwrap();
    assert_eq!(draft["toml"], json!(file), "as it was written");

    let set =
        |value: &str| plan(&served, &json!({ "experiment": "beating", "set": { "size": value } }));
    assert_eq!(set("1, 2, 3")["plan"]["trials"], 9);
    for bad in ["0", "1, x", "99"] {
        let draft = set(bad);
        assert_eq!(
            (wrong(&draft), &draft["plan"]),
            (vec!["set.size".to_owned()], &Value::Null),
            "{bad}"
        );
    }
    let unknown = plan(
        &served,
        &json!({
            "experiment": "beating", "set": { "none": "1" }, "not_before": "soon", "blocks": 0,
        }),
    );
    assert_eq!(wrong(&unknown), ["set.none", "blocks", "not_before"]);
    let large = plan(&served, &json!({ "experiment": "beating", "blocks": 4_294_967_295_u32 }));
    assert_eq!((wrong(&large).len(), &large["plan"]), (1, &Value::Null), "{large}");
    assert_eq!(served.post("/api/v1/plan", &json!({ "experiment": "nothing" })).status, 404);

    // As text: everything but programs and files may be changed.
    let of = |toml: &str| json!({ "experiment": "beating", "toml": toml });
    let more = file.replace("[1, 2]", "[1, 2, 4]").replace("blocks = 3", "blocks = 5");
    assert_eq!(plan(&served, &of(&more))["plan"]["trials"], 15);
    for bad in [
        file.replace("./beats", "command"),
        format!("{file}[controls]\n\"sysctl.vm.swappiness\" = 1\n"),
        file.replace("100 ms", "10 ms"),
        file.replace("[factors]", "[factors"),
        file.replace("blocks", "blogs"),
        format!("{file}[[design.warmups]]\nsize = 3\n"),
    ] {
        let draft = plan(&served, &of(&bad));
        assert_eq!(wrong(&draft), ["toml"], "{bad}");
        assert_eq!(draft["toml"], json!(bad), "kept as it was typed");
        let refused = served.post("/api/v1/jobs", &of(&bad));
        assert!([400, 403].contains(&refused.status), "{}", refused.body);
    }

    // From a workload: parameters that name a program stay locked.
    let noop = json!({ "workload": "noop" });
    assert_eq!(wrong(&plan(&served, &noop)), Vec::<String>::new());
    let shell = json!({ "workload": "command", "set": { "command": "touch /tmp/owned" } });
    assert_eq!(wrong(&plan(&served, &shell)), ["set.command"]);
    assert_eq!(served.post("/api/v1/jobs", &shell).status, 403);
    for name in ["../beats", "/etc", "./beats"] {
        assert_eq!(served.post("/api/v1/plan", &json!({ "workload": name })).status, 400, "{name}");
    }
    let jobs = served.get("/api/v1/jobs").json();
    assert_eq!(
        (&jobs["waiting"], &jobs["over"], &jobs["running"]),
        (&json!([]), &json!([]), &Value::Null),
        "nothing was submitted"
    );

    let done = served.post("/api/v1/jobs", &of(&more));
    assert_eq!((done.status, &done.json()["trials"]), (201, &json!(15)), "{}", done.body);
    let run = served.until(1, "completed")["run"].as_str().unwrap().to_owned();
    assert_eq!(served.post("/api/v1/jobs", &noop).status, 201);
    served.until(2, "completed");
    let known = plan(&served, &json!({ "experiment": "beating" }));
    assert!(known["plan"]["total_s"].as_f64().unwrap() > 0.0);
    assert!(known["plan"]["basis"].as_str().unwrap().contains(&run), "{known}");
}

#[test]
fn a_run_is_repeated_and_cloned() {
    let Some(program) = program() else { return };
    let world = World::new();
    beats(&world, "beating");
    let served = serve(&world, &["--rate", "1000"]);
    let asked = json!({ "experiment": "beating", "set": { "size": "2, 5" }, "blocks": 2 });
    assert_eq!(served.post("/api/v1/jobs", &asked).status, 201);
    let run = served.until(1, "completed")["run"].as_str().unwrap().to_owned();
    let mut browser = Browser::signed_in(program, &world, &served);
    browser.go(&format!("http://{}/archive", served.address));
    browser.value("document.querySelector('.more summary').click()");
    browser.click(".more a[href^='/queue/new?run=']");
    assert_eq!(browser.value("document.querySelector('#set-size').value"), "2, 5");
    assert_eq!(browser.value("document.querySelector('#blocks').value"), "2");
    browser.click("#submit button");
    assert_eq!(browser.value("location.pathname"), "/queue", "{}", browser.text("main"));
    let again = served.until(2, "completed");
    assert_eq!((&again["trials"], &again["experiment"]), (&json!(4), &json!("beating")));
    browser.go(&format!("http://{}/queue/new?clone={run}", served.address));
    browser.click("#submit button");
    let clone = served.until(3, "completed");
    assert_eq!((&clone["trials"], &clone["experiment"]), (&json!(4), &json!("beating-copy")));
    // The experiment's file is gone, so nothing says that it may run.
    let repeat = format!("/queue/new?run={run}");
    assert!(served.get("/archive").body.contains(&repeat));
    std::fs::remove_file(world.path("experiments/beating.toml")).unwrap();
    let archive = served.get("/archive").body;
    assert!(!archive.contains(&repeat) && archive.contains("Cannot be repeated"), "{archive}");
    browser.go(&format!("http://{}/queue/new?run={run}", served.address));
    assert!(
        browser.text("main").contains("not in the server's folders"),
        "{}",
        browser.text("main")
    );
}

#[test]
fn a_command_is_filled_in_where_any_program_may_run_and_a_dead_end_nowhere_else() {
    let world = World::new();
    beats(&world, "beating");
    let commented = "# Beats.\nname = \"beating\"\nworkload = \"./beats\"\n[factors]\n\
                     size = [1, 2] # how many\n\
                     [design] # short\nblocks = 3 # few\n";
    world.write("experiments/commented.toml", commented);
    let mut served = serve(&world, &["--rate", "1000"]);
    let start = served.get("/queue/new").body;
    assert!(!start.contains("/queue/new?workload=command"), "{start}");
    assert!(start.contains("assay serve --allow-any") && start.contains(" CPU"), "{start}");
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    assert!(start.contains(&format!("Runs on <strong>{host}</strong>")), "{start}");
    // A field changes its value and nothing else.
    let asked = json!({ "experiment": "commented", "blocks": 7, "set": { "size": "1, 4" } });
    let text = commented.replace("blocks = 3", "blocks = 7").replace("[1, 2]", "[1, 4]");
    assert_eq!(plan(&served, &asked)["toml"], text);

    served.kill();
    let served = serve(&world, &["--rate", "1000", "--allow-any"]);
    assert!(served.get("/queue/new").body.contains("/queue/new?workload=command"));
    let form = served.get("/queue/new?workload=command").body;
    assert!(
        form.contains("name=\"set.command\"") && form.contains("set-command-problem"),
        "{form}"
    );
    let bare = plan(&served, &json!({ "workload": "command" }));
    assert_eq!(wrong(&bare), ["set.command"], "beside the field that is empty");
    let set = json!({ "command": "true, sleep 0.01" });
    let asked = json!({ "workload": "command", "set": set, "blocks": 2 });
    assert_eq!(plan(&served, &asked)["plan"]["trials"], 4);
    assert_eq!(served.post("/api/v1/jobs", &asked).status, 201);
    served.until(1, "completed");
}

/// Types into a field as a person does.
fn fill(browser: &mut Browser, selector: &str, text: &str) {
    let set = format!(
        "(() => {{ const e = document.querySelector({selector:?}); e.value = {text:?}; \
        e.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
    );
    browser.value(&set);
}

#[test]
fn the_plan_follows_what_is_typed_and_mistakes_stand_beside_their_fields() {
    let Some(program) = program() else { return };
    let world = World::new();
    beats(&world, "beating");
    let served = serve(&world, &["--rate", "1000"]);
    let mut browser = Browser::signed_in(program, &world, &served);
    browser.click("a[href='/queue/new']");
    browser.picture("submit-start");
    browser.click("a[href='/queue/new/beating']");
    let trials =
        |n: u32| format!("document.querySelector('#plan').textContent.includes('trials{n} (')");
    browser.until(&trials(6));
    browser.picture("submit");
    fill(&mut browser, "#set-size", "1, 2, 3");
    browser.until(&trials(9));
    browser.until("document.querySelector('#toml').value.includes('3')");
    fill(&mut browser, "#set-size", "1, 0");
    let mistake =
        "document.querySelector('#set-size-problem').textContent.includes('it takes 1 to 9')";
    browser.until(mistake);
    assert_eq!(
        browser.value("document.querySelector('#set-size').getAttribute('aria-invalid')"),
        "true"
    );
    browser.picture("submit-mistake");
    // If the form is sent nevertheless, it keeps its values and shows the mistakes.
    fill(&mut browser, "#tags", "one, two");
    browser.click("#submit button");
    assert_eq!(browser.value(mistake), true);
    assert_eq!(browser.value("document.querySelector('#set-size').value"), "1, 0");
    assert_eq!(browser.value("document.querySelector('#tags').value"), "one, two");
    assert_eq!(browser.value("document.activeElement.id"), "problems");
    browser.picture("submit-refused");
    // The text and the fields are kept in sync.
    fill(&mut browser, "#set-size", "1, 2");
    browser.until(&trials(6));
    browser.value("document.querySelector('#toml').closest('details').open = true");
    let text = browser
        .value("document.querySelector('#toml').value")
        .as_str()
        .unwrap()
        .replace("blocks = 3", "blocks = 4");
    fill(&mut browser, "#toml", &text);
    browser.until(&trials(8));
    browser.until("document.querySelector('#blocks').value === '4'");
    fill(&mut browser, "#set-size", "1, 2, 4");
    browser.until(&trials(12));
    assert_eq!(browser.value("!!document.querySelector('#problems')"), false, "it is mended");
    let text = browser.value("document.querySelector('#toml').value");
    let text = text.as_str().unwrap();
    assert!(text.starts_with("name = ") && !text.contains("one"), "short, and as the file: {text}");
    for (width, scheme) in [(390, "dark"), (390, "light"), (1280, "dark")] {
        browser.size(width, 844);
        browser.scheme(scheme);
        assert_eq!(browser.value(FITS), true, "at {width}");
        browser.picture(&format!("submit-{width}-{scheme}"));
    }
    browser.click("#submit button");
    assert_eq!(browser.value("location.pathname"), "/queue", "{}", browser.text("main"));
    let job = served.until(1, "completed");
    assert_eq!(job["trials"], 12);
    let tags = &served.get("/api/v1/runs").json()["runs"][0]["tags"];
    assert_eq!(tags, &json!(["one", "two"]), "each once");
    let expected = browser.complaints.iter().filter(|c| !c.contains("400")).count();
    assert_eq!(expected, 0, "{:?}", browser.complaints);
}

/// Presses Tab until the element that a selector matches has the focus, and checks that the focus
/// is visible.
fn tab_to(browser: &mut Browser, selector: &str) {
    let there = format!("document.activeElement?.matches({selector:?}) === true");
    for _ in 0..200 {
        if browser.value(&there) == true {
            let seen = "(() => { const s = getComputedStyle(document.activeElement); \
                return s.outlineStyle !== 'none' && s.outlineWidth !== '0px'; })()";
            assert_eq!(browser.value(seen), true, "the focus is seen on {selector}");
            return;
        }
        browser.key("Tab", 9, "");
    }
    panic!("no Tab leads to {selector} on {}", browser.value("location.href"));
}

/// Presses Enter on an element, and waits for the next page.
fn enter(browser: &mut Browser, selector: &str) {
    tab_to(browser, selector);
    browser.value("window.before = true");
    browser.key("Enter", 13, "\r");
    browser.until("!window.before && document.readyState === 'complete'");
}

#[test]
fn the_main_job_needs_no_mouse() {
    let Some(program) = program() else { return };
    let world = World::new();
    sleeper(&world, "walk", "0.3", 6);
    let served = serve(&world, &["--rate", "1000"]);
    let mut browser = Browser::start(program, &world.path("."));
    browser.size(1280, 900);
    browser.go(&format!("http://{}/login", served.address));
    assert!(browser.text("h1").contains("assay"), "the page names the product");
    browser.picture("login");
    tab_to(&mut browser, "#token");
    browser.call("Input.insertText", &json!({ "text": served.token }));
    enter(&mut browser, "#login button");
    enter(&mut browser, "a[href='/queue/new']");
    enter(&mut browser, "a[href='/queue/new/walk']");
    tab_to(&mut browser, "#blocks");
    // The content of a field is selected when it gets the focus by keyboard.
    browser.call("Input.insertText", &json!({ "text": "4" }));
    browser.until("document.querySelector('#plan').textContent.includes('trials8 (')");
    enter(&mut browser, "#submit button");
    assert_eq!(browser.value("location.pathname"), "/queue", "{}", browser.text("main"));
    browser.until("!!document.querySelector('.card.running a.button')");
    enter(&mut browser, ".card.running a.button");
    browser.until("document.querySelectorAll('#live-results svg.chart').length > 0");
    // Cancelling asks for confirmation, and can be abandoned.
    enter(&mut browser, "#live-cancel");
    enter(&mut browser, "main a.button");
    assert_eq!(browser.value("location.pathname"), "/live/1");
    browser.until("document.querySelector('#live-state').textContent.includes('trials ran')");
    enter(&mut browser, "#live-run a");
    assert!(browser.text("h1").contains("Is one sleep longer?"));
    assert_eq!(served.job(1)["trials"], 8);
    assert_eq!(browser.complaints, Vec::<String>::new());
}
