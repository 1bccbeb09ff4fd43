//! From a dispatch packet to waves: how many work-groups and waves there are, and what is in their registers when
//! they start (AMDGPU guide, "Initial Kernel Execution State").

use crate::aql::DispatchPacket;
use crate::kernel::{Kernel, Setup, UserSgpr};
use crate::traps::Traps;
use std::sync::Arc;
use wavemill_isa::{Level, Target};
use wavemill_object::limits::{MAX_USER_SGPRS, SIMDS_PER_CU, WAVE_SIZE};
use wavemill_wave::hwreg::status;
use wavemill_wave::{Bases, Clock, Wave, WaveId};

/// Scratch is handed to waves in units of this many bytes (COMPUTE_TMPRING_SIZE.WAVESIZE).
pub const SCRATCH_GRANULE: u64 = 1024;
/// Most units a wave can have: the field has 13 bits.
pub const SCRATCH_MAX_GRANULES: u64 = (1 << 13) - 1;

/// Where a dispatch's scratch lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scratch {
    /// Address of the backing memory.
    pub base: u64,
    /// Its size.
    pub len: u64,
    /// Bytes of a wave.
    pub per_wave: u64,
    /// Bytes of a work-item, a multiple of 4.
    pub per_item: u32,
}

impl Scratch {
    /// What a wave needs for work-items with `per_item` bytes.
    pub fn wave_bytes(per_item: u32) -> u64 {
        (u64::from(per_item) * u64::from(WAVE_SIZE)).next_multiple_of(SCRATCH_GRANULE)
    }

    /// Where offsets in FLAT_SCRATCH count from before GFX9 (SH_HIDDEN_PRIVATE_BASE_VIMID): a multiple of 4 GiB, so that the low
    /// word of Flat Scratch Init is the lower half of the address ("Flat scratch" in ROCm's code object format), unless the
    /// scratch goes on beyond the next one.
    pub fn hidden_base(&self) -> u64 {
        let low = self.base & 0xffff_ffff;
        if low + self.len <= 1 << 32 { self.base - low } else { self.base }
    }

    /// The buffer descriptor that addresses scratch: dwords of a wave's lanes lie side by side (swizzled, index
    /// stride 64, elements of so many bytes before GFX9), and the lane number is added to the index.
    pub fn descriptor(&self, level: Level, element: u8) -> [u32; 4] {
        const SWIZZLE: u32 = 1 << 31;
        const SELECT_XYZW: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;
        const UINT: u32 = 4 << 12;
        const INDEX_STRIDE_64: u32 = 3 << 21;
        const ADD_TID: u32 = 1 << 23;
        // The largest stride: no offset is beyond it. With ADD_TID, GFX8 and GFX9 take its upper bits from the place
        // of the data format.
        let stride = 0x3fff << 16;
        let mut format = SELECT_XYZW | UINT | INDEX_STRIDE_64 | ADD_TID;
        format |= if level.is_vi_plus() { 15 << 15 } else { 4 << 15 };
        if !level.is_gfx9() {
            // 0 is two bytes, 3 sixteen.
            format |= (u32::from(element).trailing_zeros() - 1) << 19;
        }
        let records = u32::try_from(self.len).unwrap_or(u32::MAX);
        [self.base as u32, (self.base >> 32) as u32 & 0xffff | stride | SWIZZLE, records, format]
    }
}

/// Where a wave runs. Work-groups go to the shader engines in turn, and there to the compute units in turn (what AMD says of
/// GCN's launches, legacy-rocm-build #1456; any order is allowed); a work-group's waves go to the SIMDs in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct HardwareSlot {
    engine: u32,
    unit: u32,
    simd: u32,
    /// Slot of the wave on its SIMD.
    wave: u32,
    /// Number of the work-group on its compute unit.
    group: u32,
}

impl HardwareSlot {
    /// Of wave number `index` of the work-group in a slot, of `waves` waves each.
    fn of((engines, units): (u32, u32), slot: u32, index: u32, waves: u32) -> HardwareSlot {
        let (engines, units) = (engines.max(1), units.max(1));
        let group = slot / engines / units;
        let (engine, unit) = (slot % engines, slot / engines % units);
        let number = group * waves + index;
        HardwareSlot { engine, unit, simd: number % SIMDS_PER_CU, wave: number / SIMDS_PER_CU, group }
    }

    /// HW_ID: wave 3:0, SIMD 5:4, pipe 7:6, CU 11:8, SE from 13 on, work-group 19:16, VMID 23:20, queue 26:24, ME 31:30 (manual
    /// 3.12). Linux gives compute programs VMIDs from 8 on, and their queues to the first compute engine, ME 1.
    fn hw_id(&self, queue: u32, level: Level) -> u32 {
        const VMID: u32 = 8;
        const COMPUTE_ENGINE: u32 = 1;
        let engines = (1 << level.se_id_bits()) - 1;
        self.wave & 15
            | self.simd << 4
            | (queue >> 3 & 3) << 6
            | (self.unit & 15) << 8
            | (self.engine & engines) << 13
            | (self.group & 15) << 16
            | VMID << 20
            | (queue & 7) << 24
            | COMPUTE_ENGINE << 30
    }

    /// Registers and LDS of those before it lie in front of its own.
    fn bases(&self, setup: &Setup, lds: u32) -> Bases {
        Bases {
            vgprs: self.wave * setup.allocated_vgprs,
            sgprs: self.wave * setup.sgprs,
            lds: self.group * lds,
        }
    }
}

/// A dispatch, worked out.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// The packet.
    pub packet: DispatchPacket,
    /// What the user SGPRs hold.
    pub user: Vec<u32>,
    /// Work-items of a whole work-group.
    pub size: [u32; 3],
    /// Work-items of the grid.
    pub grid: [u32; 3],
    /// Work-groups in each dimension.
    pub groups: [u32; 3],
    /// Waves of a whole work-group.
    pub waves: u32,
    /// LDS bytes of a work-group.
    pub lds: u32,
    /// Scratch.
    pub scratch: Scratch,
    /// Work-groups that may be under way at once.
    pub resident: u32,
    /// What S_MEMTIME reads.
    pub clock: Clock,
    /// The processor's level.
    pub level: Level,
    /// How waves trap.
    pub traps: Traps,
    /// Work-groups have caches of the first level.
    pub caches: bool,
    /// Where work-groups run: shader engines, and compute units of each.
    pub units: (u32, u32),
    /// Number of the queue, as HW_ID shows it.
    pub queue: u32,
    /// Accesses to pages that come later are replayed (XNACK).
    pub replay: bool,
    /// Number of the dispatch on its device.
    pub number: u64,
    /// Waves are numbered, because some code object counts in their order or the kernel wants the numbers.
    pub ordered: bool,
}

/// Where the packet and queue of a dispatch are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Addresses {
    /// Address of the packet.
    pub packet: u64,
    /// Address of the `amd_queue_t`.
    pub queue: u64,
    /// Number of the packet in the queue.
    pub dispatch_id: u64,
}

/// The user SGPRs in order; beyond 16 none is set. `read_kernarg` gives dwords of the arguments.
pub fn user_sgprs(
    kernel: &Kernel,
    packet: &DispatchPacket,
    addresses: &Addresses,
    scratch: &Scratch,
    groups: [u32; 3],
    level: Level,
    read_kernarg: impl Fn(u32) -> u32,
) -> Vec<u32> {
    let mut user = Vec::with_capacity(16);
    let wide = |v: u64| [v as u32, (v >> 32) as u32];
    for u in &kernel.setup.user {
        match u {
            UserSgpr::PrivateSegmentBuffer => {
                user.extend(scratch.descriptor(level, kernel.setup.private_element))
            }
            UserSgpr::DispatchPtr => user.extend(wide(addresses.packet)),
            UserSgpr::QueuePtr => user.extend(wide(addresses.queue)),
            UserSgpr::KernargSegmentPtr => user.extend(wide(packet.kernarg_address)),
            UserSgpr::DispatchId => user.extend(wide(addresses.dispatch_id)),
            // GFX9 has the address, older ones an offset and the size.
            UserSgpr::FlatScratchInit if level.is_gfx9() => user.extend(wide(scratch.base)),
            UserSgpr::FlatScratchInit => {
                user.extend([(scratch.base - scratch.hidden_base()) as u32, scratch.per_item]);
            }
            UserSgpr::PrivateSegmentSize => user.push(scratch.per_item),
            UserSgpr::GridWorkgroupCountX => user.push(groups[0]),
            UserSgpr::GridWorkgroupCountY => user.push(groups[1]),
            UserSgpr::GridWorkgroupCountZ => user.push(groups[2]),
            UserSgpr::UserData(entry) => user.push(entry.map_or(0, |n| read_kernarg(4 * u32::from(n)))),
        }
    }
    let (count, offset) = kernel.setup.preload;
    user.extend((0..count).map(|i| read_kernarg((offset + i) * 4)));
    user.truncate(MAX_USER_SGPRS as usize);
    user
}

impl Plan {
    /// Number of work-groups.
    pub fn group_count(&self) -> u64 {
        self.groups.iter().map(|&n| u64::from(n)).product()
    }

    /// The id of the `index`th work-group: X runs fastest.
    #[inline]
    pub fn group_id(&self, index: u64) -> [u32; 3] {
        let (x, y) = (u64::from(self.groups[0]), u64::from(self.groups[1]));
        if index < x {
            // Most grids are but a row: divisions are what costs.
            return [index as u32, 0, 0];
        }
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }

    /// Work-items of a work-group: fewer at the upper edges of the grid.
    #[inline]
    pub fn group_size(&self, id: [u32; 3]) -> [u32; 3] {
        let of = |d: usize| {
            let before = u64::from(id[d]) * u64::from(self.size[d]);
            u64::from(self.size[d]).min(u64::from(self.grid[d]).saturating_sub(before)) as u32
        };
        [of(0), of(1), of(2)]
    }

    /// Waves that a work-group of this many work-items has.
    #[inline]
    pub fn wave_count([x, y, z]: [u32; 3]) -> u32 {
        (x * y * z).div_ceil(WAVE_SIZE)
    }

    /// Waves of the work-groups before this one, in the order of launch: X runs fastest.
    pub fn waves_before(&self, id: [u32; 3]) -> u64 {
        let [gx, gy, _] = self.groups;
        // Only the last in a dimension can be smaller than the others.
        let sum = |n: u32, all: u32, waves: &dyn Fn(u32) -> u64| {
            let whole = u64::from(n.min(all - 1)).wrapping_mul(waves(0));
            whole.wrapping_add(if n == all { waves(all - 1) } else { 0 })
        };
        let group = |x, y, z| u64::from(Self::wave_count(self.group_size([x, y, z])));
        let row = |n, y, z| sum(n, gx, &|x| group(x, y, z));
        let slice = |n, z| sum(n, gy, &|y| row(gx, y, z));
        let slices = sum(id[2], self.groups[2], &|z| slice(gy, z));
        slices.wrapping_add(slice(id[1], id[2])).wrapping_add(row(id[0], id[1], id[2]))
    }

    /// What all waves have in common.
    pub fn prototype(&self, target: &Target) -> Wave {
        let setup = &self.kernel.setup;
        let mut wave = Wave::prototype(target, setup.shape);
        wave.pc = self.kernel.entry;
        wave.mode = setup.mode;
        wave.lds_bytes = self.lds;
        wave.scratch_bytes = self.scratch.per_item;
        wave.scratch_element = setup.private_element;
        wave.clock.clone_from(&self.clock);
        wave.sgpr_count = setup.sgprs.min(u8::MAX.into()) as u8;
        self.traps.prepare(&mut wave);
        if self.replay {
            wave.status |= status::ALLOW_REPLAY;
        }
        for (i, &value) in (0..).zip(&self.user) {
            wave.set_sgpr(i, value);
        }
        wave
    }

    /// A wave for wave number `index` of the work-groups in a slot, to be started.
    pub fn wave(&self, target: &Target, slot: u32, index: u32) -> Wave {
        let setup = &self.kernel.setup;
        let mut wave = Wave::new(target, setup.shape);
        let place = HardwareSlot::of(self.units, slot, index, self.waves);
        wave.hw_id = place.hw_id(self.queue, wave.level());
        wave.bases = place.bases(setup, self.lds);
        wave
    }

    /// Prepares the waves of a work-group, each like the prototype. `slot` is its place among those under way, `ids` what was
    /// found for the one before it there.
    pub fn start(
        &self,
        waves: &mut [Wave],
        prototype: &Wave,
        (id, size): ([u32; 3], [u32; 3]),
        slot: u32,
        ids: &mut ItemIds,
    ) {
        let setup = &self.kernel.setup;
        let count = waves.len() as u32;
        let items = size[0] * size[1] * size[2];
        let scratch = u64::from(slot) * u64::from(self.waves);
        let before = if self.ordered { self.waves_before(id) } else { 0 };
        self.find_item_ids(ids, size, count);
        let registers = ids.registers.chunks_exact(self.item_id_registers());
        for ((index, wave), registers) in (0..count).zip(waves).zip(registers) {
            wave.restart(prototype);
            wave.id = WaveId { dispatch: self.number, group: id, wave: index };
            if count > 1 {
                wave.status |= status::IN_TG;
            }
            let offset = (scratch + u64::from(index)) * self.scratch.per_wave;
            let mut info = u32::from(index == 0) << 31 | count & 0x3f;
            if self.ordered {
                wave.place = before + u64::from(index);
                if setup.ordered_append {
                    info |= (wave.place as u32 & 0x7ff) << 6;
                }
            }
            let mut at = setup.user_sgprs;
            for (value, enabled) in [id[0], id[1], id[2], info, offset as u32].iter().zip(&setup.system) {
                if *enabled {
                    wave.set_sgpr(at, *value);
                    at += 1;
                }
            }
            let first = index * WAVE_SIZE;
            let lanes = items.saturating_sub(first).min(WAVE_SIZE);
            wave.set_exec(if lanes == 64 { !0 } else { (1 << lanes) - 1 });
            for (n, register) in (0..).zip(registers) {
                if let Some(v) = wave.vgpr_mut(n) {
                    *v = *register;
                }
            }
        }
    }

    /// Registers with work-item ids: three at most, or on gfx90a one, with ten bits of each.
    fn item_id_registers(&self) -> usize {
        let count = self.kernel.setup.workitem_ids as usize + 1;
        if self.level == Level::Gfx90a { 1 } else { count.min(3) }
    }

    /// Work-item ids of the first waves of a work-group, unless they are there already.
    fn find_item_ids(&self, ids: &mut ItemIds, size: [u32; 3], waves: u32) {
        if ids.size != size {
            ids.registers.clear();
            ids.size = size;
        }
        let of_wave = self.item_id_registers();
        while ids.registers.len() < waves as usize * of_wave {
            let first = (ids.registers.len() / of_wave) as u32 * WAVE_SIZE;
            ids.registers.extend_from_slice(&self.work_item_ids(size, first)[..of_wave]);
        }
    }

    /// Work-item ids of a wave, in registers.
    fn work_item_ids(&self, size: [u32; 3], first: u32) -> [[u32; 64]; 3] {
        let count = self.kernel.setup.workitem_ids as usize + 1;
        let mut id = item_id(size, first);
        let mut ids = [[0u32; 64]; 3];
        for lane in 0..WAVE_SIZE as usize {
            for (register, n) in ids.iter_mut().zip(id) {
                register[lane] = n;
            }
            id[0] += 1;
            if id[0] >= size[0] {
                id[0] = 0;
                id[1] += 1;
                if id[1] >= size[1] {
                    id[1] = 0;
                    id[2] += 1;
                }
            }
        }
        if self.level == Level::Gfx90a {
            let [x, y, z] = ids;
            ids[0] = std::array::from_fn(|lane| {
                let y = if count > 1 { y[lane] << 10 } else { 0 };
                let z = if count > 2 { z[lane] << 20 } else { 0 };
                x[lane] & 0x3ff | y & 0xf_fc00 | z & 0x3ff0_0000
            });
        }
        ids
    }
}

/// Work-item ids of a work-group's waves, in registers: they depend on nothing but its size.
#[derive(Debug, Default)]
pub struct ItemIds {
    size: [u32; 3],
    registers: Vec<[u32; 64]>,
}

/// The id of the `flat`th work-item of a work-group.
pub fn item_id(size: [u32; 3], flat: u32) -> [u32; 3] {
    let (x, y) = (size[0].max(1), size[1].max(1));
    if flat < x {
        return [flat, 0, 0];
    }
    [flat % x, flat / x % y, flat / x / y]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Manual 3.12: HW_ID's fields. Work-groups go to the shader engines in turn, then to the compute units
    /// (legacy-rocm-build #1456); an MI210 has 8 engines with 13 compute units each.
    #[test]
    fn hardware_ids_follow_the_launch_order() {
        let place = |slot, index| HardwareSlot::of((8, 13), slot, index, 2);
        let field = |slot, index, low: u32, bits: u32| {
            place(slot, index).hw_id(0x15, Level::Gfx90a) >> low & ((1 << bits) - 1)
        };
        // Slot, wave: SE, CU, work-group of the CU, SIMD, wave of the SIMD.
        for ((slot, index), want) in [
            ((0, 0), [0, 0, 0, 0, 0]),
            ((0, 1), [0, 0, 0, 1, 0]),
            ((1, 0), [1, 0, 0, 0, 0]),
            ((8, 0), [0, 1, 0, 0, 0]),
            ((103, 1), [7, 12, 0, 1, 0]),
            ((104, 0), [0, 0, 1, 2, 0]),
            ((104, 1), [0, 0, 1, 3, 0]),
            ((208, 0), [0, 0, 2, 0, 1]),
        ] {
            let seen =
                [(13, 3), (8, 4), (16, 4), (4, 2), (0, 4)].map(|(low, bits)| field(slot, index, low, bits));
            assert_eq!(seen, want, "slot {slot}, wave {index}");
            // SH 0; VMID 8 and ME 1 as Linux has them for compute; pipe 2 and queue 5 of queue 21.
            let rest =
                [(12, 1), (20, 4), (30, 2), (6, 2), (24, 3)].map(|(low, bits)| field(slot, index, low, bits));
            assert_eq!(rest, [0, 8, 1, 2, 5], "slot {slot}, wave {index}");
        }
    }
}
