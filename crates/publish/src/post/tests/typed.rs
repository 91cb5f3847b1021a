//! Tests of typed quantities, statements, and the claims of a post.

use assay_checks::rows;

use super::*;
use LocalOutcome::{CannotBeAsked, DoesNotHold, Holds, Undecided};

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
    let call = "{{ chart(\"bars\", of=[\"t5240-1.6\", \"p570-4chip\"], names=[\"Power 570\", \
        \"T5240\"]) }}";
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
        "{}{}{{{{#claim differs(\"{a}\", than=\"sweep:{}@no such\")}}}}Nobody planned \
         it.{{{{/claim}}}}\n\n{}\
         {{{{#claim elsewhere(because=\"it takes another\", then=value(\"t5240-1.6\"))}}}}It did \
         **well**.{{{{/claim}}}}\n",
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
    let here: Vec<LocalOutcome> = p.claims.iter().map(|c| c.here).collect();
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
    let body = "{{ value(\"t5240-1.6\") }} ran.\n\nMünchen: <b>875</b> W, ![x](y \"t\") 12 W;\n\
        we saw 34 W.\n\n- 5 W and é 6 W\n";
    let text = format!("+++\ntitle = \"T\"\nas_of = \"2009-08-27\"\n+++\n{body}");
    let p = post(body).unwrap();
    assert_eq!(p.typed.len(), 5, "{:?}", p.typed);
    for TypedQuantity { text: word, line, column, .. } in &p.typed {
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
    assert!(p.typed.len() > 2_000 && p.refusals().is_empty(), "{}", p.refusals().len());
    assert!(html(&p).matches("class=\"typed\"").count() > 2_000);
    assert!(p.typed.iter().all(|t| t.sentence.chars().count() < 140), "{:?}", p.typed[0]);
}

/// Every function states its comparison in a sentence, with the names that tell the results apart.
#[test]
fn statements_of_every_kind() {
    let of = |call: &str| {
        let p = post(&format!("{{{{ statement({call}) }}}}\n")).unwrap();
        (p.statements().count(), p.numbers[0].text.clone())
    };
    let (t5240, p570) =
        ("Sun SPARC Enterprise T5240 (2 chips, 1.6 GHz)", "IBM Power 570 (4 chips, 4.7 GHz)");
    let nastran =
        |storage: &str| format!("Sun Fire X2270 (2 chips, 2.93 GHz, {storage}, 8 cores, 24 GB)");
    let (ssd, sata) =
        (nastran("2 x 30GB SSD, striped"), nastran("2 x 7200 rpm 500GB SATA, striped"));
    let time = "MSC/Nastran Vendor_2008 xxocmd2 elapsed time";
    let nas = "\"nas-xxocmd2-8c-ssd2-24\", than=\"nas-xxocmd2-8c-sata2-24\"";
    let pair = "\"t5240-1.6\", than=\"p570-4chip\"";
    for (call, wanted) in [
        (
            "value(\"t5240-1.6\")".to_owned(),
            format!("The SPECjbb2005 bops of {t5240} is 422782 bops."),
        ),
        (
            "per(\"t5240-1.6\", \"watt\")".to_owned(),
            format!("The SPECjbb2005 bops per watt of {t5240} is 483.2 bops/W."),
        ),
        (
            format!("better({pair})"),
            format!("{t5240} is 5% better than {p570} in SPECjbb2005 bops."),
        ),
        (
            format!("times({pair}, per=\"rack-unit\")"),
            format!("{t5240} has 4.2 times the SPECjbb2005 bops per rack unit of {p570}."),
        ),
        (format!("times({nas})"), format!("{ssd} takes 0.5 times as long as {sata} ({time}).")),
        (format!("less_time({nas})"), format!("{ssd} takes 54% less time than {sata} ({time}).")),
        (format!("speedup({nas})"), format!("{ssd} is 2.2 times as fast as {sata} in {time}.")),
        (format!("difference({nas})"), format!("{ssd} is 843 s below {sata} in {time}.")),
        (
            "times(\"t5240-1.6\", than=\"t5240-1.6\")".to_owned(),
            format!("{t5240} is equal to {t5240} in SPECjbb2005 bops."),
        ),
        (
            "rank(\"t5240-1.6\", in=\"specjbb2005-t5240\", per=\"core\")".to_owned(),
            format!(
                "{t5240} is 2nd of 3 in SPECjbb2005 bops per core as of 2009-08-27 \
                (SPECjbb2005: table of the T5240)."
            ),
        ),
        (
            "better(\"gcc-studio-noautopar-base\", than=\"gcc-gcc44-peak\")".to_owned(),
            "Sun Blade X6270 (2 chips, 2.93 GHz, Studio 12u1, OpenSolaris, no autopar) in \
             SPECfp_base2006 is 26% better than \
             Sun Blade X6270 (2 chips, 2.93 GHz, GCC 4.4.0, SuSE Linux 11) in \
             SPECfp2006."
                .to_owned(),
        ),
    ] {
        assert_eq!(of(&call), (1, wanted), "{call}");
    }
    let (count, text) = of(&format!("times({pair}, per=\"watt\")"));
    assert_eq!(count, 0);
    assert_eq!(
        text,
        format!(
            "It cannot be stated how {t5240} compares with {p570} in SPECjbb2005 bops per watt: \
            watts of {p570} not recorded."
        )
    );
    let reverse =
        post("{{ statement(times(\"gcc-gcc44-peak\", than=\"gcc-studio-noautopar-base\")) }}")
            .unwrap();
    assert!(reverse.statements().next().is_none() && !reverse.refusals().is_empty());
    assert!(reverse.banner().starts_with("0 statements certified, 0 numbers computed"));
}

/// Statements about runs follow the verdict, and name the finding that withholds a number.
#[test]
fn statements_about_runs() {
    let made = |view: RunView, call: &str| {
        let runs = BTreeMap::from([("sweep".to_owned(), view)]);
        let p = with_runs(&format!("{{{{ statement({call}) }}}}\n"), &runs).unwrap();
        (p.statements().count(), p.numbers[0].text.clone(), p.numbers[0].facts.verdict)
    };
    let view = fixtures::commands;
    let [a, b] = [0, 1].map(|t| format!("\"sweep:elapsed@{}\"", view().label(t)));
    let pair = format!("{a}, than={b}");
    for function in ["better", "times", "speedup", "less_time", "difference"] {
        let (count, text, verdict) = made(view(), &format!("{function}({pair})"));
        assert!(count == 1 && text.contains("zstd -1") && text.contains("elapsed"), "{text}");
        assert!(verdict.is_some_and(|v| v != "not clearly different"), "{text}");
        let mut open = view();
        let all = open.analysis.comparisons.iter_mut();
        all.for_each(|c| c.verdict = assay_model::Verdict::Inconclusive);
        let (_, text, verdict) = made(open, &format!("{function}({pair})"));
        assert_eq!(verdict, Some("not clearly different"), "{text}");
        assert!(text.contains("is not clearly different from"), "{text}");
    }
    let s = &fixtures::withheld().analysis.summaries[0];
    let call = format!("value(\"sweep:{}@{}\")", s.metric, fixtures::withheld().label(s.treatment));
    let (count, text, _) = made(fixtures::withheld(), &call);
    assert!(
        count == 0 && text.starts_with("It cannot be stated how ") && text.contains(": F17 "),
        "{text}"
    );
    let quoted = format!("times({a}, than=\"nas-xxocmd2-8c-ssd2-24\")");
    let (count, text, _) = made(view(), &quoted);
    assert!(count == 0, "{text}");
}
