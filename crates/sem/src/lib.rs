//! What an instruction means, written once for every engine.
