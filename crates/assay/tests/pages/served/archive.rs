//! Actions on runs of the archive, from the API, the shell and the browser: tags, notes, deleting,
//! restoring, downloading a run, saved searches.

use crate::common::World;
use crate::common::chromium::{Browser, FITS, program};
use crate::common::served::{Served, serve, sleeper};
use serde_json::{Value, json};

/// Checks of the rules of WCAG 2.2 AA that a program can check.
const WCAG: &str = include_str!("../../common/wcag.js");
/// Runs an experiment and returns the run's id.
fn ran(served: &Served, experiment: &str) -> String {
    let job = served.submit(experiment);
    served.until(job, "completed")["run"].as_str().unwrap().to_owned()
}

fn listed(world: &World, more: &[&str]) -> Vec<Value> {
    let shown = world.run(&[&["archive", "list", "--json"], more].concat());
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    shown.json().as_array().unwrap().clone()
}

#[test]
fn a_run_is_annotated_deleted_and_restored_and_its_record_stays() {
    let world = World::new();
    sleeper(&world, "short", "0.01", 2);
    sleeper(&world, "long", "30", 5);
    let served = serve(&world, &["--rate", "1000"]);
    let run = ran(&served, "short");
    let of = |what: &str| format!("/api/v1/runs/{run}/{what}");

    let noted = served
        .post(&of("annotate"), &json!({ "add_tags": ["kept", "cold"], "note": "the fan was off" }));
    assert_eq!(noted.status, 200, "{}", noted.body);
    assert_eq!(noted.json()["added_tags"], json!(["kept", "cold"]));
    let noted = served.post(&of("annotate"), &json!({ "remove_tags": ["cold"] })).json();
    assert_eq!(
        (&noted["added_tags"], &noted["note"]),
        (&json!(["kept"]), &json!("the fan was off"))
    );
    for search in ["tag=kept", "text=FAN"] {
        assert_eq!(served.get(&format!("/api/v1/runs?{search}")).json()["total"], 1, "{search}");
    }
    for bad in [json!({ "add_tags": ["a,b"] }), json!({ "note": "\u{1b}[31m" })] {
        assert_eq!(served.post(&of("annotate"), &bad).status, 400, "{bad}");
    }
    assert_eq!(served.post(&of("annotate"), &json!({ "tags": ["x"] })).status, 422);
    let none = "/api/v1/runs/20260101-000000-0000";
    assert_eq!(served.post(&format!("{none}/annotate"), &json!({})).status, 404);
    assert_eq!(served.post(&format!("{none}/delete"), &json!({})).status, 404);
    assert_eq!(served.post(&format!("{none}/restore"), &json!({})).status, 404);

    // The shell shows the same, and has the same actions.
    let shown = world.run(&["archive", "show", &run]).stdout;
    assert!(shown.contains("kept") && shown.contains("the fan was off"), "{shown}");
    let one = &listed(&world, &["--tag", "kept"])[0];
    assert_eq!((&one["id"], &one["note"]), (&json!(run), &json!("the fan was off")));
    let tagged = world.run(&["archive", "tag", &run, "baseline", "--remove", "kept"]);
    assert_eq!((tagged.code, tagged.stdout.trim()), (0, "baseline"), "{}", tagged.stderr);
    assert_eq!(world.run(&["archive", "tag", &run, "a,b"]).code, 1);
    assert_eq!(world.run(&["archive", "note", &run, "the fan was on"]).code, 0);
    assert_eq!(world.run(&["archive", "note", &run]).stdout.trim(), "the fan was on");
    let list = world.run(&["archive", "list"]).stdout;
    assert!(list.contains("baseline; the fan was on"), "{list}");
    assert_eq!(world.run(&["archive", "verify"]).code, 0, "the record is what it was");

    // The run as a bundle, which the archive imports again as the same run.
    let bundle = served.get(&of("bundle"));
    assert_eq!(bundle.status, 200, "{}", bundle.body);
    assert!(bundle.head.contains(&format!("filename=\"{run}.tar.zst\"")), "{}", bundle.head);
    let file = world.path("run.tar.zst").display().to_string();
    assert_eq!(world.run(&["archive", "export", &run, "-o", &file]).code, 0);
    let size = std::fs::metadata(&file).unwrap().len();
    assert!(
        bundle.head.to_lowercase().contains(&format!("content-length: {size}")),
        "{}",
        bundle.head
    );

    let deleted = served.post(&of("delete"), &json!({}));
    assert_eq!(deleted.status, 200, "{}", deleted.body);
    assert!(deleted.json()["until"].as_str().unwrap().ends_with("T00:00:00Z"));
    assert_eq!(served.get(&format!("/api/v1/runs/{run}")).status, 404);
    assert_eq!(served.get("/api/v1/runs").json()["total"], 0);
    assert_eq!(served.get("/api/v1/deleted").json()[0]["run"], json!(run));
    assert_eq!(listed(&world, &["--deleted"])[0]["experiment"], "short");
    assert_eq!(world.run(&["archive", "verify"]).code, 0, "nothing is missing");
    assert_eq!(served.post(&of("restore"), &json!({})).json()["note"], "the fan was on");
    assert_eq!(served.post(&of("restore"), &json!({})).status, 404);
    let deleted = world.run(&["archive", "delete", &run]);
    assert!(deleted.stdout.contains("assay archive restore"), "{}", deleted.stdout);
    assert_eq!(world.run(&["archive", "restore"]).stdout.trim(), format!("restored {run}"));
    assert_eq!(world.run(&["archive", "delete", &run, "--now"]).code, 0);
    assert_eq!(world.run(&["archive", "restore"]).code, 1);
    assert_eq!(world.run(&["archive", "verify"]).code, 0);

    let job = served.submit("long");
    served.until(job, "running");
    let running = crate::common::eventually("it has a run", || {
        served.job(job)["run"].as_str().map(str::to_owned)
    });
    assert_eq!(served.post(&format!("/api/v1/runs/{running}/delete"), &json!({})).status, 409);
    assert_eq!(served.post(&format!("/api/v1/jobs/{job}/cancel"), &json!({})).status, 200);
}

#[test]
fn who_may_look_only_gets_no_bundle_and_sees_no_buttons() {
    let world = World::new();
    sleeper(&world, "short", "0.01", 1);
    let served = serve(&world, &["--rate", "1000"]);
    let run = ran(&served, "short");
    let path = world.path("state/serve.read-token");
    let token = std::fs::read_to_string(path).unwrap().trim().to_owned();
    let bearer = format!("Authorization: Bearer {token}");
    let get = |path: &str| served.ask("GET", path, &[&bearer], "");
    assert_eq!(get(&format!("/api/v1/runs/{run}/bundle")).status, 403);
    let page = get("/archive?state=completed").body;
    assert!(page.contains(&run), "{page}");
    for word in ["/delete", "/annotate", "/searches", "/bundle", "/queue/new"] {
        assert!(!page.contains(word), "{word}: {page}");
    }
    for (path, body) in [
        (format!("/api/v1/runs/{run}/delete"), "{}"),
        (format!("/api/v1/runs/{run}/restore"), "{}"),
        (format!("/api/v1/runs/{run}/annotate"), "{\"note\":\"x\"}"),
        ("/api/v1/searches".to_owned(), "{\"name\":\"x\",\"search\":{}}"),
        ("/api/v1/searches/forget".to_owned(), "{\"name\":\"x\"}"),
        (format!("/archive/{run}/delete"), ""),
        (format!("/archive/{run}/restore"), ""),
        (format!("/archive/{run}/annotate"), "note=x"),
        ("/archive/searches".to_owned(), "name=x"),
        ("/archive/searches/forget".to_owned(), "name=x"),
    ] {
        let answer = served.ask("POST", &path, &[&bearer, "Content-Type: application/json"], body);
        assert_eq!(answer.status, 403, "{path}: {}", answer.body);
    }
    assert_eq!(served.get("/api/v1/runs").json()["total"], 1);
    // A form can redirect only to the archive.
    let back = "Content-Type: application/x-www-form-urlencoded";
    let full = format!("Authorization: Bearer {}", served.token);
    let sent = "note=x&back=https%3A%2F%2Fexample.org";
    let answer = served.ask("POST", &format!("/archive/{run}/annotate"), &[&full, back], sent);
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert!(answer.head.contains("location: /archive\r\n"), "{}", answer.head);
}

/// A page as its source.
fn page(served: &Served, path: &str) -> String {
    let answer = served.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

#[test]
fn the_queue_says_what_came_of_each_job_and_what_the_archive_has() {
    let world = World::new();
    sleeper(&world, "nap", "0.01", 3);
    let served = serve(&world, &["--rate", "1000"]);
    let empty = page(&served, "/queue");
    assert!(empty.contains("No job running. Queue empty."), "{empty}");
    assert!(!empty.contains("Newest in the archive"), "{empty}");
    assert_eq!(world.run(&["run", "--blocks", "6", "sleep 0.01", "sleep 0.05"]).code, 0);
    let sentence = listed(&world, &[])[0]["headline"].as_str().unwrap().to_owned();
    assert!(sentence.starts_with("sleep 0.01 is faster; 0.05 takes"), "{sentence}");
    let queue = page(&served, "/queue");
    assert!(queue.contains("Newest in the archive") && queue.contains(&sentence), "{queue}");

    let run = ran(&served, "nap");
    let queue = page(&served, "/queue/part");
    let run = listed(&world, &[]).into_iter().find(|r| r["id"] == run).unwrap();
    for part in ["headline", "host"] {
        assert!(queue.contains(run[part].as_str().unwrap()), "{part}: {queue}");
    }
    assert!(queue.contains("Is one sleep longer?</a>") && queue.contains(" ago</time>"), "{queue}");
}

#[test]
fn runs_to_compare_are_chosen_from_a_list() {
    let world = World::new();
    sleeper(&world, "nap", "0.01", 3);
    let served = serve(&world, &["--rate", "1000"]);
    assert!(page(&served, "/compare").contains("No run found."));
    let runs = [ran(&served, "nap"), ran(&served, "nap")];
    assert_eq!(world.run(&["run", "--blocks", "2", "noop"]).code, 0);
    let tick = |id: &str| format!("name=\"runs\" value=\"{id}\" form=\"compare\"");
    let all = page(&served, "/compare");
    assert_eq!(all.matches(" form=\"compare\"").count(), 3, "{all}");
    assert!(!all.contains(" checked"), "{all}");
    assert_eq!(page(&served, "/compare?text=noop").matches(" form=\"compare\"").count(), 1);
    // From the page of a run: that run is chosen, and only comparable runs are offered.
    let link = format!("/compare?runs={}", runs[0]);
    assert!(page(&served, &format!("/runs/{}", runs[0])).contains(&link));
    let one = page(&served, &link);
    assert!(one.contains(&format!("{} checked", tick(&runs[0]))), "{one}");
    assert!(
        one.contains(&tick(&runs[1])) && one.matches(" form=\"compare\"").count() == 2,
        "{one}"
    );
    // As the form sends them, and as ids are typed, with commas.
    for both in
        [format!("runs={}&runs={}", runs[0], runs[1]), format!("runs={},{}", runs[0], runs[1])]
    {
        let compared = page(&served, &format!("/compare?{both}"));
        assert!(compared.contains("Compare 2 runs"), "{compared}");
    }
    assert_eq!(served.get("/compare?runs=none").status, 404);
}

#[test]
fn a_person_tags_finds_deletes_and_restores_in_the_browser() {
    let Some(program) = program() else { return };
    let world = World::new();
    sleeper(&world, "first", "0.01", 2);
    sleeper(&world, "second", "0.02", 2);
    let served = serve(&world, &[]);
    let runs = [ran(&served, "first"), ran(&served, "second")];
    let mut browser = Browser::signed_in(program, &world, &served);
    let archive = format!("http://{}/archive", served.address);
    browser.go(&archive);
    assert!(browser.text("main").contains("2 runs"));
    let first = browser.text("ul.runs > li");
    let (result, when) = (first.find("trial").unwrap(), first.find("UTC").unwrap());
    assert!(first.starts_with("second") && result < when, "the result comes first: {first}");
    browser.picture("archive");

    browser.value("document.querySelector('.more summary').click()");
    browser.picture("archive-more");
    let own = &runs[1];
    browser.value(&format!(
        "document.getElementById('tags-{own}').value = 'kept, with & and é'; \
        document.getElementById('note-{own}').value = 'a <b>note</b>'"
    ));
    browser.click(&format!("form[action='/archive/{own}/annotate'] button"));
    let text = browser.text("ul.runs > li");
    assert!(text.contains("with & and é") && text.contains("a <b>note</b>"), "{text}");
    assert_eq!(served.get("/api/v1/runs?tag=with%20%26%20and%20%C3%A9").json()["total"], 1);

    browser.click("ul[aria-label='Narrow down'] li:last-child a");
    assert!(browser.text("main").contains("1 run,"), "{}", browser.text("main"));
    browser.value("document.querySelector('#save-name').value = 'my runs'");
    browser.click("form[action='/archive/searches'] button");
    browser.go(&archive);
    browser.click("ul[aria-label='Saved searches'] a");
    assert!(browser.text("main").contains("1 run,"));
    browser.picture("archive-filtered");
    browser.click("ul[aria-label='Filters'] a.on");
    assert!(browser.text("main").contains("2 runs"));
    browser.click("form[action='/archive/searches/forget'] button");
    assert_eq!(served.get("/api/v1/searches").json(), json!([]));

    browser.click(&format!("form[action='/archive/{}/delete'] button", runs[0]));
    assert!(browser.text("main").contains("1 run,"));
    assert!(browser.text(".trash").contains("first"), "{}", browser.text("main"));
    browser.picture("archive-deleted");
    browser.click(".trash form button");
    assert!(browser.text("main").contains("2 runs"));
    assert_eq!(world.run(&["archive", "verify"]).code, 0);

    for (width, scheme) in [(390, "dark"), (390, "light"), (800, "dark"), (1600, "light")] {
        browser.size(width, 844);
        browser.scheme(scheme);
        browser.go(&archive);
        browser.value("document.querySelectorAll('details').forEach(d => { d.open = true; })");
        assert_eq!(browser.value(FITS), true, "at {width}");
        browser.picture(&format!("archive-{width}-{scheme}"));
    }
    let nameless = "[...document.querySelectorAll('button, a, input:not([type=hidden]), select, \
        textarea')].filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || \
        e.labels?.length)).length";
    assert_eq!(browser.value(nameless), 0);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn every_page_of_the_main_job_can_be_read_by_everybody() {
    let Some(program) = program() else { return };
    let world = World::new();
    sleeper(&world, "short", "0.01", 2);
    sleeper(&world, "long", "30", 5);
    crate::common::served::beats(&world, "beating");
    let served = serve(&world, &["--rate", "1000"]);
    let run = ran(&served, "short");
    ran(&served, "beating");
    let note = json!({ "add_tags": ["kept"], "note": "a note" });
    assert_eq!(served.post(&format!("/api/v1/runs/{run}/annotate"), &note).status, 200);
    let gone = ran(&served, "short");
    assert_eq!(served.post(&format!("/api/v1/runs/{gone}/delete"), &json!({})).status, 200);
    let saved = json!({ "name": "failed ones", "search": { "state": "failed" } });
    assert_eq!(served.post("/api/v1/searches", &saved).status, 201);
    let running = served.submit("long");
    served.submit("long");
    served.until(running, "running");
    let mut browser = Browser::start(program, &world.path("."));
    let mut wrong: Vec<String> = Vec::new();
    let mut look = |browser: &mut Browser, path: &str| {
        for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
            browser.size(width, 844);
            browser.scheme(scheme);
            browser.go(&format!("http://{}{path}", served.address));
            if path.starts_with("/live") {
                browser.until("document.querySelectorAll('#live-charts svg.chart').length > 0");
            }
            browser.value(
                "document.querySelectorAll('details').forEach(d => \
                { d.name = ''; d.open = true; })",
            );
            let found = browser.value(WCAG);
            let found = found.as_array().unwrap_or_else(|| panic!("{path}: {found}"));
            wrong.extend(found.iter().map(|f| format!("{path} at {width}, {scheme}: {f}")));
        }
    };
    look(&mut browser, "/login");
    browser.go("about:blank");
    browser.sign_in(&served);
    for path in [
        "/queue",
        "/queue/new",
        "/queue/new/short",
        "/queue/new/beating",
        "/queue/new?workload=block-size",
        &format!("/queue/{running}/cancel"),
        &format!("/live/{running}"),
        "/archive?state=completed&tag=",
        "/archive",
    ] {
        look(&mut browser, path);
    }
    assert_eq!(wrong, Vec::<String>::new());
}
