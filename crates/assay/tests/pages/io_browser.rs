//! Two traced runs side by side in a real browser, on the server's page and on the published one:
//! the charts of both have one scale, and the values under the pointer are those of the archive.

use std::path::Path;

use crate::common::World;
use crate::common::chromium::{Browser, FITS, program};
use crate::common::served::serve;
use serde_json::{Value, json};

/// JavaScript for the charts of block I/O by kind: the id and axes of each, and the texts of its
/// marks by series.
const CHARTS: &str = "[...document.querySelectorAll('#block-io .beside')].map(kind => \
    [...kind.querySelectorAll('svg.chart')].map(svg => ({ id: svg.id, \
    axes: [...svg.querySelectorAll('.axis')].map(a => a.outerHTML).join(), \
    series: [...svg.querySelectorAll('g.series')].map(g => ({ label: g.dataset.label, \
    says: [...g.querySelectorAll('.m title')].map(t => t.textContent) })), \
    hits: [...svg.querySelectorAll('.m.hit title')].map(t => t.textContent) })))";

/// Writes an experiment that writes and reads `count` blocks with direct I/O, traced.
fn traced(world: &World, name: &str, block: &str, count: u32) {
    std::fs::create_dir_all(world.path("experiments")).unwrap();
    let file = world.path(&format!("{name}.dat")).display().to_string();
    let dd = |what: &str| format!("dd {what} bs={block} count={count} 2>/dev/null");
    let write = dd(&format!("if=/dev/zero of={file} oflag=direct"));
    let read = dd(&format!("if={file} of=/dev/null iflag=direct"));
    world.write(
        &format!("experiments/{name}.toml"),
        &format!(
            "name = \"{name}\"\nworkload = \"command\"\n[params]\nshell = \"sh\"\n\
             command = \"{write}; sleep 0.6; {read}; sleep 0.6\"\n\
             [design]\nblocks = 3\n[observe]\nmonitors = []\ntracers = [\"io\"]\n"
        ),
    );
}

/// Runs an experiment; returns the id of the run and the trace of its first trial, or prints the
/// reason and returns `None` if block I/O cannot be traced here.
fn run(world: &World, name: &str) -> Option<(String, Value)> {
    let before = world.runs();
    let experiment = format!("experiments/{name}.toml");
    let done = world.run(&["run", &experiment]);
    let folder = world.runs().into_iter().find(|r| !before.contains(r)).unwrap();
    let Ok(text) = std::fs::read_to_string(folder.join("trials/0001/io.json")) else {
        println!("skipped: because block I/O cannot be traced here: {}", done.stderr.trim());
        return None;
    };
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report: Value = serde_json::from_str(&text).unwrap();
    if report["source"]["recorded"]["latency"] != true || report["devices"] == json!([]) {
        println!("skipped: because the temporary folder is on no disk whose I/Os are seen here");
        return None;
    }
    Some((folder.file_name().unwrap().to_str().unwrap().to_owned(), report))
}

/// Moves the pointer to a mark of a chart and returns the text of the readout.
fn pointed(browser: &mut Browser, mark: &str) -> String {
    let place = browser.value(&format!(
        "(() => {{ const m = {mark}; m.scrollIntoView({{ block: 'center', inline: 'center', \
         behavior: 'instant' }}); \
         const r = m.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
    ));
    let moved = json!({ "type": "mouseMoved", "x": place[0], "y": place[1] });
    browser.call("Input.dispatchMouseEvent", &moved);
    let printed = format!("{mark}.closest('figure').querySelector('.readout').textContent");
    browser.until(&format!("{printed} !== ''"));
    browser.value(&printed).as_str().unwrap().to_owned()
}

/// Returns the numbers of I/Os in the texts of marks.
fn ios(says: &Value) -> Vec<u64> {
    let words = says.as_array().unwrap().iter().map(|s| s.as_str().unwrap());
    let number = |s: &str| s.split(" I/Os").next()?.rsplit(' ').next()?.parse().ok();
    words.map(|s| number(s).unwrap_or_else(|| panic!("no number of I/Os in {s}"))).collect()
}

fn counts(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

/// Checks that a page shows the two runs with these reports.
fn beside(browser: &mut Browser, reports: [&Value; 2], terminal: &str) {
    browser.value("document.querySelector('#block-io-tab').click()");
    browser.until("!document.querySelector('#block-io [data-chart]')");
    let kinds = browser.value(CHARTS);
    let kinds = kinds.as_array().unwrap();
    // Devices that only one of the runs used have one chart.
    let both: Vec<&Vec<Value>> =
        kinds.iter().map(|k| k.as_array().unwrap()).filter(|k| k.len() == 2).collect();
    assert!(both.len() >= 6, "{} kinds of charts", both.len());
    for kind in both {
        let (one, other) = (&kind[0]["axes"], &kind[1]["axes"]);
        assert!(one.as_str().unwrap().contains("<text"), "{} has numbers", kind[0]["id"]);
        assert_eq!(one, other, "{} has one scale", kind[0]["id"]);
    }
    let chart = |kind: &str, run: usize| -> &Value {
        let id = format!("io-{kind}-{run}-1");
        let found = kinds.iter().flat_map(|k| k.as_array().unwrap()).find(|c| c["id"] == id);
        found.unwrap_or_else(|| panic!("no chart {id}"))
    };
    let labels = |run| {
        let series = chart("size", run)["series"].as_array().unwrap();
        series.iter().map(|s| s["label"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(labels(1), labels(2), "a colour means the same in both");
    for (i, report) in reports.into_iter().enumerate() {
        let run = i + 1;
        // Over time: every tick is a mark of each series.
        let ticks = report["series"]["ticks"].as_array().unwrap();
        for series in chart("ios", run)["series"].as_array().unwrap() {
            assert_eq!(series["says"].as_array().unwrap().len(), ticks.len(), "{series}");
        }
        // Sizes: every row of the histogram is a bar.
        let groups = report["groups"].as_array().unwrap();
        let mut bars = 0;
        for series in chart("size", run)["series"].as_array().unwrap() {
            let key = |g: &&Value| {
                let words = g["key"].as_array().unwrap().iter().map(|k| k.as_str().unwrap());
                words.collect::<Vec<_>>().join(" ") == series["label"].as_str().unwrap()
            };
            let of_size = |h: &&Value| h["measure"] == "size";
            let group = groups.iter().find(key).map(|g| g["histograms"].as_array().unwrap());
            let rows = group.and_then(|h| h.iter().find(of_size)?["rows"].as_array());
            let rows = rows.into_iter().flatten();
            let bounded = rows.filter(|r| r["from"].is_u64() && r["to"].is_u64());
            let reported: Vec<u64> = bounded.map(|r| r["count"].as_u64().unwrap()).collect();
            assert_eq!(ios(&series["says"]), reported, "{series}");
            bars += reported.len();
        }
        assert!(bars > 1);
        // Heat maps: every column shows its number of I/Os.
        for (kind, map) in [
            ("latency-heat", &report["latency_heat"]),
            ("address-heat-0", &report["devices"][0]["heat"]),
        ] {
            let columns = map["counts"].as_array().unwrap().iter();
            let sums: Vec<u64> = columns.map(|c| counts(c).iter().sum()).collect();
            assert_eq!(ios(&chart(kind, run)["hits"]), sums, "{kind}");
            let fullest = (0..sums.len()).max_by_key(|k| sums[*k]).unwrap();
            let mark = format!("document.querySelectorAll('#io-{kind}-{run}-1 .m.hit')[{fullest}]");
            let printed = pointed(browser, &mark);
            assert_eq!(ios(&json!([printed])), [sums[fullest]], "{kind}: {printed}");
        }
    }
    // Every number of the tracer's metrics equals the terminal's, to the digit.
    let numbers = browser.value(
        "[...document.querySelectorAll('#block-io h2 + .table-box td.num')].map(t => \
        t.textContent)",
    );
    let numbers = numbers.as_array().unwrap();
    assert!(numbers.len() > 40, "{numbers:?}");
    for number in numbers {
        assert!(terminal.contains(number.as_str().unwrap()), "{number} of\n{terminal}");
    }
}

#[test]
fn two_traced_runs_stand_on_one_scale() {
    let Some(program) = program() else { return };
    let world = World::new();
    traced(&world, "few", "4k", 40);
    traced(&world, "many", "64k", 400);
    let Some((few, few_report)) = run(&world, "few") else { return };
    let Some((many, many_report)) = run(&world, "many") else { return };
    let reports = [&few_report, &many_report];
    let page = world.path("beside.html").display().to_string();
    let done = world.run(&["compare", &few, &many, "-o", &page]);
    let terminal = done.stdout;
    assert!(Path::new(&page).exists(), "{}", done.stderr);
    assert_eq!(world.run(&["compare", &few, "-o", &page]).code, 2, "one run is beside none");

    let served = serve(&world, &[]);
    let mut browser = Browser::signed_in(program, &world, &served);
    let compare = format!("http://{}/compare?runs={few},{many}", served.address);
    for (name, address) in [("served", compare), ("published", format!("file://{page}"))] {
        browser.size(1280, 900);
        browser.scheme("light");
        browser.go(&address);
        beside(&mut browser, reports, &terminal);
        for (scheme, width) in [("light", 1280), ("dark", 1280), ("dark", 390), ("light", 390)] {
            browser.size(width, 900);
            browser.scheme(scheme);
            browser.go(&address);
            assert_eq!(browser.value(FITS), true, "{name} at {width}");
            browser.picture(&format!("io-beside-{name}-{scheme}-{width}"));
        }
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
    // The API and the command line have the same numbers.
    let api = served.get(&format!("/api/v1/compare?runs={few},{many}")).json();
    let command = world.run(&["compare", &few, &many, "--json"]).stdout;
    let command: Value = serde_json::from_str(&command).unwrap();
    assert!(api["io"].as_array().unwrap().len() > 8);
    assert_eq!(api, command);
}
