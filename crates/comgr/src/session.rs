//! Questions that AMD's library need not be asked twice.

use crate::action::{Action, Contents, Datum, Known, Later, Library, Product, Status};
use crate::digest::{Digest, digest};
use crate::kept::{Kept, Reader, Writer};
use crate::metadata::Node;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;

/// Larger products of actions that only add parts of AMD's library are not kept, but had from there again.
const LARGE: usize = 4096;

/// What was asked in this process and before.
pub struct Session {
    /// None where nothing is kept.
    kept: Option<Kept>,
    /// Which library it is, and what else its answers depend on.
    surroundings: Vec<u8>,
    known: Known,
    targets: HashMap<CString, Arc<Node>>,
}

impl Session {
    /// Answers to questions in these surroundings.
    pub fn new(kept: Option<Kept>, surroundings: Vec<u8>) -> Session {
        Session { kept, surroundings, known: Known::default(), targets: HashMap::new() }
    }

    /// Does an action, or finds what came of it when it was done before. The result set has some data `already`, which are
    /// numbered behind the inputs in what comes back.
    pub fn act(
        &mut self,
        action: &Action,
        already: &[Datum],
        library: &dyn Library,
    ) -> (Status, Vec<Product>) {
        let kept = self.kept.is_some() && already.is_empty();
        let key = kept.then(|| action.key(&self.surroundings, &self.known)).flatten();
        let found = key.as_ref().and_then(|key| self.answer(key));
        if let Some(products) = found.and_then(|answer| read_products(&mut Reader(&answer), action)) {
            self.known.note(&products);
            return (Status::SUCCESS, products);
        }
        let (status, products) = library.act(action, already);
        if let Some(key) = key.filter(|_| status == Status::SUCCESS) {
            let mut writer = Writer::default();
            write_products(&mut writer, &products, action.adds());
            self.remember(&key, &writer.0, library);
            self.known.note(&products);
        }
        (status, products)
    }

    /// What is known about a target.
    pub fn target(&mut self, name: &CStr, library: &dyn Library) -> Result<Arc<Node>, Status> {
        if let Some(node) = self.targets.get(name) {
            return Ok(node.clone());
        }
        let question = self.question(b"target", name.to_bytes());
        let node = match self.answer(&question).and_then(|answer| Node::read(&mut Reader(&answer))) {
            Some(node) => node,
            None => {
                let node = library.target(name)?;
                let mut writer = Writer::default();
                node.write(&mut writer);
                self.remember(&question, &writer.0, library);
                node
            }
        };
        let node = Arc::new(node);
        self.targets.insert(name.to_owned(), node.clone());
        Ok(node)
    }

    /// The name of a code object's target, which its header says.
    pub fn target_of(
        &self,
        object: &Datum,
        header: &[u8],
        library: &dyn Library,
    ) -> Result<Arc<[u8]>, Status> {
        let question = self.question(b"header", header);
        if let Some(answer) = self.answer(&question) {
            return Ok(answer);
        }
        let name = library.target_of(object)?;
        self.remember(&question, &name, library);
        Ok(name.into())
    }

    fn question(&self, kind: &[u8], what: &[u8]) -> Digest {
        let mut question = Writer::default();
        [kind, &self.surroundings, what].into_iter().for_each(|part| question.bytes(part));
        digest(&question.0)
    }

    fn answer(&self, question: &Digest) -> Option<Arc<[u8]>> {
        self.kept.as_ref()?.get(question)
    }

    fn remember(&self, question: &Digest, answer: &[u8], library: &dyn Library) {
        if let Some(kept) = &self.kept {
            kept.put(question, &library.files(), answer);
        }
    }
}

fn write_products(writer: &mut Writer, products: &[Product], adds: bool) {
    writer.number(products.len() as u64);
    for product in products {
        match product {
            Product::Input(number) => {
                writer.number(0);
                writer.number(*number as u64);
            }
            Product::New(Datum { kind, name, contents }) => {
                let bytes = contents.as_ref().map(|c| c.at_hand());
                let form = match bytes {
                    None => 1,
                    Some(bytes) if adds && bytes.len() > LARGE => 3,
                    Some(_) => 2,
                };
                writer.number(form);
                writer.number((*kind).into());
                writer.number(u64::from(name.is_some()));
                writer.bytes(name.as_ref().map_or(b"", |n| n.as_bytes()));
                match contents {
                    Some(contents) if form == 3 => writer.bytes(&contents.digest()),
                    _ => writer.bytes(bytes.unwrap_or_default()),
                }
            }
        }
    }
}

fn read_products(reader: &mut Reader<'_>, action: &Action) -> Option<Vec<Product>> {
    let count = reader.number()?;
    let mut later = None;
    let one = |place| {
        let form = reader.number()?;
        if form == 0 {
            let number = usize::try_from(reader.number()?).ok().filter(|n| *n < action.inputs.len())?;
            return Some(Product::Input(number));
        }
        let kind = u32::try_from(reader.number()?).ok()?;
        let named = reader.number()? != 0;
        let name = CString::new(reader.bytes()?).ok()?;
        let bytes = reader.bytes()?;
        let contents = match form {
            1 => None,
            2 => Some(Contents::new(bytes)),
            3 => {
                let later = later.get_or_insert_with(|| Arc::new(Later::new(action.clone())));
                Some(Contents::later(bytes.try_into().ok()?, later.clone(), usize::try_from(place).ok()?))
            }
            _ => return None,
        };
        Some(Product::New(Datum { kind, name: named.then_some(name), contents }))
    };
    (0..count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{Info, Options, data};
    use std::cell::Cell;
    use std::path::PathBuf;
    use wavemill_compile::directory::Directory;

    /// A library that makes capitals of sources, and counts how often it has to.
    #[derive(Default)]
    struct Fake(Cell<u32>);

    impl Library for Fake {
        fn act(&self, action: &Action, already: &[Datum]) -> (Status, Vec<Product>) {
            assert!(already.is_empty());
            self.0.set(self.0.get() + 1);
            let source = action.inputs[0].contents.as_ref().map_or(&b""[..], |c| c.at_hand());
            if source == b"wrong" {
                return (Status::ERROR, Vec::new());
            }
            let name = Some(c"made".to_owned());
            let contents = Some(Contents::new(source.to_ascii_uppercase()));
            let made = Datum { kind: data::BC, name, contents };
            (Status::SUCCESS, vec![Product::Input(0), Product::New(made)])
        }

        fn target(&self, name: &CStr) -> Result<Node, Status> {
            self.0.set(self.0.get() + 1);
            if name.is_empty() {
                Err(Status::INVALID_ARGUMENT)
            } else {
                Ok(Node::Text(name.to_bytes().to_vec()))
            }
        }

        fn target_of(&self, object: &Datum) -> Result<Vec<u8>, Status> {
            self.0.set(self.0.get() + 1);
            object.contents.as_ref().map(|c| c.at_hand().to_ascii_uppercase()).ok_or(Status::ERROR)
        }

        fn files(&self) -> Vec<PathBuf> {
            Vec::new()
        }
    }

    fn compile(source: &str) -> Action {
        let contents = Some(Contents::new(source.as_bytes()));
        let input = Datum { kind: data::SOURCE, name: Some(c"in".to_owned()), contents };
        let info = Info { options: Options::List(Vec::new()), ..Info::default() };
        Action { kind: 2, info, inputs: vec![input] }
    }

    fn act(session: &mut Session, fake: &Fake, action: &Action) -> (Status, Vec<Product>) {
        session.act(action, &[], fake)
    }

    #[test]
    fn a_second_process_asks_for_nothing_that_the_first_has_asked_for() {
        let place = Directory::new().expect("a directory");
        let session =
            |surroundings: &str| Session::new(Some(Kept::at(place.path(), 1 << 20)), surroundings.into());
        let (mut first, fake) = (session("one"), Fake::default());
        let result = act(&mut first, &fake, &compile("text"));
        assert_eq!((result.0, result.1.len(), fake.0.get()), (Status::SUCCESS, 2, 1));
        let mut second = session("one");
        assert_eq!(act(&mut second, &fake, &compile("text")), result);
        assert_eq!(fake.0.get(), 1);
        // What came from there is known, as it was in the first.
        let Product::New(made) = &result.1[1] else { panic!("{result:?}") };
        let link = Action { kind: 4, inputs: vec![made.clone()], ..compile("") };
        assert_eq!(act(&mut second, &fake, &link), act(&mut first, &fake, &link));
        assert_eq!(fake.0.get(), 2);
        // Another library, another source, one that includes, one that is wrong.
        assert_eq!(act(&mut session("two"), &fake, &compile("text")), result);
        assert_eq!(fake.0.get(), 3);
        for _ in 0..2 {
            act(&mut session("one"), &fake, &compile("include"));
            act(&mut session("one"), &fake, &compile("wrong"));
        }
        assert_eq!(fake.0.get(), 7);
    }

    #[test]
    fn parts_of_the_library_are_had_from_it_when_somebody_looks_at_them() {
        let place = Directory::new().expect("a directory");
        let fake = Fake::default();
        let source = "x".repeat(LARGE + 1);
        let add = Action { kind: 1, ..compile(&source) };
        let of = |(_, products): (Status, Vec<Product>)| match products.into_iter().nth(1) {
            Some(Product::New(Datum { contents: Some(contents), .. })) => contents,
            other => panic!("{other:?}"),
        };
        let session = || Session::new(Some(Kept::at(place.path(), 1 << 20)), Vec::new());
        let first = of(act(&mut session(), &fake, &add));
        let second = of(act(&mut session(), &fake, &add));
        assert_eq!(
            (first == second, first.at_hand().len(), second.at_hand().len(), fake.0.get()),
            (true, LARGE + 1, 0, 1)
        );
        for _ in 0..2 {
            assert_eq!(second.bytes(&fake), first.bytes(&fake));
            assert_eq!(fake.0.get(), 2);
        }
        // What is not what it was is an error.
        let other = Arc::new(Later::new(Action { kind: 1, ..compile("y") }));
        assert_eq!(Contents::later(first.digest(), other, 1).bytes(&fake), Err(Status::ERROR));
    }

    #[test]
    fn without_a_place_everything_is_asked_for() {
        let (mut session, fake) = (Session::new(None, Vec::new()), Fake::default());
        let results = [0, 1].map(|_| act(&mut session, &fake, &compile("text")));
        assert_eq!(results[0], results[1]);
        assert_eq!(fake.0.get(), 2);
    }

    #[test]
    fn targets_are_asked_for_once() {
        let place = Directory::new().expect("a directory");
        let fake = Fake::default();
        for _ in 0..2 {
            let mut session = Session::new(Some(Kept::at(place.path(), 1 << 20)), Vec::new());
            for _ in 0..2 {
                let node = session.target(c"gfx", &fake).expect("it is known");
                assert_eq!(*node, Node::Text(b"gfx".to_vec()));
                assert_eq!(fake.0.get(), 1);
            }
        }
        let mut session = Session::new(Some(Kept::at(place.path(), 1 << 20)), Vec::new());
        assert_eq!(session.target(c"", &fake), Err(Status::INVALID_ARGUMENT));
        // Of code objects, the header counts.
        let count = fake.0.get();
        for source in ["abc", "abd"] {
            let object = compile(source).inputs.remove(0);
            assert_eq!(session.target_of(&object, b"ab", &fake).as_deref(), Ok(&b"ABC"[..]));
            assert_eq!(fake.0.get(), count + 1);
        }
        assert_eq!(session.target_of(&Datum::default(), b"other", &fake), Err(Status::ERROR));
    }

    #[test]
    fn results_that_name_inputs_which_are_not_there_are_none() {
        let mut writer = Writer::default();
        write_products(&mut writer, &[Product::Input(1)], false);
        let one = compile("");
        let two = Action { inputs: [one.inputs.clone(), one.inputs.clone()].concat(), ..one.clone() };
        assert_eq!(read_products(&mut Reader(&writer.0), &one), None);
        assert_eq!(read_products(&mut Reader(&writer.0), &two), Some(vec![Product::Input(1)]));
        let many: Vec<u8> = u64::MAX.to_le_bytes().to_vec();
        assert_eq!(read_products(&mut Reader(&many), &two), None);
    }
}
