//! Attempts to get a false statement certified, or to show a typed quantity as if it were computed.
//! Every output of the post must mark exactly what the data say, or the template must be rejected
//! with the place of the error.

use super::*;

const BETTER: &str = "Sun SPARC Enterprise T5240 (2 chips, 1.6 GHz) is 5% better than IBM Power \
    570 (4 chips, 4.7 GHz) in SPECjbb2005 bops.";
const WORSE: &str = "IBM Power 570 (4 chips, 4.7 GHz) is 5% worse than Sun SPARC Enterprise T5240 \
    (2 chips, 1.6 GHz) in SPECjbb2005 bops.";
const PER_CORE: &str = "Sun SPARC Enterprise T5240 (2 chips, 1.6 GHz) has 0.5 times the \
    SPECjbb2005 bops per core of IBM Power 570 (4 chips, 4.7 GHz).";

/// Calls with short names, for the table of attempts.
const S: &str = r#"{{ statement(better("t5240-1.6", than="p570-4chip")) }}"#;
const S_CORE: &str = r#"{{ statement(times("t5240-1.6", than="p570-4chip", per="core")) }}"#;
const B: &str = r#"{{ better("t5240-1.6", than="p570-4chip") }}"#;
const CHIPS: &str = r#"{{ field("t5240-1.6", "chips") }}"#;
const V: &str = r#"{{ value("t5240-1.6") }}"#;

/// Expected outcome of an attempt.
enum ExpectedOutcome {
    /// An error that has a place and this text in its message.
    Refused(&'static str),
    /// The sentences that carry the mark, and the texts that are marked as typed.
    Shown(&'static [&'static str], &'static [&'static str]),
}

use ExpectedOutcome::{Refused, Shown};

/// Returns the sentences that carry the mark on a page, and checks that every glyph belongs to one.
fn certified_in_page(page: &str) -> Vec<String> {
    let plain = |text: &str| {
        text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    };
    let parts: Vec<&str> = page.split("<span class=\"whole\"").collect();
    let mut out = Vec::new();
    for part in &parts[1..] {
        let (sentence, mark) = part.split_once(" <a class=\"certified\"").unwrap();
        assert!(mark.split_once('>').unwrap().1.starts_with("✓ certified</a>"), "{mark}");
        out.push(plain(sentence.split_once('>').unwrap().1));
    }
    let glyphs: usize = seal::GLYPHS.iter().map(|glyph| page.matches(*glyph).count()).sum();
    assert_eq!(glyphs, out.len(), "a mark without a statement: {page}");
    out
}

/// Checks the marks in Markdown, where the mark and its footnote follow the sentence; returns the
/// number of marks.
fn certified_in_markdown(text: &str, sentences: &[String]) -> usize {
    let parts: Vec<&str> = text.split(" ✓ certified[^d").collect();
    for before in &parts[..parts.len() - 1] {
        let known = |s: &String| before.ends_with(&assay_report::document::markdown::line(s));
        assert!(sentences.iter().any(known), "{text}");
    }
    let glyphs: usize = seal::GLYPHS.iter().map(|glyph| text.matches(*glyph).count()).sum();
    assert_eq!(glyphs, parts.len() - 1, "a mark without a statement: {text}");
    glyphs
}

fn is_as_expected(template: String, outcome: &ExpectedOutcome) -> Result<(), String> {
    let made = Template::read("x.md", template)
        .and_then(|t| t.evaluate(&library(), &BTreeMap::new(), "0", "2026-01-02"));
    let (post, sentences, typed) = match (made, outcome) {
        (Err(e), Refused(wanted)) if e.place.is_some() && e.message.contains(wanted) => {
            return Ok(());
        }
        (Ok(post), Shown(sentences, typed)) => (post, sentences, typed),
        (Err(e), _) => return Err(e.to_string()),
        (Ok(post), _) => {
            return Err(format!("not refused: {:?}", post.numbers.first().map(|n| &n.text)));
        }
    };
    let (page, text) = (html(&post), markdown(&post));
    let shown = certified_in_page(&page);
    if shown != *sentences {
        return Err(format!("the page certifies {shown:?}"));
    }
    if certified_in_markdown(&text, &shown) != sentences.len() {
        return Err(format!("the Markdown certifies others: {text}"));
    }
    let data: serde_json::Value = serde_json::from_str(&json(&post).unwrap()).unwrap();
    let in_data = |key: &str| -> Vec<String> {
        let all = data[key].as_array().unwrap().iter();
        all.map(|s| s["text"].as_str().unwrap().to_owned()).collect()
    };
    if in_data("statements") != *sentences {
        return Err(format!("the data certify {:?}", in_data("statements")));
    }
    if in_data("typed") != *typed {
        return Err(format!("typed are {:?}", in_data("typed")));
    }
    // The legend and the list of typed quantities have a dagger each; only a site shows tags; a
    // block of code has one line for all its quantities.
    let marked = page.matches("class=\"typed\"").count() + page.matches('†').count();
    let in_text = text.matches('†').count();
    let expected = if post.front.tags.is_empty() { typed.len() } else { 0 };
    let of_code = post.typed.iter().filter(|t| t.place == "code").count();
    if !typed.is_empty()
        && (marked < expected + 2 || in_text < expected + 1 - of_code.saturating_sub(1))
    {
        return Err(format!("what was typed is not marked: {text}"));
    }
    Ok(())
}

#[test]
fn false_statements_are_not_certified_and_typed_quantities_are_marked() {
    let attempts: Vec<(String, ExpectedOutcome)> = vec![
        // Sides, metrics and denominators in the surrounding words.
        (S.to_owned(), Shown(&[BETTER], &[])),
        (
            r#"{{ statement(better("p570-4chip", than="t5240-1.6")) }}"#.to_owned(),
            Shown(&[WORSE], &[]),
        ),
        (format!("The Power 570 is {B} than the T5240."), Shown(&[], &[])),
        (format!("Per core: {S}"), Refused("cannot be in a sentence")),
        (format!("{S_CORE} So it leads in every core."), Shown(&[PER_CORE], &[])),
        (format!("The Power 570 is ahead. {S}"), Shown(&[BETTER], &[])),
        (format!("It is false that {S}"), Refused("cannot be in a sentence")),
        (format!("The Power 570, {S}"), Refused("cannot be in a sentence")),
        (format!("({S})"), Refused("cannot be in a sentence")),
        (format!("~~{S}~~"), Refused("struck text")),
        (format!("## {S}"), Refused("cannot be in a heading")),
        (format!("[{S}](https://example.org/)"), Refused("cannot be in a link")),
        (format!("`{S}`"), Refused("cannot be in code")),
        (format!("```\n{S}\n```"), Refused("cannot be in code")),
        (format!("x <b title=\"{S}\">y</b>"), Refused("cannot be in a sentence")),
        (format!("[x](https://example.org/{S}) {V}"), Refused("where nothing is printed")),
        (format!("[x](https://example.org/ \"{S}\") {V}"), Refused("where nothing is printed")),
        (format!("[r]: https://example.org/{S}\n\n{V}"), Refused("where nothing is printed")),
        (format!("``` {S}\nx\n```\n\n{V}"), Refused("where nothing is printed")),
        (
            r#"{{ statement(times("t5240-1.6", than="p570-4chip", per="watt")) }}"#.to_owned(),
            Shown(&[], &[]),
        ),
        (r#"{{ statement(field("t5240-1.6", "chips")) }}"#.to_owned(), Refused("states nothing")),
        (r#"{{ statement("The Power 570 is better") }}"#.to_owned(), Refused("needs a comparison")),
        (
            r#"{{ statement(statement(better("t5240-1.6", than="p570-4chip")), "x") }}"#.to_owned(),
            Refused("no further argument"),
        ),
        (r#"{{ value(statement(value("t5240-1.6"))) }}"#.to_owned(), Refused("not a value")),
        // The mark itself.
        (format!("{V} is right ✓ certified"), Refused("the mark of certification")),
        (format!("{V} is right ✔"), Refused("the mark of certification")),
        (format!("{V} is right ✅"), Refused("the mark of certification")),
        (format!("{V} is right √"), Refused("the mark of certification")),
        (format!("{V} is right &#10003; certified"), Refused("the mark of certification")),
        (format!("{V} is right &#x2713;"), Refused("the mark of certification")),
        (format!("{V} is right &check; certified"), Refused("the mark of certification")),
        (format!("{V} `✓ certified`"), Refused("the mark of certification")),
        (format!("{V}\n\n```\n✓ certified\n```"), Refused("the mark of certification")),
        (
            format!("{V} [x](https://example.org/ \"✓ certified\")"),
            Refused("the mark of certification"),
        ),
        (
            format!("{V} ![✓ certified](https://example.org/x.png)"),
            Refused("the mark of certification"),
        ),
        (
            format!("{V} ![&check;](https://example.org/x.png)"),
            Refused("the mark of certification"),
        ),
        (format!("## ✓ certified\n\n{V}"), Refused("the mark of certification")),
        (format!("{V} <!-- ✓ certified -->"), Refused("the mark of certification")),
        (format!("{V} :white_check_mark: certified"), Refused("the mark of certification")),
        (format!("{V} $\\checkmark$ certified"), Refused("the mark of certification")),
        (
            r#"{{ chart("bars", of=["t5240-1.6"], title="✓ certified") }}"#.to_owned(),
            Refused("the mark of certification"),
        ),
        (format!("<div>&#10003; certified</div>\n\n{V}"), Shown(&[], &["10003"])),
        (format!("<span class=\"certified\">certified</span> {V}"), Shown(&[], &[])),
        (
            format!("<span class=\"whole\">x <a class=\"certified\">y</a></span> {V}"),
            Shown(&[], &[]),
        ),
        (format!("{S} and &#xE000;n0&#xE001;"), Refused("the mark of certification")),
        (format!("{S} and \u{e000}n0\u{e001}"), Refused("the mark of certification")),
        (format!("{S} [x](https://example.org/&#xE000;n0&#xE001; \"y\")"), Shown(&[BETTER], &[])),
        (format!("{S} [x](https://example.org/&#xE000;n9&#xE001; \"y\")"), Shown(&[BETTER], &[])),
        (format!("{S} [x](a \"&#xE000;n9&#xE001;\")"), Shown(&[BETTER], &[])),
        (format!("{S} [x][y]\n\n[y]: a '&#xE000;n9&#xE001;'"), Shown(&[BETTER], &[])),
        (format!("{S} ![&#xE000;n9&#xE001;](a)"), Refused("the mark of certification")),
        (
            format!("{S} <b title=\"&#xE000;n9&#xE001;\">x</b>"),
            Shown(&[BETTER], &["xE000", "n9", "xE001"]),
        ),
        (format!("{S}\n\n```&#xE000;n9&#xE001;\nx\n```"), Shown(&[BETTER], &[])),
        (format!("- [x] The Power 570 leads.\n\n{V}"), Shown(&[], &[])),
        (format!("{S}[^d1]\n\n[^d1]: certified"), Shown(&[BETTER], &["d1", "d1"])),
        // Numbers that touch other characters.
        (format!("{B}0"), Refused("touches `0`")),
        (format!("1{B}"), Refused("touches `1`")),
        (format!("**{CHIPS}**0 chips"), Refused("touches `0`")),
        (format!("{CHIPS}&#48; chips"), Refused("touches `0`")),
        (format!("{CHIPS}<b>5</b>"), Refused("touches `5`")),
        (format!("{CHIPS}\u{200b}0"), Refused("touches `0`")),
        (format!("{CHIPS}\u{2060}\u{ad}０"), Refused("touches")),
        (format!("{CHIPS}\u{20dd}"), Refused("touches")),
        (format!("{CHIPS}\u{a8e5}"), Refused("touches")),
        (format!("{CHIPS}² chips"), Refused("touches `²`")),
        (format!("{CHIPS}%"), Refused("touches `%`")),
        (format!("{CHIPS} &percnt;"), Refused("touches `%`")),
        (format!("{CHIPS}٪"), Refused("touches")),
        (format!("{CHIPS}.5 times"), Refused("touches `.`")),
        (format!("1,{CHIPS}"), Refused("touches `,`")),
        (format!("10^{CHIPS}"), Refused("touches `^`")),
        (format!("is -{CHIPS}"), Refused("touches `-`")),
        (format!("{CHIPS}{CHIPS}"), Refused("another computed number")),
        (format!("{CHIPS}k"), Refused("touches `k`")),
        (format!("x{CHIPS}"), Refused("touches `x`")),
        // Columns of the template's own tables.
        (
            format!("| system | SPECint2006 |\n|---|---|\n| T5240 | {V} |"),
            Refused("names the metric specint2006"),
        ),
        (
            format!("| system | bops per core |\n|---|---|\n| T5240 | {V} |"),
            Refused("names the denominator core"),
        ),
        (
            format!("| system | bops/W |\n|---|---|\n| T5240 | {V} |"),
            Refused("names the denominator watt"),
        ),
        (
            format!("| system | Watts |\n|---|---|\n| T5240 | {V} |"),
            Refused("names the denominator watt"),
        ),
        (format!("| system | chips |\n|---|---|\n| T5240 | {CHIPS} |"), Shown(&[], &[])),
        (format!("| system | SPECjbb2005 bops |\n|---|---|\n| T5240 | {V} |"), Shown(&[], &[])),
        // Names that were exchanged or changed.
        (
            r#"{{ chart("bars", of=["t5240-1.6", "p570-4chip"], names=["Power 570", "T5240"]) }}"#
                .to_owned(),
            Shown(&[], &[]),
        ),
        (
            r#"{{ table(["t5240-1.6"], columns=["bops per core=value"]) }}"#.to_owned(),
            Shown(&[], &[]),
        ),
        // Quantities that were typed.
        (format!("{V} is 5% better."), Shown(&[], &["5%"])),
        (
            format!("{V} is ５０% or ⁵⁰% or ٥٠٪ or ५०% better."),
            Shown(&[], &["５０%", "⁵⁰%", "٥٠٪", "५०%"]),
        ),
        (format!("{V} is 𝟓𝟎% or ①⓪ or Ⅻ or ½ better."), Shown(&[], &["𝟓𝟎%", "①⓪", "Ⅻ", "½"])),
        (format!("{V} is 🔟 or ⚄ or 五十 better."), Shown(&[], &["🔟", "⚄", "五十"])),
        (format!("{V} is &#53;0&#37; better."), Shown(&[], &["50%"])),
        (format!("{V} is **5**0% better."), Shown(&[], &["50%"])),
        (
            format!("{V} is 5\u{200b}0% or te\u{ad}nfold better."),
            Shown(&[], &["5\u{200b}0%", "te\u{ad}nfold"]),
        ),
        (format!("{V} is dоublе the other."), Shown(&[], &["dоublе"])),
        (format!("{V} is dou**ble** the other."), Shown(&[], &["double"])),
        (
            format!("{V} is twice, half, a third, a dozen."),
            Shown(&[], &["twice", "half", "third", "dozen"]),
        ),
        (format!("{V} is an order of magnitude ahead."), Shown(&[], &["magnitude"])),
        (format!("{CHIPS} percent, {CHIPS} million."), Shown(&[], &["percent", "million"])),
        (format!("{V} `50%` and\n\n```\n999999 bops\n```"), Shown(&[], &["50%", "999999"])),
        (format!("> {V}\n>\n> ```\n> 50%\n> ```"), Shown(&[], &["50%"])),
        (format!("{V}\n\n    50%"), Shown(&[], &["50%"])),
        (format!("# 50% better\n\n{V}"), Shown(&[], &["50%"])),
        (format!("{V} <b>50%</b> better"), Shown(&[], &["50%"])),
        (format!("{V} <!-- 50% better -->"), Shown(&[], &["50%"])),
        (format!("{V}\n\n<div style=\"content: '50%'\">x</div>"), Shown(&[], &["50%"])),
        (format!("{V}\n\n<div>\n5**0**% te**nf**old\n</div>"), Shown(&[], &["50%", "tenfold"])),
        (format!("{V}\n\n<svg><text>50%</text></svg>"), Shown(&[], &["50%"])),
        (format!("{V} [50%](https://example.org/)"), Shown(&[], &["50%"])),
        (format!("{V} ![50% better](https://example.org/x.png)"), Shown(&[], &["50%"])),
        (format!("{V} ![x](data:image/svg+xml,50%25)"), Shown(&[], &[])),
        (format!("{V} [x](https://example.org/ \"50% better\")"), Shown(&[], &[])),
        (format!("{V}[^1]\n\n[^1]: 50% better"), Shown(&[], &["1", "1", "50%"])),
        (format!("{V}\n\n| a |\n|---|\n| 50% better |"), Shown(&[], &["50%"])),
        (format!("{V}\n\n999999. bops"), Shown(&[], &[])),
        (format!("{V} in 2009 bops, under Solaris 10 times"), Shown(&[], &["2009", "10"])),
        (
            r#"{{ table(["t5240-1.6"], columns=["double=value"], caption="half") }}"#.to_owned(),
            Shown(&[], &["double", "half"]),
        ),
        (
            r#"{{ chart("bars", of=["t5240-1.6"], title="50% better", names=["1 000"]) }}"#
                .to_owned(),
            Shown(&[], &["1 000", "50%"]),
        ),
    ];
    let mut failed = Vec::new();
    let head = "+++\ntitle = \"T\"\nas_of = \"2009-08-27\"\n+++\n";
    for (body, outcome) in &attempts {
        if let Err(why) = is_as_expected(format!("{head}{body}\n"), outcome) {
            failed.push(format!("{body}\n    {why}"));
        }
    }
    for (key, outcome) in [
        ("summary = \"50% better\"", Shown(&[], &["50%"] as &[_])),
        ("tags = [\"tenfold\"]", Shown(&[], &["tenfold"])),
        ("sources = [\"50% better\"]", Shown(&[], &["50%"])),
        ("trademarks = [\"twice as fast\"]", Shown(&[], &["twice"])),
        ("licensee = \"the half of them\"", Shown(&[], &["half"])),
        ("summary = \"✓ certified\"", Refused("the mark of certification")),
        ("summary = \"\\u2713 certified\"", Refused("the mark of certification")),
        ("tags = [\"\\u2713\"]", Refused("the mark of certification")),
        (
            "[runs.a]\nrun = \"last\"\nexperiment = \"\\uE000n0\\uE001\"",
            Refused("the mark of certification"),
        ),
    ] {
        let template = format!("+++\ntitle = \"T\"\nas_of = \"2009-08-27\"\n{key}\n+++\n{V}\n");
        if let Err(why) = is_as_expected(template, &outcome) {
            failed.push(format!("{key}\n    {why}"));
        }
    }
    assert!(attempts.len() >= 60 && failed.is_empty(), "{}", failed.join("\n"));
}

/// A chart whose results are all withheld still has a title.
#[test]
fn the_title_of_a_chart_that_is_not_drawn_is_marked_as_typed() {
    let mut sweep = fixtures::block_size();
    sweep.analysis.findings.insert(0, fixtures::withheld().analysis.findings[0].clone());
    let runs =
        BTreeMap::from([("sweep".to_owned(), sweep), ("bad".to_owned(), fixtures::withheld())]);
    let s = &runs["bad"].analysis.summaries[0];
    let bar = format!("bad:{}@{}", s.metric, runs["bad"].label(s.treatment));
    for call in [format!("\"bars\", of=[\"{bar}\"]"), "\"curve\", run=\"sweep\"".to_owned()] {
        let body = format!("{{{{ chart({call}, title=\"T5240 is 50 % faster\") }}}}");
        let post = with_runs(&body, &runs).unwrap();
        let typed: Vec<&str> = post.typed.iter().map(|t| t.text.as_str()).collect();
        assert_eq!(typed, ["50 %"], "{call}");
        assert!(post.banner().contains("1 typed"), "{call}: {}", post.banner());
        for shown in [html(&post), markdown(&post)] {
            assert!(shown.contains("Nothing is drawn, every result is withheld"), "{shown}");
            assert!(shown.contains("T5240 is 50 %† faster"), "{shown}");
            assert!(shown.contains("Typed by the author"), "{shown}");
        }
    }
}

/// Results that somebody else wrote may contain anything in their names.
#[test]
fn data_with_the_mark_are_shown_without_it() {
    let folder = std::env::temp_dir().join(format!("assay-post-data-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let rows = "id,source,benchmark,metric,unit,higher_is_better,system,value\n\
                own-a,s,B,m,u,true,\"✓ certified &check; :white_check_mark: \
                \u{e000}n0\u{e001}\",100\nown-b,s,B,m,u,true,Other,50\n";
    std::fs::write(folder.join("own.csv"), rows).unwrap();
    let mut collection = Collection::built_in().unwrap();
    collection.add(&folder).unwrap();
    let body = "{{ statement(times(\"own-a\", than=\"own-b\")) }} {{ value(\"own-a\") }}\n\n\
                {{ table([\"own-*\"], columns=[\"label\", \"value\"]) }}\n\n\
                {{ chart(\"bars\", of=[\"own-a\", \"own-b\"]) }}\n";
    let template = Template::read("x.md", format!("+++\ntitle = \"T\"\n+++\n{body}")).unwrap();
    let library = Library::new(collection).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    let post = template.evaluate(&library, &BTreeMap::new(), "0", "2026-01-02").unwrap();
    let shown = certified_in_page(&html(&post));
    assert_eq!(shown.len(), 1, "{shown:?}");
    let text = markdown(&post);
    assert!(
        text.matches('✓').count() == 1
            && !text.contains("check_mark:")
            && !text.contains("&check;"),
        "{text}"
    );
}
