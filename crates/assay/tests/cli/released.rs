//! Runs that released versions wrote: this version reads them and shows the same values. For a
//! release, `tests/released/VERSION` gets runs as `archive export` writes them, and parts of the
//! output of `archive show --json`.

use serde_json::{Map, Value, json};

use crate::common::{World, repository};

/// Returns the parts of a shown run that every later version must show alike.
fn measured(shown: &Value) -> Value {
    let trial = |record: &Value| {
        let values = record["metrics"].as_array().into_iter().flatten();
        let metrics: Map<String, Value> =
            values.map(|m| (m["name"].as_str().unwrap().to_owned(), m["value"].clone())).collect();
        json!({ "number": record["number"], "outcome": record["outcome"], "metrics": metrics })
    };
    let comparison = |c: &Value| {
        let keys = ["metric", "n", "ratio", "verdict"];
        Value::Object(keys.iter().map(|key| ((*key).to_owned(), c[key].clone())).collect())
    };
    let list = |of: &Value, one: &dyn Fn(&Value) -> Value| {
        of.as_array().unwrap().iter().map(one).collect::<Vec<_>>()
    };
    json!({
        "trials": list(&shown["records"], &trial),
        "comparisons": list(&shown["analysis"]["comparisons"], &comparison),
        "ledger_head": shown["ledger_head"],
    })
}

#[test]
fn runs_of_released_versions_are_read_and_show_what_they_showed() {
    let released = repository().join("crates/assay/tests/released");
    let mut read = 0;
    for version in std::fs::read_dir(released).unwrap() {
        for file in std::fs::read_dir(version.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let Some(stem) = path.to_str().unwrap().strip_suffix(".tar.zst") else { continue };
            let text = std::fs::read_to_string(format!("{stem}.json")).unwrap();
            let expected: Value = serde_json::from_str(&text).unwrap();
            let world = World::new();
            let imported = world.run(&["archive", "import", path.to_str().unwrap()]);
            assert_eq!(imported.code, 0, "{stem}: {}", imported.stderr);
            assert_eq!(world.run(&["archive", "verify"]).code, 0, "{stem}");
            let shown = world.run(&["archive", "show", "last", "--json"]).json();
            assert_eq!(measured(&shown), expected, "{stem}");
            let site = world.path("page");
            let published = world.run(&["publish", "last", "-o", site.to_str().unwrap()]);
            // 4: two trials have no interval, so that verdict is withheld.
            assert!([0, 4].contains(&published.code), "{stem}: {}", published.stderr);
            read += 1;
        }
    }
    assert!(read >= 2, "{read} runs were read");
}
