//! What the interpreter has decoded, by page of code: bounded, and compared with memory whenever code may have changed.

use super::PAGE;
use crate::mem::Memory;
use crate::program::{Block, Inst, Layout, MAX_BLOCK_BYTES};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Bytes that decoded code may take; beyond them all of it is forgotten. Programs have a few megabytes of code, and a
/// megabyte of code takes about forty decoded.
const MOST_BYTES: usize = 512 << 20;

/// Blocks by the dword of a page they start at.
pub(super) struct Page {
    blocks: Box<[OnceLock<Box<Block>>]>,
    /// The memory that they were decoded from: the page, and as far behind it as a block can reach.
    code: Vec<u8>,
    /// When `code` was last found to be what is in memory.
    compared: AtomicU64,
}

/// Decoded code.
#[derive(Default)]
pub(super) struct Cache {
    pages: RwLock<HashMap<(u64, Layout), Arc<Page>>>,
    /// Bytes that it takes, roughly.
    held: AtomicUsize,
    /// Counts the times when code may have been changed.
    time: AtomicU64,
}

impl Cache {
    /// The page of decoded code at an address, new if memory is no longer what it was decoded from.
    pub(super) fn page(&self, memory: &Memory, base: u64, layout: Layout) -> Arc<Page> {
        let key = (base, layout);
        let time = self.time.load(Ordering::Acquire);
        let known = self.pages.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(page) = &known
            && page.compared.load(Ordering::Relaxed) == time
        {
            return page.clone();
        }
        let code = memory.image(base, PAGE + MAX_BLOCK_BYTES);
        if let Some(page) = known.filter(|page| page.code == code) {
            page.compared.store(time, Ordering::Relaxed);
            return page;
        }
        let blocks: Box<[_]> = (0..PAGE / 4).map(|_| OnceLock::new()).collect();
        self.hold(size_of_val(&*blocks) + code.len());
        let page = Arc::new(Page { blocks, code, compared: AtomicU64::new(time) });
        self.pages.write().unwrap_or_else(PoisonError::into_inner).insert(key, page.clone());
        page
    }

    /// The block at an address of a page.
    #[inline]
    pub(super) fn block<'p>(&self, page: &'p Page, pc: u64, decode: impl FnOnce() -> Block) -> &'p Block {
        page.blocks[(pc % PAGE / 4) as usize].get_or_init(|| {
            let block = decode();
            // Instructions are there twice, for the vector kernels and for all else.
            self.hold(2 * block.insts.len() * size_of::<Inst>());
            Box::new(block)
        })
    }

    fn hold(&self, bytes: usize) {
        if self.held.fetch_add(bytes, Ordering::Relaxed) > MOST_BYTES {
            self.clear();
        }
    }

    /// Forgets everything. Waves that run keep the page that they are in.
    pub(super) fn clear(&self) {
        self.pages.write().unwrap_or_else(PoisonError::into_inner).clear();
        self.held.store(0, Ordering::Relaxed);
    }

    /// Code may have been changed: what was decoded is compared with memory before it runs again.
    pub(super) fn revalidate(&self) {
        self.time.fetch_add(1, Ordering::AcqRel);
    }

    /// Forgets what was decoded from a range.
    pub(super) fn invalidate(&self, start: u64, len: u64) {
        let (first, last) = (start & !(PAGE - 1), start.saturating_add(len));
        // A block may reach beyond its page, so the page before goes too.
        let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|&(base, _), _| base.saturating_add(PAGE) < first || base >= last);
    }
}
