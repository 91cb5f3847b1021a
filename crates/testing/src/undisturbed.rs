//! Tests of a machine that others use too.

/// Attempts at most.
const ATTEMPTS: u32 = 5;

/// What `attempt` gives where the machine did not disturb it. `disturbed` says why it did; the last attempt stands
/// as it is, so that its test fails where the machine is not to blame.
#[allow(clippy::print_stdout)] // says why it took longer
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
