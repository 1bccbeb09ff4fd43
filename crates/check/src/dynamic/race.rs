//! Accesses that nothing puts in order: two waves, one place, at least one of them writes.
//!
//! Order comes from barriers, from global wave sync and the global data share, and from flags: places that are read and
//! written as one, polled, or read past the caches. Which
//! places are flags shows while the kernel runs, so that conflicts are kept until its end. Lanes of a wave run in step and do
//! not race.

use super::accesses::{Accesses, Together};
use super::between::{Between, Register};
use super::book::Who;
use super::cells::Numbered;
use super::clock::{Clock, Known, Past};
use super::conflicts::{Conflicts, plain};
use super::fences::{Fences, Written};
use super::flight;
use super::host::{Copies, Party, Side};
use super::scene::{Executed, Scene};
use super::shadow::{DWORDS, How, L2, Line, Mark, Order, PAGE};
use super::watch::{Context, GroupWatch, Watch};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use wavemill_device::memory::{Allocation, Use};
use wavemill_isa::encoding::bits;
use wavemill_isa::info::{Path, WaitCounts};
use wavemill_isa::row::MemKind;
use wavemill_isa::{Level, Op};
use wavemill_sem::bus::Coherence;
use wavemill_sem::gws::{self, Request};
use wavemill_sem::state::lanes;
use wavemill_wave::observe::{Access, Kind, Space};
use wavemill_wave::{Wave, WaveId};

/// Pages that are looked up one by one.
const FEW: u64 = 256;
/// Locks that pages are shared out among.
const SHARDS: usize = 64;
/// Where the global data share of the first GPU is in the shadow, and behind it its resources of global wave sync: no memory is
/// there. Both are for waves to talk through.
const GDS: u64 = 1 << 62;
const GWS: u64 = 1 << 32;

/// Where a GPU's are.
fn gds(gpu: u32) -> u64 {
    GDS + u64::from(gpu) * 2 * GWS
}

type Pages = Numbered<Page>;

/// Lines of memory, side by side.
struct Page {
    lines: Box<[Line]>,
    /// The host sees it, too.
    host: bool,
    /// The GPU whose coarse-grained memory it is.
    home: Option<u32>,
}

impl Page {
    /// What the L2 of a GPU does with it.
    fn l2(&self, of: &Scene) -> L2 {
        match self.home.filter(|_| of.target.level() == Level::Gfx90a) {
            None => L2::Coherent,
            Some(gpu) if gpu == of.gpu => L2::Own,
            Some(_) => L2::Remote,
        }
    }
}

/// The check.
pub struct Race {
    memory: Arc<Memory>,
    conflicts: Arc<Mutex<Conflicts>>,
    between: Arc<Mutex<Between>>,
    fences: Arc<Fences>,
    begun: OnceLock<Begun>,
}

/// A dispatch when it begins.
struct Begun {
    /// Itself as others meet it.
    party: Arc<Party>,
    /// Its waves.
    waves: Range<u32>,
    /// Those of dispatches that had ended.
    past: Past,
    /// When that was ([`Fences::begun`]).
    time: u64,
}

impl Race {
    /// A dispatch begins: it shares its shadow with those that run.
    pub fn new(shared: &Shared, fences: Arc<Fences>) -> Race {
        let mut current = lock(&shared.0);
        let memory = current.upgrade().unwrap_or_default();
        *current = Arc::downgrade(&memory);
        Race { memory, conflicts: Arc::default(), between: Arc::default(), fences, begun: OnceLock::new() }
    }

    fn begun(&self, cx: &Context<'_>) -> &Begun {
        self.begun.get_or_init(|| {
            let party = Arc::new(Party::new(cx.scene));
            let (waves, past) = self.memory.register.enter(&party);
            let time = self.fences.begun(cx.scene.gpu);
            Begun { party, waves, past, time }
        })
    }

    /// What the dispatch has written to memory that is not the host's, and which is no flag.
    fn written(&self, begun: &Begun, cx: &Context<'_>) -> Vec<(u64, Written)> {
        let program = cx.scene.program();
        let mut all = Vec::new();
        for shard in &self.memory.shards {
            for (page, Page { lines, .. }) in lock(shard).iter().filter(|(_, page)| !page.host) {
                for (line, content) in (page * PAGE..).zip(lines) {
                    for (mark, wrote) in content.marks() {
                        let dwords = mark.dwords & !content.flags;
                        if wrote && dwords != 0 && begun.waves.contains(&mark.wave) {
                            let who = Who { wave: begun.party.wave(mark.wave - begun.waves.start), lanes: 0 };
                            let pc = program.steps[mark.step as usize].at;
                            all.push((line, Written { dwords, pc, who }));
                        }
                    }
                }
            }
        }
        all
    }
}

/// The shadow of those dispatches that run now.
#[derive(Default)]
pub struct Shared(Mutex<Weak<Memory>>);

impl Shared {
    /// Memory is given back, or was given to somebody: what others have done there is forgotten.
    pub fn forget(&self, address: u64, bytes: u64) {
        let current = lock(&self.0).upgrade();
        if let Some(memory) = current {
            memory.forget(address, bytes);
        }
    }

    /// The host copies memory.
    pub fn copied(&self, to: u64, from: u64, bytes: u64) {
        let current = lock(&self.0).upgrade();
        if let Some(memory) = current {
            memory.copied(&Side::both(to, from, bytes));
        }
    }

    /// The host fills memory.
    pub fn filled(&self, address: u64, bytes: u64) {
        let current = lock(&self.0).upgrade();
        if let Some(memory) = current {
            memory.copied(&[Side::written(address, bytes)]);
        }
    }
}

struct Memory {
    shards: [Mutex<Pages>; SHARDS],
    register: Register,
    /// Work-groups that have come to a resource of global wave sync and may have left something in L1.
    cached: Mutex<BTreeSet<(u64, u32)>>,
    copies: Copies,
}

impl Default for Memory {
    fn default() -> Memory {
        let shards = std::array::from_fn(|_| Mutex::default());
        Memory { shards, register: Register::default(), cached: Mutex::default(), copies: Copies::default() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    fn shard(&self, page: u64) -> &Mutex<Pages> {
        &self.shards[page as usize % SHARDS]
    }

    /// A wave has read flags.
    fn acquire(&self, clock: &mut Clock, line: u64, dwords: u64) {
        if let Some(page) = lock(self.shard(line / PAGE)).get(&(line / PAGE)) {
            page.lines[(line % PAGE) as usize].acquire(clock, dwords);
        }
    }

    /// A wave does something to a place that is nothing but a flag, in a chain with those who have done so before.
    fn hand_on(&self, clock: &mut Clock, place: u64, step: u32) {
        let line = place / 4 / DWORDS;
        let own = Mark {
            dwords: 1 << (place / 4 % DWORDS),
            wave: clock.wave,
            stamp: clock.now,
            step,
            bytes: 15,
            gpu: clock.known.gpu as u8,
        };
        let how = How {
            writes: true,
            reads: false,
            atomic: true,
            through_l1: false,
            polls: false,
            l2: L2::Coherent,
        };
        let mut pages = lock(self.shard(line / PAGE));
        let page = pages.entry(line / PAGE).or_insert_with(|| page(!0, None));
        page.lines[(line % PAGE) as usize].access(clock, own, how, Order::Memory, |_| {});
    }

    /// A wave comes to where it will meet others.
    fn come(&self, clock: &mut Clock, place: u64, step: u32) {
        let group = (place, clock.known.base);
        let mut cached = lock(&self.cached);
        if clock.has_cached() {
            cached.insert(group);
        } else {
            cached.remove(&group);
        }
        drop(cached);
        self.hand_on(clock, place, step);
    }

    /// It goes on. If all have invalidated L1 before they came and loaded nothing since, there is nothing old in any of them:
    /// so ROCm's barrier across the grid has it, which does not invalidate behind it.
    fn meet(&self, clock: &mut Clock, place: u64) {
        self.acquire(clock, place / 4 / DWORDS, 1 << (place / 4 % DWORDS));
        if lock(&self.cached).range((place, 0)..(place + 1, 0)).next().is_none() {
            clock.see_all();
        }
    }

    fn forget(&self, address: u64, bytes: u64) {
        let page = PAGE * DWORDS * 4;
        let whole = address.div_ceil(page)..address.saturating_add(bytes) / page;
        if whole.end.saturating_sub(whole.start) <= FEW {
            whole.for_each(|page| drop(lock(self.shard(page)).remove(&page)));
        } else {
            // Of much memory most was never accessed.
            self.shards.iter().for_each(|shard| lock(shard).retain(|page, _| !whole.contains(page)));
        }
    }

    /// Looks at the lines of some bytes.
    fn lines(&self, bytes: &Range<u64>, mut look: impl FnMut(u64, &Line)) {
        let size = PAGE * DWORDS * 4;
        let pages = bytes.start / size..bytes.end.div_ceil(size);
        let mut page = |number: u64, page: &Page| {
            (number * PAGE..).zip(&page.lines).for_each(|(line, content)| look(line, content));
        };
        if pages.end.saturating_sub(pages.start) <= FEW {
            for number in pages {
                if let Some(found) = lock(self.shard(number)).get(&number) {
                    page(number, found);
                }
            }
        } else {
            for shard in &self.shards {
                let shard = lock(shard);
                shard.iter().filter(|(n, _)| pages.contains(n)).for_each(|(n, found)| page(*n, found));
            }
        }
    }

    /// The host copies memory while dispatches run: what these have done there is not in order with it, and what they will do
    /// is not, either.
    fn copied(&self, sides: &[Side]) {
        let Some(number) = self.register.pass() else { return };
        self.copies.add(number, sides, |earlier| self.register.is_gone(earlier));
        for side in sides {
            self.lines(&side.bytes, |line, content| {
                let plain = side.dwords(line) & !content.flags;
                for (mark, wrote) in
                    content.marks().filter(|(m, wrote)| m.dwords & plain != 0 && (side.writes || *wrote))
                {
                    let Some((party, wave)) = self.register.live(mark.wave) else { continue };
                    let Some(pc) = party.scene.program().steps.get(mark.step as usize).map(|s| s.at) else {
                        continue;
                    };
                    let dword = line * DWORDS + u64::from((mark.dwords & plain).trailing_zeros());
                    let who = Who { wave: party.wave(wave), lanes: 0 };
                    party.meets(pc, who, dword * 4, [wrote, side.writes]);
                }
            });
        }
    }

    fn flags(&self, line: u64) -> u64 {
        lock(self.shard(line / PAGE))
            .get(&(line / PAGE))
            .map_or(0, |page| page.lines[(line % PAGE) as usize].flags)
    }
}

impl Watch for Race {
    fn group(&self, cx: &Context<'_>, id: [u32; 3], waves: u32) -> Box<dyn GroupWatch> {
        let plan = &cx.scene.plan;
        let [gx, gy, _] = plan.groups;
        let number = id[0].wrapping_add(gx.wrapping_mul(id[1].wrapping_add(gy.wrapping_mul(id[2]))));
        let Begun { party, waves: own, past, time } = self.begun(cx);
        let first = own.start;
        let base = first.wrapping_add(number.wrapping_mul(plan.waves));
        let WaitCounts { vm, lgkm, exp } = WaitCounts::none(cx.scene.target.level());
        Box::new(Group {
            party: party.clone(),
            fences: self.fences.clone(),
            time: *time,
            memory: self.memory.clone(),
            clocks: (0..waves)
                .map(|w| Clock::new(cx.scene.gpu, base + w, base, waves as usize, past))
                .collect(),
            lds: Vec::new(),
            conflicts: Conflicts::new(first),
            own: own.clone(),
            all: self.conflicts.clone(),
            between: self.between.clone(),
            most: WaitCounts { vm, exp, lgkm },
            scratch: plan.scratch.base..plan.scratch.base + plan.scratch.len,
            episodes: vec![0; waves as usize],
            episode: 0,
            arrived: None,
            joined: None,
            read: vec![None; waves as usize],
            waits: vec![false; waves as usize],
            batches: Vec::new(),
        })
    }

    fn wants_before(&self, at: &Executed) -> bool {
        Request::of(at.step.inst.row.op).is_some() || writes_memory(at)
    }

    fn wants_idle(&self, at: &Executed) -> bool {
        at.leaves_alus()
    }

    fn ended(&self, cx: &Context<'_>) {
        let begun = self.begun(cx);
        let Begun { party, waves: own, .. } = begun;
        self.memory.register.leave(own);
        self.fences.ended(cx.scene, || self.written(begun, cx));
        let flags = |line| self.memory.flags(line);
        let mut conflicts = std::mem::take(&mut *lock(&self.conflicts));
        conflicts.first = own.start;
        conflicts.tell(cx, Order::Memory, flags);
        party.tell(cx);
        lock(&self.between).tell(cx, |place| plain(place, flags).map(|dword| dword * 4));
    }
}

struct Group {
    party: Arc<Party>,
    fences: Arc<Fences>,
    /// When the dispatch began.
    time: u64,
    memory: Arc<Memory>,
    clocks: Vec<Clock>,
    lds: Vec<Line>,
    /// Those in LDS, those in memory, and those with other dispatches.
    conflicts: Conflicts,
    all: Arc<Mutex<Conflicts>>,
    between: Arc<Mutex<Between>>,
    /// The dispatch's waves.
    own: Range<u32>,
    most: WaitCounts,
    /// Private memory, which is a lane's own: another work-group may have it next.
    scratch: Range<u64>,
    /// The barrier each wave is at, counted from 0.
    episodes: Vec<u64>,
    episode: u64,
    /// What those know that have come to the barrier, and what all knew at the last one.
    arrived: Option<Known>,
    joined: Option<Known>,
    /// Each wave's last read: the instruction and the first address.
    read: Vec<Option<(u32, u64)>>,
    /// Waves that have come to global wave sync and not gone on yet.
    waits: Vec<bool>,
    /// Accesses of the instruction at hand.
    batches: Vec<Batch>,
}

/// The bytes of dwords that an access touches.
fn dwords(start: u64, bytes: u32) -> impl Iterator<Item = (u64, u8)> {
    let end = start + u64::from(bytes);
    let whole = (start | end).is_multiple_of(4);
    (start / 4..end.div_ceil(4)).map(move |dword| {
        if whole {
            return (dword, 15);
        }
        let (from, to) = ((dword * 4).max(start) - dword * 4, (dword * 4 + 4).min(end) - dword * 4);
        (dword, ((1u8 << to) - 1) & !((1u8 << from) - 1))
    })
}

impl Group {
    /// A load that the wave repeats, with no other access and no barrier between, waits for something.
    fn polls(&mut self, wave: WaveId, at: &Executed, kind: Kind, address: u64) -> bool {
        let own = (kind == Kind::Read).then_some((at.index, address));
        let before = std::mem::replace(&mut self.read[wave.wave as usize], own);
        own.is_some() && before == own
    }
}

/// Accesses of an instruction to one line.
#[derive(Clone, Copy)]
struct Batch {
    line: u64,
    order: Order,
    how: How,
    dwords: u64,
    lanes: u64,
    /// Not all bytes of all dwords: those that are.
    parts: bool,
    bytes: [u8; 64],
}

impl Batch {
    fn new(line: u64, order: Order, how: How) -> Batch {
        Batch { line, order, how, dwords: 0, lanes: 0, parts: false, bytes: [0; 64] }
    }

    fn add(&mut self, dword: u64, bytes: u8, lanes: u64) {
        self.parts |= bytes != 15;
        self.bytes[dword as usize] |= bytes;
        self.dwords |= 1 << dword;
        self.lanes |= lanes;
    }

    /// The dwords of which the same bytes are accessed, by these bytes.
    fn by_bytes(&self) -> [u64; 16] {
        let mut all = [0; 16];
        if self.parts {
            lanes(self.dwords).for_each(|i| all[usize::from(self.bytes[i as usize])] |= 1 << i);
        } else {
            all[15] = self.dwords;
        }
        all
    }
}

impl Group {
    /// Accesses of an instruction to a line.
    fn process(
        &mut self,
        cx: &Context<'_>,
        wave: WaveId,
        at: &Executed,
        batch: &Batch,
        flags: &mut Vec<(u64, u64)>,
    ) {
        let Batch { line: number, order, how, lanes, .. } = *batch;
        let clock = &mut self.clocks[wave.wave as usize];
        let who = Who { wave, lanes };
        for (bytes, dwords) in (0..).zip(batch.by_bytes()).filter(|(_, dwords)| *dwords != 0) {
            let gpu = cx.scene.gpu as u8;
            let own = Mark { dwords, wave: clock.wave, stamp: clock.now, step: at.index, bytes, gpu };
            if order == Order::Lds {
                if self.lds.len() as u64 <= number {
                    self.lds.resize(number as usize + 1, Line::default());
                }
                let line = &mut self.lds[number as usize];
                line.access(clock, own, how, order, |c| self.conflicts.note(at.step.at, who, number, how, c));
                continue;
            }
            let mut pages = lock(self.memory.shard(number / PAGE));
            let page = pages.entry(number / PAGE).or_insert_with(|| new_page(cx, number));
            let how = How { l2: page.l2(cx.scene), ..how };
            let line = &mut page.lines[(number % PAGE) as usize];
            line.access(clock, own, how, order, |c| match self.own.contains(&c.other.wave) {
                true => lock(&self.all).note(at.step.at, who, number, how, c),
                false => {
                    let mut between = lock(&self.between);
                    between.note(&self.memory.register, (at.step.at, who), number, how, c);
                }
            });
            if how.reads && line.flags & dwords != 0 {
                flags.push((number, dwords));
            }
            if page.host && (how.writes || line.flags & dwords != 0) {
                self.party.talks();
            }
            let copied = self.memory.copies.meet(&clock.known, number, dwords & !line.flags, how.writes);
            if let Some((address, writes)) = copied {
                self.party.meets(at.step.at, who, address, [how.writes, writes]);
            }
            if how.l2 != L2::Coherent {
                let place = (number, dwords & !line.flags);
                self.fences.gpu_meets(cx, self.time, (at.step.at, who), place, how.writes);
            }
        }
    }
}

/// How an access is made; none that is no access to data.
fn how(kind: Kind, coherence: Coherence, polls: bool, returns: bool) -> Option<How> {
    let atomic = matches!(kind, Kind::Atomic(_));
    match kind {
        Kind::Invalidate | Kind::WriteBack => None,
        Kind::Read | Kind::Write | Kind::Atomic(_) => Some(How {
            writes: kind != Kind::Read,
            reads: kind == Kind::Read || atomic && returns,
            atomic,
            through_l1: !atomic && !coherence.glc,
            polls: polls || kind == Kind::Read && coherence.glc,
            l2: L2::Coherent,
        }),
    }
}

/// Which clock orders accesses to memory, and where it is in the shadow; none of what is a lane's own.
fn shadow_of(space: Space, gpu: u32) -> Option<(Order, u64)> {
    match space {
        Space::Lds => Some((Order::Lds, 0)),
        Space::Gds => Some((Order::Memory, gds(gpu))),
        Space::Global | Space::Scalar => Some((Order::Memory, 0)),
        Space::Scratch | Space::Code => None,
    }
}

/// Adds an access to those of its line.
fn touch(
    batches: &mut Vec<Batch>,
    last: &mut usize,
    as_: (Order, How),
    (dword, bytes): (u64, u8),
    lanes: u64,
) {
    let line = dword / DWORDS;
    // Neighbours are mostly in one line.
    if batches.get(*last).is_none_or(|b| b.line != line) {
        let same = |b: &Batch| b.line == line && (b.order, b.how) == as_;
        *last = batches.iter().rposition(same).unwrap_or(batches.len());
        if *last == batches.len() {
            batches.push(Batch::new(line, as_.0, as_.1));
        }
    }
    batches[*last].add(dword % DWORDS, bytes, lanes);
}

impl Group {
    /// Puts the accesses of an instruction together by lines.
    fn gather(&mut self, wave: WaveId, polls: bool, returns: bool, accesses: &[Access]) {
        let clock = &mut self.clocks[wave.wave as usize];
        for alike in
            accesses.chunk_by(|a, b| (a.space, a.kind, a.coherence) == (b.space, b.kind, b.coherence))
        {
            let Access { space, kind, coherence, .. } = alike[0];
            if kind == Kind::Invalidate {
                clock.invalidate();
            }
            let Some(how) = how(kind, coherence, polls, returns) else { continue };
            let Some((order, base)) = shadow_of(space, clock.known.gpu) else { continue };
            let mut last = usize::MAX;
            for access in alike.iter().filter(|a| a.fault.is_none()) {
                if matches!(space, Space::Global | Space::Scalar) {
                    if self.scratch.contains(&access.address) {
                        continue;
                    }
                    if how.through_l1 && !how.writes && space == Space::Global {
                        clock.loaded();
                    }
                }
                let own = access.lane.map_or(0, |l| 1 << l);
                let batches = &mut self.batches;
                for place in dwords(base + access.address, access.bytes) {
                    touch(batches, &mut last, (order, how), place, own);
                }
            }
        }
    }

    /// The same of lanes together, which are not in private memory.
    fn gather_together(&mut self, wave: WaveId, polls: bool, returns: bool, together: &Together) {
        let Together { space, kind, coherence, exec, bytes, first, beside, .. } = *together;
        let Some(how) = how(kind, coherence, polls, returns) else { return };
        let clock = &mut self.clocks[wave.wave as usize];
        let Some((order, base)) = shadow_of(space, clock.known.gpu) else { return };
        if how.through_l1 && !how.writes && space == Space::Global {
            clock.loaded();
        }
        let start = base + first;
        if beside && start.is_multiple_of(4) {
            // 64 lanes are whole dwords.
            let bytes = u64::from(bytes);
            let (from, to) = (start / 4, start / 4 + bytes * 16);
            for line in from / DWORDS..to.div_ceil(DWORDS) {
                let mut batch = Batch::new(line, order, how);
                let (low, high) = (from.max(line * DWORDS), to.min((line + 1) * DWORDS));
                batch.dwords = !0 >> (DWORDS - (high - low)) << (low - line * DWORDS);
                let (low, high) = ((low * 4 - start) / bytes, (high * 4 - start).div_ceil(bytes));
                batch.lanes = !0 >> (64 - (high - low)) << low;
                self.batches.push(batch);
            }
            return;
        }
        let mut last = usize::MAX;
        for lane in lanes(exec) {
            let start = base + together.address(lane);
            for place in dwords(start, bytes) {
                touch(&mut self.batches, &mut last, (order, how), place, 1 << lane);
            }
        }
    }
}

/// A page that nobody has accessed. What the machine and the host talk through is nothing but flags.
fn new_page(cx: &Context<'_>, line: u64) -> Page {
    let address = line * DWORDS * 4;
    let found = cx.scene.memory.find(address);
    let usage = found.as_ref().map(|a| a.usage);
    let talk = address >= GDS || usage == Some(Use::Queue);
    page(if talk { !0 } else { 0 }, found.as_ref())
}

fn page(flags: u64, of: Option<&Allocation>) -> Page {
    Page {
        lines: vec![Line::new(flags); PAGE as usize].into_boxed_slice(),
        host: of.is_some_and(|a| matches!(a.usage, Use::Queue | Use::Host)),
        home: of.and_then(|a| a.home),
    }
}

/// What an instruction asks of a resource of global wave sync, and the place of that.
fn meeting(cx: &Context<'_>, wave: &Wave, at: &Executed) -> Option<(u64, Request)> {
    let request = Request::of(at.step.inst.row.op)?;
    let resource = gws::resource(wave.m0(), bits::DS_OFFSET.get(at.step.inst.bits));
    Some((gds(cx.scene.gpu) + GWS + 4 * u64::from(resource), request))
}

/// An instruction that others may see something of.
fn writes_memory(at: &Executed) -> bool {
    at.step.info.memory().any(|m| m.kind != MemKind::Load && m.path != Path::Lds)
}

impl GroupWatch for Group {
    fn before(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed) {
        // A wave that waits comes again and again.
        let waits = std::mem::replace(&mut self.waits[wave.id.wave as usize], false);
        if let Some((place, request)) = meeting(cx, wave, at) {
            self.waits[wave.id.wave as usize] = true;
            if request != Request::P && !waits {
                self.memory.come(&mut self.clocks[wave.id.wave as usize], place, at.index);
            }
            return;
        }
        if writes_memory(at) {
            flight::begin();
        }
    }

    fn after(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, accesses: &mut Accesses) {
        if let Some((place, request)) = meeting(cx, wave, at) {
            self.waits[wave.id.wave as usize] = false;
            let clock = &mut self.clocks[wave.id.wave as usize];
            match request {
                Request::Barrier => self.memory.meet(clock, place),
                Request::P => self.memory.acquire(clock, place / 4 / DWORDS, 1 << (place / 4 % DWORDS)),
                Request::Init | Request::V | Request::Bulk | Request::ReleaseAll => {}
            }
            return;
        }
        let Some((_, kind, address)) = accesses.first() else { return flight::end() };
        let polls = self.polls(wave.id, at, kind, address);
        let clock = &mut self.clocks[wave.id.wave as usize];
        clock.issue(&at.step.info, accesses.any_in(Space::Lds), self.most);
        match at.step.inst.row.op {
            Op::buffer_wbl2 => {
                let own = self.memory.register.waves_of(cx.scene.gpu);
                clock.write_back_l2(|wave| own.iter().any(|waves| waves.contains(&wave)));
                return flight::end();
            }
            Op::buffer_invl2 => {
                clock.invalidate_l2();
                return flight::end();
            }
            _ => {}
        }
        let returns = at.step.info.writes().any(|u| u.role.is_some());
        self.batches.clear();
        let private = |parts: &&[Together]| parts.iter().any(|t| self.scratch.contains(&t.first));
        match accesses.together().filter(|parts| !private(parts)) {
            Some(parts) => parts.iter().for_each(|t| self.gather_together(wave.id, polls, returns, t)),
            None => self.gather(wave.id, polls, returns, accesses.list()),
        }
        // Flags that were read, and may have been written by somebody who is about to tell of it.
        let mut flags: Vec<(u64, u64)> = Vec::new();
        let batches = std::mem::take(&mut self.batches);
        batches.iter().for_each(|batch| self.process(cx, wave.id, at, batch, &mut flags));
        self.batches = batches;
        flight::end();
        if !flags.is_empty() {
            flight::settle();
            let clock = &mut self.clocks[wave.id.wave as usize];
            flags.iter().for_each(|(line, dwords)| self.memory.acquire(clock, *line, *dwords));
        }
    }

    fn waited(&mut self, _: &Context<'_>, wave: &Wave, until: WaitCounts) {
        self.clocks[wave.id.wave as usize].waited(until);
    }

    fn barrier_reached(&mut self, _: &Context<'_>, wave: &Wave) {
        let index = wave.id.wave as usize;
        self.read[index] = None;
        self.episodes[index] = self.episode;
        let known = self.clocks[index].at_barrier();
        match &mut self.arrived {
            Some(all) => all.join(&known),
            none => *none = Some(known),
        }
    }

    fn barrier_released(&mut self, _: &Context<'_>, wave: &Wave) {
        let index = wave.id.wave as usize;
        if self.episodes[index] == self.episode {
            self.joined = self.arrived.take();
            self.episode += 1;
        }
        if let Some(all) = &self.joined {
            self.clocks[index].join(all);
        }
    }

    fn ended(&mut self, cx: &Context<'_>) {
        let lds = &self.lds;
        self.conflicts.tell(cx, Order::Lds, |line| lds.get(line as usize).map_or(0, |l| l.flags));
    }
}
