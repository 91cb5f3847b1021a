//! The kit loader: a folder with `kit.toml` makes any outside program a workload. The file states
//! the packages to fetch and their hashes, the build steps, the commands to prepare, run and
//! validate, and the place of each metric in the output; `docs/workloads/kits.md` describes every
//! key.

mod apt;
mod build;
mod check;
mod fetch;
mod format;
mod load;
pub(crate) mod lock;
mod metrics;
mod result;
mod template;
mod validate;
mod workload;

pub use format::kit_schema;
pub use load::check;
pub(crate) use load::{FILE, read_toml};
pub use workload::Kit;
