//! Checks the claims of a text by recomputing them. [`Document`] reads a text with its tables; a
//! [`ClaimsFile`] binds each claim to an expression over these tables or over quoted results; an
//! [`Evaluate`] implementation computes the expression, and [`audit`] judges the claim in exact
//! arithmetic. Nothing here understands prose: a sentence that no binding quotes is not checked,
//! and [`draft`] only lists the sentences that contain a comparing word.

mod bindings;
mod comparisons;
mod declared_tables;
mod document;
mod draft;
mod evaluate;
pub mod exact;
mod judge;
pub mod number;
mod stated_value;
pub mod tables;
pub mod unit;

pub use bindings::{ClaimBinding, ClaimsError, ClaimsFile};
pub use comparisons::{Comparison, comparisons};
pub use declared_tables::{TableDeclaration, TableName};
pub use document::{Document, TextError, decode};
pub use draft::{ResultName, draft};
pub use evaluate::{ComputedResult, CurrentRow, Evaluate, EvaluatedValue, ExpressionError, Input};
pub use exact::Exact;
pub use judge::{Audit, ClaimReading, ClaimVerdict, JudgedClaim, JudgedRow, audit};
pub use number::{Number, NumberFormat};
pub use tables::blocks::{Block, BlockKind};
pub use tables::{Cell, Column, LookupError, Row, Table};
pub use unit::Unit;

#[cfg(test)]
mod tests;
