//! Limit on open files, checked before the first connection so that the last one does not fail.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Error;

/// Additional files that a process may open during a run.
const SPARE: u64 = 32;

/// Makes sure that the process can open `connections` and the threads' own files: raises the soft
/// limit within the hard one. The limit stays raised; it applies to this process only.
///
/// # Errors
/// [`Error::OpenFiles`] if the hard limit is too low.
pub fn make_room(connections: usize, threads: usize) -> Result<(), Error> {
    let open = std::fs::read_dir("/proc/self/fd").map_or(64, |d| d.count() as u64);
    let needed = connections as u64 + 2 * threads as u64 + open + SPARE;
    match raise(getrlimit(Resource::Nofile), needed) {
        Verdict::Enough => Ok(()),
        Verdict::Raise(to) => setrlimit(Resource::Nofile, to)
            .map_err(|e| Error::Kernel { call: "setrlimit(RLIMIT_NOFILE)", source: e.into() }),
        Verdict::TooLow(limit) => Err(Error::OpenFiles { connections, needed, limit }),
    }
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Enough,
    Raise(Rlimit),
    TooLow(u64),
}

/// Compares a limit with the number of files needed. A limit of `None` is unlimited.
fn raise(now: Rlimit, needed: u64) -> Verdict {
    let within = |limit: Option<u64>| limit.is_none_or(|l| l >= needed);
    match now.maximum {
        _ if within(now.current) => Verdict::Enough,
        hard if within(hard) => Verdict::Raise(Rlimit { current: Some(needed), maximum: hard }),
        hard => Verdict::TooLow(hard.unwrap_or(u64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_is_raised_to_what_is_needed_and_hard_is_a_wall() {
        let limit = |current, maximum| Rlimit { current, maximum };
        assert_eq!(raise(limit(Some(1024), Some(4096)), 1024), Verdict::Enough);
        assert_eq!(
            raise(limit(Some(1024), Some(4096)), 4096),
            Verdict::Raise(limit(Some(4096), Some(4096)))
        );
        assert_eq!(raise(limit(Some(1024), Some(4096)), 4097), Verdict::TooLow(4096));
        assert_eq!(raise(limit(None, None), 1 << 40), Verdict::Enough);
        assert_eq!(raise(limit(Some(1), None), 7), Verdict::Raise(limit(Some(7), None)));
    }

    #[test]
    fn more_connections_than_files_is_an_error_that_says_what_to_do() {
        let hard = getrlimit(Resource::Nofile).maximum;
        let Some(hard) = hard.filter(|h| *h < 1 << 40) else {
            eprintln!("skipped: because this process may open any number of files");
            return;
        };
        let message = make_room(hard as usize, 1).unwrap_err().to_string();
        assert!(message.contains(&hard.to_string()) && message.contains("ulimit"), "{message}");
    }
}
