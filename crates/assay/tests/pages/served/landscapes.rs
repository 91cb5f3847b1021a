//! The pages of quoted results: every link on them leads to a page, and the menu offers them to
//! users who also have results of their own.

use std::collections::BTreeSet;

use crate::common::World;
use crate::common::served::{beats, serve};

const MENU: &str = "<a href=\"/landscapes\">Landscapes</a>";

#[test]
fn no_link_of_a_landscape_ends_in_an_error() {
    let world = World::new();
    let served = serve(&world, &["--rate", "100000"]);
    let mut known = BTreeSet::from(["/landscapes".to_owned()]);
    let mut next: Vec<String> = known.iter().cloned().collect();
    while let Some(path) = next.pop() {
        let page = served.get(&path);
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        for rest in page.body.split("href=\"/landscapes/").skip(1) {
            let name = rest.split('"').next().unwrap().replace("&amp;", "&");
            // One denominator is as good as another.
            if name.contains("per=") && !name.contains("per=core&") && !name.ends_with("per=core") {
                continue;
            }
            let path = format!("/landscapes/{name}");
            if known.insert(path.clone()) {
                next.push(path);
            }
        }
    }
    assert!(known.contains("/landscapes/iostat?metric=r%2Fs"), "{known:?}");
    assert!(known.contains("/landscapes/iostat?per=core&metric=r%2Fs"), "{known:?}");
    let asked = served.get("/landscapes/spec-workshop").body;
    assert!(asked.contains("aria-current=\"true\">attendance</a>"), "the first metric: {asked}");
    assert_eq!(served.get("/api/v1/landscapes/iostat").status, 400, "a program has to choose");
}

#[test]
fn the_menu_offers_landscapes_to_those_who_have_results_of_their_own() {
    let world = World::new();
    beats(&world, "beating");
    let served = serve(&world, &["--rate", "1000"]);
    assert!(!served.get("/queue").body.contains(MENU));
    assert_eq!(served.get("/landscapes").status, 200, "its address leads there all the same");
    let job = served.submit("beating");
    served.until(job, "completed");
    assert!(!served.get("/queue").body.contains(MENU), "no landscape ranks a rate of beats");
    for file in ["kit.toml", "beats.sh"] {
        let path = format!("experiments/beats/{file}");
        let text = std::fs::read_to_string(world.path(&path)).unwrap();
        let text = text.replace("name = \"rate\"", "name = \"throughput\"");
        world.write(
            &path,
            &text.replace("\\\"metric\\\":\\\"rate", "\\\"metric\\\":\\\"throughput"),
        );
    }
    let job = served.submit("beating");
    served.until(job, "completed");
    served.get("/queue");
    assert!(served.get("/queue").body.contains(MENU));
}
