//! Describes host, user, capabilities and resource limits.

use super::facts::Facts;

pub(super) fn describe(facts: &mut Facts<'_>) {
    facts.file("host.name", "/proc/sys/kernel/hostname");
    facts.file("boot.id", "/proc/sys/kernel/random/boot_id");
    match facts.root.text("/proc/self/status") {
        Ok(status) => {
            let field = |name: &str| {
                status.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
            };
            match field("Uid").and_then(|u| u.split_whitespace().nth(1)) {
                Some(uid) => {
                    facts.set("user.id", uid);
                    facts.set("user.root", if uid == "0" { "yes" } else { "no" });
                }
                None => facts.unknown("user.id", "`/proc/self/status` does not say it"),
            }
            for (name, path) in [
                ("CapEff", "user.capabilities"),
                ("NoNewPrivs", "user.no_new_privileges"),
                ("Seccomp", "user.seccomp"),
            ] {
                match field(name) {
                    Some(value) => facts.set(path, value),
                    None => facts.unknown(path, "`/proc/self/status` does not say it"),
                }
            }
        }
        Err(e) => {
            facts.unknown("user.id", e.to_string());
            facts.unknown("user.capabilities", e.to_string());
        }
    }
    limits(facts);
}

/// Adds the resource limits: `Max open files  1024  1048576  files` becomes `limit.open_files`:
/// `1024 (at most 1048576) files`.
fn limits(facts: &mut Facts<'_>) {
    let text = match facts.root.text("/proc/self/limits") {
        Ok(text) => text,
        Err(e) => return facts.unknown("limit", e.to_string()),
    };
    for line in text.lines().skip(1) {
        let Some(rest) = line.strip_prefix("Max ") else { continue };
        // Names contain single blanks; columns are separated by two or more.
        let Some((name, values)) = rest.split_once("  ") else { continue };
        let mut values = values.split_whitespace();
        let (Some(soft), Some(hard)) = (values.next(), values.next()) else { continue };
        let unit = values.next().map_or_else(String::new, |u| format!(" {u}"));
        facts.set(
            format!("limit.{}", name.trim().replace(' ', "_")),
            format!("{soft} (at most {hard}){unit}"),
        );
    }
}
