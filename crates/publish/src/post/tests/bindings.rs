//! Tests of the expressions of bindings: values compared with values that were computed separately
//! with fractions, errors with their places, and equal numbers in a post.

use assay_claims::exact::fixed;
use assay_claims::{CurrentRow, Document, Evaluate, EvaluatedValue, ExpressionError, Table};
use assay_claims::{TableDeclaration, TableName};
use assay_model::Better;

use super::*;
use crate::post::Bindings;

const TEXT: &str = "# Runs\n\n\
    | job | cores | SATA (s) | SSD (s) | ratio | chip |\n|---|---|---|---|---|---|\n\
    | crown 8 | 8 | 1554 | 711 | 2.19 | X5570 |\n\
    | crown 4 | 4 | 2012 | 1209 | 1.66 | X5570 |\n\
    | shaft 1 | 1 | 5000 | 4910 | 1.02 | - |\n";

fn tables() -> Vec<Table> {
    let declared = TableDeclaration {
        table: Some(TableName::Number(1)),
        name: Some("runs".to_owned()),
        better: Some(Better::Lower),
        ..TableDeclaration::default()
    };
    Document::read("post.md", TEXT).unwrap().tables(&[declared]).unwrap()
}

fn evaluate(expression: &str) -> Result<EvaluatedValue, ExpressionError> {
    let (library, tables) = (library(), tables());
    let bindings = Bindings::new(&library, &tables, None);
    bindings.evaluate(expression, None).map(|computed| computed.outcome)
}

fn number(expression: &str) -> (String, String) {
    match evaluate(expression) {
        Ok(EvaluatedValue::Number { value, unit }) => (fixed(&value, 12), unit),
        other => panic!("{expression}: {other:?}"),
    }
}

/// Expressions with their values to 12 decimals, computed with Python's `fractions` from the rows
/// of `published/` and the table above, and their units.
const VALUES: &[(&str, &str, &str)] = &[
    (r#"better("mc-osol", than="mc-rhel-2.6.29")"#, "25.266903914591", "%"),
    (r#"better("mc-osol", than="mc-rhel-2.6.18")"#, "51.724137931034", "%"),
    (r#"value("mc-osol", unit="kops/s")"#, "352.000000000000", "kops/s"),
    (r#"per("mc-osol", "core")"#, "44000.000000000000", "ops/s/core"),
    (r#"times("nas-xxocmd2-8c-sata2-48", than="nas-xxocmd2-8c-ssd2-48")"#, "2.753280839895", "1"),
    (
        r#"less_time("nas-xxocmd2-8c-ssd2-24", than="nas-xxocmd2-8c-sata2-24")"#,
        "54.247104247104",
        "%",
    ),
    (r#"speedup("nas-xxocmd2-8c-ssd2-24", than="nas-xxocmd2-8c-sata1-24")"#, "3.642756680731", "1"),
    (
        r#"better("nas-xxocmd2-8c-ssd2-24", than="nas-xxocmd2-8c-sata2-24")"#,
        "118.565400843882",
        "%",
    ),
    (
        r#"geomean([
            times("nas-xxocmd2-8c-sata2-48", than="nas-xxocmd2-8c-ssd2-48"),
        times("nas-xlotdf1-8c-sata2-48", than="nas-xlotdf1-8c-ssd2-48"),
        times("nas-mdomdf1-4c-sata2-48", than="nas-mdomdf1-4c-ssd2-48")])"#,
        "1.550226481691",
        "1",
    ),
    (r#"sum("nas-*-1c-ssd2-48")"#, "11278.000000000000", "s"),
    (
        r#"difference("nas-xxocmd2-8c-sata2-24", than="nas-xxocmd2-8c-ssd2-24")"#,
        "843.000000000000",
        "s",
    ),
    (
        r#"value(mean(["ioA-s1-c2t8d0-kwpers",
        "ioA-s2-c2t8d0-kwpers"]), as="KiB/s", unit="MiB/s")"#,
        "31.025146484375",
        "MiB/s",
    ),
    (
        r#"ratio("ioA-s1-c2t8d0-kwpers", "ioA-s1-c2t8d0-wpers")"#,
        "62.519600307456",
        "KB per s/writes per s",
    ),
    (
        r#"sum(["ioZ-c3t40d0-krpers", "ioZ-c3t40d1-krpers", "ioZ-c3t40d2-krpers"])"#,
        "5468.500000000000",
        "KB per s",
    ),
    (r#"share("dth-size-65536", of=sum("dth-size-*"))"#, "43.105491900435", "%"),
    (r#"count("dtr-*-writes", above="dtr-131140-async-ios")"#, "14.000000000000", "1"),
    (
        r#"count(difference("dtr-131145-async-ios", than="dtr-131145-writes"), above=0)"#,
        "1.000000000000",
        "1",
    ),
    (r#"max("dtr-*-writes")"#, "779.000000000000", "I/Os per s"),
    (r#"mean("dtr-*-writes")"#, "565.823529411765", "I/Os per s"),
    (r#"better("intrate-6048-base", than="intrate-altix-bw-base")"#, "225.598526703499", "%"),
    (r#"per("fprate-6048-base", "core")"#, "8.463541666667", "score/core"),
    (r#"times("fprate-6048-base", than="fprate-p595-base", per="core")"#, "0.161114416022", "1"),
    (
        r#"more(field("int06-ts700-peak", "ghz"), than=field("int06-x6275-peak", "ghz"))"#,
        "9.215017064846",
        "%",
    ),
    (
        r#"share(difference("fp06-x6275-peak", than="fp06-x6275-base"), of="fp06-x6275-base")"#,
        "14.932126696833",
        "%",
    ),
    (r#"per("jbbA-t5240-1.6", "watt")"#, "483.179428571429", "bops/W"),
    (r#"times("jbbA-t5240-1.6", than="jbbB-t5220-1.6", per="watt")"#, "1.085496245019", "1"),
    (
        r#"ratio(times("jbbA-t5240-1.6", than="jbbA-t5240-1.4"), ratio(1.6, 1.4))"#,
        "0.961032930321",
        "1",
    ),
    (r#"value("dd-itanium-Bps", unit="Gbit/s")"#, "28.000000000000", "Gbit/s"),
    (r#"product("dd-niagara-Gbps", 32)"#, "87.040000000000", "Gbit/s"),
    (r#"product(number(30, "KB"), number(3000, "1"))"#, "90000.000000000000", "KB"),
    (r#"ratio("zfs-t5440-ufs-rate", "zfs-t5440-ufs-iops")"#, "0.015000000000", "MB/s/IO/s"),
    (r#"speedup("zfs-t5440-raidz-time", than="zfs-t5440-ufs-time")"#, "2.000000000000", "1"),
    (
        r#"less(product(product("cab-6048-height", "cab-6048-width"), "cab-6048-depth"),
            than=product(product("cab-p595-slim-height", "cab-p595-slim-width"),
                "cab-p595-slim-depth"))"#,
        "44.452538950792",
        "%",
    ),
    (r#"value("zfs-t5440-ufs-time", unit="s")"#, "1800.000000000000", "s"),
    (
        r#"times(cell("table 1", "crown 8", "SATA"), than=cell("table 1", "crown 8", "SSD"))"#,
        "2.185654008439",
        "1",
    ),
    (
        r#"max(times(column("table 1", "SATA"), than=column("table 1", "SSD")))"#,
        "2.185654008439",
        "1",
    ),
    (
        r#"geomean(ratio(column("table 1", "SATA"), column("table 1", "SSD")))"#,
        "1.547238275729",
        "1",
    ),
    (
        r#"mean(less_time(column("table 1", "SSD"), than=column("table 1", "SATA")))"#,
        "31.985880342143",
        "%",
    ),
    (
        r#"count(column("table 1", "SSD"), below=cell("table 1", "crown 8", "SATA"))"#,
        "2.000000000000",
        "1",
    ),
    (r#"sum(column("table 1", "SSD", except=["shaft 1"]))"#, "1920.000000000000", "s"),
    (
        r#"better(cell("table 1", "crown 8", "SSD"), than="nas-xxocmd2-8c-ssd2-24")"#,
        "0.000000000000",
        "%",
    ),
    (r#"per(cell("table 1", "crown 8", "SSD"), "core")"#, "5688.000000000000", "s core"),
    (r#"value(sum(column("table 1", "SATA")), unit="min")"#, "142.766666666667", "min"),
];

#[test]
fn values_are_those_of_fractions() {
    for (expression, value, unit) in VALUES {
        assert_eq!(number(expression), ((*value).to_owned(), (*unit).to_owned()), "{expression}");
    }
}

#[test]
fn words_places_and_missing_inputs_are_answers() {
    let text = |t: &str| EvaluatedValue::Text(t.to_owned());
    let place = |place, of, as_of: Option<&str>| EvaluatedValue::Rank {
        place,
        of,
        as_of: as_of.map(str::to_owned),
    };
    let missing = |t: &str| EvaluatedValue::Missing(t.to_owned());
    for (expression, wanted) in [
        (r#"field("fp06-r670-peak", "processor")"#, text("Xeon W5580")),
        (r#"cell("runs", "crown 8", "chip")"#, text("X5570")),
        (r#"cell("runs", "shaft 1", "chip")"#, missing("`chip` of `shaft 1` (table 1, line 7)")),
        (r#"ordered("runs", "SATA")"#, text("ascending")),
        (r#"ordered("runs", "ratio")"#, text("descending")),
        (r#"ordered(["mc-osol", "mc-rhel-2.6.18", "mc-rhel-2.6.29"])"#, text("no order")),
        (r#"rank("fp06-x6275-peak", in=["fp06-*-peak"])"#, place(1, 6, Some("2009-06-22"))),
        (r#"rank("fp06-x6275-base", in=["fp06-*-base"])"#, place(2, 6, Some("2009-06-22"))),
        (r#"rank(cell("runs", "shaft 1", "SSD"), in=column("runs", "SSD"))"#, place(3, 3, None)),
        (r#"rank("jbbA-t5240-1.6", in="specjbb2005-t5240")"#, place(1, 3, Some("2009-08-27"))),
        (
            r#"times("jbbA-t5240-1.6", than="jbbA-p570-4chip", per="watt")"#,
            missing("watts of IBM Power 570 (4 chips, 4.7 GHz) not recorded"),
        ),
        (r#"better("gcc-gcc44-base", than=missing("GCC 4.3.2"))"#, missing("GCC 4.3.2")),
        (r#"mean(["gcc-gcc44-base", missing("a second run")])"#, missing("a second run")),
        (r#"rank("int06-p570-peak", in=[missing("the list")])"#, missing("the list")),
        (
            r#"field("fp06-r670-peak", "watts")"#,
            missing("watts of Fujitsu R670 (2 chips, 3.2 GHz) not recorded"),
        ),
    ] {
        assert_eq!(evaluate(expression).unwrap(), wanted, "{expression}");
    }
}

#[test]
fn mistakes_point_at_their_argument_and_list_candidates() {
    for (expression, at, message) in [
        (r#"beter("a", than="b")"#, "beter", "there is no function `beter`"),
        (r#"chart("bars")"#, "chart", "`chart` only works in posts"),
        (r#"better("mc-osl", than="mc-osol")"#, r#""mc-osl""#, "there is no result `mc-osl`"),
        (r#"value("tx100")"#, r#""tx100""#, "`tx100` fits several results"),
        (r#"cell("table 9", "a", "b")"#, r#""table 9""#, "table 1"),
        (r#"cell("runs", "crown", "SSD")"#, r#""crown""#, "crown 8"),
        (r#"cell("runs", "crown 8", "tape")"#, r#""tape""#, "`SSD (s)`"),
        (r#"mean(column("runs", "chip"))"#, r#""chip""#, "`X5570` is not a number"),
        (r#"column("runs", "SSD")"#, r#"column("runs", "SSD")"#, "makes 3 values"),
        (
            r#"better(column("runs", "SSD"), than=column("runs", "SATA", except=["crown 8"]))"#,
            r#"column("runs", "SATA", except=["crown 8"])"#,
            "3 rows against 2",
        ),
        (
            r#"times("mc-osol", than="nas-xxocmd2-8c-ssd2-24")"#,
            r#""nas-xxocmd2-8c-ssd2-24""#,
            "have no ratio",
        ),
        (
            r#"sum(["mc-osol", "nas-xxocmd2-8c-ssd2-24"])"#,
            r#"["mc-osol", "nas-xxocmd2-8c-ssd2-24"]"#,
            "are different metrics",
        ),
        (r#"better("ioA-s1-cpu-us", than="ioA-s2-cpu-us")"#, r#""ioA-s1-cpu-us""#, "which way"),
        (r#"rank("ioA-s1-cpu-us", in=["ioA-s2-cpu-us"])"#, r#""ioA-s1-cpu-us""#, "which way"),
        (r#"this("SSD")"#, r#""SSD""#, "the claim has no current row"),
        (r#"less_time("mc-osol", than="mc-rhel-2.6.18")"#, r#""mc-osol""#, "is for times"),
        (r#"value("mc-osol", unit="MB")"#, r#""MB""#, "cannot be given in MB"),
        (r#"value("mc-osol") 5"#, "5", "an expression is one call"),
        ("mean([])", "[]", "needs a value"),
        (r#"number("abc")"#, r#""abc""#, "`abc` is not a number"),
    ] {
        let error = evaluate(expression).unwrap_err();
        let all = format!("{}: {}", error.message, error.help);
        assert!(all.contains(message), "{expression}: {all}");
        assert_eq!(expression.get(error.span.clone()), Some(at), "{expression}: {all}");
    }
}

#[test]
fn a_claimed_column_reads_the_cells_of_its_row() {
    let (library, tables) = (library(), tables());
    let bindings = Bindings::new(&library, &tables, None);
    let table = &tables[0];
    let values: Vec<String> = table
        .rows
        .iter()
        .map(|row| {
            let at = Some(CurrentRow { table, row });
            let computed =
                bindings.evaluate(r#"times(this("SATA"), than=this("SSD"))"#, at).unwrap();
            assert_eq!(computed.inputs[0].source, format!("table 1, line {}", row.line));
            match computed.outcome {
                EvaluatedValue::Number { value, .. } => fixed(&value, 2),
                other => panic!("{other:?}"),
            }
        })
        .collect();
    assert_eq!(values, ["2.19", "1.66", "1.02"]);
}

#[test]
fn a_post_and_a_binding_answer_alike() {
    for expression in [
        r#"value("mc-osol", unit="kops/s")"#,
        r#"per("jbbA-t5240-1.6", "watt")"#,
        r#"better("t5240-1.6", than="p570-4chip")"#,
        r#"better("nas-xxocmd2-8c-ssd2-24", than="nas-xxocmd2-8c-sata2-24", per="core")"#,
        r#"times("gcc-studio-simple-base", than="gcc-gcc44-base")"#,
        r#"speedup("nas-xxocmd2-8c-ssd2-24", than="nas-xxocmd2-8c-sata2-24")"#,
        r#"less_time("nas-xxocmd2-8c-ssd2-24", than="nas-xxocmd2-8c-sata2-24")"#,
        r#"difference(mean("trap-s9-*-total-tim"), than=mean("trap-s10-*-total-tim"))"#,
        r#"share("dth-size-65536", of=sum("dth-size-*"))"#,
        r#"geomean(["nas-xxocmd2-8c-ssd2-24", "nas-xxocmd2-4c-ssd2-24"])"#,
        r#"count("dtr-*-writes", above="dtr-131140-async-ios")"#,
        r#"field("jbbA-t5240-1.6", "instances")"#,
    ] {
        let post = post(&format!("{{{{ {expression} }}}}\n")).unwrap();
        let printed = post.numbers.last().unwrap();
        let Ok(EvaluatedValue::Number { value, .. }) = evaluate(expression) else {
            panic!("{expression}")
        };
        let (value, posted) = (assay_claims::exact::to_f64(&value), printed.value.unwrap());
        assert!((value - posted).abs() <= 1e-9 * value.abs(), "{expression}: {value} {posted}");
    }
}

#[test]
fn functions_of_bindings_stand_in_no_post() {
    for call in [r#"ratio("mc-osol", 2)"#, r#"cell("t", "r", "c")"#, r#"missing("x")"#, "number(5)"]
    {
        let error = mistake(&format!("{{{{ {call} }}}}\n"));
        assert!(error.contains("only works in bindings of claims, not in posts"), "{error}");
    }
    assert!(mistake("{{ times(5, than=\"mc-osol\") }}\n").contains("is a result's id in quotes"));
}
