//! Checks the `[on]` section of an experiment, which names its hooks.

use assay_model::Experiment;
use assay_workloads::split_words;

use crate::error::{Result, wrong};

/// Checks the hooks of an experiment.
///
/// # Errors
/// Both are given, the command cannot be split into words, or the address is not one of the web.
pub(crate) fn check(experiment: &Experiment) -> Result<()> {
    let hooks = &experiment.on;
    let (key, fault, help) = match (&hooks.confirmed, &hooks.webhook) {
        (Some(_), Some(_)) => ("webhook", "both `confirmed` and `webhook`".into(), "give one"),
        (Some(line), None) => match split_words(line) {
            Ok(words) if !words.is_empty() => return Ok(()),
            Ok(_) => ("confirmed", "an empty `confirmed`".into(), "give a command line"),
            Err(e) => ("confirmed", format!("`confirmed`, and {e}"), "close it"),
        },
        (None, Some(url)) if !is_address(url) => {
            let help = "write webhook = \"https://...\", without blanks and quotes";
            ("webhook", format!("the webhook `{url}`, which is not an address"), help)
        }
        _ => return Ok(()),
    };
    Err(wrong(&["on", key], format!("[on] has {fault}"), help))
}

fn is_address(url: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && !['"', '\\'].contains(&c);
    let host = ["https://", "http://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    host.is_some_and(|host| !host.is_empty() && host.chars().all(plain))
}
