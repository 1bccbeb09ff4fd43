//! One wavefront: its registers, its way to memory, and the interpreter that runs it.
//!
//! A [`Wave`] holds the registers; [`GroupShared`] what the waves of a work-group share; [`Memory`] the allocations
//! that GPU addresses may point into. An [`Engine`] runs a wave until an [`Event`]. [`Interp`] is the interpreter: it
//! decodes blocks once and executes them with the meanings crate `sem` gives, 16 lanes at a time.
//!
//! ```no_run
//! use wavemill_isa::target::{Target, processor};
//! use wavemill_wave::{Engine, GroupShared, Interp, Memory, Shape, Wave};
//! let target = Target::new(processor("gfx90a").unwrap());
//! let engine = Interp::new(target);
//! let memory = Memory::new(); // then memory.add(...) code and data
//! let group = GroupShared::new(0);
//! let mut wave = Wave::new(&target, Shape { vgprs: 32, agprs: 0 });
//! wave.pc = 0x1000;
//! let event = engine.run(&mut wave, &group, &memory, 1_000_000);
//! ```

pub mod alone;
pub mod caches;
mod clock;
mod counters;
pub mod engine;
mod event;
pub mod group;
mod guest;
pub mod host;
pub mod interp;
pub mod layout;
pub mod mem;
pub mod observe;
pub mod program;
pub mod running;
pub mod simd;
pub mod state;
pub mod step;
mod strip;
mod sync;
mod trap;
pub mod underway;
mod watch;

pub use caches::Caches;
pub use clock::{Clock, clock};
pub use counters::{CounterClass, Counters};
pub use engine::{CodeStats, Engine, Turns};
pub use event::{Event, Fault, FaultKind};
pub use group::{Global, GroupShared, Lds, Order};
pub use interp::Interp;
pub use mem::{Bounds, Memory, Pager, Range};
pub use running::Running;
pub use simd::Simd;
pub use state::{Likeness, Observer, Shape, Vgpr, Violations, Wave, WaveId, mode};
pub use watch::Watch;
pub use wavemill_sem::hwreg;
pub use wavemill_sem::state::Bases;
