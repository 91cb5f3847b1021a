//! A site in a real browser, opened as files: the rules of WCAG 2.2 AA that a program can check, in
//! light, dark and narrow; the search; and that nothing is loaded from other hosts.

use crate::common::World;
use crate::common::chromium::{Browser, program};
use serde_json::{Value, json};

const WCAG: &str = include_str!("../common/wcag.js");

/// Screens: name, width, height, colour scheme.
const SCREENS: [(&str, u32, u32, &str); 4] = [
    ("light", 1280, 900, "light"),
    ("dark", 1280, 900, "dark"),
    ("phone", 390, 844, "light"),
    ("phone-dark", 320, 640, "dark"),
];

#[test]
fn every_kind_of_page_can_be_read_by_anybody_from_a_file() {
    let Some(program) = program() else { return };
    let world = World::new();
    let arguments =
        ["run", "--blocks", "6", "--tag", "nightly", "--vs", "sleep 0.02", "--", "sleep", "0.01"];
    assert_eq!(world.run(&arguments).code, 0);
    let built = world.run(&["site", "--posts", "posts", "-o", "out"]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    let only = |folder: &str| {
        let mut names = std::fs::read_dir(world.path("out").join(folder))
            .unwrap()
            .flatten()
            .map(|e| e.file_name().into_string().unwrap());
        names
            .find(|n| n != "index.html" && !n.starts_with("20") || n.matches('-').count() == 2)
            .unwrap()
    };
    let run = format!("runs/{}/index.html", only("runs"));
    let system = format!("systems/{}", only("systems"));
    let paths = [
        "index.html",
        "runs/index.html",
        &run,
        "posts/2009-08-27-specjbb2005-t5240/index.html",
        "posts/2009-06-12-memcached/index.html",
        "landscapes/index.html",
        "landscapes/specjbb2005.html",
        "histories/index.html",
        "systems/index.html",
        &system,
        "workloads/index.html",
        "workloads/command.html",
        "tags/index.html",
        "tags/nightly.html",
        "search.html#q=t5240",
    ];
    let mut browser = Browser::start(program, &world.path("."));
    let mut wrong = Vec::new();
    for (screen, width, height, scheme) in SCREENS {
        browser.size(width, height);
        browser.scheme(scheme);
        for path in paths {
            browser.go(&format!("file://{}", world.path("out").join(path).display()));
            let found = browser.value(WCAG);
            let found =
                found.as_array().unwrap_or_else(|| panic!("{path}: {:?}", browser.complaints));
            wrong.extend(found.iter().map(|f| format!("{screen} {path}: {}", f.as_str().unwrap())));
            let name = path
                .split(['/', '#'])
                .filter(|p| !p.ends_with("index.html"))
                .collect::<Vec<_>>()
                .join("-");
            browser.picture(&format!("site-{screen}-{name}"));
        }
    }
    assert!(wrong.is_empty(), "{} places:\n{}", wrong.len(), wrong.join("\n"));

    // The search finds pages by title and content, and its address can be saved.
    browser.size(1280, 900);
    let shown = |browser: &mut Browser, words: &str| -> Vec<String> {
        browser.value(&format!(
            "(() => {{ const f = document.querySelector('#words'); f.value = \
            {words:?}; f.dispatchEvent(new Event('input')); }})()"
        ));
        let found = browser
            .value("[...document.querySelectorAll('#found a')].map(a => a.getAttribute('href'))");
        found.as_array().unwrap().iter().map(|v: &Value| v.as_str().unwrap().to_owned()).collect()
    };
    let first = browser.value("document.querySelector('#found a').getAttribute('href')");
    assert_eq!(browser.value("document.querySelector('#words').value"), json!("t5240"));
    assert!(first.as_str().unwrap().contains("t5240"), "{first}");
    assert!(shown(&mut browser, "sleep 0.01").contains(&run), "a run by its treatment");
    assert_eq!(shown(&mut browser, "NIGHTLY"), std::slice::from_ref(&run), "case does not matter");
    assert_eq!(browser.value("location.hash"), json!("#q=NIGHTLY"));
    assert!(shown(&mut browser, "nightly soplex").is_empty(), "all words");
    assert!(browser.text("#count").starts_with("0 of "));
    assert!(shown(&mut browser, "<script>alert(1)</script>").is_empty());
    shown(&mut browser, "nightly");
    browser.click("#found a");
    assert!(browser.text("h1").contains("sleep"), "{}", browser.text("h1"));
    browser.click("nav.site a");
    assert_eq!(browser.text("h1"), "Performance notes");
    assert_eq!(browser.complaints, Vec::<String>::new());
}
