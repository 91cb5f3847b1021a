//! Runs a test in a separate process, where process-wide counts belong to that test only.

use std::process::Command;

const NAME: &str = "ASSAY_TEST_IN_OWN_PROCESS";

/// Runs `body`, the whole of the test `name` (as `--exact` takes it), in a new process of this test
/// program that runs only that test.
///
/// # Panics
/// The test fails in that process, or no test has this name.
#[allow(clippy::print_stdout)] // repeats why a test was skipped
pub fn in_own_process(name: &str, body: impl FnOnce()) {
    if std::env::var_os(NAME).is_some_and(|wanted| wanted == name) {
        return body();
    }
    let program = std::env::current_exe().expect("a test program has a path");
    let ran =
        Command::new(program).args(["--exact", name, "--show-output"]).env(NAME, name).output();
    let output = ran.unwrap_or_else(|e| panic!("this test program cannot be started again: {e}"));
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let passed = output.status.success() && stdout.contains("1 passed");
    assert!(
        passed,
        "{name} in a process of its own ended with {}:\n{stdout}{stderr}",
        output.status
    );
    stdout.lines().filter(|line| line.starts_with("skipped: ")).for_each(|line| println!("{line}"));
}
