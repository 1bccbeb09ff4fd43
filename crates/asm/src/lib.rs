//! Assembler.
