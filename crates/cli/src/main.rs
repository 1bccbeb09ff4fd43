//! The `wavemill` command.
fn main() {}
