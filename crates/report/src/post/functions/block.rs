//! Blocks that are written when everything else is known.

use crate::post::arguments::Arguments;
use crate::post::document::Block;
use crate::post::error::PostError;
use crate::post::evaluator::{Evaluator, Made};

/// The dated list of every result, its source and the trademarks.
#[allow(clippy::unnecessary_wraps)] // every function has this shape
pub(super) fn disclosure<'a>(_: &mut Evaluator<'a>, _: &Arguments<'a>) -> Result<Made, PostError> {
    Ok(Made::Block(Block::Disclosure))
}

/// What the checks found.
#[allow(clippy::unnecessary_wraps)] // every function has this shape
pub(super) fn findings<'a>(_: &mut Evaluator<'a>, _: &Arguments<'a>) -> Result<Made, PostError> {
    Ok(Made::Block(Block::Findings))
}
