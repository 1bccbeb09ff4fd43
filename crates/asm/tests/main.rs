//! Tests of the assembler through its public interface, all in one binary.

mod amd;
mod clrx;
mod golden;
mod hostile;
mod instructions;
mod language;
mod robust;
mod roundtrip;
