//! `assay landscape`, as a user types it: output formats, folders of one's own, and every mistake
//! with its place and exit code 2.

use crate::common::{Done, World};

const HEAD: &str =
    "id,source,benchmark,metric,unit,higher_is_better,system,cores,value,as_of_date\n";

/// Makes a world with this file in the folder `mine`.
fn with_file(csv: &[u8]) -> World {
    let world = World::new();
    std::fs::create_dir(world.path("mine")).unwrap();
    std::fs::write(world.path("mine/own.csv"), csv).unwrap();
    world
}

fn own(csv: &[u8]) -> Done {
    with_file(csv).run(&["landscape", "own", "--published", "mine"])
}

fn refused(done: &Done, words: &[&str]) {
    assert_eq!(done.code, 2, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.is_empty(), "{}", done.stdout);
    let printed = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(printed.contains(word), "no `{word}` in: {printed}");
    }
}

#[test]
fn bad_files_are_refused_with_line_and_column() {
    let row = |text: &str| own(format!("{HEAD}{text}").as_bytes());
    refused(&own(b"id,benchmark\na,B\n"), &["own.csv:1", "the column `metric` is missing"]);
    refused(&row("a,s,B,m,u,true,S,-4,1,\n"), &["own.csv:2:cores: `-4`"]);
    refused(&row("a,s,B,m,u,true,S,4,NaN,\n"), &["own.csv:2:value: `NaN` is not a finite number"]);
    refused(&row("a,s,B,m,u,true,S,4,inf,\n"), &["own.csv:2:value"]);
    refused(&row("a,s,B,m,u,true,S,4,1,1 May\n"), &["own.csv:2:as_of_date: `1 May`"]);
    refused(&row("a,s,B,m,u,yes,S,4,1,\n"), &["own.csv:2:higher_is_better: `yes`"]);
    let twice = "a,s,B,m,u,true,S,4,1,\nb,s,B,m,u,true,S,4,1,\na,s,B,m,u,true,T,4,1,\n";
    refused(&row(twice), &["own.csv:4:id: line 2 has the id `a` already"]);
    let mixed = "a,s,B,m,MB/s,true,S,4,1,\nb,s,B,m,MiB/s,true,T,4,1,\n";
    refused(&row(mixed), &["own.csv:3:unit: mixed units", "`MB/s` in line 2"]);
    refused(&row("a,s,B\n"), &["own.csv:2: not CSV"]);
}

#[test]
fn latin_1_is_read() {
    let done = own(&[HEAD.as_bytes(), b"a,s,B,m,u,true,M\xfcller,4,1,\n"].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("Müller"), "{}", done.stdout);
}

#[test]
fn bad_requests_are_refused_with_what_would_be_right() {
    let world = World::new();
    let run = |arguments: &[&str]| world.run(arguments);
    refused(&run(&["landscape", "specjb2005"]), &["did you mean `specjbb2005`?"]);
    refused(&run(&["landscape", "specjbb2005", "--as-of", "2009-13-01"]), &["is not a date"]);
    refused(&run(&["landscape", "specjbb2005", "--per", "cores"]), &["did you mean `core`?"]);
    refused(&run(&["landscape", "specjbb2005", "--published", "nowhere"]), &["nowhere"]);
    refused(&run(&["landscape", "iostat"]), &["choose one with --metric"]);
    refused(&run(&["landscape", "specjbb2005", "--csv", "--markdown"]), &["cannot be used with"]);
    refused(&run(&["landscape", "memcached", "--with", "20200101-000000-aaaa"]), &["20200101"]);
}

#[test]
fn a_definition_with_a_mistake_is_refused_with_its_place() {
    let world = with_file(HEAD.as_bytes());
    world.write("mine/landscapes.toml", "[[landscape]]\nname = \"x\"\nfile = \"own.csv\"\n");
    let done = world.run(&["landscape", "x", "--published", "mine"]);
    refused(&done, &["landscapes.toml:3:1: unknown field `file`"]);
}

#[test]
fn the_day_the_list_and_the_forms() {
    let world = World::new();
    let list = world.run(&["landscape"]);
    assert!(list.stdout.contains("specjbb2005-t5240"), "{}", list.stdout);
    let table = world.run(&["landscape", "specjbb2005", "--as-of", "2009-07-20"]);
    assert!(table.stdout.contains("as of 2009-07-20"), "{}", table.stdout);
    assert!(table.stdout.contains("12 rows of later days left out."), "{}", table.stdout);
    let csv = world.run(&["landscape", "specjbb2005-t5240", "--csv"]);
    let second = csv.stdout.lines().nth(1).unwrap();
    assert!(second.starts_with("1,quoted,\"Sun SPARC Enterprise T5240, 1.6 GHz\","), "{second}");
    assert!(second.contains(",422782,26423.875,bops,jbbA-t5240-1.6,"), "{second}");
    let json = world.run(&["landscape", "specjbb2005-t5240", "--matrix", "--json"]);
    let json = json.json();
    let line = &json["landscape"]["lines"][0];
    assert_eq!(line["kind"], "quoted");
    assert_eq!(line["entry"]["value"]["provenance"][0], "bestperf-2009-08-27: jbbA-t5240-1.6");
    assert_eq!(json["matrix"]["rows"][1]["cells"][6], serde_json::Value::Null, "no watts");
    let matrix = world.run(&["landscape", "specjbb2005-t5240", "--matrix", "--csv"]);
    assert!(matrix.stdout.contains("per watt,483.17"), "{}", matrix.stdout);
    let page = world.run(&["landscape", "specjbb2005", "--per", "core", "-o", "page.html"]);
    assert_eq!((page.code, page.stdout.as_str()), (0, ""), "{}", page.stderr);
    let html = std::fs::read_to_string(world.path("page.html")).unwrap();
    assert!(html.contains("By every denominator") && html.contains("F50"));
    let markdown = world.run(&["landscape", "specjbb2005", "--per", "core", "--markdown"]);
    assert!(markdown.stdout.contains("## By every denominator"), "{}", markdown.stdout);
}

#[test]
fn a_measured_run_stands_beside_quoted_results_of_the_same_metric() {
    let csv = "q,s,true elsewhere,elapsed,s,false,Elsewhere,4,0.5,2020-01-01\n";
    let world = with_file(format!("{HEAD}{csv}").as_bytes());
    let run = world.run(&["run", "--blocks", "3", "--monitors", "none", "--quiet", "--", "true"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let arguments = ["landscape", "own", "--published", "mine", "--with", "last"];
    let done = world.run(&arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let text = done.stdout;
    assert!(text.contains("quoted results and measured ones"), "{text}");
    assert!(text.contains("kind") && text.contains("measured") && text.contains("F47"), "{text}");
    let done = world.run(&["landscape", "memcached", "--with", "last"]);
    refused(&done, &["different metrics cannot be ranked together (F46)"]);
}
