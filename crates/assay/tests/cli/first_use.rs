//! First steps after the installation: no checkout, no archive, an empty folder.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::{Done, World, done, json};

/// Returns the command for assay in an empty folder, without the kits of the repository.
fn elsewhere(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.assay(arguments);
    command.env_remove("ASSAY_KITS");
    command
}

fn run(world: &World, arguments: &[&str]) -> Done {
    done(&mut elsewhere(world, arguments))
}

#[test]
fn bare_assay_names_commands_that_work_and_a_typing_error_the_nearest_verb() {
    let world = World::new();
    let start = run(&world, &[]);
    assert_eq!((start.code, start.stderr.as_str()), (0, ""));
    assert!(start.stdout.lines().all(|l| l.len() <= 80), "{}", start.stdout);
    let typo = run(&world, &["rn"]);
    assert_eq!(typo.code, 2);
    assert_eq!(typo.stderr, "assay: error: there is no verb `rn`; did you mean `assay run`?\n");
    let none = run(&world, &["xyzzyx"]);
    assert!(none.stderr.contains("`assay --help` lists them"), "{}", none.stderr);
    assert!(!run(&world, &["--help"]).stdout.contains("__"));
}

#[test]
fn completions_and_manual_pages_know_every_verb_and_nothing_internal() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&world, &["completions", shell]).stdout;
        assert!(script.contains("until-clear") && script.contains("landscape"), "{shell}");
        assert!(!script.contains("__agent") && !script.contains(" __work"), "{shell}");
    }
    let bash = run(&world, &["completions", "bash"]).stdout;
    world.write("assay.bash", &bash);
    // Completions that bash itself offers after `assay pub`.
    let ask = ". ./assay.bash; COMP_WORDS=(assay pub); COMP_CWORD=1; _assay assay pub assay; echo \
        ${COMPREPLY[@]}";
    let offered = done(Command::new("bash").args(["-c", ask]).current_dir(world.path("")));
    assert_eq!(offered.stdout.trim(), "publish", "{}", offered.stderr);
    assert_eq!(run(&world, &["man", "-o", "man1"]).code, 0);
    let page = std::fs::read_to_string(world.path("man1/assay-run.1")).unwrap();
    assert!(page.contains("Examples"), "{page}");
    let names = std::fs::read_dir(world.path("man1")).unwrap().flatten();
    assert!(names.map(|e| e.file_name()).all(|n| !n.to_string_lossy().contains("__")));
}

#[test]
fn kits_experiments_and_posts_come_with_the_program() {
    let world = World::new();
    let plan = run(&world, &["plan", "experiments/zstd-levels.toml"]);
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    assert!(plan.stderr.contains("that comes with assay"), "{}", plan.stderr);
    assert!(plan.stdout.contains("level=9"), "{}", plan.stdout);
    let kits = run(&world, &["kit", "list"]).stdout;
    assert!(kits.contains("zstd") && kits.contains("cpu-int"), "{kits}");
    let post = run(&world, &["publish", "posts/2009-06-24-dtrace-io.md", "-o", "post"]);
    assert_eq!(post.code, 0, "{}", post.stderr);
    assert!(world.path("post/index.html").is_file());
    // A local file with the same name hides the one that comes with assay.
    std::fs::create_dir(world.path("experiments")).unwrap();
    world.write("experiments/zstd-levels.toml", "name = \"own\"\nworkload = \"noop\"\n");
    let own = run(&world, &["plan", "experiments/zstd-levels.toml"]);
    assert!(own.stdout.contains("noop") && !own.stderr.contains("comes with"), "{}", own.stdout);
    let missing = run(&world, &["run", "experiments/nothing.toml"]);
    assert_eq!(missing.code, 2);
    let (here, cache) = (world.path("").display().to_string(), world.path("cache"));
    let printed = missing.stderr.split_whitespace().collect::<String>();
    assert!(printed.contains(here.trim_end_matches('/')), "{}", missing.stderr);
    assert!(printed.contains(&cache.display().to_string()), "{}", missing.stderr);
}

#[test]
fn a_cache_that_cannot_be_written_is_reported() {
    let world = World::new();
    let mut command = elsewhere(&world, &["plan", "experiments/zstd-levels.toml"]);
    let blocked = done(command.env("ASSAY_CACHE", "/proc/no-folder"));
    assert_eq!(blocked.code, 2, "{}", blocked.stderr);
    let printed = blocked.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("files that come with assay cannot be unpacked"), "{printed}");
}

#[test]
fn a_list_that_stops_says_so_and_a_folder_is_only_written_over_on_request() {
    let world = World::new();
    for _ in 0..2 {
        assert_eq!(run(&world, &["run", "noop", "--blocks", "6", "-q"]).code, 0);
    }
    assert_eq!(run(&world, &["archive", "list"]).stderr, "");
    let one = run(&world, &["archive", "list", "--limit", "1"]);
    assert_eq!(one.stdout.lines().count(), 1, "{}", one.stdout);
    assert!(
        one.stderr.contains("only the newest 1 are listed; --limit 2 lists more"),
        "{}",
        one.stderr
    );
    let publish = |more: &[&str]| {
        let all = [&["publish", "last", "-o", "page"], more].concat();
        run(&world, &all)
    };
    assert_eq!(publish(&[]).code, 0);
    let files = || std::fs::read_dir(world.path("page")).unwrap().count();
    let (before, stale) = (files(), world.write("page/curves.csv", "of another run"));
    let again = publish(&[]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(again.stderr.contains("--force"), "{}", again.stderr);
    assert!(stale.exists());
    assert_eq!(publish(&["--force"]).code, 0);
    assert_eq!((files(), stale.exists()), (before, false));
    // `publish` does not touch a folder with other files.
    std::fs::create_dir(world.path("other")).unwrap();
    let own = world.write("other/results.csv", "mine");
    let refused = run(&world, &["publish", "last", "-o", "other", "--force"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(own).unwrap(), "mine");
}

#[test]
fn a_script_without_its_run_bit_is_not_executable_rather_than_missing() {
    let world = World::new();
    world.write("bench.sh", "#!/bin/sh\n");
    let ran = run(&world, &["run", "--", "./bench.sh"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let printed = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("exists but is not executable; chmod +x"), "{printed}");
    assert!(!printed.contains("not found"), "{printed}");
    let plain = world.write("plain.sh", "true\n");
    std::fs::set_permissions(plain, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran = run(&world, &["run", "-b", "1", "--", "./plain.sh"]);
    let printed = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("a script without a first line such as #!/bin/sh"), "{printed}");
}

#[test]
fn an_export_to_standard_output_is_all_that_it_has() {
    let world = World::new();
    let ran = world.run(&["run", "-b", "3", "--export", "json=-", "--", "true"]);
    assert_eq!(json(&ran.stdout)["records"].as_array().unwrap().len(), 3, "{}", ran.stderr);
    assert!(!world.path("-").exists());
}

#[test]
fn a_name_that_is_not_utf8_runs_and_is_named_where_it_cannot() {
    use std::os::unix::ffi::OsStringExt as _;
    let world = World::new();
    let name = |text: &[u8]| std::ffi::OsString::from_vec(text.to_vec());
    std::os::unix::fs::symlink("/bin/true", world.path("").join(name(b"caf\xe9"))).unwrap();
    let ran =
        world.assay(&["run", "--blocks", "3", "--"]).arg(name(b"./caf\xe9")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let mut refused = world.assay(&["run", "--prepare"]);
    let refused = refused.arg(name(b"cat caf\xe9")).args(["--", "true"]).output().unwrap();
    let printed = String::from_utf8_lossy(&refused.stderr).replace("\n  ", " ");
    assert!(printed.contains("`cat caf\\xe9` after `--prepare` is not in UTF-8"), "{printed}");
}

#[test]
fn what_a_question_for_a_version_left_running_is_not_laid_to_the_first_trial() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    std::fs::create_dir(world.path("bin")).unwrap();
    let tool = world.write("bin/perl", "#!/bin/sh\nsleep 30 > /dev/null 2>&1 &\necho 'perl 5.0'\n");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
    let mut command = world.assay(&["run", "--json", "--blocks", "2", "--", "sh", "-c", ": perl"]);
    let ran = done(command.env("PATH", path));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let system = std::fs::read_to_string(world.runs()[0].join("system.json")).unwrap();
    assert!(system.contains("perl 5.0"), "the tool was asked");
    for record in ran.records() {
        assert!(!record.to_string().contains("processes running"), "{record}");
    }
}

/// Returns the first two examples in the help of a verb, which need no files of the user.
fn examples(world: &World, verb: &str) -> Vec<String> {
    let help = run(world, &[verb, "--help"]).stdout;
    let (_, list) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{verb}: {help}"));
    let lines = list.lines().take_while(|l| l.starts_with("  "));
    lines.take(2).map(|l| l.trim().to_owned()).collect()
}

fn in_a_shell(world: &World, line: &str) -> Done {
    let line = line.replace("assay ", &format!("{} ", env!("CARGO_BIN_EXE_assay")));
    let mut command = Command::new("sh");
    command.args(["-c", &line]).env_clear().envs(std::env::vars_os());
    let like = elsewhere(world, &[]);
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    done(command.current_dir(world.path("")))
}

#[test]
fn the_first_two_examples_of_every_verb_run_in_an_empty_folder() {
    let world = World::new();
    // Exit codes: 4 if a claim is wrong, 6 without counters or I/O, 130 if cancelled.
    let verbs: [(&str, &[i32]); 20] = [
        ("run", &[0]),
        ("plan", &[0]),
        ("doctor", &[0, 4]),
        ("workloads", &[0]),
        ("kit", &[0]),
        ("stat", &[0]),
        ("io", &[0, 6]),
        ("profile", &[0, 6]),
        ("tlb", &[0, 6]),
        ("explain", &[0]),
        ("compare", &[0]),
        ("publish", &[0]),
        ("landscape", &[0]),
        ("audit", &[0, 4]),
        ("rules", &[0]),
        ("archive", &[0]),
        ("schema", &[0]),
        ("completions", &[0]),
        ("man", &[0]),
        ("pending", &[0]),
    ];
    let mut server = elsewhere(&world, &["serve", "--listen", "127.0.0.1:0"]);
    let mut server = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut printed = BufReader::new(server.stdout.take().unwrap());
    let mut first = String::new();
    printed.read_line(&mut first).unwrap();
    let queue: [(&str, &[i32]); 3] = [("submit", &[0]), ("cancel", &[0]), ("wait", &[0, 130])];
    for (verb, codes) in verbs.into_iter().chain(queue) {
        let all = examples(&world, verb);
        assert_eq!(all.len(), 2, "{verb}: {all:?}");
        for line in all {
            let ran = in_a_shell(&world, &line);
            assert!(codes.contains(&ran.code), "`{line}`: {} {}", ran.code, ran.stderr);
            assert!(
                ran.stdout.lines().all(|l| l.chars().count() <= 80 || l.contains(" /dev/"))
                    || line.contains("json")
                    || verb == "completions",
                "`{line}` is wider than 80 columns: {}",
                ran.stdout
            );
        }
    }
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Command lines in quotes are compared, as in hyperfine; mistakes get a message with the correct
/// command.
#[test]
fn commands_in_quotes_are_compared_and_slips_have_an_answer() {
    let world = World::new();
    let brief = |words: &[&str]| {
        let done = world.run(&[&["run", "--blocks", "3", "--quiet"], words].concat());
        assert_eq!(done.code, 0, "{words:?}: {}", done.stderr);
        done.stdout
    };
    assert!(brief(&["sleep 0.01", "sleep 0.06"]).contains("sleep 0.06"));
    assert!(brief(&["sleep 0.01"]).contains("elapsed"));
    assert!(brief(&["--", "sleep 0.01"]).contains("elapsed"));
    assert!(brief(&["--vs", "sleep 0.05", "--", "true"]).contains("sleep 0.05"));
    assert!(brief(&["--again", "last"]).contains("sleep 0.05"));
    std::fs::create_dir(world.path("folder")).unwrap();
    std::fs::copy("/bin/true", world.path("prog")).unwrap();
    for (words, says) in [
        (&["run", "--", "true", "--vs", "false"][..], "before `--`"),
        (&["run", "folder"], "`folder` is a folder"),
        (&["run", "./prog"], "assay run -- ./prog"),
        (&["run", "true"], "assay run -- true"),
        (&["run", "--blocks", "-3", "--", "true"], "'-3'"),
        (&["run", "--blocks", "x", "--", "true"], "a whole number is needed"),
        (&["run", "--export", "html=/none/x", "--", "true"], "the folder /none does not exist"),
        (&["publish", "last", "-o", "prog"], "it is a file; give a folder"),
    ] {
        let done = world.run(words);
        assert_eq!(done.code, 2, "{words:?}: {}", done.stderr);
        let said = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(says), "{words:?}: {said}");
        assert!(!said.contains("--archive <DIR>"), "{words:?}: {said}");
    }
    // Aliases of the two verbs that users try first.
    let json = |words: &[&str]| world.run(&[words, &["--json"]].concat()).stdout;
    assert_eq!(json(&["list"]), json(&["archive", "list"]));
    assert_eq!(json(&["show"]), json(&["archive", "show"]));
    // Without -o, the folder has the name of the run.
    let page = world.run(&["publish", "last"]);
    assert_eq!(page.code, 0, "{}", page.stderr);
    assert!(page.stdout.contains("/index.html"), "{}", page.stdout);
}
