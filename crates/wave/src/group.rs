//! What the waves of a work-group share: LDS, and where LDS and scratch appear in the flat address space.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use wavemill_sem::gws;
use wavemill_sem::ordered::{Count, Turns};

/// Local data share of one work-group. Waves on different host threads may access it at once, as on hardware.
pub struct Lds {
    base: *mut u8,
    len: u32,
}

// SAFETY: the memory is owned, never reallocated, and only accessed through raw loads, stores and host atomics.
unsafe impl Send for Lds {}
// SAFETY: as above; racing guest accesses have guest-defined results, no Rust reference to the memory exists.
unsafe impl Sync for Lds {}

impl Lds {
    /// `len` bytes of zeroed LDS.
    pub fn new(len: u32) -> Lds {
        let layout = Self::layout(len);
        // SAFETY: the layout's size is not zero.
        let base = unsafe { alloc_zeroed(layout) };
        if base.is_null() {
            handle_alloc_error(layout);
        }
        Lds { base, len }
    }

    fn layout(len: u32) -> Layout {
        // 16 bytes of slack let a 128-bit access at the very end be handled without special cases.
        Layout::from_size_align(len as usize + 16, 64).expect("LDS sizes are small")
    }

    /// Size in bytes.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// True when the work-group has no LDS.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Host address of its first byte.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// A copy of the bytes, for dumps and tests.
    pub fn snapshot(&self) -> Vec<u8> {
        // SAFETY: base..base+len is allocated and initialised.
        (0..self.len as usize).map(|i| unsafe { self.base.add(i).read_volatile() }).collect()
    }

    /// Copies bytes in, as a debugger does; false, and nothing copied, when they do not fit.
    pub fn write(&self, offset: u32, bytes: &[u8]) -> bool {
        let fits = (self.len as usize).checked_sub(offset as usize).is_some_and(|room| bytes.len() <= room);
        if fits {
            // SAFETY: inside base..base+len; no Rust reference to the memory exists.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.add(offset as usize), bytes.len())
            };
        }
        fits
    }

    /// Zeroes it, for the next work-group.
    pub fn clear(&mut self) {
        // SAFETY: exclusive access to base..base+len.
        unsafe { self.base.write_bytes(0, self.len as usize) }
    }
}

impl Drop for Lds {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with the same layout.
        unsafe { dealloc(self.base, Self::layout(self.len)) }
    }
}

/// What all waves of a GPU share beside memory: the global data share (not on gfx90a) and the resources of global wave
/// sync. Both keep their contents from one dispatch to the next.
pub struct Global {
    memory: OnceLock<Lds>,
    sync: Mutex<[gws::Resource; gws::RESOURCES]>,
}

impl Default for Global {
    fn default() -> Global {
        Global { memory: OnceLock::new(), sync: Mutex::new([gws::Resource::default(); gws::RESOURCES]) }
    }
}

impl Global {
    /// Bytes of global data share.
    pub const GDS_BYTES: u32 = wavemill_sem::address::GDS_BYTES;

    /// The global data share.
    pub fn gds(&self) -> &Lds {
        self.memory.get_or_init(|| Lds::new(Self::GDS_BYTES))
    }

    /// Works on one of the resources of global wave sync.
    pub(crate) fn sync<R>(&self, id: u32, f: impl FnOnce(&mut gws::Resource) -> R) -> R {
        f(&mut self.sync.lock().unwrap_or_else(PoisonError::into_inner)[id as usize % gws::RESOURCES])
    }
}

/// The order in which the waves of a dispatch use the ordered counters.
#[derive(Default)]
pub struct Order(Mutex<Turns>);

impl Order {
    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn may_count(&self, wave: u64, count: Count) -> bool {
        self.turns().may_count(wave, count)
    }

    pub(crate) fn counted(&self, wave: u64, count: Count) {
        self.turns().counted(wave, count);
    }

    /// The first of the counters in use, with the [`place`](crate::Wave::place) of the wave whose turn it is there, for which
    /// something is found.
    pub fn find<R>(&self, f: impl FnMut((u8, u64)) -> Option<R>) -> Option<R> {
        self.turns().now().find_map(f)
    }

    /// A wave, by its [`place`](crate::Wave::place), has ended: nobody waits for it any more.
    pub fn ended(&self, wave: u64) {
        self.turns().ended(wave);
    }
}

/// What the waves of a work-group share.
pub struct GroupShared {
    /// Local data share.
    pub lds: Lds,
    /// Flat addresses whose upper half equals this one's are LDS (SRC_SHARED_BASE); the low half is zero.
    pub shared_base: u64,
    /// Flat addresses whose upper half equals this one's are scratch (SRC_PRIVATE_BASE); the low half is zero.
    pub private_base: u64,
    /// Where the dispatch's scratch lies: what FLAT_SCRATCH offsets count from before GFX9
    /// (SH_HIDDEN_PRIVATE_BASE_VIMID).
    pub scratch_base: u64,
    /// What the GPU's waves share. A new work-group has one of its own; a machine puts its own here.
    pub global: Arc<Global>,
    /// Whose turn it is at the ordered counters. Without it, every wave counts at once.
    pub order: Option<Arc<Order>>,
}

impl GroupShared {
    /// Where the apertures lie unless the machine says otherwise: far above any host allocation.
    pub const SHARED_BASE: u64 = 0x0001_0000_0000_0000;
    /// See [`Self::SHARED_BASE`].
    pub const PRIVATE_BASE: u64 = 0x0002_0000_0000_0000;

    /// A work-group with `lds` bytes of LDS and the usual apertures.
    pub fn new(lds: u32) -> GroupShared {
        GroupShared {
            lds: Lds::new(lds),
            shared_base: Self::SHARED_BASE,
            private_base: Self::PRIVATE_BASE,
            scratch_base: 0,
            global: Arc::default(),
            order: None,
        }
    }
}
