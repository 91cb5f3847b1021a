//! Mistakes in input: each is reported with the problem, its place and a remedy, and with exit code
//! 2; the archive stays empty.

use crate::common::World;

/// Runs and plans an experiment file, and checks that it is refused with all of these words.
fn refused(text: &str, words: &[&str]) {
    let world = World::new();
    world.write("x.toml", text);
    for verb in ["run", "plan"] {
        let done = world.run(&[verb, "x.toml"]);
        assert_eq!(done.code, 2, "{verb}: {}{}", done.stdout, done.stderr);
        for word in words {
            assert!(done.stderr.contains(word), "{verb}: no `{word}` in: {}", done.stderr);
        }
        assert!(done.stdout.is_empty(), "{}", done.stdout);
    }
    assert!(world.runs().is_empty(), "nothing was run");
}

#[test]
fn an_unknown_key() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[desing]\nblocks = 3\n",
        &["x.toml:3:2", "unknown field `desing`", "did you mean `design`?"],
    );
}

#[test]
fn a_wrong_type() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[design]\nblocks = \"three\"\n",
        &["x.toml:4:10", "invalid type"],
    );
}

#[test]
fn not_toml_at_all() {
    refused("name = = 3\n", &["x.toml:1:8"]);
}

#[test]
fn an_unknown_workload() {
    refused("name = \"a\"\nworkload = \"nop\"\n", &["x.toml:2:12", "nop", "noop"]);
}

#[test]
fn an_unknown_parameter() {
    refused(
        "name = \"a\"\nworkload = \"block-size\"\n[params]\nbufer_size = 3\n",
        &["x.toml:4:14", "no parameter `bufer_size`", "did you mean `buffer_size`?"],
    );
}

#[test]
fn an_impossible_level() {
    refused(
        "name = \"a\"\nworkload = \"block-size\"\n[factors]\nprocesses = [1, 0]\n",
        &["x.toml:4:13", "`processes` is 0"],
    );
}

#[test]
fn a_comma_that_was_meant_to_stay_in_a_value() {
    let world = World::new();
    let set = "controls.storage=loop:btrfs,compress=zstd";
    for (verb, code) in [("plan", 0), ("run", 2)] {
        let done = world.run(&[verb, "--set", set, "--", "true"]);
        assert_eq!(done.code, code);
        let shown = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let quoted = "--set 'controls.storage=[\"loop:btrfs,compress=zstd\"]'";
        assert!(shown.contains("make 2 levels") && shown.contains(quoted), "{shown}");
    }
    // The command in the hint works, and errors that no comma caused have no such hint.
    let right = "controls.storage=[\"loop:btrfs,compress=zstd,size=300MiB\"]";
    assert_eq!(world.run(&["plan", "--set", right, "--", "true"]).code, 0);
    let other = world.run(&["plan", "--set", "no-such=1,2", "--", "true"]);
    assert!(!other.stderr.contains("make 2 levels"), "{}", other.stderr);
}

#[test]
fn a_factor_without_levels() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[factors]\n\"controls.nice\" = []\n",
        &["x.toml:4", "without levels"],
    );
}

#[test]
fn an_unknown_control() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[controls]\nnise = 3\n",
        &["x.toml:4:8", "nise", "nice"],
    );
}

#[test]
fn factors_that_do_not_fit_together() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[factors]\n\"controls.nice\" = [0, 1]\n\
        \"controls.env.A\" = [1, 2, 3]\n[design]\nzip = [[\"controls.nice\", \
        \"controls.env.A\"]]\n",
        &["x.toml:7", "same number"],
    );
}

#[test]
fn everything_excluded() {
    refused(
        "name = \"a\"\nworkload = \"noop\"\n[factors]\n\"controls.nice\" = [0]\n[design]\n\
        exclude = [{ \"controls.nice\" = 0 }]\n",
        &["every combination is excluded"],
    );
}

#[test]
fn a_file_that_cannot_be_read() {
    let world = World::new();
    let done = world.run(&["run", "no-such-file.toml"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("no-such-file.toml"), "{}", done.stderr);
    std::fs::create_dir(world.path("folder.toml")).unwrap();
    assert_eq!(world.run(&["run", "folder.toml"]).code, 2);
    world.write("binary.toml", "\u{0}\u{1}");
    assert_eq!(world.run(&["run", "binary.toml"]).code, 2);
}

#[test]
fn a_program_that_does_not_exist() {
    let world = World::new();
    let done = world.run(&["run", "--", "no-such-program-anywhere"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("no-such-program-anywhere"), "{}", done.stderr);
}

#[test]
fn a_run_that_does_not_exist() {
    let world = World::new();
    for arguments in [
        ["archive", "show", "20200101-000000-aaaa"].as_slice(),
        &["publish", "last", "-o", "x"],
        &["compare", "20200101-000000-aaaa"],
        &["run", "--resume", "last"],
    ] {
        let done = world.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn flags_that_make_no_sense() {
    let world = World::new();
    for arguments in [
        ["run"].as_slice(),
        &["run", "noop", "--", "true"],
        &["run", "--vs", "true"],
        &["run", "--set", "x", "noop"],
        &["run", "noop", "--margin", "much"],
        &["run", "noop", "--timeout", "soon"],
        &["run", "noop", "--timeout", "0"],
        &["plan", "noop", "--max-time", "0 s"],
        &["run", "--prepare", "", "--", "true"],
        &["run", "--setup", " ", "--", "true"],
        &["run", "--conclude=", "--", "true"],
        &["run", "--check", "", "--", "true"],
        &["run", "--expect", "", "--", "true"],
        &["run", "--stdin", "", "--", "true"],
        &["run", "noop", "--monitors", "cpu,nonsense"],
        &["run", "noop", "--export", "pdf=x"],
        &["run", "noop", "--gate"],
        &["stat", "--interval", "1 ms", "-n", "1"],
        &["frobnicate"],
    ] {
        let done = world.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
        assert!(!done.stderr.trim().is_empty(), "{arguments:?} printed nothing");
    }
    assert!(world.runs().is_empty());
}

/// Files of the wrong inputs.
const FILES: &[(&str, &[u8])] = &[
    ("empty.toml", b""),
    ("empty.json", b""),
    ("a.txt", b"hello\n"),
    ("bin.toml", b"\xff\x00\xfe"),
    ("bin.dat", b"\xff\x00\xfe\n\x00"),
    ("latin.toml", b"name = \"caf\xe9\"\n"),
    ("half.json", b"{\"results\": ["),
    ("dup.toml", b"name = \"a\"\nworkload = \"noop\"\nname = \"b\"\n"),
    ("noname.toml", b"workload = \"noop\"\n"),
    ("nowork.toml", b"name = \"a\"\n"),
    ("typ.toml", b"name = 3\nworkload = \"noop\"\n"),
    ("neg.toml", b"name = \"a\"\nworkload = \"noop\"\n[design]\nblocks = -3\n"),
    ("frac.toml", b"name = \"a\"\nworkload = \"noop\"\n[design]\nblocks = 1.5\n"),
    ("zero.toml", b"name = \"a\"\nworkload = \"noop\"\n[design]\nblocks = 0\n"),
    ("huge.toml", b"name = \"a\"\nworkload = \"noop\"\n[design]\nblocks = 99999999999\n"),
    ("base.toml", b"name = \"a\"\nworkload = \"noop\"\n[compare]\nbaseline = { nonsense = 1 }\n"),
    ("eng.toml", b"name = \"a\"\nworkload = \"noop\"\n[where]\nengine = \"cloud\"\n"),
    ("range.toml", b"name = \"a\"\nworkload = \"noop\"\n[factors]\nx = { from = 5, to = 1 }\n"),
    ("half.md", b"+++\ntitle = \"T\"\n+++\n\n{{ value(\n"),
    ("nofront.md", b"no front\n"),
];

/// A command line, what its message names, and the next step in it.
const WRONG: &[(&str, &str, &str)] = &[
    ("run", "nothing to run", "an experiment file"),
    ("run nosuch.toml", "nosuch.toml", "does not exist"),
    ("run adir", "`adir` is a folder", "after `--`"),
    ("run empty.toml", "empty.toml:1:1", "add a line `name = ...`"),
    ("run noname.toml", "missing field `name`", "add a line `name = ...`"),
    ("run nowork.toml", "missing field `workload`", "add a line `workload = ...`"),
    ("run bin.toml", "bin.toml", "it is not a text, or not in UTF-8"),
    ("run latin.toml", "latin.toml", "it is not a text, or not in UTF-8"),
    ("run dup.toml", "dup.toml:3:1", "keep one of the two lines"),
    ("run neg.toml", "neg.toml:4:10", "a whole number from 0 to 4294967295"),
    ("run frac.toml", "frac.toml:4:10", "a whole number from 0 to 4294967295"),
    ("run huge.toml", "huge.toml:4:10", "a whole number from 0 to 4294967295"),
    ("run zero.toml", "zero.toml:4:10", "use at least 1"),
    ("run typ.toml", "typ.toml:1:8", "write it in quotes"),
    ("run base.toml", "`nonsense` is not a factor", "add it under [factors]"),
    ("run eng.toml", "eng.toml:4:10", "expected one of `here`"),
    ("run range.toml", "range.toml:4:5", "use from <= to"),
    ("run nope", "no workload `nope`", "did you mean `noop`?"),
    ("run -- ./adir", "./adir", "it is a folder: give a program in it"),
    ("run -- ./a.txt", "a.txt", "chmod +x"),
    ("run -- 'cat f | wc'", "`|` at character 7", "--shell sh"),
    ("run -- true --vs false", "`--vs` after `--`", "before `--`"),
    ("run -- no-such-program", "no-such-program", "install it"),
    ("run --blocks -3 -- true", "'-3'", "it takes 0 to 4294967295"),
    ("run --blocks 0 -- true", "0 blocks", "at least 1"),
    ("run --blocks 1e3 -- true", "'1e3'", "a whole number is needed"),
    ("run --blocks 99999999999 -- true", "'99999999999'", "it takes 0 to 4294967295"),
    ("run --timeout -1 -- true", "`-1`", "such as `5 s`"),
    ("run --timeout 'NaN s' -- true", "`NaN s`", "such as `5 s`"),
    ("run --margin 0 -- true", "`0`", "write a percentage"),
    ("run --margin -5% -- true", "`-5%`", "write a percentage"),
    ("run --metric nonsense -- true", "no metric `nonsense`", "--metric-from"),
    ("run --set x -- true", "--set x", "--set NAME=VALUE"),
    ("run --set blocks=3 -- true", "no parameter `blocks`", "it takes command"),
    ("run --set controls.nice=99 -- true", "`99`", "from -20 to 19"),
    ("run --set controls.nice=high -- true", "`high`", "from -20 to 19"),
    ("run --monitors nonsense -- true", "no monitor `nonsense`", "there are `cpu`"),
    ("run --tracers nonsense -- true", "no tracer `nonsense`", "the tracers are"),
    ("run --export pdf=x -- true", "pdf=x", "write FORMAT=FILE"),
    ("run --export html=nosuch/x -- true", "html=nosuch/x", "does not exist"),
    ("run --resume nosuch", "`nosuch`", "`assay archive list`"),
    ("run --resume last", "last", "`assay archive list`"),
    ("run --rev nosuch -- true", "not in a git repository", "`--repo`"),
    ("run --on nowhere -- true", "'nowhere'", "possible values: local"),
    ("plan nosuch.toml", "nosuch.toml", "does not exist"),
    ("archive show nosuch", "`nosuch`", "`assay archive list`"),
    ("archive import nosuch", "nosuch", "check the path"),
    ("archive import adir", "adir is not a regular file", "give the file"),
    ("archive import empty.json", "empty.json is empty", ""),
    ("archive import bin.dat", "bin.dat has an unknown format", "known formats: hyperfine"),
    ("archive import half.json", "half.json", "known formats: hyperfine"),
    ("archive import --as nonsense half.json", "'nonsense'", "possible values: hyperfine"),
    ("archive list --limit -1", "'-1'", "--limit"),
    ("archive verify nosuch", "`nosuch`", "`assay archive list`"),
    ("--archive a.txt archive list", "a.txt", "a part of this path is a file; give a folder"),
    ("--archive /proc/nosuch archive list", "/proc/nosuch", "check the path"),
    ("compare a b", "no run matches", "`assay archive list`"),
    ("explain nosuch", "`nosuch`", "`assay archive list`"),
    ("publish nosuch", "`nosuch`", "`assay archive list`"),
    ("publish half.md -o x", "half.md:5:1", "close it with `}}`"),
    ("publish nofront.md -o x", "nofront.md:1:1", "begin with a line `+++`"),
    ("gate", "nothing to run", "an experiment file"),
    ("gate --base nosuch -- true", "not in a git repository", "`--repo`"),
    ("bisect -- true", "--good <REV>", "--help"),
    ("history", "--rev v1..main", "name the commits"),
    ("history import nosuch.csv", "nosuch.csv", "check the path"),
    ("history import a.txt", "a.txt has an unknown format", "csv"),
    ("history --imported nosuch", "`nosuch`", "`assay history import`"),
    ("kit nosuch", "assay kit has no verb `nosuch`", "`assay kit --help`"),
    ("kit check nosuch", "nosuch", "does not exist"),
    ("new nosuch", "'nosuch'", "possible values: experiment"),
    ("io --interval 0", "--interval", "above 0, such as `100 ms`"),
    ("io --trace", "'--trace'", "--help"),
    ("stat --interval 0", "interval of 0 ms", "use 100 ms or more"),
    ("stat --interval 1y", "`1y`", "use ns, us, ms"),
    ("stat --count -1", "'-1'", "a whole number is needed"),
    ("profile", "name what to profile", "--pid"),
    ("profile --from nosuch", "cannot read nosuch", "check the path"),
    ("profile --from a.txt", "a.txt holds no profile", "pprof"),
    ("profile -- no-such-program", "`no-such-program`", "is it installed"),
    ("syscalls", "name whose calls to count", "--pid"),
    ("cpu nosuch", "assay cpu has no verb `nosuch`", "`assay cpu --help`"),
    ("hosts nosuch", "`nosuch`", "`assay archive list`"),
    ("serve --listen nonsense", "'nonsense'", "write it as 127.0.0.1:7654"),
    ("serve --listen 127.0.0.1:1 nosuch", "the folder of experiments nosuch", "check the path"),
    ("pending", "no server found", "`assay serve`"),
    ("wait x", "'x'", "a whole number is needed"),
    ("site -o a.txt", "a.txt is not a folder", ""),
    ("audit nosuch.md", "nosuch.md", "check the path"),
    ("audit bin.dat", "bin.dat", "this is not text"),
    ("rules nosuch", "assay rules has no verb `nosuch`", "`assay rules --help`"),
    ("landscape nosuch", "no landscape `nosuch`", "`assay landscape`"),
    ("reproduce nosuch", "nosuch", "does not exist"),
    ("reproduce adir", "adir has no post", "*.md"),
    ("doctor --nonsense", "'--nonsense'", "--help"),
    ("schema -o a.txt", "a.txt", "choose another path"),
    ("completions nosuch", "'nosuch'", "possible values: bash"),
    ("frobnicate", "no verb `frobnicate`", "`assay --help`"),
    ("workloads nosuch", "no workload `nosuch`", "the folder of a"),
];

/// Words that a message for people does not have.
const JARGON: &[&str] = &["u32", "u64", "invalid digit", "to pass '", "Left {", "Some(", "Error {"];

#[test]
fn every_wrong_input_gets_its_object_its_reason_and_a_next_step() {
    let world = World::new();
    for (name, bytes) in FILES {
        std::fs::write(world.path(name), bytes).unwrap();
    }
    std::fs::create_dir(world.path("adir")).unwrap();
    let mut wrong = Vec::new();
    let mut commands = std::collections::BTreeSet::new();
    for (line, object, next) in WRONG {
        let mut arguments: Vec<&str> = Vec::new();
        for (i, piece) in line.split('\'').enumerate() {
            let words = || piece.split_whitespace();
            if i % 2 == 0 { arguments.extend(words()) } else { arguments.push(piece) }
        }
        let done = world.run(&arguments);
        let says = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let missing: Vec<&&str> =
            [object, next].into_iter().filter(|w| !says.contains(**w)).collect();
        let jargon: Vec<&&str> = JARGON.iter().filter(|w| says.contains(**w)).collect();
        if ![1, 2, 6].contains(&done.code) || !missing.is_empty() || !jargon.is_empty() {
            wrong.push(format!("{line}: {}: no {missing:?}, but {jargon:?}: {says}", done.code));
        }
        let quoted = says.split('`').skip(1).step_by(2).filter(|q| q.starts_with("assay "));
        commands.extend(quoted.map(str::to_owned));
    }
    // The commands in the messages work as they are, apart from those that wait or need a file.
    let whole = |c: &&String| !["assay serve", "assay history import"].contains(&c.as_str());
    for command in commands.iter().filter(whole).filter(|c| !c.contains(char::is_uppercase)) {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let done = world.run(&words);
        if done.code != 0 {
            wrong.push(format!("`{command}` does not work: {}", done.stderr));
        }
    }
    println!("{} wrong inputs, {} commands in their messages", WRONG.len(), commands.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(world.runs().is_empty(), "nothing was run");
}
