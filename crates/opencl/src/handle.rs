//! Handles: what the program holds of an object is the address of a slot whose first word leads to the dispatch table, as
//! the loader wants it. Objects themselves are found by looking a handle up, so that one that was released, or never was
//! one, is an error code and nothing worse.

use crate::abi::{Code, Null, Result, Word};
use std::collections::{HashMap, VecDeque};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

/// A handle as C has it.
#[repr(transparent)]
pub struct Handle<T>(usize, PhantomData<fn() -> T>);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> Null for Handle<T> {
    const NULL: Self = Handle(0, PhantomData);
}

impl<T> Word for Handle<T> {
    fn bytes(self) -> Vec<u8> {
        self.0.bytes()
    }
}

impl<T> Handle<T> {
    pub fn is_null(self) -> bool {
        self.0 == 0
    }

    /// The handle that a number is, if it is one.
    pub fn of(address: usize) -> Handle<T> {
        Handle(address, PhantomData)
    }

    /// Its number.
    pub fn address(self) -> usize {
        self.0
    }
}

/// What has handles.
pub trait Object: Send + Sync + Sized + 'static {
    /// The error for handles that are none.
    const INVALID: Code;

    /// All of them.
    fn table() -> &'static Table<Self>;

    /// Its own slot.
    fn slot(&self) -> &Slot;

    /// Its handle.
    fn handle(&self) -> Handle<Self> {
        Handle(self.slot().address, PhantomData)
    }
}

/// An object's slot; it goes with the object.
pub struct Slot {
    address: usize,
    forget: fn(usize),
}

impl Drop for Slot {
    fn drop(&mut self) {
        (self.forget)(self.address);
        give(self.address);
    }
}

struct Entry<T> {
    /// The program's own reference, while it has one.
    strong: Option<Arc<T>>,
    /// Others may keep the object, and with it its handle.
    weak: Weak<T>,
    count: u32,
}

/// The objects of a kind, by handle.
pub struct Table<T> {
    entries: RwLock<Option<HashMap<usize, Entry<T>>>>,
}

impl<T: Object> Table<T> {
    pub const fn new() -> Table<T> {
        Table { entries: RwLock::new(None) }
    }

    fn get(&self, handle: usize) -> Option<Arc<T>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.as_ref()?.get(&handle)?.weak.upgrade()
    }

    /// Changes the program's count; tells the new one. The last reference is handed out, to be dropped without the lock.
    fn count(&self, object: &Arc<T>, change: i32) -> Result<(u32, Option<Arc<T>>)> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.as_mut().and_then(|e| e.get_mut(&object.slot().address)).ok_or(T::INVALID)?;
        entry.count = entry.count.checked_add_signed(change).ok_or(T::INVALID)?;
        let mut last = None;
        match entry.count {
            0 => last = entry.strong.take(),
            _ if entry.strong.is_none() => entry.strong = Some(object.clone()),
            _ => {}
        }
        Ok((entry.count, last))
    }
}

/// Makes an object: the program has one reference to it.
pub fn create<T: Object>(make: impl FnOnce(Slot) -> T) -> Arc<T> {
    let slot = Slot { address: take(), forget: |address| forget(T::table(), address) };
    let address = slot.address;
    let object = Arc::new(make(slot));
    let entry = Entry { strong: Some(object.clone()), weak: Arc::downgrade(&object), count: 1 };
    let mut entries = T::table().entries.write().unwrap_or_else(PoisonError::into_inner);
    entries.get_or_insert_default().insert(address, entry);
    drop(entries);
    object
}

fn forget<T>(table: &Table<T>, address: usize) {
    let mut entries = table.entries.write().unwrap_or_else(PoisonError::into_inner);
    let entry = entries.as_mut().and_then(|e| e.remove(&address));
    drop(entries);
    drop(entry);
}

/// The object of a handle.
pub fn get<T: Object>(handle: Handle<T>) -> Result<Arc<T>> {
    T::table().get(handle.0).ok_or(T::INVALID)
}

/// The object of a handle that may be null.
pub fn get_or_none<T: Object>(handle: Handle<T>) -> Result<Option<Arc<T>>> {
    if handle.is_null() { Ok(None) } else { get(handle).map(Some) }
}

/// One reference of the program's more.
pub fn retain<T: Object>(handle: Handle<T>) -> Result {
    T::table().count(&get(handle)?, 1).map(|_| ())
}

/// One less; true when it was the last.
pub fn release<T: Object>(handle: Handle<T>) -> Result<bool> {
    let object = get(handle)?;
    let (count, last) = T::table().count(&object, -1)?;
    drop(object);
    drop(last);
    Ok(count == 0)
}

/// How many references the program has.
pub fn references<T: Object>(object: &Arc<T>) -> Result<u32> {
    T::table().count(object, 0).map(|(count, _)| count)
}

/// The dispatch table's address: what loaders call sets it before there is an object.
static DISPATCH: AtomicUsize = AtomicUsize::new(0);

/// Says where handles lead to.
pub fn set_dispatch(table: usize) {
    DISPATCH.store(table, Ordering::Release);
}

/// Slots: each begins with the address of the dispatch table, and keeps it for good.
struct Slots {
    free: VecDeque<usize>,
}

static SLOTS: Mutex<Slots> = Mutex::new(Slots { free: VecDeque::new() });
/// Slots rest for so many others before they are used again, so that old handles do not lead to new objects.
const REST: usize = 4096;

fn take() -> usize {
    let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    if slots.free.len() <= REST {
        // They are never given back: the loader may look at old handles.
        let made: &'static [[usize; 2]] =
            Box::leak(vec![[DISPATCH.load(Ordering::Acquire), 0]; 2 * REST].into_boxed_slice());
        slots.free.extend(made.iter().map(|s| s.as_ptr() as usize));
    }
    slots.free.pop_front().unwrap_or(0)
}

fn give(address: usize) {
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner).free.push_back(address);
}
