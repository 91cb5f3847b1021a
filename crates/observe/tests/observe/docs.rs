//! docs/monitors.md is made from the monitors' own rows of data. `ASSAY_BLESS=1` writes it anew.

use std::fmt::Write;
use std::path::Path;

use assay_model::Better;

fn page() -> String {
    let mut page = String::from(
        "# Monitors\n\n\
         What `observe.monitors` of an experiment and `assay stat` can sample, from the kernel's own\n\
         counters. Every row has a time (nanoseconds of `CLOCK_MONOTONIC`, the clock of the whole run)\n\
         and tells of the interval that *ends* then. The first reading is the base of the first interval\n\
         and gives no row. A value that could not be had is missing (`null`), never 0: the mean of\n\
         nothing, a counter that went backwards, a column that this kernel does not have. What a monitor\n\
         could not see, and why, stands in the record of the trial.\n\n\
         *Chart* is what draws the field over time in the page of a run and in the live view; fields without\n\
         one are drawn by monitor and unit.\n\n\
         This page is made from the monitors themselves: `ASSAY_BLESS=1 cargo test -p assay-observe`.\n",
    );
    for spec in assay_observe::all() {
        write!(page, "\n## {}\n\n{}\n\nSubjects: {}.\n\n", spec.name, spec.help, spec.subjects)
            .unwrap();
        page.push_str("| field | unit | better | chart | meaning |\n|---|---|---|---|---|\n");
        for field in spec.fields {
            let better = match field.better {
                Some(Better::Lower) => "lower",
                Some(Better::Higher) => "higher",
                Some(Better::Neither) | None => "",
            };
            let chart = field.chart.map_or("", |(chart, _)| chart.title);
            writeln!(
                page,
                "| `{}` | {} | {better} | {chart} | {} |",
                field.name, field.unit, field.help
            )
            .unwrap();
        }
    }
    page
}

#[test]
fn the_page_is_what_the_monitors_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/monitors.md");
    if std::env::var_os("ASSAY_BLESS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written,
        page(),
        "docs/monitors.md is behind; run ASSAY_BLESS=1 cargo test -p assay-observe"
    );
}

#[test]
fn names_are_unique() {
    let specs = assay_observe::all();
    for (i, spec) in specs.iter().enumerate() {
        assert!(specs[..i].iter().all(|other| other.name != spec.name), "{}", spec.name);
        for (k, field) in spec.fields.iter().enumerate() {
            assert!(spec.fields[..k].iter().all(|f| f.name != field.name), "{}", field.name);
            assert!(!field.unit.is_empty() && !field.help.ends_with('.'), "{}", field.name);
        }
    }
}
