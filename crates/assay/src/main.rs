//! The command line of assay: parses what was typed, calls one crate, prints what came back.

mod cli;
mod commands;
mod exit;
mod help;
mod progress;
mod shipped;
mod view;

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use assay_report::terminal::{painted, printable, printable_json};
use clap::{CommandFactory, FromArgMatches};

use crate::cli::{Cli, Verb};
use crate::exit::Exit;

fn main() -> ExitCode {
    if std::env::args_os().len() == 1 {
        // A reader that went away is no failure.
        let _ = print(help::START);
        return Exit::Fine.into();
    }
    let command = help::with_help(Cli::command(), width().min(80));
    let parsed = command.try_get_matches().and_then(|m| Cli::from_arg_matches(&m));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(text) = help::unknown_verb(&error) {
                complain(&text, &|| text.clone());
                return Exit::Usage.into();
            }
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Fine };
            let render = error.render();
            if error.use_stderr() {
                complain(&render.to_string(), &|| render.ansi().to_string());
            } else {
                let _ = error.print();
            }
            return code.into();
        }
    };
    if let Verb::Work { name, parameters } = &cli.verb {
        let code = assay_workloads::work::serve(name, parameters.as_deref().unwrap_or("{}"));
        return ExitCode::from(u8::try_from(code).unwrap_or(1));
    }
    if matches!(cli.verb, Verb::Agent) {
        return match commands::agent() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                report(&error);
                ExitCode::FAILURE
            }
        };
    }
    match commands::dispatch(&cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            // A reader that went away (`assay ... | head`) is no failure.
            if is_broken_pipe(&error) {
                return Exit::Fine.into();
            }
            let code = exit::of_error(&error);
            report(&error);
            code.into()
        }
    }
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
        } else if let Some(post) = error.downcast_ref::<assay_report::post::PostError>() {
            &|colour| post.render(colour)
        } else {
            return say(&format!("error: {}", sentence(error)));
        };
    complain(&render(false), &|| render(true));
}

/// A longer complaint, on standard error: in colour where that is wanted and nothing in it is not ours.
fn complain(plain: &str, coloured: &dyn Fn() -> String) {
    let safe = printable(plain);
    let mut err = std::io::stderr();
    let text = if safe == plain && colour(&err) { coloured() } else { safe };
    let _ = writeln!(err, "{}", text.trim_end_matches('\n'));
}

/// An error with its causes, each once: some messages hold their cause already.
fn sentence(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |so_far, cause| {
        if so_far.contains(&cause) {
            so_far
        } else if so_far.is_empty() {
            cause
        } else {
            format!("{so_far}: {cause}")
        }
    })
}

/// Whether to colour what goes to this stream.
pub fn colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// A sentence for the person, on standard error.
pub fn say(sentence: &str) {
    let sentence = printable(sentence);
    let mut err = std::io::stderr();
    let columns = columns(&err);
    let _ = writeln!(err, "{}", wrap_to(&format!("assay: {sentence}"), "", "  ", columns));
}

/// A result, on standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    put(&printable(text))
}

/// A result that was written with [`style`], on standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_styled(text: &str) -> anyhow::Result<()> {
    put(&painted(text))
}

/// A result as JSON, on standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_json_text(&serde_json::to_string_pretty(value)?)
}

/// JSON that is text already, on standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_json_text(json: &str) -> anyhow::Result<()> {
    put(&printable_json(json))
}

fn put(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// How results are written here.
pub fn style() -> assay_report::terminal::Style {
    let out = std::io::stdout();
    let utf8 = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()))
        .is_none_or(|v| v.to_uppercase().replace('-', "").contains("UTF8"));
    assay_report::terminal::Style {
        width: width(),
        colour: colour(&out),
        glyphs: if utf8 {
            assay_report::terminal::Glyphs::Unicode
        } else {
            assay_report::terminal::Glyphs::Ascii
        },
    }
}

/// How wide the terminal of standard output is; 80 when it is none.
pub fn width() -> usize {
    columns(&std::io::stdout())
}

fn columns(stream: &(impl IsTerminal + AsFd)) -> usize {
    if !stream.is_terminal() {
        return 80;
    }
    rustix::termios::tcgetwinsize(stream).map_or(80, |size| usize::from(size.ws_col).clamp(40, 200))
}

/// Breaks a sentence at blanks so that no line is wider than the terminal, or 80 (unless a word is).
pub fn wrap(text: &str, first: &str, rest: &str) -> String {
    wrap_to(text, first, rest, width().min(80))
}

/// The same for lines of so many columns.
pub fn wrap_to(text: &str, first: &str, rest: &str, columns: usize) -> String {
    let mut lines = vec![first.to_owned()];
    let mut empty = true;
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !empty && line.chars().count() + 1 + word.chars().count() > columns {
            lines.push(format!("{rest}{word}"));
            continue;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.join("\n")
}
