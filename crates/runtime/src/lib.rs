//! What a program's runtime needs around the GPUs: agents, memory pools, queues and their packet processors, signals,
//! executables, memory that processes share.
//!
//! [`system`] is a computer with GPUs, built on [`platform`], which all of its queues share. [`queue`] is a queue's
//! memory, [`processor`] the threads that take its packets, [`packet`] what these do. [`signal`] is what host and device
//! code wait for; `waiters` wakes threads that sleep on words which waves change. [`heap`], [`svm`] and [`vmem`] are the memory
//! that programs allocate, share and map, [`executable`] code objects with their symbols, [`reactor`] does things when signals
//! say so, [`direct`] queues are for runtimes that process commands themselves, [`environment`] says what variables ask
//! for, [`checks`] look for what is wrong, [`journal`] tells about every dispatch, [`observe`] about everything the host
//! does, too. [`turns`] makes everything happen one after the other, the same way every time. The C face of all this is crate `hsa`.

pub mod agent;
mod arena;
pub mod checks;
pub mod direct;
mod doze;
pub mod environment;
pub mod events;
pub mod executable;
pub mod fork;
pub mod heap;
pub mod image;
mod interrupt;
mod ipc;
pub mod journal;
pub mod maps;
pub mod observe;
pub mod packet;
pub mod platform;
pub mod processor;
pub mod queue;
pub mod reactor;
pub mod signal;
pub mod svm;
mod sync;
pub mod system;
pub mod turns;
pub mod vmem;
mod waiters;
