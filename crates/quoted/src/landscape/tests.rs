//! Tests of landscapes over small collections.

use assay_model::{Better, Interval, MetricKind, Profile, Severity};

use super::*;
use crate::denominator::DenominatorCounts;

const HEAD: &str =
    "id,source,benchmark,metric,unit,higher_is_better,system,cores,value,as_of_date\n";

/// Creates a folder with one file of results.
fn folder(csv: &str) -> (tempfile::TempDir, Collection) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("small.csv"), csv).unwrap();
    let mut collection = Collection::built_in().unwrap();
    collection.add(dir.path()).unwrap();
    (dir, collection)
}

fn ids(landscape: &Landscape) -> Vec<&str> {
    landscape.lines.iter().map(|l| l.ids[0].as_str()).collect()
}

#[test]
fn the_newest_printing_counts_and_two_values_of_one_day_both_stand() {
    let rows = "a1,s,B,m,u,true,A,4,10,2020-01-01\n\
                a2,t,B,m,u,true,A,4,12,2021-01-01\n\
                b1,s,B,m,u,true,B,4,11,2020-01-01\n\
                b2,t,B,m,u,true,B,4,11,2020-01-01\n\
                c1,s,B,m,u,true,C,4,9,2020-01-01\n\
                c2,s,B,m,u,true,C,4,8,2020-01-01\n\
                d1,s,B,m,u,true,A,8,7,2019-01-01\n";
    let (_dir, collection) = folder(&format!("{HEAD}{rows}"));
    let all = collection.landscape("small", &Query::default()).unwrap();
    assert_eq!(ids(&all), ["a2", "b1", "c1", "c2", "d1"]);
    assert_eq!(all.excluded.superseded, 2);
    let query = Query { as_of: Some("2020-12-31".to_owned()), ..Query::default() };
    let before = collection.landscape("small", &query).unwrap();
    assert_eq!(ids(&before), ["b1", "a1", "c1", "c2", "d1"]);
    assert_eq!(before.excluded.later, 1);
}

#[test]
fn rows_of_one_document_do_not_supersede_each_other() {
    let rows = "a1,s,B,m,u,,A,4,0,2020-01-01\n\
                a2,s,B,m,u,,A,4,0,2020-01-01\n\
                a3,s,B,m,u,,A,4,0,2020-01-02\n";
    let (_dir, collection) = folder(&format!("{HEAD}{rows}"));
    let all = collection.landscape("small", &Query::default()).unwrap();
    assert_eq!((ids(&all), all.excluded.superseded), (vec!["a1", "a2", "a3"], 0));
    let metric = Query { metric: Some("reads started in 1 s".to_owned()), ..Query::default() };
    let seconds = Collection::built_in().unwrap().landscape("dtrace-io-start", &metric).unwrap();
    assert_eq!((seconds.lines.len(), seconds.excluded.superseded), (17, 0));
}

#[test]
fn a_place_is_among_results_of_one_question() {
    let per_core = Query { per: vec![Denominator::Core], ..Query::default() };
    let collection = Collection::built_in().unwrap();
    for name in ["speccpu2006-int-rate", "nastran-vendor-2008"] {
        let table = collection.landscape(name, &per_core).unwrap();
        let tables = table.tables();
        assert!(tables.len() > 1, "{name}");
        for (question, lines) in tables {
            assert!(lines.iter().all(|l| l.question == question));
            assert_eq!(lines[0].rank, Some(1), "{name}: {question}");
            for l in &lines {
                let metric = l.entry.as_ref().map(|e| e.value.formula());
                assert!(metric.is_some(), "{name}");
            }
        }
    }
    let rates = collection.landscape("speccpu2006-int-rate", &Query::default()).unwrap();
    let first: Vec<(&str, &str)> =
        rates.tables().iter().map(|(q, l)| (*q, l[0].ids[0].as_str())).collect();
    assert_eq!(first.len(), 2, "{first:?}");
    let top = collection
        .landscape("speccpu2006-int-rate", &Query { top: Some(1), ..Query::default() })
        .unwrap();
    assert_eq!(top.lines.len(), 2, "the first of each");
    assert!(
        rates
            .matrix()
            .rows
            .iter()
            .filter(|r| r.cells[0].as_ref().is_some_and(|c| c.rank == Some(1)))
            .count()
            == 2
    );
}

#[test]
fn equal_values_share_a_place_and_what_is_cut_off_is_counted() {
    let rows = "a,s,B,m,u,false,A,4,3,\nb,s,B,m,u,false,B,4,1,\nc,s,B,m,u,false,C,4,1,\n";
    let (_dir, collection) = folder(&format!("{HEAD}{rows}"));
    let all = collection.landscape("small", &Query::default()).unwrap();
    let ranks: Vec<Option<usize>> = all.lines.iter().map(|l| l.rank).collect();
    assert_eq!((ids(&all), ranks), (vec!["b", "c", "a"], vec![Some(1), Some(1), Some(3)]));
    let top = collection.landscape("small", &Query { top: Some(1), ..Query::default() }).unwrap();
    assert_eq!((top.lines.len(), top.lines_in_all), (1, 3));
    assert_eq!(top.omissions(), ["2 of 3 lines are not shown."]);
    let day = Query { as_of: Some("2020-01-01".to_owned()), ..Query::default() };
    assert_eq!(collection.landscape("small", &day).unwrap().excluded.undated, 3);
}

#[test]
fn raw_observations_are_not_ranked() {
    let rows = "a,s,B,m,u,,A,4,3,\nb,s,B,m,u,,B,4,4,\n";
    let (_dir, collection) = folder(&format!("{HEAD}{rows}"));
    let all = collection.landscape("small", &Query::default()).unwrap();
    assert_eq!((all.better, all.ordered_by), (Better::Neither, None));
    assert_eq!(ids(&all), ["a", "b"]);
    assert!(
        all.matrix().rows.iter().flat_map(|r| r.cells.iter().flatten()).all(|c| c.rank.is_none())
    );
}

#[test]
fn a_denominator_orders_and_its_turns_are_found() {
    let rows = "a,s,B,m,u,true,A,8,100,\nb,s,B,m,u,true,B,4,80,\nc,s,B,m,u,true,C,,70,\n";
    let (_dir, collection) = folder(&format!("{HEAD}{rows}"));
    let query = Query { per: vec![Denominator::Core], ..Query::default() };
    let mut by_core = collection.landscape("small", &query).unwrap();
    assert_eq!(ids(&by_core), ["b", "a", "c"]);
    assert_eq!(by_core.lines[2].rank, None, "nothing recorded, no place");
    by_core.check_denominators(&[Denominator::Core], false, Profile::Lab);
    let finding = &by_core.findings[0];
    assert_eq!((finding.id.as_str(), finding.severity), ("F50", Severity::Warning));
    assert_eq!(finding.message, "B is ahead of A per core, but behind it in total");
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let collection = Collection::built_in().unwrap();
    let error =
        |name: &str, query: &Query| collection.landscape(name, query).unwrap_err().to_string();
    let unknown = error("specjb2005", &Query::default());
    assert!(unknown.contains("did you mean `specjbb2005`?"), "{unknown}");
    let several = error("iostat", &Query::default());
    assert!(several.contains("choose one with --metric") && several.contains("`r/s`"), "{several}");
    let metric = Query { metric: Some("rs".to_owned()), ..Query::default() };
    assert!(error("iostat", &metric).contains("did you mean `r/s`?"));
    let day = Query { as_of: Some("2009-02-30".to_owned()), ..Query::default() };
    assert_eq!(error("specjbb2005", &day), "`2009-02-30` is not a date such as 2009-08-27");
}

#[test]
fn a_definition_whose_file_is_missing_is_named_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let text = "\n[[landscape]]\nname = \"x\"\ntitle = \"X\"\nfiles = [\"y.csv\"]\n\
        columns = [{ value = \"v\" }]\n";
    std::fs::write(dir.path().join("landscapes.toml"), text).unwrap();
    let error = Collection::built_in().unwrap().add(dir.path()).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "landscapes.toml:3:8: `x` names the file `y.csv`, which is not in its folder"
        )
    );
}

fn run(metric: &str, unit: &str, value: f64) -> MeasuredLine {
    MeasuredLine {
        run: "20260101-000000-abcd".to_owned(),
        workload: "w".to_owned(),
        system: "here".to_owned(),
        processor: None,
        os: None,
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        better: Better::Higher,
        value,
        interval: Some(Interval { low: value * 0.99, high: value * 1.01, level: 0.95 }),
        counts: DenominatorCounts { cores: Some(2.0), ..DenominatorCounts::default() },
        day: "2026-01-01".to_owned(),
        kind: MetricKind::Measured,
    }
}

#[test]
fn a_measured_line_says_so_and_so_does_the_title() {
    let rows = "a,s,B,m,u,true,A,8,100,\nb,s,B,m,u,true,B,4,80,\n";
    let (_dir, collection) = folder(&format!("{HEAD}{rows}"));
    let query = Query { per: vec![Denominator::Core], ..Query::default() };
    let mut table = collection.landscape("small", &query).unwrap();
    assert!(!table.mixed() && table.heading().ends_with(": quoted results"));
    table.add_measured(&[run("m", "u", 90.0)]).unwrap();
    assert!(table.mixed());
    assert!(table.heading().ends_with("quoted results and measured ones"), "{}", table.heading());
    assert_eq!(table.lines[0].kind, MetricKind::Measured, "45 per core is the most");
    assert_eq!((table.lines[0].rank, table.lines[1].rank), (Some(1), Some(2)));
    let q = table.lines[0].entry.as_ref().unwrap().quantity(Basis::Per(Denominator::Core)).unwrap();
    assert_eq!((q.kind_words(), q.interval.is_some()), ("derived", true));
    assert_eq!(table.findings[0].id, "F47");
    for other in [run("m", "v", 1.0), run("n", "u", 1.0)] {
        let error = table.add_measured(&[other]).unwrap_err().to_string();
        assert!(error.contains("different metrics cannot be ranked together (F46)"), "{error}");
    }
}

#[test]
fn a_quoted_result_that_was_imported_stays_quoted() {
    let (_dir, collection) = folder(&format!("{HEAD}a,s,B,m,u,true,A,8,100,\n"));
    let mut table = collection.landscape("small", &Query::default()).unwrap();
    table
        .add_measured(&[MeasuredLine { kind: MetricKind::Quoted, ..run("m", "u", 90.0) }])
        .unwrap();
    assert!(!table.mixed() && table.lines.iter().all(|l| l.kind == MetricKind::Quoted));
    assert!(table.findings.is_empty());
}
