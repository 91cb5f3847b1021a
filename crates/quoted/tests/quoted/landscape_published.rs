//! Tests of the results in `published/`: no value was lost or changed during import, and the tables
//! match the printed ones. The originals are not part of the project; `ASSAY_PUBLISHED_SOURCE`
//! names a folder that contains them (`results.csv`, `posts/*.txt`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_quoted::denominator::{Basis, Denominator};
use assay_quoted::landscape::{Collection, Landscape, Query};
use assay_quoted::quoted::{FILES, QuotedResult, SOURCES, read, read_sources};

fn rows() -> Vec<QuotedResult> {
    FILES.iter().flat_map(|(name, text)| read(name, text.as_bytes()).unwrap()).collect()
}

fn table(name: &str) -> Landscape {
    Collection::built_in().unwrap().landscape(name, &Query::default()).unwrap()
}

/// Formats every line as one text: its cells joined by spaces, without missing ones.
fn lines(landscape: &Landscape) -> Vec<String> {
    let texts = |l: &assay_quoted::landscape::LandscapeLine| {
        l.cells.iter().flatten().map(|c| c.text.clone()).collect::<Vec<_>>().join(" ")
    };
    landscape.lines.iter().map(texts).collect()
}

fn original() -> Option<PathBuf> {
    let folder = std::env::var_os("ASSAY_PUBLISHED_SOURCE").map(PathBuf::from);
    if folder.is_none() {
        println!(
            "skipped: because the original is others': ASSAY_PUBLISHED_SOURCE names its folder"
        );
    }
    folder
}

fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// Checks the rows against `landscape_numbers.csv`, which was computed from the original: the
/// number of rows, the sum of the values, and the exclusive or over the rows of FNV-1a of id, `|`
/// and the value's bits.
#[test]
fn nothing_was_lost_and_no_value_changed() {
    let rows = rows();
    assert_eq!(rows.len(), 651);
    let mut by: BTreeMap<&str, (usize, f64, u64)> = BTreeMap::new();
    for r in &rows {
        let entry = by.entry(&r.benchmark).or_default();
        entry.0 += 1;
        entry.1 += r.value;
        let bytes = r.id.bytes().chain([b'|']).chain(r.value.to_le_bytes());
        entry.2 ^= fnv(bytes);
    }
    let mut numbers = csv::Reader::from_reader(include_str!("../landscape_numbers.csv").as_bytes());
    let mut seen = 0;
    for record in numbers.records() {
        let record = record.unwrap();
        let (count, sum, digest) = by[&record[0]];
        assert_eq!(count.to_string(), record[1], "{}", &record[0]);
        let wanted: f64 = record[2].parse().unwrap();
        assert!((sum - wanted).abs() <= 1e-9 * wanted.abs(), "{}: {sum}", &record[0]);
        assert_eq!(format!("{digest:016x}"), record[3], "{}", &record[0]);
        seen += 1;
    }
    assert_eq!(seen, by.len());
}

#[test]
fn ids_are_unique_over_all_files_and_sources_are_known() {
    let rows = rows();
    let mut ids: Vec<&str> = rows.iter().map(|r| r.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rows.len());
    let sources = read_sources("sources.csv", SOURCES.as_bytes()).unwrap();
    for r in &rows {
        assert!(sources.iter().any(|s| s.key == r.source), "{}: {}", r.id, r.source);
        assert!(r.as_of_date.is_some(), "{} has no date", r.id);
    }
    for s in &sources {
        assert!(rows.iter().any(|r| r.source == s.key), "{} is the source of nothing", s.key);
        assert!(s.key.contains(&s.date), "{}", s.key);
    }
}

#[test]
fn every_file_is_built_in() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../published");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "csv") && !p.ends_with("sources.csv"))
        .map(|p| p.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    let built_in: Vec<&str> = FILES.iter().map(|(n, _)| *n).collect();
    assert_eq!(names, built_in);
}

/// Maps a benchmark's name in the original to its name here and to the part that moved to the note.
fn renamed(was: &str) -> (&str, &str) {
    match was {
        "SPEC CPU2006 V1.1 integer rate" => ("SPEC CPU2006 integer rate", "SPEC CPU2006 V1.1"),
        "SPEC CPU2006 V1.1 integer speed" => ("SPEC CPU2006 integer speed", "SPEC CPU2006 V1.1"),
        "SPEC CPU2006 V1.1 floating point rate" => {
            ("SPEC CPU2006 floating point rate", "SPEC CPU2006 V1.1")
        }
        "SPEC CPU2006 V1.1 floating point speed" => {
            ("SPEC CPU2006 floating point speed", "SPEC CPU2006 V1.1")
        }
        "SPEC CPU2006 floating point speed (CFP2006), reportable" => {
            ("SPEC CPU2006 floating point speed", "CFP2006, reportable")
        }
        "memcached 1.3.2 (Faban driver, Apache Olio based)" => {
            ("memcached 1.3.2", "Faban driver, Apache Olio based")
        }
        "450.soplex start-up I/O (one workload of SPEC CPU2006, not a reportable run)" => {
            ("450.soplex start-up I/O", "one workload of SPEC CPU2006, not a reportable run")
        }
        "cabinet specification (not a benchmark)" => ("cabinet specification", "not a benchmark"),
        "iostat -cnxz 2" | "iostat -xncz 30" => ("iostat", was),
        "trapstat, userland financial C++ application" => {
            ("trapstat", "userland, financial C++ application")
        }
        "MSC/Nastran Vendor_2008 suite" => ("MSC/Nastran Vendor_2008", ""),
        "dd buffer size sweep" => ("dd buffer-size sweep", ""),
        other => (other, ""),
    }
}

#[test]
fn every_row_is_the_originals() {
    let Some(folder) = original() else { return };
    let text = std::fs::read(folder.join("results.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(&text[..]);
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let ours = rows();
    let ours: BTreeMap<&str, &QuotedResult> = ours.iter().map(|r| (r.id.as_str(), r)).collect();
    let mut count = 0;
    for record in reader.records() {
        let record = record.unwrap();
        let row = ours[&record[0]];
        for (column, was) in header.iter().zip(&record) {
            let is = row.field(column).unwrap_or_default();
            let same = match column.as_str() {
                "source" => true,
                "benchmark" => is == renamed(was).0,
                "metric" => was == is || is == format!("{was}, as converted by the author"),
                "unit" => {
                    was == is
                        || matches!(
                            (was, &*is),
                            ("bytes/s", "B/s") | ("Gigabytes/s as printed", "GB/s")
                        )
                }
                "config_note" => {
                    let was = was.replace("; same post in both seed files", "");
                    is.starts_with(&was.replace("in these seeds are", "of these posts are"))
                }
                _ => was == is || was.parse::<f64>().is_ok_and(|n| Ok(n) == is.parse()),
            };
            assert!(same, "{} {column}: `{was}` became `{is}`", &record[0]);
        }
        let note = row.config_note.clone().unwrap_or_default();
        assert!(note.ends_with(renamed(&record[2]).1), "{}: {note}", row.id);
        count += 1;
    }
    assert_eq!(count, ours.len());
}

/// For each table whose post is available, every line of our table is a line of the post, in the
/// same order.
#[test]
fn tables_come_out_as_the_posts_print_them() {
    let Some(folder) = original() else { return };
    for (name, post) in [
        ("specjbb2005-t5240", "2009-08-27-specjbb2005-t5240.txt"),
        ("specjbb2005-t5220", "2009-08-26-specjbb2005-t5220.txt"),
        ("speccpu2006-int-speed-x6275", "2009-06-23-speccpu2006-speed.txt"),
        ("speccpu2006-fp-speed-x6275", "2009-06-23-speccpu2006-speed.txt"),
    ] {
        let text = std::fs::read_to_string(folder.join("posts").join(post)).unwrap();
        let text = text.replace('\u{a0}', " ");
        let mut after = 0;
        for line in lines(&table(name)) {
            let at = text[after..].find(&format!("\n{line}"));
            after += at.unwrap_or_else(|| panic!("{name}: the post has no line `{line}` here")) + 1;
        }
    }
}

#[test]
fn the_four_tables_of_specjbb2005() {
    assert_eq!(
        lines(&table("specjbb2005-t5240")),
        [
            "Sun SPARC Enterprise T5240 2 16 128 1.6 UltraSPARC T2 Plus 422782 26424",
            "IBM Power 570 4 8 16 4.7 POWER6 402923 100731",
            "Sun SPARC Enterprise T5240 2 16 128 1.4 UltraSPARC T2 Plus 384934 24058",
        ]
    );
    assert_eq!(
        lines(&table("specjbb2005-t5220")),
        [
            "Sun SPARC Enterprise T5220 1 8 64 1.6 UltraSPARC T2 231464 28933",
            "Sun Blade T6320 1 8 64 1.6 UltraSPARC T2 229576 28697",
            "Fujitsu TX100 1 4 4 3.16 Intel Xeon 223691 111846",
            "IBM x3200 M2 1 4 4 3.16 Intel Xeon 214578 107289",
            "Fujitsu RX100 1 4 4 3.16 Intel Xeon 211144 105572",
            "IBM Power 570 2 4 8 4.7 POWER6 205917 102959",
            "IBM x3350 1 4 4 3.0 Intel Xeon 194256 97128",
            "Sun SPARC Enterprise T5220 1 8 64 1.4 UltraSPARC T2 192055 24007",
            "IBM Power 570 1 2 4 4.7 POWER6 88089 88089",
        ]
    );
    assert_eq!(
        lines(&table("specjbb2005-t6320")),
        [
            "Sun Blade T6320 1 8 64 1.6 UltraSPARC T2 229576 28697",
            "Fujitsu TX100 1 4 4 3.16 Intel Xeon 223691 111846",
            "IBM x3200 M2 1 4 4 3.16 Intel Xeon 214578 107289",
            "Fujitsu RX100 1 4 4 3.16 Intel Xeon 211144 105572",
            "IBM x3350 1 4 4 3.0 Intel Xeon 194256 97128",
            "Sun SE T5120 1 8 64 1.4 UltraSPARC T2 192055 24007",
            "IBM p 570 1 2 4 4.7 POWER6 88089 88089",
        ]
    );
    assert_eq!(
        lines(&table("specjbb2005-t5440")),
        [
            "HP DL585 G6 4 24 24 2.8 AMD Opteron 937207 234302",
            "Sun SPARC Enterprise T5440 4 32 256 1.6 US-T2 Plus 841380 26293",
            "IBM Power 570 8 16 32 4.7 POWER6 798752 99844",
            "Sun SPARC Enterprise T5440 4 32 256 1.4 US-T2 Plus 692736 21648",
        ]
    );
}

#[test]
fn bops_per_jvm_recompute_to_what_was_printed() {
    for row in rows().iter().filter(|r| r.value_per_jvm.is_some()) {
        let count = row.instances_or_inferred().unwrap();
        assert_eq!((row.value / count).round(), row.value_per_jvm.unwrap(), "{}", row.id);
    }
}

#[test]
fn the_day_of_a_landscape_decides_what_is_in_it() {
    let collection = Collection::built_in().unwrap();
    let on = |day: &str| {
        let query = Query { as_of: Some(day.to_owned()), ..Query::default() };
        collection.landscape("specjbb2005", &query).unwrap()
    };
    let all = on("2009-08-27");
    assert_eq!((all.lines.len(), all.excluded.later, all.excluded.superseded), (16, 0, 7));
    let july = on("2009-07-20");
    assert_eq!((july.lines.len(), july.excluded.later, july.excluded.superseded), (11, 12, 0));
    let sooner = on("2009-07-19");
    assert_eq!((sooner.lines.len(), sooner.excluded.later), (7, 16));
    let none = on("2009-01-01");
    assert_eq!((none.lines.len(), none.excluded.later), (0, 23));
}

#[test]
fn the_tables_of_cpu2006() {
    assert_eq!(
        lines(&table("speccpu2006-int-speed-x6275")),
        [
            "Sun Blade X6275 Xeon X5570 2.93 2 8 37.4 31.0",
            "ASUS TS700-E6 (Z8PE-D12X) Xeon W5580 3.2 2 8 37.3 33.2",
            "Fujitsu R670 Xeon W5580 3.2 2 8 37.2 33.2",
            "Sun Blade X6270 Xeon X5570 2.93 2 8 36.9 32.0",
            "Fujitsu Celsius R570 Xeon X5570 2.93 2 8 36.3 32.2",
            "YOYOtech MLK1610 Intel Core i7-965 3.73 1 4 36.0 32.5",
            "HP ProLiant DL585 G5 Opteron 8393 3.1 1 1 23.4 19.7",
            "IBM System p570 POWER6 4.70 1 1 21.7 17.8",
        ]
    );
    assert_eq!(
        lines(&table("speccpu2006-fp-speed-x6275")),
        [
            "Sun Blade X6275 Xeon X5570 2.93 2 8 50.8 44.2",
            "Sun Blade X6270 Xeon X5570 2.93 2 8 50.4 45.0",
            "Sun Blade X4170 Xeon X5570 2.93 2 8 48.9 43.9",
            "Fujitsu R670 Xeon W5580 3.2 2 8 42.2 39.5",
            "HP ProLiant DL585 G5 Opteron 8393 3.1 2 8 25.9 23.6",
            "IBM Power 595 POWER6 5.00 1 1 24.9 20.1",
        ]
    );
    assert_eq!(
        lines(&table("speccpu2006-int-rate")),
        [
            "SGI Altix 4700 Density System Itanium 9150M 1.66 128 256 3354 2893",
            "SGI Altix 4700 Bandwidth System Itanium2 9040 1.6 128 256 2971 2715",
            "Fujitsu/Sun SPARC Enterprise M9000 SPARC64 VII 2.52 64 256 2290 2090",
            "IBM Power 595 POWER6 5.0 32 64 2160 1870",
            // Base has a table of its own, which includes the system without a peak result.
            "Sun Blade 6048 Opteron 8384 2.7 192 768 8840",
            "SGI Altix 4700 Density System Itanium 9150M 1.66 128 256 3354 2893",
            "SGI Altix 4700 Bandwidth System Itanium2 9040 1.6 128 256 2971 2715",
            "Fujitsu/Sun SPARC Enterprise M9000 SPARC64 VII 2.52 64 256 2290 2090",
            "IBM Power 595 POWER6 5.0 32 64 2160 1870",
        ]
    );
    assert_eq!(
        lines(&table("speccpu2006-fp-rate")),
        [
            "SGI Altix 4700 Bandwidth System Itanium2 9040 1.6 128 256 3507 3419",
            "IBM Power 595 POWER 6 5.0 64 32 2184 1681",
            "Fujitsu/Sun SPARC Enterprise M9000 SPARC64 VII 2.52 64 256 2005 1861",
            "SGI Altix 4700 Bandwidth System Itanium 9150M 1.66 128 256 1947 1832",
            "SGI Altix ICE 8200EX Intel X5570 2.93 8 32 742 723",
            "SGI Altix 4700 Density System Itanium 9140M 1.66 512 1024 10580",
            "Sun Blade 6048 Opteron 8384 2.7 192 768 6500",
            "SGI Altix 4700 Bandwidth System Itanium2 9040 1.6 128 256 3507 3419",
            "Fujitsu/Sun SPARC Enterprise M9000 SPARC64 VII 2.52 64 256 2005 1861",
            "SGI Altix 4700 Bandwidth System Itanium 9150M 1.66 128 256 1947 1832",
            "IBM Power 595 POWER 6 5.0 64 32 2184 1681",
            "SGI Altix ICE 8200EX Intel X5570 2.93 8 32 742 723",
        ]
    );
    assert_eq!(
        lines(&table("speccpu2006-fp-speed-x6270")),
        [
            "Sun Blade X6270 Xeon 5570 2.93 2 8 50.4 45.0",
            "Hitachi BladeSymphony BS2000 Xeon 5570 2.93 2 8 42.0 39.3",
            "IBM Power 595 POWER6 5.00 1 1 24.9 20.1",
        ]
    );
    assert_eq!(
        lines(&table("speccpu2006-int-speed-x6270")),
        [
            "Sun Blade X6270 Xeon 5570 2.93 2 8 36.9 32.0",
            "Fujitsu Celsius R570 Xeon 5570 2.93 2 8 36.3 32.2",
        ]
    );
}

/// Returns base and peak of each line, `-` for an empty cell.
fn cells(name: &str, columns: [usize; 2]) -> Vec<String> {
    let text = |cell: &Option<assay_quoted::landscape::LandscapeCell>| {
        cell.as_ref().map_or_else(|| "-".to_owned(), |c| c.text.clone())
    };
    let line =
        |l: &assay_quoted::landscape::LandscapeLine| columns.map(|c| text(&l.cells[c])).join(" ");
    table(name).lines.iter().map(line).collect()
}

#[test]
fn the_tables_of_gcc_and_studio_and_of_memcached() {
    assert_eq!(cells("gcc-studio-autopar", [1, 2]), ["45.0 50.4", "44.8 -", "21.1 -"]);
    assert_eq!(cells("gcc-studio-noautopar", [1, 2]), ["29.1 -", "21.1 23.1"]);
    assert_eq!(
        cells("memcached-x2270", [0, 6]),
        ["OpenSolaris 2009.06 352000", "RedHat Enterprise Linux 5 (kernel 2.6.29) 281000"]
    );
}

/// The columns are test, cores, five times and four ratios. The times are quoted; the ratios are
/// recomputed.
#[test]
fn the_table_of_nastran() {
    let nastran = table("nastran-vendor-2008");
    let lines = lines(&nastran);
    assert_eq!(lines.len(), 16);
    assert_eq!(lines[0], "vlosst1 1 133 127 134 1.05 0.95 133 126 1.06 1.01");
    assert_eq!(lines[4], "xxocmd2 8 1049 1554 2590 0.68 0.60 381 711 0.54 2.19");
    assert_eq!(lines[15], "getrag (xx0xst0) 1 778 843 1178 0.92 0.72 771 817 0.94 1.03");
    let times = nastran.lines.iter().flat_map(|l| &l.cells).flatten();
    assert_eq!(times.filter(|c| c.value.is_some() && c.formula.is_none()).count(), 16 + 80);
    assert!(nastran.lines.iter().all(|l| l.rank.is_none()), "printed in the order of the suite");
}

/// Expected bops per chip, core, thread, rack unit, watt, and core x GHz, rounded as people would.
#[test]
fn denominators_of_specjbb2005() {
    use Denominator::{Chip, Core, CoreGhz, RackUnit, Thread, Watt};
    let collection = Collection::built_in().unwrap();
    let wanted: [(&str, [f64; 6]); 16] = [
        ("jbbA-t5240-1.6", [211391.0, 26424.0, 3303.0, 211391.0, 483.2, 16515.0]),
        ("jbbA-p570-4chip", [100731.0, 50365.0, 25183.0, 50365.0, 0.0, 10716.0]),
        ("jbbA-t5240-1.4", [192467.0, 24058.0, 3007.0, 0.0, 0.0, 17185.0]),
        ("jbbB-t5220-1.6", [231464.0, 28933.0, 3617.0, 115732.0, 445.1, 18083.0]),
        ("jbbB-t6320-1.6", [229576.0, 28697.0, 3587.0, 0.0, 0.0, 17936.0]),
        ("jbbB-tx100", [223691.0, 55923.0, 55923.0, 0.0, 0.0, 17697.0]),
        ("jbbB-x3200m2", [214578.0, 53645.0, 53645.0, 0.0, 0.0, 16976.0]),
        ("jbbB-rx100", [211144.0, 52786.0, 52786.0, 0.0, 0.0, 16704.0]),
        ("jbbB-p570-2chip", [102959.0, 51479.0, 25740.0, 51479.0, 0.0, 10953.0]),
        ("jbbB-x3350", [194256.0, 48564.0, 48564.0, 0.0, 0.0, 16188.0]),
        ("jbbB-t5220-1.4", [192055.0, 24007.0, 3001.0, 0.0, 0.0, 17148.0]),
        ("jbbB-p570-1chip", [88089.0, 44045.0, 22022.0, 0.0, 0.0, 9371.0]),
        ("jbbD-dl585", [234302.0, 39050.0, 39050.0, 0.0, 0.0, 13947.0]),
        ("jbbD-t5440-1.6", [210345.0, 26293.0, 3287.0, 210345.0, 0.0, 16433.0]),
        ("jbbD-p570-8chip", [99844.0, 49922.0, 24961.0, 49922.0, 0.0, 10622.0]),
        ("jbbD-t5440-1.4", [173184.0, 21648.0, 2706.0, 0.0, 0.0, 15463.0]),
    ];
    let all = collection.landscape("specjbb2005", &Query::default()).unwrap();
    for (id, numbers) in wanted {
        let line = all.lines.iter().find(|l| l.ids == [id]).unwrap();
        let entry = line.entry.as_ref().unwrap();
        for (d, want) in [Chip, Core, Thread, RackUnit, Watt, CoreGhz].into_iter().zip(numbers) {
            let is = entry.number(Basis::Per(d));
            if want == 0.0 {
                assert_eq!(is, None, "{id} {d:?} is not recorded");
            } else {
                let tolerance = if d == Watt { 0.05 } else { 0.5 };
                assert!((is.unwrap() - want).abs() <= tolerance + 1e-9, "{id} {d:?}: {is:?}");
            }
        }
    }
}

#[test]
fn a_missing_watt_is_not_ranked() {
    let all = table("specjbb2005");
    let m = all.matrix();
    let watt = m.bases.iter().position(|b| *b == Basis::Per(Denominator::Watt)).unwrap();
    let ranked: Vec<&str> =
        m.rows.iter().filter(|r| r.cells[watt].is_some()).map(|r| r.label.as_str()).collect();
    assert_eq!(ranked.len(), 2, "{ranked:?}");
    assert!(m.missing.contains(&Denominator::Price));
}

#[test]
fn every_landscape_can_be_made_and_every_label_tells_its_line_from_the_others() {
    let collection = Collection::built_in().unwrap();
    for listed in collection.list().iter().filter(|l| !l.title.is_empty()) {
        let made = collection.landscape(&listed.name, &Query::default()).unwrap();
        assert!(!made.lines.is_empty(), "{}", listed.name);
        for (question, lines) in made.tables() {
            let mut labels: Vec<&str> =
                lines.iter().filter_map(|l| l.entry.as_ref()).map(|e| e.label.as_str()).collect();
            labels.sort_unstable();
            let before = labels.len();
            labels.dedup();
            assert_eq!(labels.len(), before, "{question}: {labels:?}");
            for (l, ranks) in lines.iter().zip(lines.iter().skip(1)) {
                assert!(l.rank <= ranks.rank || ranks.rank.is_none(), "{question}");
            }
        }
    }
}
