//! A kit whose figures, outcomes and reports a test chooses, so that the results of checks do not
//! depend on the machine.

use std::fs;

use super::World;

const KIT: &str = r#"schema_version = 1
name = "figures"
version = "1"
help = "prints the figures that it was given"

[[param]]
name = "level"
type = "choice"
of = ["a", "b", "c"]
default = "a"
help = "whose figures"

[[param]]
name = "result"
type = "int"
default = 6
help = "what it prints"

[run]
command = ["sh", "-c", '''
n=$(($(cat "$1.$2" 2>/dev/null) + 1)); echo $n > "$1.$2"
test ! -e "$1/fails-$2" || exit 3
test ! -e "$1/values-$2" || cat "$1/values-$2" >&3
echo sum "$3"
echo figure $(sed -n "$n"p "$1/$2")''', "sh", "{kit}", "{level}", "{result}"]
protocol = true

[validate]
stdout_contains = ["sum 6"]

[[metric]]
name = "figure"
unit = "s"
better = "lower"
help = "the figure"
from = "stdout"
pattern = "figure {value}"
"#;

/// The kit, in a folder of its own below `scene`.
pub struct Figures<'a> {
    world: &'a World,
    folder: String,
}

impl<'a> Figures<'a> {
    /// Makes the kit; all levels have figures about 100 without a trend.
    pub fn new(world: &'a World, scene: &str) -> Self {
        let folder = format!("{scene}/figures");
        fs::create_dir_all(world.path(&folder)).unwrap();
        let kit = Figures { world, folder };
        kit.file("kit.toml", KIT);
        for level in ["a", "b", "c"] {
            kit.figures(level, &noise(100.0));
        }
        kit
    }

    fn file(&self, name: &str, text: &str) {
        self.world.write(&format!("{}/{name}", self.folder), text);
    }

    /// Adds parameters: name, type with its choices, default.
    #[must_use]
    pub fn with(self, params: &[(&str, &str, &str)]) -> Self {
        let param = |(name, ty, default): &(&str, &str, &str)| {
            format!(
                "\n[[param]]\nname = \"{name}\"\ntype = {ty}\ndefault = {default}\nhelp = \"h\"\n"
            )
        };
        let more: String = params.iter().map(param).collect();
        self.file("kit.toml", &KIT.replacen("\n[run]", &format!("{more}\n[run]"), 1));
        self
    }

    /// Sets the figures of a level, one per trial.
    pub fn figures(&self, level: &str, all: &[f64]) {
        let lines: Vec<String> = all.iter().map(|v| format!("{v}\n")).collect();
        self.file(level, &lines.concat());
    }

    /// Sets the lines that the trials of a level write to file descriptor 3.
    pub fn tells(&self, level: &str, lines: &str) {
        self.file(&format!("values-{level}"), lines);
    }

    /// Makes the trials of a level fail.
    pub fn fails(&self, level: &str) {
        self.file(&format!("fails-{level}"), "");
    }

    pub fn path(&self) -> String {
        self.world.path(&self.folder).display().to_string()
    }
}

/// Returns 30 figures about `centre` that differ by less than one percent and show no trend.
pub fn noise(centre: f64) -> Vec<f64> {
    (0..30).map(|i| centre * (1.0 + f64::from((i * 7) % 10) / 2000.0)).collect()
}
