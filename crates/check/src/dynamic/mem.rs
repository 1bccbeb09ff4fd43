//! Accesses outside of what they are meant for.
//!
//! Every access must lie in one allocation, to the byte, whatever the device lets pass: hardware checks whole pages, compilers
//! count on that when they widen scalar loads, and so such a load may read on behind its first byte. LDS ends where the
//! work-group's packet says, private memory where the lane's own does, arguments where the kernel's do.

use super::accesses::Accesses;
use super::book::{Key, Told, Who};
use super::freed::Freed;
use super::scene::Executed;
use super::set::Check;
use super::watch::{Context, GroupWatch, Watch};
use std::sync::Arc;
use wavemill_device::kernarg;
use wavemill_device::memory::Use;
use wavemill_isa::{Enc, Role};
use wavemill_wave::observe::{Access, Kind, Space};
use wavemill_wave::{FaultKind, Wave};

/// The check.
#[derive(Default)]
pub struct Mem {
    /// What the host has freed.
    pub freed: Arc<Freed>,
}

impl Watch for Mem {
    fn group(&self, cx: &Context<'_>, _: [u32; 3], waves: u32) -> Box<dyn GroupWatch> {
        let plan = &cx.scene.plan;
        let (start, bytes) = (plan.packet.kernarg_address, plan.kernel.setup.kernarg_bytes);
        Box::new(Group {
            freed: self.freed.clone(),
            ranges: [Range::default(); 4],
            next: 0,
            private: vec![None; waves as usize],
            arguments: (bytes != 0).then(|| (start, start.saturating_add(bytes.into()))),
            copies: kernarg::copies(&plan.kernel)
                .map(|c| (start.saturating_add(c.start), start.saturating_add(c.end)))
                .collect(),
        })
    }

    fn wants_before(&self, at: &Executed) -> bool {
        matches!(at.step.inst.row.enc, Enc::Mubuf | Enc::Mtbuf)
    }

    fn is_narrow(&self) -> bool {
        true
    }
}

/// An allocation that was accessed lately.
#[derive(Clone, Copy, Default)]
struct Range {
    start: u64,
    end: u64,
    scratch: bool,
}

struct Group {
    freed: Arc<Freed>,
    ranges: [Range; 4],
    next: usize,
    /// Each wave's private memory.
    private: Vec<Option<(u64, u64)>>,
    /// Where the kernel's arguments are.
    arguments: Option<(u64, u64)>,
    /// Structures behind them, which the kernel gets by reference.
    copies: Vec<(u64, u64)>,
}

/// Bytes of a page: what hardware checks.
const PAGE: u64 = 4096;

/// What is wrong with an access.
struct Violation {
    kind: &'static str,
    what: String,
    mend: &'static str,
}

fn wrong(kind: &'static str, what: impl Into<String>, mend: &'static str) -> Option<Violation> {
    Some(Violation { kind, what: what.into(), mend })
}

const BOUNDS: &str = "compare the index with the size before the access, or make the buffer larger";
const DECLARED: &str =
    "declare as much LDS as is used (.amdhsa_group_segment_fixed_size, local:BYTES, --lds)";
const STACK: &str =
    "keep indices within the array, or declare more private memory (.amdhsa_private_segment_fixed_size)";

impl Group {
    /// The allocation that an address lies in.
    fn range(&mut self, cx: &Context<'_>, address: u64) -> Option<Range> {
        if let Some(r) = self.ranges.iter().find(|r| r.start <= address && address < r.end) {
            return Some(*r);
        }
        let found = cx.scene.memory.find(address)?;
        let mut range = Range { start: found.start, end: found.end(), scratch: found.usage == Use::Scratch };
        if let Some(&(start, end)) = self.copies.iter().find(|c| c.0 <= address && address < c.1) {
            range = Range { start, end, scratch: false };
        } else if let Some((start, end)) = self.arguments.filter(|a| a.0 == found.start && a.1 <= found.end())
        {
            range = Range { start, end, scratch: false };
        }
        self.ranges[self.next % 4] = range;
        self.next += 1;
        Some(range)
    }

    /// What is wrong with an access to memory that was made. `first` is the address of the instruction's first access.
    fn made(
        &mut self,
        cx: &Context<'_>,
        wave: &Wave,
        at: &Executed,
        access: &Access,
        first: u64,
    ) -> Option<Violation> {
        let end = access.address.saturating_add(access.bytes.into());
        let range = self.range(cx, access.address);
        if let Some(r) = range.filter(|r| r.start <= access.address && end <= r.end) {
            // Plain addresses are the kernel's own business: GCC has a stack for each wave there.
            let swizzled = matches!(at.step.inst.row.enc, Enc::Mubuf | Enc::Mtbuf);
            return if r.scratch && swizzled { self.of_lane(cx, wave, access) } else { None };
        }
        // What a compiler has widened begins with something that is meant.
        if access.space == Space::Scalar
            && access.kind == Kind::Read
            && self.range(cx, first).is_some_and(|r| first < r.end)
        {
            return None;
        }
        if self.is_hosts(cx, access.address) {
            return None;
        }
        self.outside(access)
    }

    /// Whether an address that the device lets pass is nowhere near an allocation: memory of the host program, which GPUs with
    /// XNACK see as it is.
    fn is_hosts(&mut self, cx: &Context<'_>, address: u64) -> bool {
        let page = address & !(PAGE - 1)..(address | (PAGE - 1)).saturating_add(1);
        let near = cx.scene.memory.nearest(address).map(|n| n.allocation);
        if near.is_some_and(|a| a.start < page.end && a.end() > page.start) {
            return false;
        }
        self.ranges[self.next % 4] = Range { start: page.start, end: page.end, scratch: false };
        self.next += 1;
        true
    }

    /// An access beyond everything that it may be meant for.
    fn outside(&self, access: &Access) -> Option<Violation> {
        if self.freed.find(access.address).is_some() {
            return wrong(
                "use-after-free",
                "uses memory that was freed",
                "free it after the last kernel that uses it has ended",
            );
        }
        let in_arguments = self.arguments.is_some_and(|(_, end)| (end..end + 64).contains(&access.address));
        match access.kind {
            Kind::Read if in_arguments => wrong(
                "arguments-outside",
                "reads behind the kernel's arguments",
                "declare all arguments (.amdhsa_kernarg_size), or load less",
            ),
            Kind::Read => wrong("read-outside", "reads outside of every allocation", BOUNDS),
            _ => wrong("write-outside", "writes outside of every allocation", BOUNDS),
        }
    }

    /// Private memory is shared out among lanes: a dword of each lane, side by side.
    fn of_lane(&self, cx: &Context<'_>, wave: &Wave, access: &Access) -> Option<Violation> {
        let (start, end) = (*self.private.get(wave.id.wave as usize)?)?;
        let lane = u64::from(access.lane?);
        let inside = start <= access.address && access.address < end;
        if inside && (access.address - start) / 4 % 64 == lane {
            return None;
        }
        // A dispatch's scratch may also be reached by addresses that the kernel works out itself.
        let scratch = &cx.scene.plan.scratch;
        (scratch.base..scratch.base + scratch.len)
            .contains(&access.address)
            .then(|| wrong("private-outside", "is beyond the lane's own private memory", STACK))?
    }

    fn judge(
        &mut self,
        cx: &Context<'_>,
        wave: &Wave,
        at: &Executed,
        access: &Access,
        first: u64,
    ) -> Option<Violation> {
        let end = access.address.saturating_add(access.bytes.into());
        if let Kind::Invalidate | Kind::WriteBack = access.kind {
            return None;
        }
        match (access.fault, access.space) {
            (Some(FaultKind::Misaligned { .. }), _) => wrong(
                "misaligned-atomic",
                "is an atomic access to an address that is not a multiple of its size",
                "align the address to the size of the access",
            ),
            (Some(FaultKind::ReadOnly { .. }), _) => wrong(
                "write-read-only",
                "writes memory that is read-only",
                "write to a buffer of the kernel's own",
            ),
            (Some(FaultKind::Gone), _) => wrong(
                "gone",
                "is to memory that the host has unmapped",
                "keep memory mapped for as long as kernels use it",
            ),
            (_, Space::Lds) => {
                let declared = cx.scene.plan.packet.group_segment_size;
                // Most are not: nothing is written down for those.
                let what = || format!("is beyond the {declared} bytes of LDS that the work-group has");
                (end > declared.into()).then(|| wrong("lds-outside", what(), DECLARED))?
            }
            (Some(_), Space::Scratch) => {
                wrong("private-outside", "is beyond the lane's own private memory", STACK)
            }
            (Some(FaultKind::Lds { .. }), Space::Gds) => wrong(
                "gds-outside",
                "is beyond the global data share, or beyond what M0 gives",
                "set base and size in M0",
            ),
            (Some(FaultKind::Read { .. } | FaultKind::Write { .. }), _) => self.outside(access),
            (None, Space::Global | Space::Scalar) => self.made(cx, wave, at, access, first),
            _ => None,
        }
    }

    /// A buffer descriptor that reaches beyond its allocation lets through what it should hold back.
    fn descriptor(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed) {
        let inst = &at.step.inst;
        let Some(first) = at.step.info.uses().iter().find(|u| u.role == Some(Role::Srsrc)) else { return };
        let wavemill_isa::info::Reg::Scalar(code) = first.reg else { return };
        let word = |i: u32| wave.sgpr(u32::from(code) + i);
        let base = u64::from(word(0)) | u64::from(word(1) & 0xffff) << 32;
        let stride = word(1) >> 16 & 0x3fff;
        let (swizzle, records) = (word(1) >> 31 != 0, word(2));
        // Without an end, or with a swizzle, the descriptor does not say how far it reaches.
        if swizzle || records >= i32::MAX as u32 || word(3) >> 23 & 1 != 0 || records == 0 {
            return;
        }
        let bytes = match stride {
            0 => u64::from(records),
            n if cx.scene.target.level().is_vi_plus() => u64::from(records).max(u64::from(n)),
            n => u64::from(records) * u64::from(n),
        };
        let Some(range) = self.range(cx, base) else { return };
        // With a stride, GFX8 and later count records or bytes, as the instruction addresses it.
        if stride != 0 && cx.scene.target.level().is_vi_plus() || base + bytes <= range.end {
            return;
        }
        let key = Key { check: Check::Mem, kind: "descriptor-range", pc: at.step.at, other: None };
        cx.report(key, Who { wave: wave.id, lanes: 0 }, 1, || {
            let near = cx.scene.memory.nearest(base).map_or(String::new(), |n| n.to_string());
            let beyond = base + bytes - range.end;
            let name = inst.row.name;
            Told {
                message: format!(
                    "the buffer of {name} reaches {beyond} bytes beyond the end of its allocation"
                ),
                facts: vec![("buffer", format!("{base:#x}, {bytes} bytes: {near}"))],
                mend: "give the descriptor the buffer's own size (NUM_RECORDS)".into(),
                ..Told::default()
            }
        });
    }
}

impl GroupWatch for Group {
    fn wave_started(&mut self, cx: &Context<'_>, wave: &Wave) {
        let plan = &cx.scene.plan;
        let setup = &plan.kernel.setup;
        if !setup.system[4] || plan.scratch.per_item == 0 {
            return;
        }
        // The last system SGPR has the wave's offset.
        let before = setup.system[..4].iter().filter(|enabled| **enabled).count() as u32;
        let start = plan.scratch.base + u64::from(wave.sgpr(setup.user_sgprs + before));
        let end = start + u64::from(plan.scratch.per_item) * 64;
        self.private[wave.id.wave as usize] = Some((start, end));
    }

    fn takes(&mut self, cx: &Context<'_>, space: Space, first: u64, bytes: u64) -> bool {
        let end = first.saturating_add(bytes);
        match space {
            Space::Lds => end <= cx.scene.plan.packet.group_segment_size.into(),
            Space::Global => {
                self.range(cx, first).is_some_and(|r| !r.scratch && r.start <= first && end <= r.end)
            }
            _ => false,
        }
    }

    fn before(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed) {
        self.descriptor(cx, wave, at);
    }

    fn after(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, accesses: &mut Accesses) {
        let accesses = accesses.list();
        let Some(first) = accesses.first() else { return };
        let mut told: Option<(Violation, Access, u64, u64)> = None;
        for access in accesses {
            let Some(found) = self.judge(cx, wave, at, access, first.address) else { continue };
            let lane = access.lane.map_or(0, |l| 1 << l);
            match &mut told {
                Some((w, _, lanes, times)) if w.kind == found.kind => {
                    *lanes |= lane;
                    *times += 1;
                }
                Some(_) => {}
                none => *none = Some((found, *access, lane, 1)),
            }
        }
        let Some((found, access, lanes, times)) = told else { return };
        let key = Key { check: Check::Mem, kind: found.kind, pc: at.step.at, other: None };
        cx.report(key, Who { wave: wave.id, lanes }, times, || self.tell(cx, &found, &access));
    }
}

impl Group {
    fn tell(&self, cx: &Context<'_>, found: &Violation, access: &Access) -> Told {
        let does = match access.kind {
            Kind::Read => "a read",
            Kind::Write => "a write",
            _ => "an atomic",
        };
        let address = access.address;
        let memory = matches!(access.space, Space::Global | Space::Scalar | Space::Code);
        let near = cx.scene.memory.nearest(address).filter(|_| memory).map(|n| n.to_string());
        let near = match self.arguments {
            Some((start, end)) if found.kind == "arguments-outside" => Some(format!(
                "{} bytes past the end of the arguments ({} bytes at {start:#x})",
                address - end,
                end - start
            )),
            _ => near,
        };
        let where_ = near.as_ref().map_or(String::new(), |n| format!(": {n}"));
        let mut facts = vec![("address", format!("{address:#x}{where_}"))];
        if let Some(freed) = self.freed.find(address).filter(|_| memory) {
            facts.push(("freed", freed));
        }
        Told {
            message: format!("{does} of {} bytes {}", access.bytes, found.what),
            facts,
            mend: found.mend.into(),
            fault: access.fault.is_some(),
            ..Told::default()
        }
    }
}
