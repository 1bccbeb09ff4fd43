//! What a host program and device code see of queues and signals: images of `hsa_kernel_dispatch_packet_t`,
//! `amd_queue_t` and `amd_signal_t` (ROCm code object format, "AMD Queue" and "Signals"; HSA Platform System Architecture Specification, "Architected Queuing
//! Language").

/// Size of every AQL packet.
pub const PACKET_SIZE: usize = 64;
/// Size of `amd_queue_t`.
pub const QUEUE_SIZE: usize = 256;

/// Size of `amd_signal_t`.
pub const SIGNAL_SIZE: u64 = 64;

/// Types of packets: bits 7:0 of the header.
pub mod packet_type {
    /// A packet that the vendor of the agent has defined.
    pub const VENDOR_SPECIFIC: u16 = 0;
    /// No packet yet.
    pub const INVALID: u16 = 1;
    /// Run a kernel.
    pub const KERNEL_DISPATCH: u16 = 2;
    /// Wait until all signals are 0.
    pub const BARRIER_AND: u16 = 3;
    /// Call a function of an agent.
    pub const AGENT_DISPATCH: u16 = 4;
    /// Wait until one signal is 0.
    pub const BARRIER_OR: u16 = 5;
}

/// The header's barrier bit: all packets before must have completed.
pub const BARRIER_BIT: u16 = 1 << 8;

/// AMD's own packet that waits for a value: byte 2 of the packet.
pub const AMD_BARRIER_VALUE: u8 = 2;

/// How far a packet's fence reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FenceScope {
    /// There is none.
    None,
    /// The GPU.
    Agent,
    /// All GPUs and the host.
    System,
}

impl FenceScope {
    /// Of the acquire fence that a header asks for.
    pub const fn of_acquire(header: u16) -> FenceScope {
        FenceScope::decode(header >> 9)
    }

    /// Of its release fence.
    pub const fn of_release(header: u16) -> FenceScope {
        FenceScope::decode(header >> 11)
    }

    const fn decode(bits: u16) -> FenceScope {
        match bits & 3 {
            0 => FenceScope::None,
            1 => FenceScope::Agent,
            _ => FenceScope::System,
        }
    }
}

/// A kernel dispatch packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DispatchPacket {
    /// Packet type in bits 7:0, barrier in bit 8, acquire and release scopes in bits 10:9 and 12:11.
    pub header: u16,
    /// Number of grid dimensions in bits 1:0.
    pub setup: u16,
    /// Work-items of a work-group in X, Y, Z.
    pub workgroup_size: [u16; 3],
    /// Work-items of the grid in X, Y, Z.
    pub grid_size: [u32; 3],
    /// Scratch bytes of a work-item.
    pub private_segment_size: u32,
    /// LDS bytes of a work-group, dynamic ones included.
    pub group_segment_size: u32,
    /// Address of the kernel descriptor.
    pub kernel_object: u64,
    /// Address of the arguments.
    pub kernarg_address: u64,
    /// Signal to decrement at the end; 0 for none.
    pub completion_signal: u64,
}

impl DispatchPacket {
    /// Header of a kernel dispatch packet with acquire and release at system scope.
    pub const HEADER: u16 = 2 | 2 << 9 | 2 << 11;

    /// The packet's bytes.
    pub fn to_bytes(&self) -> [u8; PACKET_SIZE] {
        let mut b = [0; PACKET_SIZE];
        let mut put = |at: usize, bytes: &[u8]| b[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.header.to_le_bytes());
        put(2, &self.setup.to_le_bytes());
        for (i, n) in self.workgroup_size.iter().enumerate() {
            put(4 + 2 * i, &n.to_le_bytes());
        }
        for (i, n) in self.grid_size.iter().enumerate() {
            put(12 + 4 * i, &n.to_le_bytes());
        }
        put(24, &self.private_segment_size.to_le_bytes());
        put(28, &self.group_segment_size.to_le_bytes());
        put(32, &self.kernel_object.to_le_bytes());
        put(40, &self.kernarg_address.to_le_bytes());
        put(56, &self.completion_signal.to_le_bytes());
        b
    }

    /// The packet of these bytes.
    pub fn from_bytes(b: &[u8; PACKET_SIZE]) -> DispatchPacket {
        let half = |at: usize| u16::from_le_bytes([b[at], b[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let wide = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        DispatchPacket {
            header: half(0),
            setup: half(2),
            workgroup_size: [half(4), half(6), half(8)],
            grid_size: [word(12), word(16), word(20)],
            private_segment_size: word(24),
            group_segment_size: word(28),
            kernel_object: wide(32),
            kernarg_address: wide(40),
            completion_signal: wide(56),
        }
    }

    /// Grid dimensions, 1 to 3; sizes of further ones do not count.
    pub fn dimensions(&self) -> u16 {
        self.setup & 3
    }
}

/// The fields of `amd_queue_t` that are set when a queue is made. The rest is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueImage {
    /// Address of the ring of packets.
    pub base_address: u64,
    /// Packets in the ring.
    pub size: u32,
    /// Doorbell signal.
    pub doorbell_signal: u64,
    /// Unique number.
    pub id: u64,
    /// 0 for several producers, 1 for one, 2 for cooperative kernels.
    pub kind: u32,
    /// Bit 0: kernel dispatch, bit 1: agent dispatch.
    pub features: u32,
    /// Upper half of flat addresses that are LDS.
    pub group_segment_aperture_base_hi: u32,
    /// Upper half of flat addresses that are scratch.
    pub private_segment_aperture_base_hi: u32,
    /// Compute units, less one as the driver has it.
    pub max_cu_id: u32,
    /// Waves of a compute unit, less one as the driver has it.
    pub max_wave_id: u32,
}

impl QueueImage {
    /// Where `write_dispatch_id` lies.
    pub const WRITE_DISPATCH_ID: u64 = 56;
    /// Where `max_legacy_doorbell_dispatch_id_plus_1` lies.
    pub const MAX_LEGACY_DOORBELL: u64 = 80;
    /// Where `read_dispatch_id` lies.
    pub const READ_DISPATCH_ID: u64 = 128;
    /// Where `compute_tmpring_size` lies.
    pub const TMPRING: u64 = 140;
    /// Where the scratch fields lie: V#, address, size, bytes per lane.
    pub const SCRATCH: u64 = 144;
    /// Where `queue_properties` lies.
    pub const PROPERTIES: u64 = 180;

    /// The queue's bytes.
    pub fn to_bytes(&self) -> [u8; QUEUE_SIZE] {
        let mut b = [0; QUEUE_SIZE];
        let mut put = |at: usize, bytes: &[u8]| b[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.kind.to_le_bytes());
        put(4, &self.features.to_le_bytes());
        put(8, &self.base_address.to_le_bytes());
        put(16, &self.doorbell_signal.to_le_bytes());
        put(24, &self.size.to_le_bytes());
        put(32, &self.id.to_le_bytes());
        put(64, &self.group_segment_aperture_base_hi.to_le_bytes());
        put(68, &self.private_segment_aperture_base_hi.to_le_bytes());
        put(72, &self.max_cu_id.to_le_bytes());
        put(76, &self.max_wave_id.to_le_bytes());
        put(136, &(Self::READ_DISPATCH_ID as u32).to_le_bytes());
        // queue_properties: 64-bit pointers.
        put(Self::PROPERTIES as usize, &2u32.to_le_bytes());
        b
    }
}

/// Where the fields of `amd_signal_t` lie.
pub mod signal_field {
    /// Kind: see [`super::SignalKind`].
    pub const KIND: u64 = 0;
    /// Value, or address of the doorbell.
    pub const VALUE: u64 = 8;
    /// Where device code stores the event's number.
    pub const EVENT_MAILBOX_PTR: u64 = 16;
    /// Number of the event.
    pub const EVENT_ID: u64 = 24;
    /// When the packet that completed the signal was started.
    pub const START_TS: u64 = 32;
    /// When it ended.
    pub const END_TS: u64 = 40;
    /// A doorbell's queue.
    pub const QUEUE_PTR: u64 = 48;
}

/// What a signal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i64)]
pub enum SignalKind {
    /// A value.
    User = 1,
    /// The doorbell of a queue: 64 bits.
    Doorbell = -1,
    /// The doorbell of a queue before GFX9: 32 bits.
    LegacyDoorbell = -2,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_survive_a_round_trip() {
        let packet = DispatchPacket {
            header: DispatchPacket::HEADER,
            setup: 3,
            workgroup_size: [1, 2, 3],
            grid_size: [4, 5, 6],
            private_segment_size: 7,
            group_segment_size: 8,
            kernel_object: 0x1122_3344_5566_7788,
            kernarg_address: 9,
            completion_signal: 10,
        };
        let bytes = packet.to_bytes();
        assert_eq!(DispatchPacket::from_bytes(&bytes), packet);
        assert_eq!((bytes[4], bytes[6], bytes[8]), (1, 2, 3));
        assert_eq!((bytes[12], bytes[16], bytes[20], bytes[24], bytes[28]), (4, 5, 6, 7, 8));
    }
}
