//! Undefined bits that kernels have left in memory, and whether the host reads them.
//!
//! Where nobody tells what the host does, it reads everything. Otherwise it reads what it copies, and what lies in memory of its
//! own when a dispatch has ended; what only other kernels read is copied on, and told where something is made of it.

use super::book::{Book, Key, Told, Who};
use super::registers::Origin;
use super::scene::Scene;
use super::set::Check;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_device::memory::Use;

/// An undefined dword.
#[derive(Clone)]
struct Left {
    bits: u32,
    origin: Origin,
    /// The instruction that stored it.
    pc: u64,
    who: Who,
    scene: Arc<Scene>,
}

/// Undefined dwords of memory.
#[derive(Default)]
pub struct Results {
    some: AtomicBool,
    /// Somebody tells what the host does.
    host: AtomicBool,
    left: Mutex<BTreeMap<u64, Left>>,
}

impl Results {
    fn left(&self) -> MutexGuard<'_, BTreeMap<u64, Left>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on somebody tells what the host does.
    pub fn follow_host(&self) {
        self.host.store(true, Ordering::Relaxed);
    }

    /// Whether any dword is undefined.
    pub fn any(&self) -> bool {
        self.some.load(Ordering::Relaxed)
    }

    /// The undefined bits of a dword, and where they are from.
    pub fn get(&self, dword: u64) -> (u32, Option<Origin>) {
        self.left().get(&dword).map_or((0, None), |l| (l.bits, Some(l.origin)))
    }

    /// Some bits of a dword are written, of which some are undefined.
    pub fn set(
        &self,
        scene: &Arc<Scene>,
        dword: u64,
        (written, undefined): (u32, u32),
        origin: Option<Origin>,
        (pc, who): (u64, Who),
    ) {
        let mut left = self.left();
        let bits = left.get(&dword).map_or(0, |l| l.bits) & !written | undefined;
        match (bits, origin) {
            (0, _) => drop(left.remove(&dword)),
            (_, Some(origin)) if undefined != 0 => {
                left.insert(dword, Left { bits, origin, pc, who, scene: scene.clone() });
                self.some.store(true, Ordering::Relaxed);
            }
            _ => {
                if let Some(l) = left.get_mut(&dword) {
                    l.bits = bits;
                }
            }
        }
    }

    /// A dispatch has ended.
    pub fn dispatched(&self, book: &Book) {
        if !self.any() {
            return;
        }
        let host = self.host.load(Ordering::Relaxed);
        let own = |dword: u64, l: &Left| {
            let usage = l.scene.memory.find(dword * 4).map(|a| a.usage);
            !host || matches!(usage, Some(Use::Host | Use::Queue))
        };
        let read: Vec<(u64, Left)> = self.left().extract_if(.., |dword, l| own(*dword, l)).collect();
        tell(book, read);
    }

    /// Memory was copied.
    pub fn copied(&self, book: &Book, to: u64, from: u64, bytes: u64) {
        if !self.any() {
            return;
        }
        let mut left = self.left();
        let copied: Vec<(u64, Left)> =
            left.range(dwords(from, bytes)).map(|(d, l)| (*d, l.clone())).collect();
        left.retain(|dword, _| !dwords(to, bytes).contains(dword));
        let stays = |l: &Left| l.scene.memory.find(to).is_some_and(|a| a.usage == Use::Device);
        let (stay, read): (Vec<_>, Vec<_>) = copied.into_iter().partition(|(_, l)| stays(l));
        for (dword, l) in stay {
            left.insert(dword.wrapping_sub(from / 4).wrapping_add(to / 4), l);
        }
        // Told once.
        read.iter().for_each(|(dword, _)| drop(left.remove(dword)));
        drop(left);
        tell(book, read);
    }

    /// Memory is freed, or allocated anew.
    pub fn forget(&self, address: u64, bytes: u64) {
        if self.any() {
            self.left().retain(|dword, _| !dwords(address, bytes).contains(dword));
        }
    }
}

fn dwords(address: u64, bytes: u64) -> Range<u64> {
    address / 4..address.saturating_add(bytes).div_ceil(4)
}

fn tell(book: &Book, mut read: Vec<(u64, Left)>) {
    read.sort_by_key(|(dword, l)| (l.pc, *dword));
    for (dword, l) in read {
        let key = Key { check: Check::Init, kind: "undefined-result", pc: l.pc, other: None };
        book.note(&l.scene, key, l.who, 1, || {
            let address = dword * 4;
            let near = l.scene.memory.nearest(address).map_or(String::new(), |n| format!(": {n}"));
            let facts =
                vec![("address", format!("{address:#x}{near}")), ("undefined", format!("{:#010x}", l.bits))];
            told(&l.scene, "a result is left in memory with bits that nobody has written", l.origin, facts)
        });
    }
}

/// What is said of undefined bits.
pub fn told(scene: &Scene, message: &str, origin: Origin, mut facts: Vec<(&'static str, String)>) -> Told {
    let (what, mend) = match origin {
        Origin::Register(reg) => (
            format!("{} was never written", reg.name(1, &scene.target)),
            "write the register first, or ask for it in the kernel descriptor",
        ),
        Origin::Lds(address) => (
            format!("LDS at {address:#x} was never written"),
            "write LDS before it is read: it holds what an earlier work-group has left",
        ),
        Origin::Private(address) => {
            (format!("private memory at {address:#x} was never written"), "initialise the variable")
        }
    };
    facts.push(("origin", what));
    Told { message: message.into(), facts, mend: mend.into(), ..Told::default() }
}
