//! The published page in a real browser: its script runs under its own content security policy, and
//! nothing is loaded from other hosts.

use std::process::Command;

use crate::common::World;

#[test]
fn the_page_works_in_chromium() {
    let Some(browser) = crate::common::chromium::program() else { return };
    let world = World::new();
    let arguments = ["run", "--blocks", "6", "--vs", "sleep 0.02", "--", "sleep", "0.01"];
    assert_eq!(world.run(&arguments).code, 0);
    assert_eq!(world.run(&["publish", "last", "-o", "page"]).code, 0);
    let page = world.path("page/index.html");
    let source = std::fs::read_to_string(&page).unwrap();
    let button = "Copy table</button>";
    assert!(!source.contains(button), "the script makes the buttons");
    let shown = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", world.path("profile").display()))
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&shown.stdout);
    let printed = String::from_utf8_lossy(&shown.stderr);
    assert!(dom.contains(button), "the script did not run: {printed}");
    for wrong in ["Content Security Policy", "Uncaught", "net::ERR"] {
        assert!(!printed.contains(wrong), "{wrong}: {printed}");
    }
}
