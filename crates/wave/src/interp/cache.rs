//! What an engine has made of code (decoded or compiled blocks), by page of code: bounded, and compared with memory whenever
//! code may have changed.

use crate::mem::Memory;
use crate::program::{Layout, MAX_BLOCK_BYTES};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Bytes that decoded code may take; beyond them all of it is forgotten. Programs have a few megabytes of code, and a
/// megabyte of code takes about forty decoded.
const MOST_BYTES: usize = 512 << 20;

/// Bytes of code that are looked up together.
pub const PAGE: u64 = 4096;

/// Blocks by the dword of a page they start at.
pub struct Page<B, P = ()> {
    blocks: Box<[OnceLock<Box<B>>]>,
    /// What the blocks share.
    pub shared: P,
    /// The memory that they were decoded from: the page, and as far behind it as a block can reach.
    code: Vec<u8>,
    /// When `code` was last found to be what is in memory.
    compared: AtomicU64,
    /// Some block was decoded from something else: memory was written meanwhile.
    mixed: AtomicBool,
}

/// A block, for [`Cache::block`].
pub struct Made<B> {
    /// The block.
    pub block: B,
    /// Bytes that it takes.
    pub bytes: usize,
    /// The code that it was made from.
    pub code: Vec<u8>,
}

impl<B, P> Page<B, P> {
    /// The blocks that there are.
    pub fn made(&self) -> impl Iterator<Item = &B> {
        self.blocks.iter().filter_map(|block| block.get().map(|block| &**block))
    }
}

type Pages<B, K, P> = HashMap<(u64, K), Arc<Page<B, P>>>;

/// Blocks, by where their code is and what they were made for.
pub struct Cache<B, K = Layout, P = ()> {
    pages: RwLock<Pages<B, K, P>>,
    /// Bytes that it takes, roughly.
    held: AtomicUsize,
    /// Counts the times when code may have been changed.
    time: AtomicU64,
}

impl<B, K, P> Default for Cache<B, K, P> {
    fn default() -> Self {
        Cache { pages: RwLock::default(), held: AtomicUsize::new(0), time: AtomicU64::new(0) }
    }
}

impl<B, K: Hash + Eq + Copy, P: Default> Cache<B, K, P> {
    /// The page of blocks at an address, a multiple of [`PAGE`]; new if memory is no longer what it was made from.
    pub fn page(&self, memory: &Memory, base: u64, made_for: K) -> Arc<Page<B, P>> {
        let key = (base, made_for);
        let time = self.time.load(Ordering::Acquire);
        let known = self.pages.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(page) = &known
            && page.compared.load(Ordering::Relaxed) == time
        {
            return page.clone();
        }
        let code = memory.image(base, PAGE + MAX_BLOCK_BYTES);
        if let Some(page) = known.filter(|page| !page.mixed.load(Ordering::Acquire) && page.code == code) {
            page.compared.store(time, Ordering::Relaxed);
            return page;
        }
        let blocks: Box<[_]> = (0..PAGE / 4).map(|_| OnceLock::new()).collect();
        self.hold(size_of_val(&*blocks) + code.len());
        let compared = AtomicU64::new(time);
        let page =
            Arc::new(Page { blocks, shared: P::default(), code, compared, mixed: AtomicBool::default() });
        self.pages.write().unwrap_or_else(PoisonError::into_inner).insert(key, page.clone());
        page
    }

    /// The block at an address of a page; `make` makes it.
    #[inline]
    pub fn block<'p>(&self, page: &'p Page<B, P>, pc: u64, make: impl FnOnce() -> Made<B>) -> &'p B {
        page.blocks[(pc % PAGE / 4) as usize].get_or_init(|| {
            let Made { block, bytes, code } = make();
            self.hold(bytes);
            if !Memory::image_has(&page.code, pc, &code) {
                page.mixed.store(true, Ordering::Release);
            }
            Box::new(block)
        })
    }

    fn hold(&self, bytes: usize) {
        if self.held.fetch_add(bytes, Ordering::Relaxed) > MOST_BYTES {
            self.clear();
        }
    }

    /// Whether a page that was found earlier would be found again.
    pub fn is_current(&self, page: &Page<B, P>) -> bool {
        page.compared.load(Ordering::Relaxed) == self.time.load(Ordering::Acquire)
    }

    /// Forgets everything. Waves that run keep the page that they are in.
    pub fn clear(&self) {
        self.revalidate();
        self.pages.write().unwrap_or_else(PoisonError::into_inner).clear();
        self.held.store(0, Ordering::Relaxed);
    }

    /// Code may have been changed: what was decoded is compared with memory before it runs again.
    pub fn revalidate(&self) {
        self.time.fetch_add(1, Ordering::AcqRel);
    }

    /// Forgets what was decoded from a range.
    pub fn invalidate(&self, start: u64, len: u64) {
        self.revalidate();
        let (first, last) = (start & !(PAGE - 1), start.saturating_add(len));
        // A block may reach beyond its page, so the page before goes too.
        let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|&(base, _), _| base.saturating_add(PAGE) < first || base >= last);
    }
}
