//! Files that depend on each other in a circle can only be understood together: no crate may have a
//! circle of more than three files. Between the folders and files at a crate's root, arrows go one
//! way.
//!
//! An edge goes from a file to the file that defines a name that it uses, through re-exports, for
//! every path that starts with `crate`, `self`, `super`, a child module or an imported name. Test
//! modules do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

const MAX_FILES: usize = 3;

type Name = Vec<String>;

/// A file of a crate, as a module.
#[derive(Default)]
struct File {
    /// Paths in the file outside of `use` items.
    paths: Vec<Name>,
    /// Imports: the path, its local name (`*` for all), and true if it is only re-exported.
    uses: Vec<(Name, String, bool)>,
    defines: BTreeSet<String>,
}

type Crate = BTreeMap<Name, File>;

/// Returns the files of each crate, by the crate's name.
fn crates() -> BTreeMap<String, Crate> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), read(&path.join("src")))
    };
    fs::read_dir(crates).unwrap().map(read).collect()
}

#[test]
fn no_circle_of_files_has_more_than_three() {
    let mut found = Vec::new();
    for (name, files) in crates() {
        for circle in circles(&files) {
            let names: Vec<String> = circle.iter().map(|at| at.join("::")).collect();
            found.push((name.clone(), names, arrows_of(&files, &circle)));
        }
    }
    for (name, names, arrows) in &found {
        println!("circle of {} in {name}: {}\n{arrows}", names.len(), names.join(" "));
    }
    assert!(found.is_empty(), "the circles above have to be cut");
}

#[test]
fn arrows_between_folders_go_one_way() {
    let mut found = Vec::new();
    for (name, files) in crates() {
        let arrows = arrows_of_roots(&files);
        for ((from, to), paths) in &arrows {
            if from < to
                && let Some(back) = arrows.get(&(to.clone(), from.clone()))
            {
                println!("{name}: {from} {to}\n  {}\n  {}", paths.join("\n  "), back.join("\n  "));
                found.push(format!("{name}: {from} {to}"));
            }
        }
    }
    assert!(found.is_empty(), "arrows go both ways: {found:?}");
}

#[test]
fn a_circle_is_seen_through_re_exports_and_imported_modules() {
    let root = "mod a; mod b; mod c; mod d; pub use a::A; use b::part;";
    let texts = [
        ("", root),
        ("a", "pub struct A; fn f() { crate::part(1) }"),
        ("b", "use crate::c; pub fn part() { c::far::<u8>() }"),
        ("c", "use super::d::{self, D as Deep}; pub fn far() -> Deep { d::deep() }"),
        ("d", "pub struct D; use crate::A; #[cfg(test)] mod tests { use super::*; }"),
    ];
    let name = |text: &str| -> Name { text.split_whitespace().map(str::to_owned).collect() };
    let files: Crate = texts.iter().map(|(at, text)| (name(at), file(text))).collect();
    let found: Vec<Vec<String>> =
        circles(&files).iter().map(|circle| circle.iter().map(|n| n.concat()).collect()).collect();
    assert_eq!(found, [["a", "b", "c", "d"]]);
}

/// Reads every file below `src`, without those that are only for tests.
fn read(src: &Path) -> Crate {
    let mut files = Crate::new();
    let mut tests: Vec<Name> = Vec::new();
    let mut folders = vec![src.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let inner = path.strip_prefix(src).unwrap().with_extension("");
                let mut name: Name =
                    inner.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
                if ["lib", "main", "mod"].contains(&name.last().unwrap().as_str()) {
                    name.pop();
                }
                let text = fs::read_to_string(&path).unwrap();
                for rest in text.split("#[cfg(test)]\nmod ").skip(1) {
                    let child = rest.split(['{', ';']).next().unwrap_or_default().trim();
                    tests.push([name.as_slice(), &[child.to_owned()]].concat());
                }
                files.insert(name, file(&text));
            }
        }
    }
    files.retain(|name, _| !tests.iter().any(|test| name.starts_with(test)));
    files
}

/// Splits the code into identifiers, `::` as `:`, and single characters, without comments, literals
/// and items that are only for tests.
fn tokens(text: &str) -> Vec<String> {
    fn flatten(stream: TokenStream, found: &mut Vec<String>) {
        let mut joint = false;
        for token in stream {
            let colon = matches!(&token, TokenTree::Punct(p)
                if p.as_char() == ':' && p.spacing() == Spacing::Joint);
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::Parenthesis | Delimiter::None => ("(", ")"),
                    };
                    found.push(open.to_owned());
                    flatten(group.stream(), found);
                    found.push(close.to_owned());
                }
                TokenTree::Ident(ident) => found.push(ident.to_string()),
                TokenTree::Punct(p) if p.as_char() == ':' => {
                    if joint {
                        found.push(":".to_owned());
                    }
                }
                TokenTree::Punct(p) => found.push(p.to_string()),
                TokenTree::Literal(_) => {}
            }
            joint = colon;
        }
    }
    let mut found = Vec::new();
    flatten(text.parse().unwrap(), &mut found);
    without_tests(&found)
}

fn without_tests(all: &[String]) -> Vec<String> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut i = 0;
    while i < all.len() {
        if all[i..].len() < mark.len() || all[i..i + mark.len()] != mark {
            kept.push(all[i].clone());
            i += 1;
            continue;
        }
        let mut depth = 0;
        while i < all.len() {
            depth += i32::from(all[i] == "{") - i32::from(all[i] == "}");
            i += 1;
            if depth == 0 && (all[i - 1] == "}" || all[i - 1] == ";") {
                break;
            }
        }
    }
    kept
}

fn file(text: &str) -> File {
    let tokens = tokens(text);
    let token = |i: usize| tokens.get(i).map_or("", String::as_str);
    let ident = |i: usize| token(i).starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut file = File::default();
    let mut depth = 0;
    let mut i = 0;
    while i < tokens.len() {
        depth += i32::from(token(i) == "{") - i32::from(token(i) == "}");
        if token(i) == "use" && token(i + 1) != "<" {
            let passed = i > 0 && (token(i - 1) == "pub" || token(i - 1) == ")");
            i += 1;
            import(&tokens, &mut i, &[], passed, &mut file.uses);
        } else if token(i) == "mod" {
            i += 1;
        } else if ident(i) {
            let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules"];
            if depth == 0 && kinds.contains(&token(i)) && (ident(i + 1) || token(i + 1) == "!") {
                file.defines.insert(token(i + 1 + usize::from(token(i + 1) == "!")).to_owned());
            }
            let mut path = vec![token(i).to_owned()];
            while token(i + 1) == ":" && ident(i + 2) {
                path.push(token(i + 2).to_owned());
                i += 2;
            }
            file.paths.push(path);
        }
        i += 1;
    }
    file
}

/// Parses one tree of a `use` item.
fn import(
    tokens: &[String],
    i: &mut usize,
    before: &[String],
    passed: bool,
    found: &mut Vec<(Name, String, bool)>,
) {
    let mut path = before.to_vec();
    loop {
        match tokens.get(*i).map(String::as_str) {
            Some("{") => {
                *i += 1;
                while tokens.get(*i).is_some_and(|t| t != "}") {
                    import(tokens, i, &path, passed, found);
                    *i += usize::from(tokens.get(*i).is_some_and(|t| t == ","));
                }
                *i += 1;
                return;
            }
            Some(":") => *i += 1,
            Some("as") => {
                found.push((path, tokens[*i + 1].clone(), passed));
                *i += 2;
                return;
            }
            Some(";" | "," | "}") | None => {
                if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                    path.pop();
                }
                let name = path.last().cloned().unwrap_or_default();
                if name == "*" {
                    path.pop();
                }
                found.push((path, name, passed));
                return;
            }
            Some(part) => {
                path.push(part.to_owned());
                *i += 1;
            }
        }
    }
}

/// Returns the path from the crate's root, if it leads into the crate.
fn absolute(files: &Crate, at: &Name, path: &[String]) -> Option<Name> {
    let (first, rest) = path.split_first()?;
    let mut from = at.clone();
    let mut rest = rest;
    match first.as_str() {
        "crate" => from.clear(),
        "self" => {}
        "super" => {
            from.pop()?;
            while rest.first().is_some_and(|part| part == "super") {
                from.pop()?;
                rest = &rest[1..];
            }
        }
        child => {
            from.push(child.to_owned());
            if !files.contains_key(&from) {
                return None;
            }
        }
    }
    from.extend(rest.iter().cloned());
    Some(from)
}

/// Returns the module whose file defines the item of a path, and true if the path names the module
/// itself.
fn target(files: &Crate, path: &Name, depth: usize) -> Option<(Name, bool)> {
    let mut at = Name::new();
    for (i, part) in path.iter().enumerate() {
        let child = [at.as_slice(), std::slice::from_ref(part)].concat();
        let file = files.get(&at)?;
        let last = i + 1 == path.len();
        if files.contains_key(&child) && !(last && file.defines.contains(part)) {
            at = child;
            continue;
        }
        if depth == 0 || file.defines.contains(part) {
            return Some((at, false));
        }
        for (used, name, _) in &file.uses {
            if name == part && used.len() + usize::from(at.is_empty()) > 0 {
                let mut used = absolute(files, &at, used)?;
                used.extend(path[i + 1..].iter().cloned());
                return target(files, &used, depth - 1);
            }
        }
        for (used, name, _) in &file.uses {
            let Some(mut used) = absolute(files, &at, used) else { continue };
            used.extend(path[i..].iter().cloned());
            let found = if name == "*" { target(files, &used, depth - 1) } else { None };
            if let Some((found, _)) = found
                && files[&found].defines.contains(part)
            {
                return Some((found, false));
            }
        }
        return Some((at, false));
    }
    Some((at, true))
}

/// Returns the files that one file depends on, each with a path that proves it.
fn needs(files: &Crate, at: &Name) -> BTreeMap<Name, String> {
    let file = &files[at];
    let mut found = BTreeMap::new();
    let mut add = |path: &[String]| {
        let to = absolute(files, at, path).and_then(|path| target(files, &path, 8));
        if let Some((to, false)) = to
            && to != *at
        {
            found.insert(to, path.join("::"));
        }
    };
    let mut known: BTreeMap<&str, &Name> = BTreeMap::new();
    for (path, name, passed) in &file.uses {
        known.insert(name, path);
        if !passed || name != "*" && file.paths.iter().any(|used| used[0] == *name) {
            let all = [path.as_slice(), &["*".to_owned()]].concat();
            add(if name == "*" { &all } else { path });
        }
    }
    for path in &file.paths {
        let full = known.get(path[0].as_str()).map(|used| [used, &path[1..]].concat());
        if path.len() > 1 {
            add(full.as_ref().unwrap_or(path));
        }
    }
    found
}

/// Returns the arrows between the folders and files at a crate's root, with the paths that prove
/// each.
fn arrows_of_roots(files: &Crate) -> BTreeMap<(String, String), Vec<String>> {
    let mut arrows: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for at in files.keys() {
        for (to, path) in needs(files, at) {
            if let (Some(from), Some(to)) = (at.first(), to.first())
                && from != to
            {
                let proof = format!("{} by {path}", at.join("::"));
                arrows.entry((from.clone(), to.clone())).or_default().push(proof);
            }
        }
    }
    arrows
}

/// Returns the groups of more than [`MAX_FILES`] files in which each file leads to all others.
fn circles(files: &Crate) -> Vec<Vec<&Name>> {
    let needed: BTreeMap<&Name, Vec<Name>> =
        files.keys().map(|at| (at, needs(files, at).into_keys().collect())).collect();
    let reach: BTreeMap<&Name, BTreeSet<&Name>> = files
        .keys()
        .map(|at| {
            let mut seen = BTreeSet::new();
            let mut next: Vec<&Name> = needed[at].iter().collect();
            while let Some(to) = next.pop() {
                if seen.insert(to) {
                    next.extend(&needed[to]);
                }
            }
            (at, seen)
        })
        .collect();
    let mut found: Vec<Vec<&Name>> = Vec::new();
    for at in files.keys() {
        let circle: Vec<&Name> = files
            .keys()
            .filter(|other| reach[at].contains(*other) && reach[*other].contains(at))
            .collect();
        if circle.len() > MAX_FILES && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

fn arrows_of(files: &Crate, circle: &[&Name]) -> String {
    let of = |at: &Name| -> Vec<String> {
        let needed = needs(files, at).into_iter().filter(|(to, _)| circle.contains(&to));
        needed
            .map(|(to, path)| format!("  {} -> {}  by {path}\n", at.join("::"), to.join("::")))
            .collect()
    };
    circle.iter().flat_map(|at| of(at)).collect()
}
