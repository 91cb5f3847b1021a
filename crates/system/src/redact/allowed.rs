//! Names whose values are recorded in clear: `allowed.txt` lists them with reasons. The values of
//! all other names are recorded as keyed hashes.

use std::sync::LazyLock;

/// A group of names, and the aspect of performance that they change.
pub(crate) type AllowedNames = (&'static str, Vec<&'static str>);

/// Environment variables whose values are recorded.
pub(crate) static ENVIRONMENT: LazyLock<Vec<AllowedNames>> =
    LazyLock::new(|| table("[environment]"));
/// Parameters of the kernel's command line whose values are recorded.
pub(crate) static KERNEL_PARAMETERS: LazyLock<Vec<AllowedNames>> =
    LazyLock::new(|| table("[kernel parameters]"));
/// Mount options whose values are recorded. Options without a value are always recorded.
pub(crate) static MOUNT_OPTIONS: LazyLock<Vec<AllowedNames>> =
    LazyLock::new(|| table("[mount options]"));

/// Returns the rows below a heading of `allowed.txt`.
fn table(heading: &str) -> Vec<AllowedNames> {
    let lines = include_str!("allowed.txt").lines().skip_while(|line| *line != heading).skip(1);
    let mut rows: Vec<AllowedNames> = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        let names = match line.split_once(": ") {
            Some((title, names)) => {
                rows.push((title, Vec::new()));
                names
            }
            None => line,
        };
        let row = rows.last_mut().expect("a title in allowed.txt");
        row.1.extend(names.split_whitespace());
    }
    rows
}

/// True if a name is in a table.
pub(crate) fn lists(table: &[AllowedNames], name: &str) -> bool {
    table.iter().flat_map(|(_, names)| names).any(|p| fits(p, name))
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// True if the value of an environment variable is recorded: the table lists it, or the experiment
/// names it. A variable whose name suggests a secret must be named by the experiment.
pub(crate) fn variable(name: &str, also: &[String]) -> bool {
    also.iter().any(|p| fits(p, name))
        || (lists(&ENVIRONMENT, name) && crate::redact::token::proof_of(name).is_none())
}

/// Returns the kernel's command line with the values of unlisted parameters replaced.
pub(crate) fn kernel_line(line: &str, stand_in: &dyn Fn(&str) -> String) -> String {
    words(line)
        .map(|word| match word.split_once('=') {
            Some((name, _)) if lists(&KERNEL_PARAMETERS, name) => word.to_owned(),
            Some((name, value)) => format!("{name}={}", stand_in(value)),
            None if lists(&KERNEL_PARAMETERS, word) || is_plain(word) => word.to_owned(),
            None => stand_in(word),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// True for a switch without a value: short, and only letters, `_`, `-` and `.`.
fn is_plain(word: &str) -> bool {
    word.len() <= 24 && word.bytes().all(|b| b.is_ascii_lowercase() || b"_-.".contains(&b))
}

/// Returns the words of a command line; blanks within double quotes do not separate words.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    line.split(move |c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    })
    .filter(|w| !w.is_empty())
}

/// Returns mount options with the values of unlisted ones replaced.
pub(crate) fn mount_options(options: &str, stand_in: &dyn Fn(&str) -> String) -> String {
    options
        .split(',')
        .map(|option| match option.split_once('=') {
            Some((name, _)) if lists(&MOUNT_OPTIONS, name) => option.to_owned(),
            Some((name, value)) => format!("{name}={}", stand_in(value)),
            None => option.to_owned(),
        })
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_performance_is_kept_and_nothing_else() {
        for name in ["PATH", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX", "LC_ALL", "GOGC"] {
            assert!(variable(name, &[]), "{name}");
        }
        for name in ["JWT", "SLACK_WEBHOOK", "PGPASS", "MY_CRED", "HOME", "USER", "UCX_AUTH_TOKEN"]
        {
            assert!(!variable(name, &[]), "{name}");
        }
        assert!(variable("MY_MODE", &["MY_*".to_owned()]));
    }

    #[test]
    fn lines_keep_their_shape() {
        let x = |_: &str| "X".to_owned();
        let line = "BOOT_IMAGE=/boot/v root=/dev/sda1 ro quiet isolcpus=2,3 a.pw=\"s p\" MiXed9";
        assert_eq!(kernel_line(line, &x), "BOOT_IMAGE=X root=X ro quiet isolcpus=2,3 a.pw=X X");
        let options = "rw,noatime,vers=3.1.1,username=eve,password=x,rsize=65536";
        assert_eq!(
            mount_options(options, &x),
            "rw,noatime,vers=3.1.1,username=X,password=X,rsize=65536"
        );
    }
}
