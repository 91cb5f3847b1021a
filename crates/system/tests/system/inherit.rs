//! Tests that a program inherits the settings of the thread that starts it, as seen by the program.

use std::process::Command;

use assay_model::Scalar;
use assay_system::{Controller, ProcessSetup, Root, enter, parse_setting};

/// Returns the setup of these settings, or the reason why they are not possible here.
fn setup(settings: &[(&str, &str)]) -> Result<ProcessSetup, String> {
    let state = tempfile::tempdir().unwrap();
    let settings: Vec<_> = settings
        .iter()
        .map(|(path, value)| parse_setting(path, &Scalar::parse(value)).unwrap())
        .collect();
    let controller = Controller::new(state.path(), Root::system());
    controller.check(&settings).map_err(|e| e.to_string())?;
    let applied = controller.apply(&settings).map_err(|e| e.to_string())?;
    assert!(!state.path().join("journal").exists(), "the machine was touched");
    Ok(applied.setup.clone())
}

/// Runs a program with a setup and returns its output.
fn run(setup: &ProcessSetup, program: &str, args: &[&str]) -> String {
    let _turn = assay_testing::alone();
    let entered = enter(setup).unwrap();
    let child = Command::new(program).args(args).envs(setup.env.clone()).output();
    entered.leave().unwrap();
    let output = child.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn status(text: &str, field: &str) -> String {
    let line = text.lines().find_map(|l| l.strip_prefix(field)?.strip_prefix(':'));
    line.unwrap().trim().to_owned()
}

/// Returns a field of `/proc/PID/stat` after the name, numbered as in proc(5).
fn stat(text: &str, field: usize) -> i64 {
    let rest = text.rsplit_once(')').unwrap().1;
    rest.split_whitespace().nth(field - 3).unwrap().parse().unwrap()
}

#[test]
fn cpus_reach_the_program_and_not_the_caller() {
    let own = run(&ProcessSetup::default(), "cat", &["/proc/self/status"]);
    let allowed = status(&own, "Cpus_allowed_list");
    let last = allowed.rsplit([',', '-']).next().unwrap().to_owned();
    let setup = setup(&[("cpus", &last)]).unwrap();
    let child = run(&setup, "cat", &["/proc/self/status"]);
    assert_eq!(status(&child, "Cpus_allowed_list"), last);
    let after = run(&ProcessSetup::default(), "cat", &["/proc/self/status"]);
    assert_eq!(status(&after, "Cpus_allowed_list"), allowed);
}

#[test]
fn scheduling_classes_reach_the_program() {
    // Field 41 is the policy, field 40 the real-time priority.
    for (level, policy, priority) in
        [("batch", 3, 0), ("idle", 5, 0), ("fifo:10", 1, 10), ("rr:7", 2, 7)]
    {
        match setup(&[("sched", level)]) {
            Ok(setup) => {
                let child = run(&setup, "cat", &["/proc/self/stat"]);
                assert_eq!((stat(&child, 41), stat(&child, 40)), (policy, priority), "{level}");
                let after = run(&ProcessSetup::default(), "cat", &["/proc/self/stat"]);
                assert_eq!(stat(&after, 41), 0, "after {level}");
            }
            Err(reason) => println!("skipped: sched={level}: because {reason}"),
        }
    }
}

#[test]
fn nice_reaches_the_program() {
    for level in ["-5", "7"] {
        match setup(&[("nice", level)]) {
            Ok(setup) => {
                let child = run(&setup, "cat", &["/proc/self/stat"]);
                assert_eq!(stat(&child, 19).to_string(), level);
                let after = run(&ProcessSetup::default(), "cat", &["/proc/self/stat"]);
                assert_eq!(stat(&after, 19), 0, "after {level}");
            }
            Err(reason) => println!("skipped: nice={level}: because {reason}"),
        }
    }
}

#[test]
fn the_memory_policy_reaches_the_program() {
    for (level, seen) in
        [("bind:0", "bind:0"), ("preferred:0", "prefer:0"), ("interleave", "interleave:0")]
    {
        match setup(&[("numa", level)]) {
            Ok(setup) => {
                let child = run(&setup, "cat", &["/proc/self/numa_maps"]);
                assert!(child.contains(seen), "{level}: {child}");
                let after = run(&ProcessSetup::default(), "cat", &["/proc/self/numa_maps"]);
                assert!(!after.contains(seen), "after {level}");
            }
            Err(reason) => println!("skipped: numa={level}: because {reason}"),
        }
    }
}

#[test]
fn without_randomisation_two_programs_have_one_layout() {
    let maps = |setup: &ProcessSetup| run(setup, "cat", &["/proc/self/maps"]);
    let stack = |text: &str| text.lines().find(|l| l.ends_with("[stack]")).unwrap().to_owned();
    let setup = setup(&[("aslr", "off")]).unwrap();
    assert!(setup.no_aslr);
    assert_eq!(stack(&maps(&setup)), stack(&maps(&setup)));
    let personality = run(&setup, "cat", &["/proc/self/personality"]);
    assert_eq!(personality.trim(), "00040000");
    assert_eq!(
        run(&ProcessSetup::default(), "cat", &["/proc/self/personality"]).trim(),
        "00000000"
    );
}

#[test]
fn variables_reach_the_program() {
    let setup = setup(&[("env.ASSAY_TEST_VALUE", "a b")]).unwrap();
    assert_eq!(run(&setup, "sh", &["-c", "printf %s \"$ASSAY_TEST_VALUE\""]), "a b");
}

#[test]
fn all_of_them_at_once_and_back() {
    let settings =
        [("cpus", "0"), ("sched", "fifo:3"), ("nice", "-3"), ("aslr", "off"), ("numa", "bind:0")];
    match setup(&settings) {
        Ok(setup) => {
            let child = run(&setup, "cat", &["/proc/self/stat"]);
            assert_eq!((stat(&child, 41), stat(&child, 40), stat(&child, 19)), (1, 3, -3));
            let after = run(&ProcessSetup::default(), "cat", &["/proc/self/stat"]);
            assert_eq!((stat(&after, 41), stat(&after, 40), stat(&after, 19)), (0, 0, 0));
        }
        Err(reason) => println!("skipped: because {reason}"),
    }
}

#[test]
fn a_kernel_that_reserves_fewer_pages_is_an_error_and_nothing_stays() {
    const POOL: &str = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
    let state = tempfile::tempdir().unwrap();
    let controller = Controller::new(state.path(), Root::system());
    let before = std::fs::read_to_string(POOL).unwrap_or_default();
    let count = before.trim().parse::<i64>().unwrap_or(0) + 2;
    let setting = [parse_setting("hugepages", &Scalar::Int(count)).unwrap()];
    if let Err(reason) = controller.check(&setting) {
        println!("skipped: because {reason}");
        return;
    }
    match controller.apply(&setting) {
        Ok(applied) => {
            assert_eq!(std::fs::read_to_string(POOL).unwrap().trim(), count.to_string());
            applied.restore().unwrap();
        }
        Err(error) => assert!(error.to_string().contains("was set to"), "{error}"),
    }
    assert_eq!(std::fs::read_to_string(POOL).unwrap(), before);

    let far_too_many = [parse_setting("hugepages", &Scalar::Int(1 << 40)).unwrap()];
    assert!(controller.check(&far_too_many).is_err());
    let error = controller.apply(&far_too_many).unwrap_err();
    assert!(error.to_string().contains("hugepages"), "{error}");
    assert_eq!(std::fs::read_to_string(POOL).unwrap(), before);
}

#[test]
fn this_process_has_memory_on_a_node() {
    match assay_system::numa::of_process(&Root::system(), std::process::id()) {
        Ok(nodes) => assert!(nodes.iter().map(|n| n.bytes).sum::<u64>() > 64 << 10),
        Err(e) => println!("skipped: because there is no numa_maps here: {e}"),
    }
}
