//! Code objects.
