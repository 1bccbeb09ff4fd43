//! Directives.
