//! Reads a text: bytes to lines, to blocks, sentences and tables, to tokens with their units.

pub(crate) mod column;
pub(crate) mod digits;
pub(crate) mod document;
pub(crate) mod html;
mod line;
mod pre;
pub(crate) mod source;
pub(crate) mod spelled;
pub(crate) mod table;
pub(crate) mod tag;
pub(crate) mod token;
pub(crate) mod unit;
