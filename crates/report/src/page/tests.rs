//! Properties that every page must have.

use assay_testing::unpacked;

use super::*;
use crate::fixtures;
use crate::tracers::block_io::io_beside;

/// Renders the page with every part unpacked.
fn render(view: &RunView) -> String {
    unpacked(&super::render(view))
}

fn pages() -> Vec<(&'static str, String)> {
    fixtures::all().into_iter().map(|(name, view)| (name, render(&view))).collect()
}

#[test]
fn nothing_comes_from_elsewhere() {
    for (name, page) in pages() {
        for bad in ["http://", "https://", "//cdn", "@import", "url(", " style=\"", " onclick"] {
            let page = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!page.contains(bad), "{name} contains {bad}");
        }
        assert_eq!(page.matches("<script").count(), 1, "{name}");
        assert_eq!(page.matches("<style>").count(), 1, "{name}");
    }
}

#[test]
fn the_policy_names_the_script_that_is_there() {
    use base64::Engine as _;
    use sha2::Digest as _;
    let page = render(&fixtures::commands());
    let script = page.rsplit("<script>").next().and_then(|s| s.split("</script>").next()).unwrap();
    let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(script));
    assert!(
        page.contains(&format!("script-src 'sha256-{hash}'"))
            || page.contains(&format!("script-src &#39;sha256-{hash}"))
    );
    for script in [include_str!("flame.js"), include_str!("page.js"), include_str!("tabs.js")] {
        assert!(script.lines().count() <= 250);
    }
}

#[test]
fn ids_are_unique_and_every_link_within_the_page_has_its_target() {
    for (name, page) in pages() {
        let attribute = |key: &str| -> Vec<String> {
            page.split(key).skip(1).filter_map(|s| s.split('"').next()).map(str::to_owned).collect()
        };
        let mut ids = attribute(" id=\"");
        ids.sort();
        let before = ids.len();
        ids.dedup();
        assert_eq!(before, ids.len(), "{name}: an id is used twice");
        for target in attribute(" href=\"#") {
            assert!(ids.contains(&target), "{name}: nothing has the id {target}");
        }
        for labels in attribute(" aria-labelledby=\"") {
            for label in labels.split(' ') {
                assert!(ids.iter().any(|i| i == label), "{name}: no label {label}");
            }
        }
    }
}

#[test]
fn no_missing_value_is_printed_as_a_number() {
    for (name, page) in pages() {
        let visible = page.replace("NaN", "\u{1}");
        assert!(!visible.contains('\u{1}'), "{name} prints NaN");
        assert!(!page.contains(">inf") && !page.contains("null s"), "{name}");
    }
    assert!(render(&fixtures::missing()).contains("no value"));
}

#[test]
fn sections_come_in_order() {
    let page = render(&fixtures::block_size());
    let order = [
        "significance",
        "results",
        "other-metrics",
        "order",
        "all-trials",
        "time",
        "configuration",
        "method",
        "practice",
        "disclosure",
    ];
    let at: Vec<usize> = order
        .iter()
        .map(|id| page.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("{id}")))
        .collect();
    assert!(at.is_sorted(), "{at:?}");
    assert!(page.contains("Most efficient size"));
    assert!(page.contains("What dd would have reported"));
    assert!(page.contains(crate::words::SMOOTHNESS));
    assert!(page.contains("L1d 32 KiB"));
}

#[test]
fn only_the_first_screen_has_charts_until_a_tab_is_opened() {
    for (name, view) in fixtures::all() {
        let page = super::render(&view);
        let panels: Vec<&str> = page.split("<div class=\"panel\"").skip(1).collect();
        let charts =
            |html: &str| html.replace("<svg class=\"chart mini\"", "").matches("<svg ").count();
        assert!(charts(panels[0]) <= 1, "{name}");
        assert_eq!(panels[1..].iter().map(|p| charts(p)).sum::<usize>(), 0, "{name}");
        assert!(charts(&unpacked(&page)) >= charts(&page), "{name}");
        let links = page.matches("<nav class=\"tabs\"").count();
        assert_eq!(links, 1, "{name}");
    }
    let open = render(&fixtures::block_size());
    assert!(open.matches("<svg ").count() > 10 && !open.contains("data-chart="));
}

#[test]
fn the_first_screen_says_why_trials_failed() {
    let view = fixtures::failures();
    let page = super::render(&view);
    let panel = page.split("<div class=\"panel\"").nth(1).unwrap();
    let failed = view.records.iter().filter(|r| r.outcome != assay_model::TrialOutcome::Completed);
    for r in failed.take(2) {
        assert!(panel.contains(&format!("href=\"#trial-{}\"", r.number)), "{panel}");
    }
    assert!(
        panel.contains("timed out") && panel.contains("2 planned trials never started"),
        "{panel}"
    );
    let fine = super::render(&fixtures::single());
    assert!(!fine.contains("Failures"));
}

#[test]
fn a_numeric_factor_is_an_axis_with_a_line_for_each_level_of_the_other() {
    use assay_model::Scalar;
    let mut view = fixtures::commands();
    let summary = view.analysis.summaries[0].clone();
    let treatment = view.plan.treatments[0].clone();
    view.plan.factors = vec!["connections".into(), "protocol".into()];
    view.plan.treatments.clear();
    view.analysis.summaries.clear();
    view.analysis.comparisons.clear();
    view.analysis.ranking.clear();
    for (i, (n, protocol)) in
        [1, 8, 64].into_iter().flat_map(|n| [(n, "text"), (n, "binary")]).enumerate()
    {
        let mut t = treatment.clone();
        t.id = i as u32;
        t.levels = [
            ("connections".to_owned(), Scalar::Int(n)),
            ("protocol".to_owned(), Scalar::Text(protocol.into())),
        ]
        .into();
        view.plan.treatments.push(t);
        view.analysis
            .summaries
            .push(assay_model::TreatmentSummary { treatment: i as u32, ..summary.clone() });
    }
    let panel = super::render(&view);
    assert_eq!(panel.matches("id=\"over-factor\"").count(), 1);
    for label in ["data-label=\"protocol=text\"", "data-label=\"protocol=binary\""] {
        assert!(panel.contains(label), "{label}");
    }
    // Two levels are a comparison, not an axis.
    view.plan.treatments.retain(|t| t.id < 4);
    assert!(!super::render(&view).contains("over-factor"));
}

#[test]
fn long_tables_and_many_trials_stay_small() {
    let mut view = fixtures::commands();
    let first = view.counted(0)[0].clone();
    view.records = (1..=5000_u32)
        .map(|n| assay_model::TrialRecord { number: n, treatment: n % 2, ..first.clone() })
        .collect();
    let page = super::render(&view);
    assert!(page.len() < 1_500_000, "{}", page.len());
    assert!(!page.contains("id=\"trial-4711\"") && page.contains("data-holds=\"trial-\""));
    assert!(render(&view).contains("<tr id=\"trial-4711\""));
    assert!(page.contains("data-bits="), "trials behind a number are bits");
}

#[test]
fn a_withheld_run_prints_no_result() {
    let view = fixtures::withheld();
    let page = render(&view);
    assert!(page.contains("withheld: F17"));
    let ratio = crate::figures::ratio_text(&view.analysis.comparisons[0]);
    assert!(!page.contains(&ratio));
    for s in &view.analysis.summaries {
        let text = crate::figures::summary_text(s);
        assert!(!page.contains(&text), "{text} is printed");
        let exact = s.summary.geomean.unwrap().to_string();
        assert!(!page.contains(&exact), "{exact} is embedded");
    }
    for value in view.records.iter().filter_map(|r| r.metric("elapsed")) {
        let text = assay_model::units::format_value(value, "s");
        assert!(!page.contains(&text), "{text} of a trial is printed");
    }
}

#[test]
fn every_trial_is_disclosed_with_its_outcome() {
    let view = fixtures::failures();
    let page = render(&view);
    for r in &view.records {
        assert!(page.contains(&format!("<tr id=\"trial-{}\"", r.number)));
    }
    for word in ["timed out", "invalid", "interrupted", "Planned and never started: trials 29, 30."]
    {
        assert!(page.contains(word), "{word}");
    }
    assert!(!page.contains('\u{1b}'));
    assert!(page.contains("1 GiB &lt;default&gt; &amp; &quot;quoted&quot;"));
}

#[test]
fn a_number_leads_to_those_trials_that_have_a_value() {
    let view = fixtures::missing();
    let page = render(&view);
    let with: Vec<String> = view
        .counted(0)
        .iter()
        .filter(|r| r.metric("elapsed").is_some())
        .map(|r| r.number.to_string())
        .collect();
    assert!(with.len() < view.counted(0).len());
    assert!(page.contains(&format!("data-trials=\"{}\"", with.join(" "))));
}

#[test]
fn hostile_text_stays_text() {
    let mut view = fixtures::commands();
    view.experiment.title = "</title><script>alert(1)</script>".into();
    view.experiment_toml = "</code></pre><script>alert(2)</script>".into();
    view.summary.host = "\"><img src=x onerror=alert(3)>".into();
    view.analysis.summaries[0].label = "</script><script>alert(4)</script>".into();
    let page = super::render(&view);
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("<img"));
}

#[test]
fn pages_and_terminal_agree_to_the_digit() {
    let view = fixtures::commands();
    let page = render(&view);
    let text = crate::terminal::run(&view, crate::terminal::Style::default());
    for s in crate::view::deciding(&view.analysis) {
        let number = crate::figures::summary_text(s);
        assert!(page.contains(&number) && text.contains(&number), "{number}");
    }
}

/// Returns a run whose first counted trial was traced: I/Os of 4 KiB, one each millisecond.
fn traced(ios: u64) -> RunView {
    use assay_traces::block_io::{
        Completeness, FileFrom, Flags, Io, IoAnalysis, IoSource, NameTable, Op, Question, Sink,
    };
    let mut view = fixtures::block_size();
    let record = view.counted(view.treatments()[0])[0];
    let (number, start_ns) = (record.number, record.start_ns);
    let names = NameTable::default();
    let mut analysis = IoAnalysis::new(&Question::default(), &names);
    for i in 0..ios {
        analysis.whole(&Io {
            serial: i,
            start_ns: start_ns + i * 1_000_000,
            latency_ns: Some(50_000),
            queue_ns: None,
            device_ns: None,
            device: names.id(b"vda"),
            sector: 8 * i,
            bytes: 4096,
            op: Op::Read,
            flags: Flags::default(),
            pid: None,
            program: NameTable::NONE,
            file: NameTable::NONE,
            file_from: FileFrom::Nothing,
            cgroup: NameTable::NONE,
        });
    }
    let source = IoSource {
        name: "made up".into(),
        format: "made up".into(),
        files: 0,
        latency_is: "made up".into(),
        recorded: assay_traces::block_io::RecordedFields { latency: true, ..Default::default() },
        notes: Vec::new(),
    };
    let report = analysis.report(source, Completeness { ios, ..Completeness::default() }, None);
    view.traces.insert(&assay_traces::block_io::FILE, number, std::sync::Arc::new(report));
    view
}

#[test]
fn block_io_of_two_runs_is_drawn_on_one_scale() {
    let (few, many) = (traced(40), traced(4_000));
    let page = io_beside(&[&few, &many], &[]).unwrap().into_string();
    assert!(!page.contains("NaN"));
    let charts: Vec<&str> = page.split("<svg ").skip(1).collect();
    // Both charts of a kind have the same axis labels, although one run did a hundred times more
    // I/Os.
    for kind in ["I/Os a second", "bytes a second", "Latency over time", "Where on vda over time"] {
        let axes = |chart: &str| {
            let both = &chart[chart.find("class=\"axis y\"").unwrap()..];
            let second = both.find("class=\"axis x\"").unwrap();
            both[..second + both[second..].find("</g>").unwrap()].to_owned()
        };
        let of_kind = charts.iter().filter(|c| c.contains(&format!("{kind}, trial")));
        let of_kind: Vec<String> = of_kind.map(|c| axes(c)).collect();
        assert_eq!(of_kind.len(), 2, "{kind}");
        assert!(of_kind[0].contains("<text"), "{kind}: {}", of_kind[0]);
        assert_eq!(of_kind[0], of_kind[1], "{kind}");
    }
    let untraced = fixtures::block_size();
    assert!(io_beside(&[&few, &untraced], &[]).is_none(), "one traced run is beside none");
}

#[test]
fn the_tracers_metrics_stand_beside_the_charts() {
    let view = traced(40);
    let mut made = fixtures::across(&view);
    made.metric = "io.writes".into();
    let page = io_beside(&[&view, &view], &[made.clone()]).unwrap().into_string();
    assert!(page.contains(">writes</th>"), "{page}");
    let ratios: Vec<String> = made
        .rows
        .iter()
        .flat_map(|r| r.comparisons.iter().flatten().map(crate::figures::ratio_text))
        .collect();
    assert!(!ratios.is_empty());
    for ratio in ratios {
        assert!(page.contains(&ratio), "{ratio}");
    }
}

#[test]
fn a_page_of_runs_side_by_side_stands_alone_and_withholds_what_they_withhold() {
    let view = fixtures::block_size();
    let page = compared(
        &[&view, &view],
        &ShownComparison::new(&[&view, &view], &fixtures::across(&view), &[]),
        "1.2.3",
    );
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Content-Security-Policy"));
    assert!(page.contains("2 runs of") && page.contains("assay 1.2.3"));
    let shown = |p: &str| p.contains(">#1</th>") && p.contains("application/json");
    assert!(shown(&page));
    let bad = fixtures::withheld();
    let made = fixtures::across(&bad);
    let page = compared(&[&bad, &bad], &ShownComparison::new(&[&bad, &bad], &made, &[]), "1.2.3");
    assert!(shown(&page) && page.contains("withheld:"), "{page}");
    for s in made.rows.iter().flat_map(|r| r.summaries.iter().flatten()) {
        let value = crate::figures::value_text(s.geomean.or(s.mean), &made.unit);
        assert!(!page.contains(&value), "{value} is withheld");
    }
}
