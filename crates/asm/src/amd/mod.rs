//! AMD's directives. (Placeholder: they go here.)

use crate::lex::Token;
use crate::parser::Parser;
use crate::source::Diag;

/// State the AMD directives keep between statements.
#[derive(Clone, Debug, Default)]
pub struct State {}

/// Called before the first statement.
pub fn begin(_p: &mut Parser<'_>) {}

/// Handles a directive if it is one of AMD's: the cursor is after the name and is left after the end of the statement.
/// `None` when the directive is not AMD's.
pub fn directive(_p: &mut Parser<'_>, _name: &str, _name_token: Token) -> Option<Result<(), Diag>> {
    None
}

/// Called after the last statement.
pub fn finish(_p: &mut Parser<'_>) {}
