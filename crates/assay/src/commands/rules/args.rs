//! Arguments of `assay rules`.

use std::path::PathBuf;

use assay_model::Profile as Purpose;
use clap::Subcommand;

use crate::arguments::{Choice, choice};

/// `assay rules`.
#[derive(Debug, Subcommand)]
pub enum Rules {
    /// List the packs, and the checks with one line each.
    List {
        /// A folder of packs, instead of the built-in ones.
        #[arg(long, value_name = "DIR")]
        packs: Option<PathBuf>,
    },
    /// Print every check in full.
    Catalogue {
        /// Print the Markdown of the documentation page.
        #[arg(long)]
        markdown: bool,
    },
    /// Print the class of each system fact in comparisons, and which facts follow from which
    /// factor.
    Classes {
        /// Print the Markdown of the documentation page.
        #[arg(long)]
        markdown: bool,
    },
    /// Show one check or one pack.
    Show {
        /// A check (`F31` or `interleaved`) or a pack (`cpu`).
        id: String,
        /// A folder of packs, instead of the built-in ones.
        #[arg(long, value_name = "DIR")]
        packs: Option<PathBuf>,
    },
    /// Run every check on a run, and list those that cannot be evaluated.
    Check {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        #[arg(default_value = "last")]
        run: String,
        /// The purpose of the numbers.
        #[arg(long, default_value = "lab", value_parser = choice(PROFILES))]
        profile: Purpose,
    },
    /// Judge a result (JSON) by a pack.
    Judge {
        /// The name of the pack.
        pack: String,
        /// The file with the result.
        file: PathBuf,
        /// A folder of packs, instead of the built-in ones.
        #[arg(long, value_name = "DIR")]
        packs: Option<PathBuf>,
    },
}

const PROFILES: [Choice<Purpose>; 2] = [
    ("lab", "Work at the bench: checks that cannot be evaluated are counted", Purpose::Lab),
    ("publish", "For publication: a check that cannot be evaluated is a finding", Purpose::Publish),
];
