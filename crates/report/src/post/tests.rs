//! Posts from template to every form.

use std::collections::BTreeMap;

use assay_model::Severity;
use assay_rules::landscape::Collection;

use super::*;
use crate::fixtures;
use crate::view::RunView;

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

/// A post without runs.
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
        text.contains("5% better[^d1]") && text.contains("[^d1]: derived from quoted: 422782 bops"),
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
fn what_is_typed_by_hand_or_of_two_metrics_is_refused() {
    let typed = post("{{ value(\"t5240-1.6\") }} is 5% better than the other.").unwrap();
    assert_eq!(typed.refusals()[0].finding.id, "F45");
    assert_eq!(typed.refusals()[0].line, Some(5));
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

/// Statements that the results contradict or that nobody computed, each in its own way, and what becomes of it:
/// `refused` by a check, or shown as `typed` by the author. None passes silently.
#[test]
fn false_statements_do_not_pass_silently() {
    let value = "{{ value(\"t5240-1.6\") }} and {{ value(\"p570-4chip\") }}.";
    let mut failed = Vec::new();
    for (statement, refused) in [
        ("The T5240 is fifty percent better than the Power 570.", true),
        ("The T5240 needs a third less time than the Power 570.", true),
        ("The T5240 is a tenfold improvement over the Power 570.", true),
        ("The T5240 has double the throughput, no less.", true),
        ("The T5240 doubles the throughput of the Power 570.", true),
        ("It is an order of magnitude better.", true),
        ("It is two orders of magnitude faster.", true),
        ("It is ５０% better.", true),
        ("It is ⁵⁰% better.", true),
        ("It is ½ faster.", true),
        ("It is &#53;0&#37; better.", true),
        ("It is &#x35;&#x30; percent better.", true),
        ("It is ٥٠٪ better.", true),
        ("It is ५०% better.", true),
        ("It is 𝟓𝟎% better.", true),
        ("It is ①⓪% better.", true),
        ("It is **5**0% better.", true),
        ("It is 5\u{200b}0% better.", true),
        ("It is te\u{ad}nfold better.", true),
        ("It is t\u{435}nfold better.", true),
        ("It is dou**ble** the other, and better.", true),
        ("It is nine-tenths faster.", true),
        ("It is half again as fast, better than all.", true),
        ("It is several times faster.", true),
        ("It is 1,5 times faster.", true),
        ("It is 2.5x the other.", true),
        ("It is x50 better.", true),
        ("It is 10^3 faster.", true),
        ("It is 1/2 faster.", true),
        ("It is X% better.", true),
        ("It is `50%` better.", true),
        ("It beats the other by a hundred bops.", true),
        ("It leads by 20 thousand bops.", true),
        ("It is three times as fast.", true),
        ("It is a factor of five times better.", true),
        ("The improvement is in the fifties: 55 percent.", true),
        ("> It is 50% better.", true),
        ("- It is 50% better.", true),
        ("## It is 50% better", true),
        ("<b>50%</b> better", true),
        ("| a | b |\n|---|---|\n| T5240 | 50% better |", true),
        ("| system | times as fast |\n|---|---|\n| T5240 | 2.5 |", true),
        ("[50% better](https://example.org/)", true),
        ("![50% better](https://example.org/x.png)", true),
        ("It did 999999 bops.", false),
        ("It did nine hundred thousand bops.", false),
        ("It ran at 875 W.", false),
        ("```\nT5240 999999 bops, 50% better\n```", false),
        ("A run of `999999` bops.", false),
        ("It ran on the T9999.", false),
        ("It ran on two of them.", false),
        ("It has ６４ threads.", false),
        ("It won a fifth of the runs.", false),
        ("The Power 570 clearly beats the T5240.", true),
        ("The Power 570 is ahead of the T5240.", true),
        ("The T5240 trails the Power 570.", true),
        ("The T5240 is slower than the Power 570.", true),
        ("The **Power 570** outper\u{ad}forms the T5240.", true),
        ("The Power 570 leads.", true),
        ("The Power 570 holds the record.", true),
        ("The Power 570 is the fastest.", true),
        ("The Power 570 comes first.", true),
        ("The T5240 is as fast as the Power 570.", true),
        ("Per core the T5240 is ahead of the Power 570.", true),
        ("It is clearly the better machine.", false),
        ("The T5240 beats the Cray.", false),
        ("Everybody knows which of the two wins.", false),
    ] {
        let p = post(&format!("{value}\n\n{statement}\n")).unwrap();
        let found = p.refusals().iter().any(|f| ["F45", "F34"].contains(&f.finding.id.as_str()));
        let open = p.comparisons.iter().any(|c| c.checked.is_none());
        let marked = !p.typed.is_empty() || open;
        let shown =
            html(&p).contains("class=\"typed\"") && markdown(&p).contains("Typed by the author");
        if found != refused || !marked || !shown {
            failed.push(format!("{statement}: {found} {marked} {shown} {:?}", p.typed));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The same in the words of calls and of the front matter.
#[test]
fn false_statements_outside_of_the_text_do_not_pass_silently() {
    let bars = "of=[\"t5240-1.6\", \"p570-4chip\"]";
    for (body, refused) in [
        (format!("{{{{ chart(\"bars\", {bars}, title=\"T5240: 50% better\") }}}}"), true),
        (format!("{{{{ chart(\"bars\", {bars}, title=\"Tenfold throughput gain\") }}}}"), true),
        (format!("{{{{ chart(\"bars\", {bars}, title=\"Power 570 beats T5240\") }}}}"), true),
        (format!("{{{{ chart(\"bars\", {bars}, title=\"999999 bops\") }}}}"), false),
        (format!("{{{{ chart(\"bars\", {bars}, names=[\"twice as fast, and better\", \"B\"]) }}}}"), true),
        (format!("{{{{ chart(\"bars\", {bars}, names=[\"1 000 000\", \"B\"]) }}}}"), false),
        ("{{ table([\"t5240-1.6\"], columns=[\"50% better=value\"]) }}".to_owned(), true),
        ("{{ table([\"t5240-1.6\"], columns=[\"double=value\"]) }}".to_owned(), true),
        ("{{ table([\"t5240-1.6\"], columns=[\"value\"], caption=\"half the price, and faster\") }}".to_owned(), true),
    ] {
        let p = post(&body).unwrap();
        assert_eq!(!p.refusals().is_empty(), refused, "{body}: {:?}", p.findings);
        assert!(!p.typed.is_empty() || !p.comparisons.is_empty(), "{body}");
        assert!(markdown(&p).contains('†') || refused, "{body}");
    }
    for (key, refused) in [
        ("title = \"T5240: 50% better\"", true),
        ("summary = \"The Power 570 beats the T5240\"", true),
        ("summary = \"999999 bops\"", false),
        ("sources = [\"The T5240 is twice as fast, and better\"]", true),
        ("trademarks = [\"50 percent faster\"]", true),
        ("licensee = \"the people who are 50% better\"", true),
    ] {
        let title = if key.starts_with("title") { "" } else { "title = \"T\"\n" };
        let body = "{{ value(\"t5240-1.6\") }} {{ value(\"p570-4chip\") }}";
        let text = format!("+++\n{title}{key}\n+++\n{body}");
        let p = Template::read("x.md", text).unwrap();
        let p = p.evaluate(&library(), &BTreeMap::new(), "0", "2026-01-02").unwrap();
        assert_eq!(!p.refusals().is_empty(), refused, "{key}: {:?}", p.findings);
        assert!(html(&p).contains('†'), "{key}");
    }
}

#[test]
fn what_the_results_say_is_checked_and_names_are_no_quantities() {
    let body = "In August 2009 the T5240 ran Solaris 10 on x86, GCC 4.4.0, step 3: {{ value(\"t5240-1.6\") }}.\n\n\
                The T5240 is ahead of the Power 570 with {{ value(\"p570-4chip\") }}.\n\n\
                Per core the Power 570 is ahead of the T5240. The T5240 leads.\n";
    let p = post(body).unwrap();
    assert!(p.typed.is_empty(), "{:?}", p.typed);
    let checked: Vec<&str> =
        p.comparisons.iter().filter(|c| c.checked.is_some()).map(|c| c.text.as_str()).collect();
    assert_eq!(checked, ["ahead of", "ahead of", "leads"], "{:?}", p.comparisons);
    assert!(p.refusals().is_empty(), "{:?}", p.refusals());
    assert!(
        p.banner().starts_with(
            "2 numbers computed, 0 typed by the author, 3 comparisons in words checked"
        )
    );
    let json: serde_json::Value = serde_json::from_str(&json(&p).unwrap()).unwrap();
    assert_eq!(json["typed"].as_array().unwrap().len(), 0);
    assert_eq!(json["comparisons"][0]["line"], 7);
}

#[test]
fn nothing_is_said_of_days_that_nobody_knows() {
    let of = |head: &str| {
        let text = format!(
            "+++\ntitle = \"T\"\n{head}+++\n{{{{ rank(\"t5240-1.6\", in=\"specjbb2005-t5240\") }}}}"
        );
        let template = Template::read("x.md", text).unwrap();
        template
            .evaluate(&library(), &BTreeMap::new(), "0", "2026-01-02")
            .map_err(|e| e.to_string())
    };
    let future = of("as_of = \"2035-01-01\"\n").unwrap_err();
    assert!(future.contains("x.md:3:1") && future.contains("lies in the future"), "{future}");
    let unknown = of("as_of = \"2010-01-01\"\n").unwrap_err();
    assert!(unknown.contains("is later than 2009-08-27"), "{unknown}");
    assert!(of("as_of = \"2010-01-01\"\nretrieved = \"2010-01-02\"\n").is_ok());
    let before = of("as_of = \"2010-01-03\"\nretrieved = \"2010-01-02\"\n").unwrap_err();
    assert!(before.contains("the day that the results were retrieved on"), "{before}");
    assert!(of("retrieved = \"2027-01-02\"\n").unwrap_err().contains("lies in the future"));
}

#[test]
fn a_rank_says_who_is_left_out() {
    let p = post("{{ rank(\"t5240-1.6\", in=\"specjbb2005-t5240\") }}").unwrap();
    let n = &p.numbers[0];
    let left_out: Vec<&str> = n
        .findings
        .iter()
        .map(|i| &p.findings[*i].finding)
        .filter(|f| f.id == "F59")
        .map(|f| f.message.as_str())
        .collect();
    assert_eq!(left_out.len(), 1, "{:?}", p.findings);
    assert!(
        left_out[0].contains(
            "1st of 3 in `specjbb2005-t5240`, but 5th of 16 in `specjbb2005` as of 2009-08-27"
        ),
        "{left_out:?}"
    );
    assert!(html(&p).contains(">F59</a>"));
    let wide = post("{{ rank(\"t5240-1.6\", in=\"specjbb2005\") }}").unwrap();
    assert!(wide.findings.iter().all(|f| f.finding.id != "F59"), "nobody is left out");
}

#[test]
fn an_inferred_field_is_not_called_quoted() {
    let p = post("{{ field(\"t5240-1.6\", \"instances\") }} {{ field(\"t5240-1.6\", \"chips\") }}")
        .unwrap();
    let kinds: Vec<&str> = p.numbers.iter().map(|n| n.kind.as_str()).collect();
    assert_eq!(kinds, ["derived from quoted", "quoted"]);
    assert!(
        p.numbers[0].formula.contains("422782") && p.numbers[0].formula.contains("26424"),
        "{}",
        p.numbers[0].formula
    );
    assert!(html(&p).contains("from quoted</span>"), "said at the number");
}

#[test]
fn a_renamed_bar_shows_its_real_name() {
    let call = "{{ chart(\"bars\", of=[\"t5240-1.6\", \"p570-4chip\"], names=[\"Power 570\", \"T5240\"]) }}";
    let page = html(&post(call).unwrap());
    assert!(
        page.contains("Power 570 (Sun SPARC Enterprise T5240 (2 chips, 1.6 GHz))"),
        "the exchange is seen"
    );
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
            "stands on a line of its own",
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
fn a_missing_watt_is_said_in_the_place_of_the_number() {
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
fn the_verdict_of_the_run_decides_what_may_be_said() {
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
        "{{{{ value(\"{own}\") }}}} {{{{ value(\"{other}\") }}}} {{{{ times(\"{other}\", than=\"{own}\") }}}}"
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

#[test]
fn claims_hold_or_do_not_or_cannot_be_told() {
    let mut runs = runs();
    let view = runs.get_mut("sweep").unwrap();
    let c = view.analysis.comparisons.iter().find(|c| c.ratio.is_some()).unwrap().clone();
    let side = |t: u32| format!("sweep:{}@{}", c.metric, view.label(t));
    let (a, b) = (side(c.treatment), side(c.baseline));
    let ahead = |x: &str, y: &str| {
        format!("{{{{#claim ahead(\"{x}\", than=\"{y}\")}}}}It is so.{{{{/claim}}}}\n\n")
    };
    let body = format!(
        "{}{}{{{{#claim differs(\"{a}\", than=\"sweep:{}@no such\")}}}}Nobody planned it.{{{{/claim}}}}\n\n{}\
         {{{{#claim elsewhere(because=\"it takes another\", then=value(\"t5240-1.6\"))}}}}It did **well**.{{{{/claim}}}}\n",
        ahead(&a, &b),
        ahead(&b, &a),
        c.metric,
        ahead("bad:x@1", "bad:x@2"),
    );
    let set = |runs: &mut BTreeMap<String, RunView>, ratio: f64, verdict| {
        let c = runs
            .get_mut("sweep")
            .unwrap()
            .analysis
            .comparisons
            .iter_mut()
            .find(|c| c.ratio.is_some())
            .unwrap();
        let (low, high) = (ratio * 0.98, ratio * 1.02);
        (c.ratio, c.interval, c.verdict) =
            (Some(ratio), Some(assay_model::Interval { low, high, level: 0.95 }), verdict);
    };
    let better = |v: &RunView| v.analysis.comparisons[0].better;
    assert_eq!(
        better(&runs["sweep"]),
        assay_model::Better::Higher,
        "the fixture's metric is a rate"
    );
    set(&mut runs, 2.0, assay_model::Verdict::Better);
    let only: BTreeMap<String, RunView> =
        runs.iter().filter(|(k, _)| *k == "sweep").map(|(k, v)| (k.clone(), v.clone())).collect();
    let p = with_runs(&body, &only).unwrap();
    let here: Vec<Here> = p.claims.iter().map(|c| c.here).collect();
    use Here::{CannotBeAsked, CannotBeTold, DoesNotHold, Holds};
    assert_eq!(
        here,
        [Holds, DoesNotHold, CannotBeTold, CannotBeTold, CannotBeAsked],
        "{:?}",
        p.claims
    );
    assert!(
        p.claims[0].why.starts_with("2 times as good [95 % CI 1.96, 2.04]"),
        "{}",
        p.claims[0].why
    );
    assert!(p.claims[2].why.contains("no treatment `no such`") && !p.claims[2].not_run);
    assert!(p.claims[3].not_run && p.claims[3].why.contains("assay run e.toml"));
    assert_eq!(
        (p.claims[4].then.as_deref(), p.claims[4].text.as_str()),
        (Some("422782 bops"), "It did well.")
    );
    let (page, text) = (html(&p), markdown(&p));
    assert!(
        page.contains("holds here")
            && page.contains("does not hold here")
            && page.contains("Then: 422782 bops")
    );
    assert!(
        text.contains("*holds here:* 2 times as good") && text.contains("*cannot be told:*"),
        "{text}"
    );

    set(&mut runs, 1.0, assay_model::Verdict::Inconclusive);
    let p = with_runs(&ahead(&a, &b), &runs).unwrap();
    assert_eq!(p.claims[0].here, CannotBeTold);
    set(&mut runs, 1.0, assay_model::Verdict::Equivalent);
    assert_eq!(with_runs(&ahead(&a, &b), &runs).unwrap().claims[0].here, DoesNotHold);
    let e =
        with_runs("{{#claim aheed(\"a\", than=\"b\")}}x{{/claim}}", &runs).unwrap_err().to_string();
    assert!(e.contains("did you mean `ahead`?"), "{e}");
    let e = with_runs("{{#claim ahead(\"swep:a\", than=\"swep:b\")}}x{{/claim}}", &runs)
        .unwrap_err()
        .to_string();
    assert!(e.contains("did you mean `sweep`?"), "{e}");
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
