//! Compares the lists with those in the documentation.

use std::fmt::Write as _;

use crate::redact::allowed::{AllowedNames, ENVIRONMENT, KERNEL_PARAMETERS, MOUNT_OPTIONS};

/// Returns tables of the names whose values are recorded in clear.
fn markdown() -> String {
    let mut out = String::new();
    for (title, table) in [
        ("Environment variables", &ENVIRONMENT),
        ("Parameters of the kernel's command line", &KERNEL_PARAMETERS),
        ("Mount options with a value", &MOUNT_OPTIONS),
    ] {
        rows(title, table, &mut out);
    }
    out
}

fn rows(title: &str, table: &[AllowedNames], out: &mut String) {
    let _ = writeln!(out, "| {title} | names |\n|---|---|");
    for (what, names) in table {
        let names: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
        let _ = writeln!(out, "| {what} | {} |", names.join(", "));
    }
    out.push('\n');
}

#[test]
fn the_documentation_has_the_lists() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/publish/privacy.md");
    let page = std::fs::read_to_string(path).unwrap();
    let lists = markdown();
    assert!(page.contains(lists.trim_end()), "put this into docs/publish/privacy.md:\n{lists}");
}
