//! What a person typed, and what a post claims.

use assay_checks::rows;

use super::*;
use Here::{CannotBeAsked, DoesNotHold, Holds, Undecided};

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
        ("The T5240 is beaten by the Power 570.", true),
        ("The Power 570 has the highest throughput.", true),
        ("The T5240 comes last.", true),
        ("The Power 570 tops the table.", true),
        ("The Power 570 is ahead of all others.", true),
        ("The Power 570 has an edge over the T5240.", true),
        ("The T5240 and the Power 570 are equally fast.", false),
        ("The Power 570 takes the lead.", false),
        ("The T5240 is better in 2009 tests.", true),
        ("The T5240 is II times faster.", true),
        ("The T5240 is zillions of times faster.", true),
        ("fünfzig Prozent besser", false),
        ("Nothing comes close to the Power 570.", false),
        ("The T5240 is second to none.", false),
        ("Compared with the T5240 the Power 570 is better.", false),
        ("It is clearly the better machine.", false),
        ("The T5240 beats the Cray.", false),
        ("The T5240 could not keep up with the Power 570.", false),
        ("Compared with the Power 570, the T5240 is sluggish.", false),
        ("Der T5240 ist langsamer als der Power 570.", false),
        ("Everybody knows which of the two wins.", false),
    ] {
        let p = post(&format!("{value}\n\n{statement}\n")).unwrap();
        let found = p.refusals().iter().any(|f| {
            [rows::RECOMPUTES.id, rows::DIRECTION_SUPPORTED.id].contains(&f.finding.id.as_str())
        });
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
fn unknown_days_are_not_judged() {
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
    let excluded: Vec<&str> = n
        .findings
        .iter()
        .map(|i| &p.findings[*i].finding)
        .filter(|f| f.id == rows::SELECTIVE_REPORT.id)
        .map(|f| f.message.as_str())
        .collect();
    assert_eq!(excluded.len(), 1, "{:?}", p.findings);
    assert!(
        excluded[0].contains(
            "1st of 3 in `specjbb2005-t5240`, but 5th of 16 in `specjbb2005` as of 2009-08-27"
        ),
        "{excluded:?}"
    );
    assert!(html(&p).contains(">F59</a>"));
    let wide = post("{{ rank(\"t5240-1.6\", in=\"specjbb2005\") }}").unwrap();
    assert!(
        wide.findings.iter().all(|f| f.finding.id != rows::SELECTIVE_REPORT.id),
        "nobody is left out"
    );
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
    assert!(html(&p).contains("from quoted</span>"), "stated at the number");
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
fn claims_hold_or_do_not_or_are_undecided() {
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
    assert_eq!(here, [Holds, DoesNotHold, Undecided, Undecided, CannotBeAsked], "{:?}", p.claims);
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
        text.contains("*holds here:* 2 times as good") && text.contains("*undecided:*"),
        "{text}"
    );

    set(&mut runs, 1.0, assay_model::Verdict::Inconclusive);
    let p = with_runs(&ahead(&a, &b), &runs).unwrap();
    assert_eq!(p.claims[0].here, Undecided);
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

#[test]
fn places_are_those_of_a_count_from_the_start() {
    let body = "{{ value(\"t5240-1.6\") }} ran.\n\nMünchen: 875 W, ahead of the Cray at 12 W;\nwe saw 34 W.\n\n- A trails B: 5 W and é 6 W\n";
    let text = format!("+++\ntitle = \"T\"\nas_of = \"2009-08-27\"\n+++\n{body}");
    let p = post(body).unwrap();
    assert!(p.typed.len() == 5 && p.comparisons.len() == 2, "{:?}", p.typed);
    let all = p.typed.iter().map(|t| (&t.text, t.line, t.column));
    for (word, line, column) in all.chain(p.comparisons.iter().map(|c| (&c.text, c.line, c.column)))
    {
        let line = text.lines().nth(line.unwrap() - 1).unwrap();
        let rest: String = line.chars().skip(column.unwrap() - 1).collect();
        assert!(rest.starts_with(word.as_str()), "{word}: {rest}");
    }
}

#[test]
fn a_template_of_nothing_but_numbers_is_read() {
    let line = "12 % better and 13 | ahead of 14 W, twice. ".repeat(300);
    let p =
        post(&format!("{{{{ value(\"t5240-1.6\") }}}}\n\n{line}\n\n{}", "1 2 3\n".repeat(1_000)))
            .unwrap();
    assert!(p.typed.len() > 2_000 && p.refusals().len() <= 101, "{}", p.refusals().len());
    assert!(html(&p).matches("class=\"typed\"").count() > 2_000);
}

/// A computed number of one system says nothing of another that stands beside it.
#[test]
fn a_system_beside_a_computed_number_of_another_is_marked() {
    let values = "{{ value(\"t5240-1.6\") }} and {{ value(\"p570-4chip\") }}.";
    for (statement, marked) in [
        (
            "It is {{ value(\"t5240-1.6\") }} for the T5240, where the Power 570 needs more.",
            Some("Power"),
        ),
        ("The Power 570 stays below the {{ value(\"t5240-1.6\") }} of the T5240.", Some("Power")),
        (
            "Der T5240 schafft {{ value(\"t5240-1.6\") }}, der Power 570 weit weniger.",
            Some("Power"),
        ),
        (
            "The T5240 has {{ times(\"t5240-1.6\", than=\"p570-4chip\") }} the result of the Power 570.",
            None,
        ),
        (
            "The T5240 does {{ value(\"t5240-1.6\") }}, the Power 570 {{ value(\"p570-4chip\") }}.",
            None,
        ),
        ("The T5240 does {{ value(\"t5240-1.6\") }} in all.", None),
    ] {
        let p = post(&format!("{values}\n\n{statement}\n")).unwrap();
        let open = p.comparisons.iter().filter(|c| c.checked.is_none()).map(|c| c.text.as_str());
        assert_eq!(open.collect::<Vec<_>>(), marked.into_iter().collect::<Vec<_>>(), "{statement}");
        assert!(p.refusals().is_empty(), "{statement}: {:?}", p.refusals());
    }
}

/// Words that compare treatments of a run are held against the run's verdict, not against its values.
#[test]
fn words_are_bound_to_the_treatments_of_runs() {
    let judged = |view: RunView, statement: &str| {
        let text = format!(
            "+++\ntitle = \"T\"\n[runs.levels]\nrun = \"last\"\nexperiment = \"zstd.toml\"\n+++\n{statement}\n"
        );
        let runs = BTreeMap::from([("levels".to_owned(), view)]);
        let p = Template::read("x.md", text).unwrap();
        let p = p.evaluate(&library(), &runs, "0", "2026-01-02").unwrap();
        let refused = p.refusals().iter().any(|f| f.finding.id == rows::DIRECTION_SUPPORTED.id);
        let [c] = p.comparisons.as_slice() else { panic!("{statement}: {:?}", p.comparisons) };
        (refused, c.checked.is_some())
    };
    // zstd -1 takes 0.73 of the time of zstd -3.
    for (statement, refused, checked) in [
        ("zstd -1 is faster than zstd -3.", false, true),
        ("zstd -3 is faster than zstd -1.", true, false),
        ("zstd -3 beats zstd -1.", true, false),
        ("The command `zstd -1` is ahead of `zstd -3`.", false, true),
        ("zstd -1 is the fastest.", false, true),
        ("zstd -3 is the fastest.", true, false),
        ("zstd -1 is as fast as zstd -3.", true, false),
        // Of other metrics, and of what nobody measured, the deciding one says nothing.
        ("zstd -3 is better than zstd -1 in compression.", false, false),
        ("zstd -3 beats zstd -1 in peak memory.", false, false),
        ("zstd -3 takes more care than zstd -1.", false, false),
        ("zstd -1 is faster than lz4.", false, false),
    ] {
        assert_eq!(judged(fixtures::commands(), statement), (refused, checked), "{statement}");
    }
    // Where the interval does not tell them apart, values decide nothing.
    let mut open = fixtures::commands();
    open.analysis
        .comparisons
        .iter_mut()
        .for_each(|c| c.verdict = assay_model::Verdict::Inconclusive);
    assert_eq!(judged(open, "zstd -1 is faster than zstd -3."), (false, false));
}
