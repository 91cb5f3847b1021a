//! Contaminated values are marked as doubtful, with the reason.

use std::process::{Child, Command};

use crate::common::{World, repository};
use serde_json::Value;

/// Returns the doubt about a metric of a run's only trial, or `None` without a doubt.
fn doubt(world: &World, metric: &str, arguments: &[&str]) -> Option<String> {
    let fixed = ["run", "--json", "--monitors", "none", "--blocks", "1"];
    let ran = world.run(&[&fixed[..], arguments].concat());
    let record = ran.record("completed");
    let all = record["metrics"].as_array().unwrap();
    let found = all.iter().find(|m| m["name"] == metric);
    let found = found.unwrap_or_else(|| panic!("no {metric}: {record:#}"));
    assert!(found["value"].is_number(), "{record:#}");
    found["doubt"].as_str().map(str::to_owned)
}

#[test]
fn a_simulation_that_ends_while_its_caches_fill_is_doubtful() {
    let world = World::new();
    let of = |accesses: &str| {
        let sets = ["min_data=16 MiB", "max_data=16 MiB", "processes=24", "slice=10000", accesses];
        let sets: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
        doubt(&world, "dtsb_misses", &[&sets[..], &["tlb-sim"]].concat())
    };
    let short = of("accesses=100000").unwrap();
    assert!(short.contains("cold caches"), "{short}");
    let filling = of("accesses=2000000").unwrap();
    assert!(filling.contains("caches were still filling"), "{filling}");
    assert_eq!(of("accesses=30000000"), None);
}

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_time_to_user_of_cpus_on_which_others_computed_is_doubtful() {
    if Command::new("glpsol").arg("--version").output().is_err() {
        println!("skipped: because there is no glpsol (Debian package glpk-utils)");
        return;
    }
    let _alone = assay_testing::alone();
    let world = World::new();
    let burn = || {
        let mut sh = Command::new("sh");
        Ended(sh.args(["-c", "while :; do :; done"]).spawn().unwrap())
    };
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let _burners: Vec<Ended> = (0..cpus).map(|_| burn()).collect();
    let sets = ["copies=1", "size=20 MB", "rows=400", "window=200 ms", "user=0.2"];
    let sets: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
    let printed = doubt(&world, "time_to_user", &[&sets[..], &["startup"]].concat()).unwrap();
    assert!(printed.contains("other processes used"), "{printed}");
}

#[test]
fn a_rule_pack_that_names_a_retired_check_is_answered_with_the_reason() {
    let world = World::new();
    let shown = world.run(&["rules", "show", "F10"]);
    assert_eq!(shown.code, 2, "{}", shown.stdout);
    let printed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = printed(&shown.stderr);
    assert!(shown.contains("F10 app-tunables is retired") && shown.contains("F16"), "{shown}");
    let pack = std::fs::read_to_string(repository().join("rulepacks/cpu-1.0.toml")).unwrap();
    let named = pack.replacen("check = \"one-invocation\"", "check = \"F10\"", 1);
    assert_ne!(pack, named);
    std::fs::create_dir(world.path("packs")).unwrap();
    world.write("packs/cpu-1.0.toml", &named);
    let folder = world.path("packs");
    let listed = world.run(&["rules", "list", "--packs", folder.to_str().unwrap()]);
    assert_eq!(listed.code, 2, "{}", listed.stdout);
    assert!(printed(&listed.stderr).contains("F10 app-tunables is retired"), "{}", listed.stderr);
}

#[test]
fn a_kit_tells_its_tools_and_commands() {
    if Command::new("cc").arg("--version").output().is_err() {
        println!("skipped: because there is no cc");
        return;
    }
    let world = World::new();
    std::fs::create_dir(world.path("built")).unwrap();
    world.write("built/main.c", "int main(void) { return 0; }\n");
    world.write("built/kit.toml", KIT);
    let kit = world.path("built");
    let kit = kit.to_str().unwrap();
    let flags = ["--set", "flags=-O1,-O2"];
    let fixed = ["run", "--json", "--monitors", "none", "--blocks", "1"];
    let ran = world.run(&[&fixed[..], &flags, &[kit]].concat());
    let seen: Vec<Value> = ran
        .records()
        .iter()
        .flat_map(|r| r["evidence"].as_array().cloned().unwrap_or_default())
        .filter(|o| o["saw"] == "build")
        .collect();
    assert_eq!(seen.len(), 2, "{seen:?}");
    for build in &seen {
        let command = build["commands"][0].as_str().unwrap();
        assert!(command.contains("{kit}/main.c") && command.contains("-O"), "{build}");
        assert!(!build["tools"][0].as_str().unwrap().is_empty(), "{build}");
    }
}

const KIT: &str = r#"schema_version = 1
name = "built"
version = "1"
help = "is built with the flags that are asked for"

[[param]]
name = "flags"
type = "choice"
of = ["-O1", "-O2"]
default = "-O1"
help = "for the compiler"

[[need]]
program = "cc"
package = "gcc"
version = ["--version"]

[build]
steps = [["cc", "{flags}", "-o", "{build}/main", "{kit}/main.c"]]
produces = ["main"]

[run]
command = ["{build}/main"]

[[metric]]
name = "elapsed"
unit = "s"
better = "lower"
help = "wall time"
from = "elapsed"
"#;
