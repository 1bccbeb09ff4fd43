//! What handles stand for. They are numbers, which are looked up, and never those of another object again.

use crate::action::{Datum, Info, Product, Status};
use crate::metadata::Node;
use std::collections::HashMap;
use std::sync::Arc;

/// What functions do inside: an error leaves early.
pub type Result<T = ()> = std::result::Result<T, Status>;

/// A data object.
pub struct Data {
    /// What is in it.
    pub datum: Datum,
    /// The same in AMD's library, where something was asked of it there that stays with the object.
    pub real: Option<u64>,
    /// How often it must be released.
    references: u64,
}

/// All objects of a process.
#[derive(Default)]
pub struct Objects {
    last: u64,
    data: HashMap<u64, Data>,
    sets: HashMap<u64, Vec<u64>>,
    infos: HashMap<u64, Info>,
    nodes: HashMap<u64, Arc<Node>>,
    /// Objects of AMD's library that nothing here stands for any more.
    pub released: Vec<u64>,
}

impl Objects {
    fn number(&mut self) -> u64 {
        // They are multiples of a number that is not small, so that none is mistaken for an index or a pointer.
        self.last += 0x100;
        self.last
    }

    /// A new data object.
    pub fn add_data(&mut self, datum: Datum) -> u64 {
        let handle = self.number();
        self.data.insert(handle, Data { datum, real: None, references: 1 });
        handle
    }

    /// A data object.
    pub fn data(&mut self, handle: u64) -> Result<&mut Data> {
        self.data.get_mut(&handle).ok_or(Status::INVALID_ARGUMENT)
    }

    /// Changes what is in a data object.
    pub fn change(&mut self, handle: u64, change: impl FnOnce(&mut Datum)) -> Result {
        let data = self.data(handle)?;
        change(&mut data.datum);
        let real = data.real.take();
        self.released.extend(real);
        Ok(())
    }

    /// Takes a reference away.
    pub fn release(&mut self, handle: u64) -> Result {
        let data = self.data(handle)?;
        data.references -= 1;
        if data.references == 0 {
            let real = self.data.remove(&handle).and_then(|d| d.real);
            self.released.extend(real);
        }
        Ok(())
    }

    /// A new set.
    pub fn add_set(&mut self) -> u64 {
        let handle = self.number();
        self.sets.insert(handle, Vec::new());
        handle
    }

    fn set(&self, handle: u64) -> Result<&Vec<u64>> {
        self.sets.get(&handle).ok_or(Status::INVALID_ARGUMENT)
    }

    /// Ends a set.
    pub fn remove_set(&mut self, handle: u64) -> Result {
        let all = self.sets.remove(&handle).ok_or(Status::INVALID_ARGUMENT)?;
        all.into_iter().try_for_each(|data| self.release(data))
    }

    /// Puts something into a set, once.
    pub fn put(&mut self, set: u64, data: u64) -> Result {
        let new = !self.set(set)?.contains(&data);
        let object = self.data(data)?;
        if object.datum.name.is_none() {
            return Err(Status::INVALID_ARGUMENT);
        }
        if new {
            object.references += 1;
            self.sets.entry(set).or_default().push(data);
        }
        Ok(())
    }

    /// Those of a kind in a set.
    pub fn of_kind(&self, set: u64, kind: u32) -> Result<Vec<u64>> {
        let is = |data: &&u64| self.data.get(data).is_some_and(|d| d.datum.kind == kind);
        Ok(self.set(set)?.iter().filter(is).copied().collect())
    }

    /// One of a kind in a set, with a reference to it.
    pub fn get(&mut self, set: u64, kind: u32, index: usize) -> Result<u64> {
        let found = self.of_kind(set, kind)?.get(index).copied().ok_or(Status::INVALID_ARGUMENT)?;
        self.data(found)?.references += 1;
        Ok(found)
    }

    /// Takes those of a kind out of a set.
    pub fn take(&mut self, set: u64, kind: u32) -> Result {
        let gone = self.of_kind(set, kind)?;
        self.sets.entry(set).or_default().retain(|d| !gone.contains(d));
        gone.into_iter().try_for_each(|data| self.release(data))
    }

    /// What is in a set.
    pub fn contents(&self, set: u64) -> Result<(Vec<u64>, Vec<Datum>)> {
        let all = self.set(set)?;
        Ok((all.clone(), all.iter().filter_map(|d| Some(self.data.get(d)?.datum.clone())).collect()))
    }

    /// Makes a set have what came of an action, whose inputs and the set's former contents were these.
    pub fn fill(&mut self, set: u64, before: &[u64], products: Vec<Product>) -> Result {
        let old = self.set(set)?.clone();
        let mut all = Vec::with_capacity(products.len());
        for product in products {
            let data = match product {
                Product::New(datum) => self.add_data(datum),
                Product::Input(number) => {
                    let data = *before.get(number).ok_or(Status::ERROR)?;
                    self.data(data)?.references += 1;
                    data
                }
            };
            all.push(data);
        }
        self.sets.insert(set, all);
        old.into_iter().try_for_each(|data| self.release(data))
    }

    /// A new description of an action.
    pub fn add_info(&mut self) -> u64 {
        let handle = self.number();
        self.infos.insert(handle, Info::default());
        handle
    }

    /// A description of an action.
    pub fn info(&mut self, handle: u64) -> Result<&mut Info> {
        self.infos.get_mut(&handle).ok_or(Status::INVALID_ARGUMENT)
    }

    /// Ends one.
    pub fn remove_info(&mut self, handle: u64) -> Result {
        self.infos.remove(&handle).map(drop).ok_or(Status::INVALID_ARGUMENT)
    }

    /// A handle for a node of metadata.
    pub fn add_node(&mut self, node: Arc<Node>) -> u64 {
        let handle = self.number();
        self.nodes.insert(handle, node);
        handle
    }

    /// A node of metadata.
    pub fn node(&self, handle: u64) -> Result<&Arc<Node>> {
        self.nodes.get(&handle).ok_or(Status::INVALID_ARGUMENT)
    }

    /// Ends a handle.
    pub fn remove_node(&mut self, handle: u64) {
        self.nodes.remove(&handle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datum(kind: u32) -> Datum {
        Datum { kind, name: Some(c"name".to_owned()), contents: None }
    }

    #[test]
    fn sets_hold_what_is_in_them() {
        let mut objects = Objects::default();
        let (set, a, b) = (objects.add_set(), objects.add_data(datum(1)), objects.add_data(datum(2)));
        for data in [a, b, a] {
            assert_eq!(objects.put(set, data), Ok(()));
        }
        assert_eq!(objects.release(a), Ok(()));
        assert_eq!(objects.of_kind(set, 1), Ok(vec![a]));
        assert_eq!(objects.get(set, 1, 0), Ok(a));
        assert_eq!(objects.get(set, 1, 1), Err(Status::INVALID_ARGUMENT));
        assert_eq!(objects.take(set, 1), Ok(()));
        assert_eq!(objects.of_kind(set, 1), Ok(Vec::new()));
        // The reference that `get` has given.
        assert_eq!(objects.release(a), Ok(()));
        assert_eq!(objects.release(a), Err(Status::INVALID_ARGUMENT));
        assert_eq!(objects.release(b), Ok(()));
        assert_eq!(objects.remove_set(set), Ok(()));
        assert_eq!(objects.release(b), Err(Status::INVALID_ARGUMENT));
        assert_eq!(objects.remove_set(set), Err(Status::INVALID_ARGUMENT));
    }

    #[test]
    fn what_has_no_name_is_in_no_set() {
        let mut objects = Objects::default();
        let (set, data) = (objects.add_set(), objects.add_data(Datum { kind: 1, ..Datum::default() }));
        assert_eq!(objects.put(set, data), Err(Status::INVALID_ARGUMENT));
        assert_eq!(objects.put(data, data), Err(Status::INVALID_ARGUMENT));
    }

    #[test]
    fn results_may_be_inputs() {
        let mut objects = Objects::default();
        let (set, a) = (objects.add_set(), objects.add_data(datum(1)));
        assert_eq!(objects.fill(set, &[a], vec![Product::Input(0), Product::New(datum(6))]), Ok(()));
        assert_eq!(objects.release(a), Ok(()));
        assert_eq!(objects.of_kind(set, 1), Ok(vec![a]));
        assert_eq!(objects.of_kind(set, 6).map(|all| all.len()), Ok(1));
        assert_eq!(objects.fill(set, &[], vec![Product::Input(0)]), Err(Status::ERROR));
        assert_eq!(objects.remove_set(set), Ok(()));
        assert!(objects.data.is_empty());
    }

    #[test]
    fn twins_in_the_library_go_with_what_they_were_made_of() {
        let mut objects = Objects::default();
        let a = objects.add_data(datum(8));
        objects.data(a).expect("it is there").real = Some(7);
        assert_eq!(objects.change(a, |d| d.name = None), Ok(()));
        objects.data(a).expect("it is there").real = Some(8);
        assert_eq!(objects.release(a), Ok(()));
        assert_eq!(objects.released, [7, 8]);
    }
}
