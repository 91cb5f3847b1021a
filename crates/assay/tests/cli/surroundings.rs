//! A measured program has the same environment as assay, and assay first prints its replacements.

use std::process::{Command, Output, Stdio};

use crate::common::World;

/// Script that writes what a program inherits to a file. Of the ignored signals, it has only the
/// first four, because SIGPIPE has its default action in every program that assay starts.
const PROBE: &str = r#"{
  pwd; umask; ulimit -a; ulimit -aH; nice; cat /proc/self/oom_score_adj
  grep -E 'SigBlk|NoNewPrivs|CapEff|Cpus_allowed:' /proc/self/status
  awk '/SigIgn/ { print substr($2, length($2)) }' /proc/self/status
  env | grep -vE '^(_|ASSAY_(GUARD|TRIAL|BLOCK)|SHLVL)=' | sort
} > "$1" 2>&1"#;

/// Runs a script with `$ASSAY` and `$HERE` in a world.
fn script(world: &World, script: &str, input: Stdio) -> Output {
    let assay = world.assay(&[]);
    let mut sh = Command::new("sh");
    sh.args(["-c", script]).env("ASSAY", assay.get_program()).env("HERE", world.path(""));
    sh.envs(assay.get_envs().filter_map(|(name, value)| Some((name, value?))));
    sh.current_dir(world.path("")).stdin(input).output().unwrap()
}

fn said(ran: &Output) -> String {
    let text = String::from_utf8_lossy(&ran.stderr);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_program_inherits_what_it_would_without_assay() {
    let world = World::new();
    world.write("probe.sh", PROBE);
    for surroundings in [
        "true",
        "umask 027; ulimit -n 200; ulimit -c 0",
        "cd /; export OWN_VARIABLE='a b' EMPTY=",
        "ulimit -s 4096; unset LANG; export LC_ALL=C",
        "trap '' HUP",
        "renice -n 3 -p $$ > /dev/null",
        "taskset -p -c 0 $$ > /dev/null",
    ] {
        let text = format!(
            "{surroundings}; sh $HERE/probe.sh $HERE/direct; \
             $ASSAY run --blocks 1 --monitors none -- sh $HERE/probe.sh $HERE/under"
        );
        let ran = script(&world, &text, Stdio::null());
        let read = |name: &str| std::fs::read_to_string(world.path(name)).unwrap_or(said(&ran));
        assert_eq!(read("direct"), read("under"), "{surroundings}");
    }
}

#[test]
fn a_file_is_read_by_each_trial_and_other_input_is_not_passed_without_a_word() {
    let world = World::new();
    world.write("n.txt", "1\n2\n3\n");
    let count = "sh -c 'wc -l >> counts'";
    let not_passed = "standard input is not passed to the program; --stdin FILE";
    let ran = script(&world, &format!("$ASSAY run -b 3 --stdin n.txt -- {count}"), Stdio::null());
    assert!(!said(&ran).contains(not_passed), "{}", said(&ran));
    for from in ["< n.txt", "< counts"] {
        let ran = script(&world, &format!("$ASSAY run -b 1 -- true {from}"), Stdio::null());
        assert!(said(&ran).contains(not_passed), "{from}: {}", said(&ran));
    }
    let piped = script(&world, "cat n.txt | $ASSAY run -b 1 -- true", Stdio::null());
    assert!(said(&piped).contains(not_passed), "{}", said(&piped));
    assert_eq!(std::fs::read_to_string(world.path("counts")).unwrap(), "3\n3\n3\n");
    let missing = script(&world, "$ASSAY run --stdin none -- cat", Stdio::null());
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        said(&missing).contains("`stdin` is none, which cannot be opened"),
        "{}",
        said(&missing)
    );
    let line = script(&world, "$ASSAY run -- 'wc -l < n.txt'", Stdio::null());
    assert!(said(&line).contains("`--stdin FILE` is what `< FILE` is"), "{}", said(&line));
    let discarded = script(&world, "$ASSAY run -b 1 --output null -- true", Stdio::null());
    assert!(said(&discarded).contains("output goes to /dev/null"), "{}", said(&discarded));
}

#[test]
fn a_program_that_wants_the_terminal_is_ended_with_the_reason() {
    let world = World::new();
    let asks = "$ASSAY run -b 1 --timeout 60s -- sh -c 'read x < /dev/tty'";
    world.write("asks.sh", asks);
    let ran = script(&world, "script -qec 'sh asks.sh' /dev/null", Stdio::null());
    let shown = String::from_utf8_lossy(&ran.stdout);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("it asked for the terminal"), "{shown}{}", said(&ran));
}
