//! The `assay` program: parses the arguments, calls one library crate and prints its result.

mod arguments;
mod cli;
mod commands;
mod dispatch;
mod exit;
mod help;
mod memory;
mod progress;
mod screen;
mod shipped;
mod threads;
mod view;

use std::process::ExitCode;

use assay_system::process::container::inside;
use assay_system::process::guard;
use clap::{CommandFactory, FromArgMatches};

use crate::cli::{Cli, Verb};
use crate::exit::Exit;
use crate::screen::{complain, print, say, width};

fn main() -> ExitCode {
    #[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
    assay_system::process::static_names::configure();
    if std::env::args_os().len() == 1 {
        // A closed pipe on the reader's side is not a failure.
        let _ = print(help::START);
        return Exit::Fine.into();
    }
    if let Some(code) = internal() {
        return code;
    }
    let command = help::with_help(Cli::command(), width().min(80));
    let words = help::with_aliases(std::env::args_os().collect());
    let parsed = command.try_get_matches_from(&words).and_then(|m| Cli::from_arg_matches(&m));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            let text = help::unknown_verb(&error).or_else(|| help::not_utf8(&error, &words));
            if let Some(text) = text {
                say(&text);
                return Exit::Usage.into();
            }
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Fine };
            let render = error.render();
            if error.use_stderr() {
                let in_colour = || format!("assay: {}", help::plain(&render.ansi().to_string()));
                complain(&format!("assay: {}", help::plain(&render.to_string())), &in_colour);
            } else {
                let _ = error.print();
            }
            return code.into();
        }
    };
    let traces = match &cli.verb {
        Verb::Io(_) | Verb::Profile(_) | Verb::Syscalls(_) => true,
        Verb::Doctor(doctor) => !doctor.aa && !doctor.restore,
        _ => false,
    };
    if traces && let Err(error) = assay_system::process::tracing_copy::enter() {
        say(&format!("error: {error}"));
        return Exit::Failed.into();
    }
    match dispatch::dispatch(&cli) {
        Ok(exit) => {
            guard::dismiss();
            exit.into()
        }
        Err(error) => {
            // A closed pipe on the reader's side (`assay ... | head`) is not a failure.
            if is_broken_pipe(&error) {
                return Exit::Fine.into();
            }
            let code = exit::of_error(&error);
            report(&error);
            code.into()
        }
    }
}

/// Runs the verbs that assay starts itself with, which are no part of the command line and start
/// sooner without it; `None` for all others.
fn internal() -> Option<ExitCode> {
    let words = std::env::args_os().skip(1).take(3);
    let words: Vec<String> = words.map_while(|word| word.into_string().ok()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [guard::VERB] => guard::serve(),
        [inside::VERB, socket] => {
            return Some(u8::from(inside::serve(socket.as_ref()).is_err()).into());
        }
        ["__work", name, parameters] => {
            let code = assay_workloads::builtin::table::serve(name, parameters);
            return Some(u8::try_from(code).unwrap_or(1).into());
        }
        // Node and secret are given if `ssh` connects standard input and output.
        ["__agent", ref over_ssh @ ..] => {
            if let Err(error) = commands::agent(over_ssh.first().copied(), over_ssh.get(1).copied())
            {
                report(&error);
                return Some(ExitCode::FAILURE);
            }
        }
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|e| e.downcast_ref::<std::io::Error>())
        .any(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

fn report(error: &anyhow::Error) {
    let render: &dyn Fn(bool) -> String =
        if let Some(assay_lab::LabError::File(file)) = error.downcast_ref() {
            &|colour| file.render(colour)
        } else if let Some(post) = error.downcast_ref::<assay_publish::post::PostError>() {
            &|colour| post.render(colour)
        } else {
            return say(&format!("error: {}", sentence(error)));
        };
    complain(&render(false), &|| render(true));
}

/// Next steps for errors of the kernel that end a message, and so state none.
const NEXT_STEPS: [(&str, &str); 5] = [
    ("(os error 2)", "check the path"),
    ("(os error 13)", "run as its owner or as root, or change its mode"),
    ("(os error 17)", "choose another path, or remove what is there"),
    ("(os error 20)", "a part of this path is a file; give a folder"),
    ("valid UTF-8", "it is not a text, or not in UTF-8"),
];

/// Joins an error and its causes into one sentence, with a next step if it has none. Leaves out a
/// cause that the message contains already.
fn sentence(error: &anyhow::Error) -> String {
    let joined = error.chain().map(ToString::to_string).fold(String::new(), |message, cause| {
        if message.contains(&cause) {
            message
        } else if message.is_empty() {
            cause
        } else {
            format!("{message}: {cause}")
        }
    });
    match NEXT_STEPS.iter().find(|(end, _)| joined.ends_with(end)) {
        Some((_, step)) => format!("{joined}; {step}"),
        None => joined,
    }
}
