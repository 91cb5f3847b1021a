//! Makes the reference pages of the documentation (`docs/reference/`) from the code that they
//! describe: the keys of an experiment from its schema, workloads, controls and monitors from their
//! specs, checks from their rows, verbs and exit codes from the command line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use assay_model::{Better, Experiment, WorkloadSpec};
use assay_workloads::{KitPaths, registry};
use clap::{Command, CommandFactory};
use serde_json::{Map, Value};
use toml::Table;

use crate::cli::Cli;
use crate::commands::workloads::kind;
use crate::exit::EXIT_CODES;
use crate::help;
use crate::screen::write_file;
use crate::shipped;

/// Width of the help texts in columns.
const COLUMNS: usize = 100;

/// Compares the pages with those of the documentation. `make reference` writes them.
#[test]
fn the_reference_is_what_the_code_says() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    if std::env::var_os("ASSAY_WRITE_REFERENCE").is_some() {
        return write(Cli::command(), &kept).unwrap();
    }
    let made = tempfile::tempdir().unwrap();
    write(Cli::command(), made.path()).unwrap();
    for below in ["", "kits"] {
        let [made, kept] = [made.path(), &kept].map(|at| {
            let files = fs::read_dir(at.join(below)).unwrap().map(|entry| entry.unwrap().path());
            let files = files.filter(|path| path.is_file());
            let page =
                |path: PathBuf| (path.file_name().unwrap().to_owned(), fs::read(&path).unwrap());
            files.map(page).collect::<BTreeMap<_, _>>()
        });
        assert!(made.keys().eq(kept.keys()), "{:?}\n{:?}", made.keys(), kept.keys());
        for (name, page) in made {
            assert!(page == kept[&name], "{below}/{} is old: run `make reference`", name.display());
        }
    }
}

/// Writes the reference pages into a folder.
fn write(all: Command, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let pages = [
        ("experiment.md", keys_of(EXPERIMENT, schemars::schema_for!(Experiment))),
        ("kit.md", keys_of(KIT, assay_workloads::kit::kit_schema())),
        ("workloads.md", workloads()),
        ("kits.md", kits(folder)?),
        ("controls.md", controls()),
        ("monitors.md", monitors()),
        ("checks.md", assay_checks::markdown()),
        ("command-line.md", command_line(all)),
    ];
    for (name, text) in pages {
        let path = folder.join(name);
        write_file(&path, text)?;
    }
    Ok(())
}

/// Formats the page about controls.
fn controls() -> String {
    let mut out = String::from(
        "# Controls\n\nThe [controls](../controls.md), their needs, and what they restore.\n\n| \
         control | what it sets | levels | scope | needs | restored |\n|---|---|---|---|---|---|\n",
    );
    for spec in assay_system::all().iter().map(|c| c.spec()) {
        let name = match (spec.keyed, spec.key) {
            (true, _) => format!("`{}.KEY`", spec.name),
            (false, "") => format!("`{}`", spec.name),
            (false, _) => format!("`{0}`, `{0}.KEY`", spec.name),
        };
        let key =
            if spec.key.is_empty() { String::new() } else { format!(" KEY is {}.", spec.key) };
        let (help, scope) = (spec.help, spec.scope.name());
        let (levels, needs, restored) = (spec.levels, spec.needs, spec.put_back);
        let _ =
            writeln!(out, "| {name} | {help}{key} | {levels} | {scope} | {needs} | {restored} |");
    }
    out
}

const MONITORS: &str = "\
# Monitors

Samples of `observe.monitors` in an experiment and of `assay stat`, from the kernel's own counters.
Every row has a time (nanoseconds of `CLOCK_MONOTONIC`, the clock of the whole run) and covers the
interval that *ends* then. The first reading is the base of the first interval and gives no row. A
value that is not available is missing (`null`), never 0: a mean without events, a counter that went
backwards, a column that this kernel lacks. What a monitor could not read, and why, is in the record
of the trial.

*Chart* is the chart of the field over time in the page of a run and in the live view; fields
without one are drawn by monitor and unit.
";

/// Formats the page about monitors, with their fields.
fn monitors() -> String {
    let mut out = MONITORS.to_owned();
    for spec in assay_observe::every() {
        let (name, help, subjects) = (spec.name, spec.help, spec.subjects);
        let _ = write!(out, "\n## {name}\n\n{help}\n\nSubjects: {subjects}.\n\n");
        out.push_str("| field | unit | better | chart | meaning |\n|---|---|---|---|---|\n");
        for f in spec.fields {
            let better = f.better.map_or("", Better::words);
            let chart = f.chart.map_or("", |(chart, _)| chart.title);
            let _ =
                writeln!(out, "| `{}` | {} | {better} | {chart} | {} |", f.name, f.unit, f.help);
        }
    }
    out
}

/// Formats a text as a cell of a table: in one line, with escaped bars.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

const EXPERIMENT: &str = "\
# Experiment files

Every key of an experiment's TOML file. How to write one: [experiments](../experiments.md). The same
as JSON Schema: [experiment.schema.json](../schema/experiment.schema.json).

";

const KIT: &str = "\
# Kit files

Every key of a `kit.toml`. How to write one: [kits](../workloads/kits.md). The same as JSON Schema:
[kit.schema.json](../schema/kit.schema.json).

";

/// Formats the page about a TOML file: its heading, and a table of keys for each of its tables.
fn keys_of(heading: &str, schema: schemars::Schema) -> String {
    let schema = schema.to_value();
    let mut text = heading.to_owned();
    let empty = Map::new();
    let properties = |of: &Value| of["properties"].as_object().cloned().unwrap_or_default();
    let definitions = schema["$defs"].as_object().unwrap_or(&empty);
    let target = |of: &Value| {
        let name = of["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/"))?;
        Some((name.to_owned(), definitions.get(name)?.clone()))
    };
    let table = |text: &mut String, keys: &Map<String, Value>, required: &Value| {
        let required = required.as_array().map_or(&[][..], Vec::as_slice);
        text.push_str("| key | type | default | |\n|---|---|---|---|\n");
        for (key, of) in keys {
            let default = match (&of["default"], required.iter().any(|r| r == key)) {
                (_, true) => "required".to_owned(),
                (Value::Null, false) => String::new(),
                (default, false) => format!("`{default}`"),
            };
            let (kind, choices) = (kind_of(of, &target), choices(of, &target));
            let meaning = of["description"].as_str().unwrap_or_default();
            let _ = writeln!(
                text,
                "| `{key}` | {} | {} | {} |",
                cell(&kind),
                cell(&default),
                cell(&format!("{meaning} {choices}"))
            );
        }
        text.push('\n');
    };
    // A table of its own: the value, the value if it is given, each of a list, or each by name.
    let below = |of: &Value| {
        let optional = of["anyOf"].as_array().and_then(|any| target(any.first()?));
        let named = || target(&of["additionalProperties"]);
        let found = target(of).or(optional).map(|found| (found, ""));
        let listed = || target(&of["items"]);
        let found = found.or_else(|| Some((listed()?, "[]")));
        let found = found.or_else(|| Some((named()?, ".NAME")));
        found.filter(|((_, definition), _)| definition["properties"].is_object())
    };
    let top = properties(&schema);
    let own = |of: &Value| below(of).is_some();
    let plain = top.iter().filter(|(_, of)| !own(of)).map(|(k, v)| (k.clone(), v.clone()));
    table(&mut text, &plain.collect(), &schema["required"]);
    let mut tables: Vec<(String, Value)> = top.into_iter().rev().collect();
    while let Some((key, of)) = tables.pop() {
        let Some(((_, definition), name)) = below(&of) else { continue };
        let meaning = of["description"].as_str().unwrap_or_default();
        let title = if name == "[]" { format!("[[{key}]]") } else { format!("[{key}{name}]") };
        let _ = writeln!(text, "## `{title}`\n\n{meaning}\n");
        let keys = properties(&definition);
        table(&mut text, &keys, &definition["required"]);
        tables.extend(keys.into_iter().rev().map(|(k, v)| (format!("{key}.{k}"), v)));
    }
    text.trim_end().to_owned() + "\n"
}

type Target<'a> = &'a dyn Fn(&Value) -> Option<(String, Value)>;

/// Describes the type of a schema in words.
fn kind_of(of: &Value, target: Target<'_>) -> String {
    if let Some((name, definition)) = target(of) {
        return match name.as_str() {
            "Scalar" | "Scalar2" => "value".to_owned(),
            "Command" => "command".to_owned(),
            "FactorLevels" => "list of levels, or a range".to_owned(),
            _ if definition["oneOf"].is_array() => "choice".to_owned(),
            _ => "table".to_owned(),
        };
    }
    let several = of["anyOf"].as_array().or_else(|| of["oneOf"].as_array());
    if let Some(all) = several {
        let kinds = all.iter().filter(|one| one["type"] != "null").map(|one| kind_of(one, target));
        return kinds.collect::<Vec<_>>().join(" or ");
    }
    let named = |kind: &str| match kind {
        "boolean" => "true or false".to_owned(),
        "integer" => "whole number".to_owned(),
        "string" => "text".to_owned(),
        "array" => format!("list of {}", kind_of(&of["items"], target)),
        "object" => match &of["additionalProperties"] {
            Value::Object(_) => {
                format!("table of {}", kind_of(&of["additionalProperties"], target))
            }
            _ => "table".to_owned(),
        },
        other => other.to_owned(),
    };
    match &of["type"] {
        Value::String(kind) => named(kind),
        Value::Array(kinds) => {
            let kinds = kinds.iter().filter_map(Value::as_str).filter(|k| *k != "null");
            kinds.map(named).collect::<Vec<_>>().join(" or ")
        }
        _ => "value".to_owned(),
    }
}

/// Lists the values of a choice, each with its meaning.
fn choices(of: &Value, target: Target<'_>) -> String {
    let Some((_, definition)) = target(of) else { return String::new() };
    let all = definition["oneOf"].as_array().into_iter().flatten();
    let each = all.filter_map(|one| {
        let meaning = one["description"].as_str().unwrap_or_default();
        Some(format!("`{}`: {}", one["const"].as_str()?, meaning.trim_end_matches('.')))
    });
    each.collect::<Vec<_>>().join("; ")
}

fn workloads() -> String {
    let mut text = String::from(
        "# Workloads\n\nThe built-in workloads, with every parameter and metric. The first metric \
         decides. [Kits](kits.md) have\npages of their own.\n",
    );
    for spec in registry::specs(&KitPaths::default()) {
        workload(&spec, &mut text);
    }
    text
}

/// Writes a page for each kit, and formats the page that lists them.
fn kits(folder: &Path) -> Result<String> {
    let shipped = |name| shipped::folder(name).context("cannot unpack the files of assay");
    let read = |path: &Path| Ok::<_, anyhow::Error>(fs::read_to_string(path)?.parse::<Table>()?);
    let mut experiments = BTreeMap::new();
    for entry in fs::read_dir(shipped("experiments")?)?.flatten() {
        experiments.insert(entry.file_name().display().to_string(), read(&entry.path())?);
    }
    fs::create_dir_all(folder.join("kits"))?;
    let paths = KitPaths { roots: vec![shipped("kits")?], ..KitPaths::default() };
    let mut list = String::from("# Kits\n\nThose that come with assay.\n\n| kit | |\n|---|---|\n");
    for (name, dir) in paths.kits() {
        let found = registry::find(&name, &paths)?;
        let own = experiments.iter().filter(|e| e.1["workload"].as_str() == Some(&name));
        let links = own.map(|(file, _)| format!("[{file}](../../../experiments/{file})"));
        let links: Vec<String> = links.collect();
        let links = if links.is_empty() { "none".to_owned() } else { links.join(", ") };
        let mut file = read(&dir.join("kit.toml")).or_else(|_| read(&dir.join("suite.toml")))?;
        file.retain(|key, _| ["members", "need", "fetch", "validate", "result"].contains(&key));
        let mut page = String::new();
        workload(found.spec(), &mut page);
        let page = page.trim_start().replacen("##", "#", 1);
        let text = format!(
            "{page}\n## Experiments\n\n{links}\n\n## Packages and checks\n\nThe program must end \
             with exit code 0. [Keys](../kit.md) of the kit's file:\n\n```toml\n{file}```\n"
        );
        write_file(&folder.join("kits").join(format!("{name}.md")), text)?;
        let _ = writeln!(list, "| [{name}](kits/{name}.md) | {} |", found.spec().help);
    }
    Ok(list)
}

fn workload(spec: &WorkloadSpec, text: &mut String) {
    let _ = writeln!(text, "\n## {}\n\n{}", spec.name, spec.help);
    if !spec.params.is_empty() {
        text.push_str("\n| parameter | type | default | |\n|---|---|---|---|\n");
    }
    for p in &spec.params {
        let default = match &p.default {
            None => "required".to_owned(),
            Some(value) if value.to_text().is_empty() => String::new(),
            Some(value) => format!("`{value}`"),
        };
        let (kind, help) = (cell(&kind(&p.ty)), cell(&p.help));
        let _ = writeln!(text, "| `{}` | {kind} | {} | {help} |", p.name, cell(&default));
    }
    if !spec.metrics.is_empty() {
        text.push_str("\n| metric | unit | | |\n|---|---|---|---|\n");
    }
    for m in &spec.metrics {
        let (better, help) = (m.better.words(), cell(&m.help));
        let _ = writeln!(text, "| `{}` | {} | {better} | {help} |", m.name, m.unit);
    }
}

fn command_line(all: Command) -> String {
    let mut command = help::with_help(all, COLUMNS).disable_help_subcommand(true);
    command.build();
    let mut text = format!(
        "# Command line\n\nWhat `assay VERB --help` prints.\n\n```text\n{EXIT_CODES}\n```\n"
    );
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        section(verb, "assay", 2, &mut text);
    }
    text
}

fn section(command: &Command, before: &str, level: usize, text: &mut String) {
    let name = format!("{before} {}", command.get_name());
    let shown = command.clone().term_width(COLUMNS);
    let mut shown = shown.mut_args(|argument| argument.hide_env_values(true));
    let help = shown.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = writeln!(
        text,
        "\n{} {name}\n\n```text\n{}\n```",
        "#".repeat(level),
        lines.join("\n").trim()
    );
    for below in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        section(below, &name, level + 1, text);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use assay_workloads::split_words;
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    /// Returns the code lines of a page that call assay, without comments and shell redirections
    /// and pipes.
    fn commands(page: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut lines = page.lines().peekable();
        while let Some(line) = lines.next() {
            // An example of a refusal.
            if lines.peek().is_some_and(|next| next.trim_start().starts_with("assay: error:")) {
                continue;
            }
            let mut line = line.trim_start().trim_start_matches("$ ").to_owned();
            if !line.starts_with("assay ") {
                continue;
            }
            while let Some(open) = line.strip_suffix('\\') {
                line = format!("{open} {}", lines.next().unwrap_or_default().trim());
            }
            let ends = [" # ", "  #", " | ", " > ", " 2> ", " && ", " &"];
            let end = ends.iter().filter_map(|end| line.find(end)).min().unwrap_or(line.len());
            found.push(line[..end].to_owned());
        }
        found
    }

    fn lacks_something(e: &clap::Error) -> bool {
        use clap::error::ErrorKind::{
            DisplayHelpOnMissingArgumentOrSubcommand, InvalidValue, MissingRequiredArgument,
            MissingSubcommand,
        };
        // An inline command may end in a flag without its value.
        if e.kind() == InvalidValue {
            return e.to_string().contains("but none was supplied");
        }
        matches!(
            e.kind(),
            DisplayHelpOnMissingArgumentOrSubcommand | MissingRequiredArgument | MissingSubcommand
        )
    }

    #[test]
    fn flags_keep_their_earlier_names() {
        for line in ["assay run --on here noop", "assay run --wait-turn noop"] {
            assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
        }
    }

    #[test]
    fn every_command_of_the_documentation_is_one_that_assay_takes() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pages = vec![root.join("README.md")];
        let paths = |folder: &PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
        let folders = paths(&root.join("docs")).map(|e| e.path());
        pages.extend(folders.flat_map(|folder| paths(&folder)).map(|e| e.path()));
        pages.retain(|p| {
            p.extension().is_some_and(|e| e == "md") && !p.ends_with("reference/command-line.md")
        });
        let (mut checked, mut wrong) = (0, Vec::new());
        for page in pages {
            let text = fs::read_to_string(&page).expect("a page");
            // Only code counts: a line of prose may begin with the name.
            let mut fenced = false;
            let code = text.lines().filter(|line| {
                let fence = line.trim_start().starts_with("```");
                fenced ^= fence;
                !fence && (fenced || line.starts_with("    "))
            });
            let code = code.collect::<Vec<_>>().join("\n");
            let mut check = |line: &str, whole: bool| {
                // A variable of the shell becomes a part of its word.
                let line = &line.replace('$', "");
                let words = help::with_aliases(split_words(line).unwrap_or_default());
                checked += 1;
                if let Err(e) = Cli::try_parse_from(words)
                    && e.use_stderr()
                    && (whole || !lacks_something(&e))
                {
                    wrong.push(format!("{}: {line}\n{e}", page.display()));
                }
            };
            for line in &commands(&code) {
                check(line, true);
            }
            // An inline command may omit required arguments, but must not name a flag that does not
            // exist.
            let spans = text.split('`').skip(1).step_by(2).filter(|s| s.starts_with("assay "));
            spans.filter(|s| !s.contains("...")).for_each(|span| check(span, false));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(checked > 100, "{checked} commands");
    }
}
