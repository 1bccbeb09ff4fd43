//! The journal of a process's dispatches: what each was and what came of it.

use wavemill_device::aql::DispatchPacket;
use wavemill_device::dispatch::Completion;
use wavemill_device::json::{completion, list, quoted};
use wavemill_object::demangle;

/// A dispatch that ended.
pub struct Record<'a> {
    /// Number of the GPU.
    pub gpu: usize,
    /// Number of the queue.
    pub queue: u64,
    /// Number of the packet.
    pub index: u64,
    /// The packet.
    pub packet: &'a DispatchPacket,
    /// What came of it.
    pub completion: &'a Completion,
    /// When it started, by [`crate::signal::now`].
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

/// Takes what is written into the journal.
pub type Journal = Box<dyn Fn(&Record<'_>) + Send + Sync>;

impl Record<'_> {
    /// One line of JSON.
    pub fn to_json(&self) -> String {
        let r = self;
        let size = r.packet.workgroup_size.map(u32::from);
        let mut out = format!(
            "{{\"kernel\": {}, \"name\": {}, \"gpu\": {}, \"queue\": {}, \"packet\": {}, \"grid\": {}, \"block\": {}, \"lds\": {}, \
             \"scratch\": {}, \"start_ns\": {}, \"end_ns\": {}, ",
            quoted(&r.completion.kernel),
            quoted(&demangle::shown(&r.completion.kernel)),
            r.gpu,
            r.queue,
            r.index,
            list(&r.packet.grid_size),
            list(&size),
            r.packet.group_segment_size,
            r.packet.private_segment_size,
            r.start,
            r.end
        );
        let mut rest = String::new();
        completion(r.completion, &mut rest);
        out.push_str(&rest[1..]);
        out.push('\n');
        out
    }
}
