//! What must hold of every page.

use super::*;
use crate::fixtures;

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
        assert_eq!(page.matches("<script").count(), 2, "{name}: the data and the script");
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
    assert!(include_str!("page.js").lines().count() <= 250);
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
        "order",
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
    let page = render(&view);
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img"));
}

#[test]
fn pages_and_terminal_agree_to_the_digit() {
    let view = fixtures::commands();
    let page = render(&view);
    let text = crate::terminal::single(&view, crate::terminal::Style::default());
    for s in crate::view::deciding(&view.analysis) {
        let number = crate::figures::summary_text(s);
        assert!(page.contains(&number) && text.contains(&number), "{number}");
    }
}
