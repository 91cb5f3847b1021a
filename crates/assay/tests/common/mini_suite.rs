//! A suite of two members that add up numbers in a shell.

use std::fs;
use std::path::PathBuf;

use super::World;

const KIT: &str = r#"schema_version = 1
name = "NAME"
version = "1"
help = "adds up numbers"

[[param]]
name = "size"
type = "choice"
of = ["test", "train", "ref"]
default = "train"
help = "how many"

[[param]]
name = "cflags"
type = "text"
default = "-O2"
help = "flags"

# Every member has an input of its own, made from the same parameters as the others'.
[prepare]
run = [{ shell = 'echo $KIT_SIZE > NAME' }]

[run]
command = ["sh", "-c", "test -e $1/NAME || exit 9; SCRIPT", "sh", "{input}"]

[validate]
stdout_contains = ["sum 6"]

[[metric]]
name = "elapsed"
unit = "s"
better = "lower"
help = "wall time"
from = "elapsed"
"#;

const SUITE: &str = r#"schema_version = 1
name = "mini"
version = "1"
help = "two sums"
members = ["alpha", "beta"]

[reference]
machine = "a machine"
date = "2026-11-21"

[reference.times.ref]
alpha = 0.1
beta = 0.2

[flags]
"-O2" = "optimises"
"#;

const TOOLCHAIN: &str = "schema_version = 1\nhelp = \"h\"\n\
    compilers = { c = \"cc\", cxx = \"c++\", fortran = \"gfortran\" }\n\
    base = { all = \"-O2\" }\npeak = { all = \"-O3\" }\n";

/// Makes a world with the suite `mini`, whose member beta runs `script`; returns both the world and
/// the path of the suite.
pub fn world(script: &str) -> (World, String) {
    of("sleep 0.02; echo sum 6", script)
}

/// Makes the world of [`world`], with a script for member alpha too.
pub fn of(alpha: &str, beta: &str) -> (World, String) {
    let world = World::new();
    let dir = world.path("mini");
    let write = |name: &str, text: &str| {
        let path: PathBuf = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("suite.toml", SUITE);
    write("toolchains/gcc.toml", TOOLCHAIN);
    for (name, script) in [("alpha", alpha), ("beta", beta)] {
        write(&format!("{name}/kit.toml"), &KIT.replace("NAME", name).replace("SCRIPT", script));
    }
    let path = dir.display().to_string();
    (world, path)
}
