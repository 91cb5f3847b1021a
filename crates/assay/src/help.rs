//! Additions to the help that clap makes from the options: the groups of verbs (clap has one
//! heading for all), the examples of each verb, and the text of bare `assay`.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::screen::wrap_to;

/// Groups of verbs (`= TITLE`), the verbs of each in the order of the list (`- VERB`), and their
/// examples. The first two examples of a verb run anywhere as they are, in this order, which a test
/// does; others need files or a server. A note may follow the examples.
const VERBS: &str = include_str!("verbs.txt");

/// Title of a group, and its verbs with their examples.
type VerbGroup = (&'static str, Vec<(&'static str, &'static str)>);

fn groups() -> impl Iterator<Item = VerbGroup> {
    VERBS.trim_start_matches("= ").split("\n= ").map(|group| {
        let mut parts = group.split("\n- ");
        let title = parts.next().unwrap_or_default();
        (title, parts.filter_map(|verb| verb.split_once('\n')).collect())
    })
}

/// Adds the groups and examples to the help of a command, for a terminal of `columns` columns.
pub fn with_help(command: Command, columns: usize) -> Command {
    let list = list(&command, columns);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n\
        {{options}}{{after-help}}"
    );
    let verbs = groups().flat_map(|(_, verbs)| verbs);
    verbs.fold(command.help_template(template), |command, (verb, examples)| {
        let examples = format!("Examples:\n{}", examples.trim_end());
        command.mut_subcommand(verb, |c| c.after_help(examples))
    })
}

/// Makes a negative number the value of the option before it, not another option.
pub fn with_negative_numbers(verb: Command) -> Command {
    verb.mut_args(|a| {
        let takes = a.get_long().is_some() && a.get_action().takes_values();
        if takes { a.allow_negative_numbers(true) } else { a }
    })
}

/// Formats the verbs in their groups, each with its summary, wrapped to `columns`.
fn list(command: &Command, columns: usize) -> String {
    let widest = command.get_subcommands().map(|c| c.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (title, verbs) in groups() {
        let _ = writeln!(text, "{title}:");
        for (verb, _) in verbs {
            let about = command.find_subcommand(verb).and_then(Command::get_about);
            let first = format!("  {verb:<widest$}  ");
            let rest = " ".repeat(first.len());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "{}", wrap_to(&about, &first, &rest, columns));
        }
        text.push('\n');
    }
    text
}

/// Rewrites `assay list` and `assay show` as `assay archive list` and `assay archive show`.
pub fn with_aliases(mut words: Vec<OsString>) -> Vec<OsString> {
    let value_of = |at: usize| words[at - 1] == "--archive";
    let verb = (1..words.len())
        .find(|at| !words[*at].to_string_lossy().starts_with('-') && !value_of(*at));
    if let Some(at) = verb.filter(|at| words[*at] == "list" || words[*at] == "show") {
        words.insert(at, "archive".into());
    }
    words
}

/// Rewrites an error message of clap in plain words.
pub fn plain(message: &str) -> String {
    // An option that the environment sets is not missing.
    let mut text = message
        .replace("--archive <DIR> ", "")
        .replace("invalid socket address syntax", "write it as 127.0.0.1:7654")
        .replace("invalid digit found in string", "a whole number is needed");
    if let Some((before, after)) = text.split_once(" is not in ") {
        let (range, rest) = after.split_once('\n').unwrap_or((after, ""));
        let (first, last) = range.split_once("..").unwrap_or((range, ""));
        let last = last.trim_start_matches('=');
        let takes = if last.len() > 10 { "or more".to_owned() } else { format!("to {last}") };
        text = format!("{before} is out of range; it takes {first} {takes}\n{rest}");
    }
    // No command line takes an unknown option as a value, so this tip is never right.
    text.split_inclusive('\n').filter(|line| !line.contains("to pass '")).collect()
}

/// Returns the message for an argument that is not in UTF-8, as only those after `--` may be.
pub fn not_utf8(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let refused = || words.iter().take_while(|w| *w != "--").position(|w| w.to_str().is_none());
    let at = (error.kind() == ErrorKind::InvalidUtf8).then(refused).flatten()?;
    let before = words[at - 1].to_string_lossy();
    let shown = words[at].as_encoded_bytes().escape_ascii();
    Some(format!(
        "error: the argument `{shown}` after `{before}` is not in UTF-8, as only a command after \
         `--` may be; rename the file, or link it by another name"
    ))
}

/// Returns the message for an unknown verb, with the most similar known one (clap suggests none for
/// short words), or `None` for any other error. A verb within another is not compared with those of
/// assay.
pub fn unknown_verb(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let words = usage.split_whitespace().skip_while(|word| *word != "assay");
    let above: Vec<&str> = words.take_while(|word| !word.starts_with(['[', '<'])).collect();
    if let ["assay", _, ..] = above[..] {
        let above = above.join(" ");
        return Some(format!("error: {above} has no verb `{typed}`; `{above} --help` lists them"));
    }
    let mut verbs = groups().flat_map(|(_, verbs)| verbs).map(|(verb, _)| verb);
    Some(match assay_model::nearest(typed, &mut verbs) {
        Some(verb) => format!("error: there is no verb `{typed}`; did you mean `assay {verb}`?"),
        None => format!("error: there is no verb `{typed}`; `assay --help` lists them"),
    })
}

/// Text that bare `assay` prints.
pub const START: &str = "\
assay runs system benchmarks, watches the machine while they run, compares them
honestly, and publishes pages whose every number leads back to a run.

Three commands that work at once:
  assay run --blocks 8 --vs 'sleep 0.02' -- sleep 0.01   compare two commands
  assay stat -n 3                                        what the machine does
  assay doctor                                           is the machine quiet?

All verbs: assay --help; one of them, with examples: assay VERB --help
";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_verb_that_is_not_internal_has_one_row_and_examples() {
        let command = Cli::command();
        let mut visible: Vec<&str> =
            command.get_subcommands().filter(|c| !c.is_hide_set()).map(Command::get_name).collect();
        let mut rows: Vec<_> = groups().flat_map(|(_, verbs)| verbs).collect();
        visible.sort_unstable();
        rows.sort_unstable();
        assert_eq!(rows.iter().map(|(verb, _)| *verb).collect::<Vec<_>>(), visible);
        for (verb, examples) in rows {
            let count = examples.lines().filter(|l| l.starts_with("  ")).count();
            assert!(count >= 2 || examples.contains("\n\n"), "{verb}: {examples}");
        }
    }

    #[test]
    fn aliases_and_messages() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (typed, meant) in [
            ("assay list", "assay archive list"),
            ("assay --archive a --json show last", "assay --archive a --json archive show last"),
            ("assay archive list", "assay archive list"),
            ("assay run -- list", "assay run -- list"),
        ] {
            assert_eq!(with_aliases(words(typed)), words(meant));
        }
        let parse = |typed: &str| {
            let command = with_help(Cli::command(), 80);
            plain(&command.try_get_matches_from(words(typed)).unwrap_err().to_string())
        };
        assert!(parse("assay run --blocks x").contains("a whole number is needed"));
        assert!(parse("assay run --blocks -3").contains("'-3'"));
        assert!(parse("assay run --blocks 99999999999").contains("takes 0 to 4294967295"));
    }

    #[test]
    fn the_list_fits_narrow_terminals_and_has_nothing_internal() {
        for columns in [40, 60, 80] {
            let command = with_help(Cli::command().term_width(columns), columns);
            let list = list(&command, columns);
            assert!(list.lines().all(|l| l.chars().count() <= columns), "{list}");
            // Lines break only at spaces: joined again, they are the summaries of the verbs.
            let joined = list.split_whitespace().collect::<Vec<_>>().join(" ");
            for (verb, _) in groups().flat_map(|(_, verbs)| verbs) {
                let about = command.find_subcommand(verb).and_then(Command::get_about);
                assert!(joined.contains(&about.unwrap().to_string()), "{verb}");
            }
            assert!(!command.clone().render_long_help().to_string().contains("__"));
        }
    }
}
