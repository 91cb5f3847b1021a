//! Names of imported runs.

use std::path::Path;

use super::error::ForeignError;

/// The longest name of an experiment.
const MAX_LENGTH: usize = 80;

/// The name that was asked for, if an experiment can have it.
pub(super) fn checked(name: &str) -> Result<String, ForeignError> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    if name.is_empty()
        || name.len() > MAX_LENGTH
        || !name.chars().all(good)
        || name.starts_with('.')
    {
        return Err(ForeignError::Name { name: name.to_owned() });
    }
    Ok(name.to_owned())
}

/// A name made from that of a file; `otherwise` where nothing of it can be used.
pub(super) fn of_file(path: &Path, otherwise: &str) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let mut name = String::new();
    for c in stem.chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' {
            name.push(c);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let name: String = name.trim_matches(['-', '.']).chars().take(MAX_LENGTH - 12).collect();
    if name.is_empty() { otherwise.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_path() {
        assert_eq!(of_file(Path::new("/x/My Result_(2).v1.json"), "fio"), "my-result-2-.v1");
        assert_eq!(of_file(Path::new("/x/..json"), "fio"), "fio");
        assert_eq!(of_file(Path::new("été"), "fio"), "t");
        assert!(checked(&of_file(Path::new(&"a".repeat(300)), "fio")).is_ok());
        for bad in ["", "..", "A", "a/b", "a b"] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
