//! Writes the pages of made-up runs to a folder, to look at them:
//! `cargo run -p assay-report --example page -- target/pages`.

use std::path::PathBuf;

use assay_report::{fixtures, page};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/pages".into()));
    std::fs::create_dir_all(&folder)?;
    for (name, view) in fixtures::all() {
        std::fs::write(folder.join(format!("{name}.html")), page::render(&view))?;
    }
    Ok(())
}
