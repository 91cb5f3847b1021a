//! Repeats tests that other work on the machine may disturb.

/// Maximum number of attempts.
const ATTEMPTS: u32 = 5;

/// Returns the result of the first attempt that the machine did not disturb. `disturbed` returns
/// the reason if it did. The result of the last attempt is returned in any case, so that a test
/// fails if the machine is not to blame.
#[allow(clippy::print_stdout)] // prints why the test took longer
pub fn undisturbed<T>(
    mut attempt: impl FnMut() -> T,
    disturbed: impl Fn(&T) -> Option<String>,
) -> T {
    let mut result = attempt();
    for _ in 1..ATTEMPTS {
        let Some(why) = disturbed(&result) else { break };
        println!("once more: {why}");
        result = attempt();
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_undisturbed_attempt_stands_or_else_the_last() {
        let count = |good: u32| {
            let mut n = 0;
            let attempt = || {
                n += 1;
                n
            };
            undisturbed(attempt, |n| (*n < good).then(|| format!("{n}")))
        };
        assert_eq!((count(1), count(3), count(99)), (1, 3, ATTEMPTS));
    }
}
