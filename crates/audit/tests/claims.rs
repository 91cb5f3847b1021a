//! Which claims are found in texts, and their verdicts.
#![allow(clippy::unwrap_used)] // this is a test

use ClaimVerdict::{Ambiguous, Holds, OffByRounding, Unsupported, Wrong};
use assay_audit::{Claim, ClaimKind, ClaimVerdict, Source, audit};
use assay_rules::quoted;

const TABLE: &str = "\
# Avocet Z5440 on WARES2005

WARES2005 chart (ordered by performance)

| System | Chips | Cores | Threads | GHz | Type | bops | bops/JVM |
|---|---|---|---|---|---|---|---|
| Avocet Z5440 | 4 | 32 | 256 | 1.6 | SPARK T2 Plus | 841380 | 26293 |
| Orca Power 570 | 8 | 16 | 32 | 4.7 | HIPPO6 | 798752 | 99844 |
| Avocet Z5440 | 4 | 32 | 256 | 1.4 | SPARK T2 Plus | 692736 | 21648 |
| Marmot DL585 | 4 | 16 | 16 | 2.8 | Optimus 8384 | 580000 | 145000 |
| Avocet Z5240 | 2 | 16 | 128 | 1.6 | SPARK T2 Plus | 422782 | 26424 |

";

fn claims(text: &str) -> Vec<Claim> {
    audit(&Source::of_text(text), &[]).claims
}

/// The verdict on the claim of a sentence that follows the table.
fn verdict(sentence: &str) -> ClaimVerdict {
    let text = format!("{TABLE}{sentence}\n");
    let found = claims(&text);
    let own: Vec<&Claim> =
        found.iter().filter(|c| c.line > 12 && !c.quote.starts_with("[table]")).collect();
    assert!(!own.is_empty(), "nothing found in: {sentence}");
    own[0].verdict
}

#[test]
fn percentages_are_recomputed() {
    assert_eq!(
        verdict("The Avocet Z5440 delivered 5% better performance than the Orca Power 570."),
        Holds
    );
    assert_eq!(verdict("The 1.6 GHz Z5440 is 22% faster than the 1.4 GHz Z5440."), OffByRounding);
    assert_eq!(
        verdict("The Avocet Z5240 delivered 9% better throughput than the Marmot DL585."),
        Wrong
    );
    assert_eq!(
        verdict("Compared to the Orca p570, the 1.6 GHz Avocet Z5440 scored 5% higher."),
        Holds
    );
    assert_eq!(verdict("The Marmot DL585 is 16% slower than the Avocet Z5440 at 1.4 GHz."), Holds);
}

#[test]
fn multiples_are_recomputed() {
    assert_eq!(verdict("The Z5440 has 1.99x the performance of the Avocet Z5240."), Holds);
    assert_eq!(verdict("The Z5440 (1.6 GHz) is 2.0 times faster than one Avocet Z5240."), Holds);
    assert_eq!(
        verdict("The Marmot DL585 delivers more than double the throughput of the Avocet Z5240."),
        Wrong
    );
    assert_eq!(
        verdict("The Avocet Z5440 scales 1.99x from 2 to 4 chips over the Avocet Z5240."),
        Holds
    );
}

#[test]
fn denominators_need_their_counts() {
    assert_eq!(
        verdict(
            "The Orca Power 570 has 1.9 times the performance per core of the 1.6 GHz Avocet Z5440."
        ),
        Holds
    );
    assert_eq!(
        verdict(
            "The Avocet Z5440 has 2.3 times better performance per watt than the Orca Power 570."
        ),
        Unsupported
    );
}

#[test]
fn power_that_prose_gives_is_used() {
    let text = format!(
        "{TABLE}The Avocet Z5240 consumed an average of 800 watts. The Marmot DL585 consumed 1000 watts.\n\n\
         The Marmot DL585 has 1.1 times the performance per watt of the Avocet Z5240.\n"
    );
    let found = claims(&text);
    let claim = found.iter().find(|c| c.kind == ClaimKind::PerDenominator).unwrap();
    assert_eq!(claim.verdict, Holds, "{claim:?}");
}

#[test]
fn ranks_are_looked_up() {
    assert_eq!(verdict("The Avocet Z5440 beats the Orca Power 570."), Holds);
    assert_eq!(
        verdict("The Avocet Z5240 outperforms the Marmot DL585 result of 580000 bops."),
        Wrong
    );
    assert_eq!(verdict("The Avocet Z5440 set a world record with 841380 bops."), Holds);
    assert_eq!(verdict("The Marmot DL585 is the best x86 system."), Ambiguous);
}

/// Claims that the table cannot decide, or that are about something else, are never wrong.
#[test]
fn what_is_not_certain_is_not_wrong() {
    for sentence in [
        "The Avocet Z5440 uses 75% less rack space than the Orca Power 570.",
        "The Avocet Z5440 has 100% more cores than the Orca Power 570 has.",
        "The Avocet Z5440 has 40% lower latency per dollar than the Orca Power 570.",
        "A Z5440 clocked at 1.2 GHz is 30% slower than the Marmot DL585.",
        "The Avocet Z5440 is 80% faster than the Marmot DL585 G9.",
        "The Avocet Z5440 is about 7% faster than the Orca Power 570.",
        "The Avocet Z5440 is up to 90% faster than the Orca Power 570 in our own test.",
        "On another benchmark the Z5440 wins by 63%.",
        "The Avocet Z5440 costs 63% less than the Orca Power 570.",
        "The Orca Power 570 needs 3.9 times more power than the Avocet Z5240.",
        "Our new compiler is 12% faster than version 4.3 on the Z5440.",
        "Traffic fills the 1 GB/s pipe (10 Gbit/s Ethernet).",
        "The Avocet Z5440 outperforms the Marmot DL585 result of 580000 bops per watt.",
        "The best result of the Marmot is 34% better per core.",
    ] {
        let text = format!("{TABLE}{sentence}\n");
        for claim in claims(&text) {
            assert_ne!(claim.verdict, Wrong, "{claim:?}");
        }
    }
}

#[test]
fn tables_are_checked() {
    let found = claims(TABLE);
    let of = |kind| found.iter().filter(|c: &&Claim| c.kind == kind).collect::<Vec<_>>();
    assert_eq!(of(ClaimKind::PerInstance).len(), 5);
    assert!(of(ClaimKind::PerInstance).iter().all(|c| c.verdict == Holds));
    assert_eq!(of(ClaimKind::Order)[0].verdict, Holds);
    let swapped = TABLE.replace("580000", "700000");
    let order = claims(&swapped).into_iter().find(|c| c.kind == ClaimKind::Order).unwrap();
    assert_eq!(order.verdict, Wrong, "{}", order.reason);
}

#[test]
fn ratio_columns_are_recomputed() {
    let table = |last: &str| {
        format!(
            "Elapsed seconds of the solver\n\nTest Cores Disk Flash Disk/Flash\nalpha1 1 127 126 1.01\n\
             bravo2 1 895 880 1.02\n2 614 582 1.05\n4 631 428 1.47\n8 1554 570 2.73\ncharlie1 8 1302 660 {last}\n"
        )
    };
    let right = claims(&table("1.97"));
    assert_eq!(right.len(), 6);
    assert!(right.iter().all(|c| c.kind == ClaimKind::DerivedColumn && c.verdict == Holds));
    assert!(right[2].quote.contains("bravo2"), "{}", right[2].quote);
    let off = claims(&table("2.47"));
    assert_eq!(off[5].verdict, Wrong);
    assert_eq!(off[5].line, 9);
}

#[test]
fn totals_and_means_of_tables_are_recomputed() {
    let text = "Disk loads\n\n| disk | ops |\n|---|---|\n| a | 10.5 |\n| b | 20.25 |\n| c | 30.0 |\n| Total | 60.75 |\n\n\
                | disk | ms |\n|---|---|\n| a | 4.0 |\n| b | 5.0 |\n| c | 9.0 |\n| Average | 6.0 |\n";
    let found = claims(text);
    assert!(found.iter().any(|c| c.kind == ClaimKind::Sum && c.verdict == Holds));
    assert!(found.iter().any(|c| c.kind == ClaimKind::Mean && c.verdict == Holds));
}

#[test]
fn means_in_prose_are_found_in_columns() {
    let text = "Sampled by the second:\n\ncpu busy%\n0 20.10\n0 21.30\n0 19.90\n0 22.10\n\nOn average the CPUs were 20.85% busy.\n";
    let claim = claims(text).into_iter().find(|c| c.kind == ClaimKind::Mean).unwrap();
    assert_eq!((claim.verdict, claim.computed), (Holds, Some(20.85)));
}

#[test]
fn disclosures_are_held_against_the_table() {
    let text =
        |body: &str| format!("{TABLE}## Disclosure Statement\n\nResults as of 7/17/2009. {body}\n");
    let last = |body: &str| {
        claims(&text(body))
            .into_iter()
            .rfind(|c| c.line > 12 && c.kind == ClaimKind::Restatement)
            .unwrap()
    };
    let cases = [
        ("Avocet Z5440 (4 chips, 32 cores) 841380 bops, 26293 bops/JVM.", Holds),
        ("Marmot DL585 (Optimus 8384, 4 chips, 16 cores) 580000 bops.", Holds),
        ("Avocet Z5120 (2 chips, 16 cores) 422782 bops.", Wrong),
        ("Orca p570 (4 chips, 16 cores) 798752 bops.", Wrong),
        // Cores of a chip, a spelling without the letter, a value that is in no table.
        ("Avocet Z5440 (4 chips, 8 cores) 841380 bops.", Holds),
        ("Avocet 5240 (2 chips) 422782 bops.", Ambiguous),
        ("Heron M9000 (64 chips) 999999 bops.", Unsupported),
    ];
    for (body, verdict) in cases {
        assert_eq!(last(body).verdict, verdict, "{body}: {}", last(body).reason);
    }
}

#[test]
fn results_left_out_of_the_disclosure_are_named() {
    let text = format!(
        "{TABLE}* The Avocet Z5440 at 1.6 GHz is 45% faster than the Marmot DL585.\n\n## Disclosure\n\n\
         Avocet Z5440 841380 bops; Orca Power 570 798752 bops.\n"
    );
    let missing =
        claims(&text).into_iter().find(|c| c.kind == ClaimKind::MissingDisclosure).unwrap();
    assert!(missing.quote.contains("Marmot DL585"), "{}", missing.quote);
    assert_eq!(missing.verdict, Ambiguous);
}

#[test]
fn conversions_are_recomputed() {
    for (text, verdict) in [
        ("It moves 3.5e9 bytes/s, or 28 Gbit/s.", Holds),
        ("It moves 3.5 GB/s = 35 Gbit/s.", Wrong),
        ("Blocks of 65536 (64 KB) are usual.", Holds),
        ("The box has 4 chips x 8 cores = 32 cores.", Holds),
        ("The box has 4 chips x 8 cores = 30 cores.", Wrong),
        ("It has 24 GB (6 x 4 GB) of memory.", Holds),
        ("One port gives 28 Gbit/s. With two ports that is 56 Gigabytes per second.", Wrong),
        ("One port gives 2.72 Gbit/s. With 32 ports that would be 87 Gbit/s.", Holds),
        ("63 copies read 267 MB each, in total 16.8 GB.", Holds),
    ] {
        let found = claims(text);
        let claim = found
            .iter()
            .rfind(|c| c.kind == ClaimKind::Conversion)
            .unwrap_or_else(|| panic!("{text}: {found:?}"));
        assert_eq!(claim.verdict, verdict, "{text}: {}", claim.reason);
    }
}

#[test]
fn values_beside_a_claim_are_used() {
    for (text, verdict) in [
        ("The new kernel gave 25% more throughput (352K vs 281K ops/sec).", Holds),
        ("Start-up was reduced from 30 minutes to 15 minutes, a 2x gain.", Holds),
        ("Start-up fell from 30 to 15 minutes. That is 15 minutes less.", Holds),
        ("Start-up was reduced from 30 minutes to 15 minutes by 70%.", Wrong),
        ("The file shrinks from 267 MB to 20 MB, a factor of 13.", Holds),
    ] {
        let found = claims(text);
        let claim = found
            .iter()
            .rfind(|c| {
                matches!(c.kind, ClaimKind::Percent | ClaimKind::Times | ClaimKind::Difference)
            })
            .unwrap_or_else(|| panic!("{text}: {found:?}"));
        assert_eq!(claim.verdict, verdict, "{text}: {}", claim.reason);
    }
}

#[test]
fn shares_are_read_off_histograms() {
    let histogram = "           value  ------------- Distribution ------------- count\n            1024 |                                         0\n\
                     \x20           2048 |@@@@@@@@@@                               250\n            4096 |@@@@@@@@@@@@@@@@                         400\n\
                     \x20           8192 |@@@@@@@@@@@@@@                           350\n           16384 |                                         0\n\n";
    for (sentence, verdict) in [
        ("More than half of the writes are between 4096 and 8191 bytes.", Wrong),
        ("More than half of the writes are between 4096 and 16383 bytes.", Holds),
        ("40% of the writes are between 4096 and 8191 bytes.", Holds),
    ] {
        let found = claims(&format!("{histogram}{sentence}\n"));
        let claim = found.iter().find(|c| c.kind == ClaimKind::Share).unwrap();
        assert_eq!(claim.verdict, verdict, "{sentence}: {}", claim.reason);
    }
}

#[test]
fn operations_and_their_sizes_agree() {
    let text = "    r/s    w/s   kr/s   kw/s  %b device\n  331.0    0.0 2648.2    0.0 100 d1\n  330.1    0.0 2641.3    0.0 100 d2\n\n\
                Each read is about 8 KB. The disk is only able to read up to 0.1 MB/s.\n";
    let found = claims(text);
    let verdicts: Vec<ClaimVerdict> =
        found.iter().filter(|c| c.kind == ClaimKind::Measurement).map(|c| c.verdict).collect();
    assert_eq!(verdicts, [Holds, Wrong]);
}

#[test]
fn quoted_results_support_a_text_without_tables() {
    let csv = "id,benchmark,metric,unit,higher_is_better,system,chips,ghz,value\n\
               z,WARES2005,WARES2005 bops,bops,true,Avocet Z5440,4,1.6,841380\n\
               o,WARES2005,WARES2005 bops,bops,true,Orca Power 570,8,4.7,798752\n";
    let results = quoted::read("r.csv", csv.as_bytes()).unwrap();
    let text =
        "On WARES2005 the Avocet Z5440 delivered 5% better performance than the Orca Power 570.\n";
    let with = audit(&Source::of_text(text), &results).claims;
    assert_eq!(with[0].verdict, Holds);
    assert_eq!(with[0].inputs[1].quoted.as_deref(), Some("o"));
    assert_eq!(claims(text)[0].verdict, Unsupported);
}

#[test]
fn html_tables_are_read_as_markdown_ones_are() {
    let html = "<html><body><h1>Z5440</h1><table><tr><th>System<th>ops/s</tr><tr><td>Acme Z900<td>4,220</tr>\
                <tr><td>Bolt Q77</td><td>4,000</td></tr></table><p>The Acme Z900 delivered\n<b>5.5%</b> more throughput \
                than the Bolt&nbsp;Q77.</p></body></html>";
    let found = audit(&Source::of_html(html), &[]).claims;
    assert_eq!((found[0].verdict, found[0].line), (Holds, 1), "{found:?}");
    assert_eq!(found[0].quote, "The Acme Z900 delivered 5.5% more throughput than the Bolt Q77.");
}

#[test]
fn one_cell_a_line_is_a_table_too() {
    let text = "System\nops/s\nAcme Z900\n4220\nBolt Q77\n4000\nCrow R12\n3100\n\nThe Acme Z900 is 5.5% faster than the Bolt Q77.\n";
    assert_eq!(claims(text).last().unwrap().verdict, Holds);
}

#[test]
fn a_processor_that_is_named_otherwise_once_is_found() {
    let text = "# Avocet Z5220 with Xeon X5570\n\n| System | Type | bops |\n|---|---|---|\n| Avocet Z5220 | Xeon X5570 | 231464 |\n\
                | Orca Q33 | Xeon X5550 | 200001 |\n\n\
                The Avocet Z5220 (Xeon X5570) was used. The Avocet Z5220 with one Xeon X5570 chip is quick. \
                The Avocet Z5220 with one Xeon X5580 chip is small.\n";
    let wrong: Vec<Claim> = claims(text).into_iter().filter(|c| c.verdict == Wrong).collect();
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].kind == ClaimKind::Naming && wrong[0].quote.contains("X5580"));
}

#[test]
fn findings_carry_ids_and_severity() {
    let text =
        format!("{TABLE}The Avocet Z5240 delivered 9% better throughput than the Marmot DL585.\n");
    let findings = audit(&Source::of_text(text), &[]).findings();
    let wrong = findings.iter().find(|f| f.severity == assay_model::Severity::Invalid).unwrap();
    assert_eq!((wrong.id.as_str(), wrong.name.as_str()), ("F45", "recomputes"));
}

/// The verdict on the claim of a text with these words, if there is one.
fn of(text: &str, words: &str) -> Option<ClaimVerdict> {
    claims(text).into_iter().find(|c| c.quote.contains(words)).map(|c| c.verdict)
}

#[test]
fn so_much_for_each_is_recomputed_from_two_tables_and_goes_on() {
    let text = |x: &str| {
        format!(
            "# Rates\n\nSystems:\n\n| system | cores |\n|---|---|\n| Verity p750 | 16 |\n| Aldane X2270 | 12 |\n\n\
             Results:\n\n| system | int_rate |\n|---|---|\n| Verity p750 | 586 |\n| Aldane X2270 | 352 |\n\n\
             Per core, the int_rate results are 36.6 for the Verity p750 and {x} for the Aldane X2270.\n"
        )
    };
    assert_eq!(of(&text("29.3"), "29.3 for"), Some(Holds));
    assert_ne!(of(&text("39.3"), "39.3 for"), Some(Holds));
}

#[test]
fn tables_before_and_after_are_compared() {
    let text = |x: &str| {
        format!(
            "# A log device\n\nwithout log device:\n\n```\n    r/s    w/s   busy device\n   38.2  121.4     71 c2t3d0\n```\n\n\
             with log device:\n\n```\n    r/s    w/s   busy device\n   52.7   64.9     44 c2t3d0\n```\n\n\
             With the log device the w/s go down by {x}.\n"
        )
    };
    assert_eq!(of(&text("47%"), "47%"), Some(Holds));
    assert_ne!(of(&text("67%"), "67%"), Some(Holds));
}

#[test]
fn what_is_gone_is_less() {
    let text = |x: &str| {
        format!(
            "| proxy | requests/s |\n|---|---|\n| heddle | 103,251 |\n| heddle with plugins | 64,350 |\n\n\
             With plugins, {x} of the requests/s of heddle are gone.\n"
        )
    };
    assert_ne!(of(&text("62%"), "62%"), Some(Holds), "62% are left");
}

#[test]
fn numbers_in_names_are_no_claims() {
    let text = "| Size | Zephyr 7950X (s) | Zephyr 9950X (s) |\n|---|---|---|\n| small | 18.4 | 16.1 |\n\n\
                The Zephyr 9950X needs less time than the Zephyr 7950X. Its slowest run took 16.9 s. \
                The 99.9 percentile is of no interest.\n";
    assert!(!claims(text).iter().any(|c| c.verdict == Wrong), "{:?}", claims(text));
}

#[test]
fn nothing_of_nothing_is_no_wrong_cell() {
    let text = "| load | ops | W | ops per W |\n|---|---|---|---|\n| 100% | 3000 | 200 | 15.0 |\n| 80% | 2400 | 180 | 13.3 |\n\
                | 60% | 1800 | 160 | 11.3 |\n| 40% | 1200 | 140 | 8.57 |\n| 20% | 600 | 120 | 5.00 |\n| idle | 0 | 100 | 0.00 |\n";
    assert!(!claims(text).iter().any(|c| c.verdict == Wrong), "{:?}", claims(text));
}
