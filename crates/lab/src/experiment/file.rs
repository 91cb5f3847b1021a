//! Reads an experiment file. A mistake is reported with the file, the line, the problem and the
//! remedy.

use assay_model::{Experiment, SCHEMA_VERSION, nearest};
use assay_workloads::builtin::command;

use crate::error::FileError;

/// Size limit of an experiment file in bytes.
const MAX_SIZE: usize = 4 << 20;

/// Parses the text of an experiment file; `file` is its name in messages.
///
/// # Errors
/// The text is not TOML, has an unknown key or a value of the wrong type, or has a newer format.
pub fn read_experiment(file: &str, text: &str) -> Result<Experiment, FileError> {
    if text.len() > MAX_SIZE {
        return Err(FileError {
            file: file.to_owned(),
            text: String::new(),
            span: None,
            message: format!("the file is larger than {} MiB", MAX_SIZE >> 20),
            help: "use ranges, or fewer levels and excludes".to_owned(),
        });
    }
    let mut experiment: Experiment = toml::from_str(text).map_err(|e| FileError {
        file: file.to_owned(),
        text: text.to_owned(),
        span: e.span(),
        message: e
            .message()
            .trim()
            .replace("expected u32", "expected a whole number from 0 to 4294967295")
            .replace("expected u64", "expected a whole number from 0"),
        help: help_for(e.message()),
    })?;
    if experiment.schema_version > SCHEMA_VERSION {
        let v = experiment.schema_version;
        return Err(FileError::at(
            file,
            text,
            &["schema_version"],
            format!("the file has format {v}; this assay reads up to {SCHEMA_VERSION}"),
            "use a newer assay, or write the file in the older format".to_owned(),
        ));
    }
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    if experiment.name.is_empty()
        || experiment.name.len() > 80
        || !experiment.name.chars().all(good)
        || experiment.name.starts_with('.')
    {
        return Err(FileError::at(
            file,
            text,
            &["name"],
            format!("`{}` cannot be the name of an experiment", experiment.name),
            "use lower-case letters, digits, `-` and `.`, at most 80 of them".to_owned(),
        ));
    }
    if let Some(result) = experiment.result.take() {
        if experiment.workload != command::NAME {
            let message = format!("the workload `{}` has no [result]", experiment.workload);
            let help = "it belongs to the workload `command`; a kit has its own, in kit.toml";
            return Err(FileError::at(file, text, &["result"], message, help.to_owned()));
        }
        let given = [("reader", Some(result.reader)), ("result_file", result.path)];
        for (param, value) in given.into_iter().filter_map(|(k, v)| Some((k, v?))) {
            if experiment.params.insert(param.to_owned(), value.as_str().into()).is_some() {
                let message = format!("`{param}` is also given under [result]");
                return Err(FileError::at(file, text, &["params", param], message, String::new()));
            }
        }
    }
    Ok(experiment)
}

/// Suggests the most similar known key for an unknown one, or what to write instead.
fn help_for(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match message {
        m if m.contains("duplicate key") => return "keep one of the two lines".to_owned(),
        m if m.ends_with("expected a string") => return "write it in quotes".to_owned(),
        m if m.starts_with("missing field ") => {
            return format!("add a line `{} = ...`", quoted.next().unwrap_or_default());
        }
        _ => {}
    }
    let Some(unknown) = quoted.next().filter(|_| message.starts_with("unknown field")) else {
        return String::new();
    };
    nearest(unknown, quoted).map(|k| format!("did you mean `{k}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read_experiment("x.toml", text).unwrap_err().render(false)
    }

    #[test]
    fn an_unknown_key_is_pointed_at() {
        let e = error("name = \"a\"\nworkload = \"noop\"\n[design]\nblock = 3\n");
        assert!(e.contains("x.toml:4:1"), "{e}");
        assert!(e.contains("unknown field `block`"), "{e}");
        assert!(e.contains("did you mean `blocks`?"), "{e}");
    }

    #[test]
    fn a_reader_is_a_parameter_of_the_command() {
        let text =
            "name = \"a\"\nworkload = \"command\"\n[result]\nreader = \"jmh\"\npath = \"out\"\n";
        let read = read_experiment("x.toml", text).unwrap();
        assert_eq!(read.params["reader"].to_text(), "jmh");
        assert_eq!(read.params["result_file"].to_text(), "out");
        let e = error(&format!("{text}[params]\nreader = \"fio\"\n"));
        assert!(e.contains("`reader` is also given under [result]"), "{e}");
        let e = error(&text.replace("command", "noop"));
        assert!(e.contains("the workload `noop` has no [result]"), "{e}");
    }

    #[test]
    fn a_wrong_type_is_pointed_at() {
        let e = error("name = \"a\"\nworkload = \"noop\"\n[design]\nblocks = \"many\"\n");
        assert!(e.contains("x.toml:4:10"), "{e}");
        let e = error("name = \"a\"\nworkload = \"noop\"\n[factors]\nlevel = 3\n");
        assert!(e.contains("expected levels such as [1, 2]"), "{e}");
        let e = error("name = \"a\"\n");
        assert!(e.contains("missing field `workload`"), "{e}");
    }

    #[test]
    fn a_name_is_not_a_path() {
        let e = error("workload = \"noop\"\nname = \"../x\"\n");
        assert!(e.contains("x.toml:2:8") && e.contains("lower-case"), "{e}");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,200}") {
            if let Err(e) = read_experiment("x", &text) {
                let _ = e.render(true);
            }
        }
    }
}
