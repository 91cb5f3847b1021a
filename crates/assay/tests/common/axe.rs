//! axe-core from the npm registry, in one version with a known hash.
#![allow(clippy::print_stdout)] // prints why a test is skipped

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::chromium::Browser;

const VERSION: &str = "4.10.3";
/// SHA-256 hash of the file `axe.min.js`.
const SHA256: &str = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb";

/// Returns the source of axe-core, or prints why it is unavailable. It is downloaded once and kept
/// with the temporary files of the tests.
pub fn source() -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("axe-core-{VERSION}"));
    let file = folder.join("package/axe.min.js");
    if !file.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let package = format!("axe-core@{VERSION}");
        let done = |program: &str, arguments: &[&str]| {
            Command::new(program)
                .args(arguments)
                .current_dir(&folder)
                .output()
                .is_ok_and(|o| o.status.success())
        };
        let archive = format!("axe-core-{VERSION}.tgz");
        if !done("npm", &["pack", "--silent", &package]) || !done("tar", &["xzf", &archive]) {
            println!(
                "skipped: because axe-core {VERSION} could not be had with `npm pack {package}`"
            );
            return None;
        }
    }
    let found = Command::new("sha256sum").arg(&file).output().unwrap().stdout;
    let found = String::from_utf8(found).unwrap();
    assert!(found.starts_with(SHA256), "{} is not axe-core {VERSION}: {found}", file.display());
    Some(std::fs::read_to_string(&file).unwrap())
}

/// Returns what axe-core finds on the page as it is, of any severity: a line for each element.
pub fn findings(browser: &mut Browser, source: &str) -> Vec<String> {
    browser.value(&format!("void (() => {{ {source} }})()"));
    let found = browser.value(
        "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.flatMap((v) \
         => v.nodes.map((n) => \
         `${v.impact} ${v.id}: ${n.target.join(' ')} · \
         ${n.failureSummary.split('\\n').slice(1, 3).join(' ').trim()}`)))",
    );
    let all =
        found.as_array().unwrap_or_else(|| panic!("axe did not run: {:?}", browser.complaints));
    all.iter().map(|v: &Value| v.as_str().unwrap().to_owned()).collect()
}
