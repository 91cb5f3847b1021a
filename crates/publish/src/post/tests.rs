//! Tests of posts, from the template to every output.

mod attempts;
mod bindings;
mod training;
mod typed;

use std::collections::BTreeMap;

use assay_model::Severity;
use assay_quoted::landscape::Collection;

use super::*;
use assay_report::{RunView, fixtures};

fn library() -> Library {
    Library::new(Collection::built_in().unwrap()).unwrap()
}

fn with_runs(body: &str, runs: &BTreeMap<String, RunView>) -> Result<Post, PostError> {
    let run = |a: &str| {
        format!(
            "[runs.{a}]
run = \"last\"
experiment = \"e.toml\"
"
        )
    };
    let names = run("sweep") + &run("bad");
    let text = format!("+++\ntitle = \"T\"\nas_of = \"2009-08-27\"\n{names}+++\n{body}");
    Template::read("x.md", text)?.evaluate(&library(), runs, "0", "2026-01-02")
}

/// Evaluates a post without runs.
fn post(body: &str) -> Result<Post, PostError> {
    let text = format!("+++\ntitle = \"T\"\nas_of = \"2009-08-27\"\n+++\n{body}");
    Template::read("x.md", text)?.evaluate(&library(), &BTreeMap::new(), "0", "2026-01-02")
}

fn texts(body: &str) -> Vec<String> {
    post(body).unwrap().numbers.into_iter().map(|n| n.text).collect()
}

fn mistake(body: &str) -> String {
    post(body).unwrap_err().to_string()
}

#[test]
fn long_posts_are_made_and_longer_ones_refused() {
    let call = "{{ value(\"t5240-1.6\") }}\n";
    let table = |columns: usize| {
        format!(
            "{call}\n|{}\n|{}\n|{}\n",
            " h |".repeat(columns),
            "-|".repeat(columns),
            " 5 |".repeat(columns)
        )
    };
    let page = html(&post(&table(10_000)).unwrap());
    assert_eq!(page.matches("<th scope=\"col\">h</th>").count(), 10_000);
    let headings = html(&post(&format!("{call}\n{}", "## Same\n\n".repeat(20_000))).unwrap());
    assert!(headings.contains("id=\"s-same-20000\"") && !headings.contains("id=\"s-same-20001\""));
    assert!(mistake(&call.repeat(10_002)).contains("more than 10000 numbers are computed"));
    let typed = format!("{call}\n{}", "5 a ".repeat(50_001));
    assert!(mistake(&typed).contains("more than 50000 numbers are typed"));
}

#[test]
fn every_kind_of_number() {
    let text = |call: &str| texts(&format!("{{{{ {call} }}}}")).join("|");
    assert_eq!(text("better(\"t5240-1.6\", than=\"p570-4chip\")"), "5% better");
    assert_eq!(text("better(\"p570-4chip\", than=\"t5240-1.6\")"), "5% worse");
    assert_eq!(text("better(\"t5240-1.6\", than=\"p570-4chip\", digits=2)"), "4.93% better");
    assert_eq!(text("times(\"t5240-1.6\", than=\"p570-4chip\", per=\"rack-unit\")"), "4.2 times");
    assert_eq!(text("value(\"t5240-1.6\")"), "422782 bops");
    assert_eq!(text("value(\"mc-osol\", unit=\"kops/s\", digits=0)"), "352 kops/s");
    assert_eq!(text("per(\"t5240-1.6\", \"watt\")"), "483.2 bops/W");
    assert_eq!(text("field(\"t5240-1.6\", \"chips\")"), "2");
    assert_eq!(text("rank(\"t5240-1.6\", in=\"specjbb2005-t5240\")"), "1st of 3 as of 2009-08-27");
    assert_eq!(
        text("rank(\"t5240-1.6\", in=\"specjbb2005-t5240\", per=\"core\")"),
        "2nd of 3 as of 2009-08-27"
    );
    let (ssd, sata) = ("nas-xxocmd2-8c-ssd2-24", "nas-xxocmd2-8c-sata2-24");
    assert_eq!(text(&format!("less_time(\"{ssd}\", than=\"{sata}\")")), "54% less time");
    assert_eq!(text(&format!("speedup(\"{ssd}\", than=\"{sata}\")")), "2.2 times as fast");
    assert_eq!(
        text(&format!("better(\"{ssd}\", than=\"{sata}\")")),
        "119% better",
        "b/a - 1 of times"
    );
    assert_eq!(text(&format!("difference(\"{ssd}\", than=\"{sata}\")")), "843 s less");
    assert_eq!(text("mean(\"trap-s9-*-total-tim\")"), "20.74 %");
    assert_eq!(text("sum(\"dth-size-*\")"), "5062 I/Os in 10 s");
}

#[test]
fn a_number_is_computed_from_the_raw_values_and_says_how() {
    let p = post("{{ better(\"t5240-1.6\", than=\"p570-4chip\") }}").unwrap();
    let n = &p.numbers[0];
    assert!((n.value.unwrap() - (422_782.0 / 402_923.0 - 1.0) * 100.0).abs() < 1e-12);
    assert_eq!(n.formula, "422782 bops / 402923 bops - 1 = 0.049287");
    assert_eq!((n.kind.as_str(), n.inputs.len()), ("derived from quoted", 2));
    assert_eq!(n.inputs[0].result.as_deref(), Some("jbbA-t5240-1.6"));
    let page = html(&p);
    assert!(
        page.contains("href=\"#d1\"")
            && page.contains("id=\"d1\"")
            && page.contains("id=\"q-jbbA-t5240-1.6\"")
    );
    assert!(page.contains("from quoted") && !page.contains("http-equiv=\"refresh\""));
    let text = markdown(&p);
    assert!(
        text.contains("5% better[^d1]") && text.contains("derived from quoted: 422782 bops"),
        "{text}"
    );
    let footnote = "[^d1]: Sun SPARC Enterprise T5240 (2 chips, 1.6 GHz) against IBM Power 570 (4 \
        chips, 4.7 GHz); SPECjbb2005 bops, in %; ";
    assert!(
        text.contains(footnote) && text.contains("jbbA-t5240-1.6 (BestPerf, 2009-08-27: "),
        "{text}"
    );
    assert!(numbers_csv(&p).contains("d1,better,5% better,4.92"));
    assert!(results_csv(&p).contains("jbbA-p570-4chip,bestperf-2009-08-27"));
    assert!(json(&p).unwrap().contains("\"anchor\": \"d1\""));
}

#[test]
fn an_order_that_turns_round_stands_beside_the_number() {
    let p = post("{{ better(\"t5240-1.6\", than=\"p570-4chip\") }}").unwrap();
    let found = &p.findings[p.numbers[0].findings[0]].finding;
    assert_eq!((found.id.as_str(), found.severity), ("F50", Severity::Warning));
    assert!(p.numbers[0].matrix.is_some(), "all denominators are shown");
    assert!(html(&p).contains(">F50</a>"));
    assert!(p.refusals().is_empty());
}

#[test]
fn a_ratio_of_two_metrics_is_refused() {
    let mut two = post("{{ times(\"intrate-6048-base\", than=\"fprate-6048-base\") }}").unwrap();
    assert_eq!(two.refusals()[0].finding.id, "F46");
    two.withhold();
    assert!(two.refusals().is_empty() && two.numbers[0].value.is_none());
    assert!(two.numbers[0].text.starts_with("withheld: F46"));
    let base = post("{{ times(\"gcc-studio-noautopar-base\", than=\"gcc-gcc44-peak\") }}").unwrap();
    assert!(base.refusals().is_empty(), "base may stand for peak");
    let peak = post("{{ times(\"gcc-gcc44-peak\", than=\"gcc-studio-noautopar-base\") }}").unwrap();
    assert_eq!(peak.refusals()[0].finding.id, "F46", "never the reverse");
}

#[test]
fn mistakes_are_answered_with_their_place_and_what_would_be_right() {
    for (body, wanted, place) in [
        ("{{ beter(\"a\") }}", "did you mean `better`?", "x.md:5:4"),
        ("{{ value(\"t5240-1.5\") }}", "did you mean `t5240-1.", "x.md:5:10"),
        ("{{ value(\"tx100\") }}", "jbbB-tx100, jbbC-tx100", "x.md:5:10"),
        ("{{ better(\"t5240-1.6\", then=\"p570-4chip\") }}", "did you mean `than`?", "x.md:5:24"),
        ("{{ better(\"t5240-1.6\") }}", "`better` needs `than`", "x.md:5:4"),
        ("{{ value(3) }}", "is a result's id in quotes, not a number", "x.md:5:10"),
        (
            "{{ value(\"t5240-1.6\", digits=\"two\") }}",
            "is a whole number, not a text",
            "x.md:5:30",
        ),
        ("{{ times(\"t5240-1.6\", than=\"zfs-t5220-time\") }}", "bops against s", "x.md:5:28"),
        ("{{ per(\"t5240-1.6\", \"wat\") }}", "did you mean `watt`?", "x.md:5:21"),
        ("{{ value(\"sweep:x\") }}", "names no run `sweep`", "x.md:5:10"),
        (
            "a {{ table([\"t5240-1.6\"], columns=[\"value\"]) }}",
            "needs a line of its own",
            "x.md:5:6",
        ),
        ("{{ landscape(\"specjbb205\") }}", "did you mean `specjbb2005`?", "x.md:5:14"),
        ("{{ less_time(\"t5240-1.6\", than=\"p570-4chip\") }}", "is for times", "x.md:5:14"),
        ("{{ mean(\"trap-s9-01-*\") }}", "are different metrics", "x.md:5:9"),
        ("{{ chart(\"pie\") }}", "there is no chart `pie`", "x.md:5:10"),
    ] {
        let e = mistake(body);
        assert!(e.contains(wanted) && e.contains(place), "{body}: {e}");
    }
    assert!(mistake("Only words.").contains("names no result"));
}

#[test]
fn a_missing_watt_is_reported_in_the_place_of_the_number() {
    let p = post("{{ times(\"t5240-1.6\", than=\"p570-4chip\", per=\"watt\") }}").unwrap();
    assert_eq!(
        p.numbers[0].text,
        "unsupported: watts of IBM Power 570 (4 chips, 4.7 GHz) not recorded"
    );
    assert!(p.numbers[0].value.is_none() && p.refusals().is_empty());
    assert!(p.findings.iter().any(|f| f.finding.id == "F51"));
}

#[test]
fn a_rank_without_a_date_is_refused() {
    let text = "+++\ntitle = \"T\"\n+++\n{{ rank(\"t5240-1.6\", in=\"specjbb2005\") }}".to_owned();
    let p = Template::read("x.md", text)
        .unwrap()
        .evaluate(&library(), &BTreeMap::new(), "0", "2026-01-02")
        .unwrap();
    assert_eq!(p.refusals()[0].finding.id, "F56");
}

fn runs() -> BTreeMap<String, RunView> {
    BTreeMap::from([
        ("sweep".to_owned(), fixtures::block_size()),
        ("bad".to_owned(), fixtures::withheld()),
    ])
}

#[test]
fn numbers_of_a_run_are_measured_and_have_intervals() {
    let runs = runs();
    let view = &runs["sweep"];
    let s = &view.analysis.summaries[0];
    let (metric, label) = (&s.metric, view.label(s.treatment));
    let body = format!(
        "{{{{ value(\"sweep:{metric}@{label}\") }}}}\n\n{{{{ chart(\"curve\", run=\"sweep\") }}}}\n"
    );
    let p = with_runs(&body, &runs).unwrap();
    assert_eq!(p.numbers[0].kind, "measured");
    assert!(p.numbers[0].interval.is_some() && p.numbers[0].text.contains("[95 % CI "));
    assert_eq!(p.numbers[0].inputs[0].run.as_deref(), Some("sweep"));
    assert!(html(&p).contains("origin own"));
}

#[test]
fn the_verdict_of_the_run_decides_what_may_be_stated() {
    let runs = runs();
    let view = &runs["sweep"];
    let c = view.analysis.comparisons.iter().find(|c| c.ratio.is_some()).unwrap();
    let side = |t: u32| format!("sweep:{}@{}", c.metric, view.label(t));
    let body = format!("{{{{ times(\"{}\", than=\"{}\") }}}}", side(c.treatment), side(c.baseline));
    let n = with_runs(&body, &runs).unwrap().numbers.remove(0);
    assert_eq!(
        (n.value, n.interval),
        (c.ratio, c.interval),
        "the paired interval, not that of two means"
    );
}

#[test]
fn a_doubtful_value_is_marked_and_so_is_what_is_computed_from_it() {
    let mut runs = runs();
    let view = runs.get_mut("sweep").unwrap();
    let c = view.analysis.comparisons.iter().find(|c| c.ratio.is_some()).unwrap().clone();
    for s in &mut view.analysis.summaries {
        if s.treatment == c.baseline && s.metric == c.metric {
            s.doubts = vec!["assay was stopped".to_owned()];
        }
    }
    let side = |t: u32| format!("sweep:{}@{}", c.metric, runs["sweep"].label(t));
    let (own, other) = (side(c.baseline), side(c.treatment));
    let body = format!(
        "{{{{ value(\"{own}\") }}}} {{{{ value(\"{other}\") }}}} {{{{ times(\"{other}\", \
        than=\"{own}\") }}}}"
    );
    let p = with_runs(&body, &runs).unwrap();
    let marked: Vec<bool> = p.numbers.iter().map(|n| n.text.ends_with(" (doubtful)")).collect();
    assert_eq!(marked, [true, false, true]);
    assert!(p.numbers[2].doubts[0].ends_with("assay was stopped"), "{:?}", p.numbers[2]);
    assert_eq!(html(&p).matches("(doubtful)").count(), 4, "in the text and in the derivations");
}

#[test]
fn a_run_with_an_invalid_finding_gives_no_number() {
    let runs = runs();
    let s = &runs["bad"].analysis.summaries[0];
    let body = format!("{{{{ value(\"bad:{}@{}\") }}}}", s.metric, runs["bad"].label(s.treatment));
    let p = with_runs(&body, &runs).unwrap();
    assert!(p.numbers[0].text.starts_with("withheld: F17") && p.numbers[0].value.is_none());
    assert!(p.refusals().is_empty() && p.withheld_as_invalid());
    assert!(p.numbers[0].inputs.iter().all(|i| i.value.is_nan()), "no value slips out");
}

#[test]
fn a_chart_of_what_is_withheld_says_why() {
    let runs = runs();
    let s = &runs["bad"].analysis.summaries[0];
    let bar = format!("bad:{}@{}", s.metric, runs["bad"].label(s.treatment));
    let p = with_runs(&format!("{{{{ chart(\"bars\", of=[\"{bar}\"]) }}}}"), &runs).unwrap();
    assert!(html(&p).contains("Nothing is drawn, every result is withheld: F17"));
}

#[test]
fn a_section_is_there_if_its_run_is() {
    let body = "{{#run sweep}}HERE{{/run}} {{#run bad}}x{{else}}OTHER{{/run}}";
    let only = BTreeMap::from([("sweep".to_owned(), fixtures::block_size())]);
    let p = with_runs(body, &only).unwrap();
    assert!(p.markdown.contains("HERE") && p.markdown.contains("OTHER"));
    let p = with_runs("{{#run sweep}}HERE{{/run}}", &BTreeMap::new()).unwrap();
    assert!(
        !p.markdown.contains("HERE") && p.markdown.contains("`assay run e.toml`"),
        "{}",
        p.markdown
    );
    let e = with_runs("{{ value(\"sweep:x\") }}", &BTreeMap::new()).unwrap_err().to_string();
    assert!(e.contains("not in this archive") && e.contains("assay run e.toml"), "{e}");
    let text = "+++\ntitle = \"T\"\n[runs.own]\nrun = \"20260101-000000-abcdef\"\n\
        experiment = \"e.toml\"\n+++\n{{ value(\"own:x\") }}";
    let named = Template::read("x.md", text.to_owned()).unwrap();
    let e = named.evaluate(&library(), &BTreeMap::new(), "0", "2026-01-02").unwrap_err();
    let e = e.to_string();
    assert!(e.contains("assay archive import") && !e.contains("assay run"), "{e}");
}

#[test]
fn measured_against_quoted_says_so() {
    let runs = runs();
    let view = &runs["sweep"];
    let s = view.analysis.summaries.iter().find(|s| s.unit == "B/s").unwrap();
    let own = format!("sweep:{}@{}", s.metric, view.label(s.treatment));
    let body =
        format!("{{{{ table([\"{own}\", \"dd-niagara-Bps\"], columns=[\"label\", \"value\"]) }}}}");
    let p = with_runs(&body, &runs).unwrap();
    assert!(p.findings.iter().any(|f| f.finding.id == "F47"));
    let page = html(&p);
    assert!(
        page.contains("<td>measured</td>") && page.contains("<td>quoted</td>"),
        "every line says which"
    );
    let p =
        with_runs(&format!("{{{{ times(\"{own}\", than=\"dd-niagara-Bps\") }}}}"), &runs).unwrap();
    assert_eq!(p.numbers[0].kind, "derived from measured and quoted");
    assert!(p.findings.iter().any(|f| f.finding.id == "F47"));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]
    #[test]
    fn never_panics(body in "[ a-z{}()\"=,.#/\\[\\]\n]{0,80}") {
        if let Ok(p) = post(&body) {
            let _ = (html(&p), markdown(&p));
        }
    }
}

#[test]
fn profiles_of_a_treatment_alone_and_against_another() {
    let mut view = fixtures::commands();
    for r in &view.records {
        let slow = 1000 + 500 * u64::from(r.treatment);
        let text = format!("main;steady {}\nmain;slow {slow}\n", 2000 + r.number % 3);
        let profile = assay_traces::profile::read(text.as_bytes(), "x.folded").unwrap();
        view.traces.insert(&assay_traces::profile::FILE, r.number, std::sync::Arc::new(profile));
    }
    let side = |t: u32| format!("sweep@{}", view.label(t));
    let (a, b, id) = (side(0), side(1), view.summary.id.to_string());
    let runs = BTreeMap::from([("sweep".to_owned(), view)]);
    let made = |call: &str| with_runs(&format!("{{{{ {call} }}}}\n"), &runs);
    let alone = made(&format!("profile(\"{a}\", top=5)")).unwrap();
    let page = html(&alone);
    assert!(page.contains("class=\"flame\"") && page.contains("steady"), "{page}");
    assert!(page.contains(&format!("10 trials of run {id}")), "{page}");
    assert!(markdown(&alone).contains("steady: 66.7 %"), "{}", markdown(&alone));
    let against = made(&format!("profile(\"{b}\", than=\"{a}\")")).unwrap();
    assert!(html(&against).contains("own time clearly more"), "{}", html(&against));
    assert!(markdown(&against).contains("| slow |"), "{}", markdown(&against));
    let wrong = |call: &str| made(call).unwrap_err().to_string();
    for (call, says) in [
        ("profile(\"other\")".to_owned(), "names no run `other`"),
        ("profile(\"sweep\")".to_owned(), "several treatments"),
        ("profile(\"sweep@n=9\")".to_owned(), "no treatment `n=9`"),
        (format!("profile(\"{a}\", side=\"out\")"), "no side `out`"),
        (format!("profile(\"{a}\", side=\"off\")"), "no time of that side"),
        (format!("profile(\"{b}\", than=\"{a}\", side=\"off\")"), "by their time on CPU"),
    ] {
        let error = wrong(&call);
        assert!(error.contains(says) && error.contains("x.md:11:"), "{call}: {error}");
    }
    let none = BTreeMap::from([("sweep".to_owned(), fixtures::commands())]);
    let call = format!("{{{{ profile(\"{a}\") }}}}\n");
    let error = with_runs(&call, &none).unwrap_err().to_string();
    assert!(error.contains("was profiled"), "{error}");
}
