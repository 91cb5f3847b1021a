//! Records of trials and runs.

pub(super) mod event;
pub(super) mod heat;
pub(super) mod histogram;
pub(super) mod ledger;
pub(super) mod live;
pub(super) mod observation;
pub(super) mod program;
pub(super) mod run_summary;
pub(super) mod sample;
pub(super) mod self_comparison;
pub(super) mod trial_record;
