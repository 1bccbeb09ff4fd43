//! `.arg`: an argument of a kernel, as the container's metadata has it.

use super::text::Cursor;
use super::{Assembler, Res, wrong};
use wavemill_object::catalyst::device::FIRST_HINTS;
use wavemill_object::catalyst::metadata::{Arg, Kind, data, memory};

/// Types of values: CLRX's name, the data type as a signed scalar and otherwise, bytes.
const SCALARS: [(&str, u32, u32, u32); 11] = [
    ("char", data::I8, data::U8, 1),
    ("uchar", data::U8, data::U8, 1),
    ("short", data::I16, data::U16, 2),
    ("ushort", data::U16, data::U16, 2),
    ("int", data::I32, data::U32, 4),
    ("uint", data::U32, data::U32, 4),
    ("long", data::I64, data::U64, 8),
    ("ulong", data::U64, data::U64, 8),
    ("half", data::F16, data::F16, 2),
    ("float", data::F32, data::F32, 4),
    ("double", data::F64, data::F64, 8),
];

/// Images: CLRX's name, OpenCL's, and the four flags of the metadata (2D, 1D, array, buffer).
const IMAGES: [(&str, &str, u32); 7] = [
    ("image", "image2d_t", 0x1),
    ("image1d", "image1d_t", 0x100),
    ("image1d_array", "image1d_array_t", 0x1_0100),
    ("image1d_buffer", "image1d_buffer_t", 0x100_0100),
    ("image2d", "image2d_t", 0x1),
    ("image2d_array", "image2d_array_t", 0x1_0001),
    ("image3d", "image3d_t", 0),
];

/// A scalar or vector type: data type as a value and as what is pointed to, elements, bytes of one.
fn number_type(name: &str) -> Option<(u32, u32, u32, u32)> {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let base = &name[..name.len() - digits.len()];
    let count = match digits {
        "" => 1,
        "2" | "3" | "4" | "8" | "16" => digits.parse().ok()?,
        _ => return None,
    };
    let &(_, scalar, other, bytes) = SCALARS.iter().find(|s| s.0 == base)?;
    Some((if count == 1 { scalar } else { other }, other, count, bytes))
}

impl Assembler<'_> {
    /// Reads an argument. `driver` decides details, `args` are those before it.
    pub(super) fn argument(
        &mut self,
        c: &mut Cursor<'_>,
        driver: u32,
        args: &[Arg<'static>],
    ) -> Res<Arg<'static>> {
        let at = c.at;
        let name = self.name(c)?.to_owned();
        if args.iter().any(|a| a.name == name) {
            return wrong(at, format!("there is an argument {name} already"));
        }
        self.comma(c)?;
        let mut type_name = String::new();
        if c.peek() == b'"' {
            type_name = String::from_utf8_lossy(&self.string(c)?).into_owned();
            self.comma(c)?;
        }
        let start = c.at;
        let word = c.take_word().to_ascii_lowercase();
        let pointer = c.eat("*");
        let slot = args.iter().map(|a| a.slot + slots(a)).next_back().unwrap_or(0);
        let mut arg = Arg {
            name: name.into(),
            type_name: "".into(),
            kind: Kind::Value,
            count: 1,
            buffer: 1,
            slot,
            word52: 0,
            word56: 0,
            pointee: 0,
            memory: 0,
            access: 0,
            qualifiers: [false; 3],
            is_const: false,
        };
        let spelled = match word.as_str() {
            _ if pointer => {
                self.pointer(c, &word, driver, start, &mut arg)?;
                format!("{word}*")
            }
            "structure" => {
                self.comma(c)?;
                arg.count = self.number_in(c, 1, i64::from(u32::MAX))? as u32;
                arg.word52 = data::STRUCT;
                "structure".into()
            }
            "sampler" => {
                arg.kind = Kind::Sampler;
                arg.buffer = 0;
                let next = args.iter().filter(|a| a.kind == Kind::Sampler).count() as u32;
                arg.count = if self.more(c) { self.number_in(c, 0, 15)? as u32 } else { next };
                "sampler_t".into()
            }
            "queue" => {
                arg.kind = Kind::Queue;
                arg.word52 = data::OPAQUE;
                // Drivers before 1912.05 call the memory emulated scratch.
                arg.word56 =
                    if driver < wavemill_object::catalyst::device::FIRST_INNER { 2 } else { memory::GLOBAL };
                "queue_t".into()
            }
            "clkevent" | "pipe" => {
                let pipe = word == "pipe";
                arg.kind = Kind::Pointer;
                arg.word52 = POINTER_BUFFER;
                arg.word56 = if pipe { 256 } else { 4 };
                arg.pointee = if pipe { data::STRUCT } else { data::OPAQUE };
                arg.memory = memory::GLOBAL;
                arg.access = 3;
                arg.qualifiers[2] = pipe;
                if pipe { "pipe".into() } else { "clk_event_t".into() }
            }
            _ if IMAGES.iter().any(|i| i.0 == word) => self.image(c, &word, args, &mut arg)?,
            _ => {
                let Some((ty, vector, count, _)) = number_type(&word) else {
                    return wrong(start, format!("there is no argument type {word}"));
                };
                arg.word52 = if driver < FIRST_HINTS { vector } else { ty };
                arg.count = elements(count, driver);
                word.clone()
            }
        };
        if self.more(c) {
            let last = c.at;
            match (c.take_word().to_ascii_lowercase().as_str(), arg.kind) {
                ("unused", _) => arg.access = 0,
                ("rdonly", Kind::Pointer) => arg.access = 1,
                ("wronly", Kind::Pointer) => arg.access = 2,
                _ => return wrong(last, "unused is wanted here, or for pointers rdonly or wronly"),
            }
        }
        self.end(c)?;
        arg.type_name = if type_name.is_empty() { spelled } else { type_name }.into();
        Ok(arg)
    }

    /// Whether another field follows; one that is empty is passed over.
    fn more(&self, c: &mut Cursor<'_>) -> bool {
        c.eat(",") && !c.at_end() && c.peek() != b','
    }

    fn pointer(
        &mut self,
        c: &mut Cursor<'_>,
        word: &str,
        driver: u32,
        start: usize,
        arg: &mut Arg<'static>,
    ) -> Res {
        arg.kind = Kind::Pointer;
        arg.word52 = POINTER_BUFFER;
        arg.access = 3;
        let (ty, count, bytes) = match word {
            "void" => (data::U8, 1, 1),
            "structure" => {
                self.comma(c)?;
                let bytes = self.number_in(c, 1, 1 << 30)? as u32;
                (data::STRUCT, bytes, bytes)
            }
            _ => match number_type(word) {
                Some((_, ty, count, bytes)) => (ty, elements(count, driver), bytes * count),
                None => return wrong(start, format!("there is no type {word} to point to")),
            },
        };
        (arg.pointee, arg.count) = (ty, count);
        arg.word56 = bytes.next_power_of_two();
        self.comma(c)?;
        let at = c.at;
        arg.memory = match c.take_word().to_ascii_lowercase().as_str() {
            "global" => memory::GLOBAL,
            "constant" => memory::CONSTANT,
            "local" => memory::LOCAL,
            _ => return wrong(at, "a pointer is global, constant or local"),
        };
        if self.more(c) {
            loop {
                let before = *c;
                match c.take_word().to_ascii_lowercase().as_str() {
                    "const" => arg.is_const = true,
                    "restrict" => arg.qualifiers[1] = true,
                    "volatile" => arg.qualifiers[0] = true,
                    _ => {
                        *c = before;
                        break;
                    }
                }
            }
            // A field that is no qualifier is the access.
            if !c.at_end() && c.peek() != b',' {
                let at = c.at;
                match c.take_word().to_ascii_lowercase().as_str() {
                    "unused" => arg.access = 0,
                    "rdonly" => arg.access = 1,
                    "wronly" => arg.access = 2,
                    _ => return wrong(at, "const, restrict, volatile, unused, rdonly or wronly is wanted"),
                }
            }
        }
        Ok(())
    }

    fn image(
        &mut self,
        c: &mut Cursor<'_>,
        word: &str,
        args: &[Arg<'static>],
        arg: &mut Arg<'static>,
    ) -> Res<String> {
        let &(_, spelled, flags) = IMAGES.iter().find(|i| i.0 == word).unwrap_or(&IMAGES[0]);
        arg.kind = Kind::Image;
        (arg.word52, arg.word56) = (1, flags);
        if self.more(c) {
            let at = c.at;
            arg.word52 = match c.take_word().to_ascii_lowercase().as_str() {
                "read_only" | "rdonly" => 1,
                "write_only" | "wronly" => 2,
                "read_write" | "rdwr" => 3,
                _ => return wrong(at, "an image is read_only, write_only or read_write"),
            };
        }
        let same = |a: &&Arg<'static>| a.kind == Kind::Image && a.word52 == arg.word52;
        let next = args.iter().filter(same).count() as u32;
        let most = if arg.word52 == 1 { 127 } else { 63 };
        let mut id = next;
        let before = *c;
        if self.more(c) {
            if c.word().eq_ignore_ascii_case("unused") {
                *c = before;
            } else {
                let at = c.at;
                id = self.number_in(c, 0, most)? as u32;
                if args.iter().filter(same).any(|a| a.count == id) {
                    return wrong(at, format!("there is an image {id} of this access already"));
                }
            }
        }
        arg.count = id;
        Ok(spelled.into())
    }
}

/// What drivers write as a pointer's buffer number.
const POINTER_BUFFER: u32 = 7;

/// Elements as drivers count them: three are four from 1912.05 on.
fn elements(count: u32, driver: u32) -> u32 {
    if count == 3 && driver >= wavemill_object::catalyst::device::FIRST_INNER { 4 } else { count }
}

/// Slots of 16 bytes that an argument takes, in bytes.
fn slots(arg: &Arg<'_>) -> u32 {
    let (size, _) = arg.layout(wavemill_object::catalyst::Width::W64);
    (size.clamp(1, 1 << 20) as u32).next_multiple_of(16)
}

/// What `.arg` says about an argument. Whether it says everything is for the reader to try.
pub(super) fn spelling(arg: &Arg<'_>) -> String {
    let number = |ty: u32, count: u32, name: &str| {
        // The type's own name tells signed from unsigned, and three elements from four.
        let spelled = name.trim_end_matches('*');
        let by_name = number_type(spelled)
            .filter(|t| (t.0 == ty || t.1 == ty) && (t.2 == count || (t.2 == 3 && count == 4)));
        match by_name {
            Some(_) => spelled.to_owned(),
            None => {
                let scalar = SCALARS.iter().find(|s| s.1 == ty).map_or("int", |s| s.0);
                if count == 1 { scalar.to_owned() } else { format!("{scalar}{count}") }
            }
        }
    };
    let quoted = format!("\"{}\"", arg.type_name.replace('\\', "\\\\").replace('"', "\\\""));
    let access = match arg.access {
        0 => ", unused",
        1 => ", rdonly",
        2 => ", wronly",
        _ => "",
    };
    let rest = match arg.kind {
        Kind::Sampler => format!("sampler, {}", arg.count),
        Kind::Queue => "queue".into(),
        Kind::Image => {
            let named = IMAGES.iter().skip(1).find(|i| i.1 == arg.type_name);
            let ty = named.or(IMAGES.iter().find(|i| i.2 == arg.word56)).map_or("image", |i| i.0);
            let access = ["read_only", "write_only", "read_write"][(arg.word52 as usize).clamp(1, 3) - 1];
            format!("{ty}, {access}, {}", arg.count)
        }
        Kind::Value if arg.word52 == data::STRUCT => format!("structure, {}", arg.count),
        Kind::Pointer if arg.qualifiers[2] => "pipe".into(),
        Kind::Pointer if arg.pointee == data::OPAQUE => "clkevent".into(),
        Kind::Pointer => {
            let ty = match arg.pointee {
                data::STRUCT => format!("structure*, {}", arg.count),
                data::U8 if number_type(arg.type_name.trim_end_matches('*')).is_none() => "void*".into(),
                ty => format!("{}*", number(ty, arg.count, &arg.type_name)),
            };
            let space = match arg.memory {
                memory::LOCAL => "local",
                memory::CONSTANT => "constant",
                _ => "global",
            };
            let mut qualifiers = Vec::new();
            qualifiers.extend(arg.is_const.then_some("const"));
            qualifiers.extend(arg.qualifiers[1].then_some("restrict"));
            qualifiers.extend(arg.qualifiers[0].then_some("volatile"));
            format!("{ty}, {space}, {}{access}", qualifiers.join(" ")).trim_end_matches([',', ' ']).to_owned()
        }
        _ => number(arg.word52, arg.count, &arg.type_name),
    };
    format!("{}, {quoted}, {rest}", arg.name)
}
