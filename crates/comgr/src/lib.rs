//! `libamd_comgr.so.2` that remembers what AMD's has compiled.
//!
//! HIP compiles kernels of its own with AMD's library whenever a program starts. This one stands before it: data, sets, what
//! actions are to do and metadata are its own ([`objects`], [`action`], [`metadata`]), the results of actions are [`kept`], and AMD's is
//! loaded when something is asked for that nobody has asked for before ([`real`]).
//!
//! What is kept is what AMD's library has made, of all that it depends on; an action that may look into files is not kept.

mod abi;
mod action;
mod digest;
mod kept;
mod metadata;
mod objects;
mod real;
mod session;
