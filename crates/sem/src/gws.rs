//! Global wave sync: barriers and semaphores across work-groups (manual 12.12, DS_GWS_*).

use wavemill_isa::Op;

/// What an instruction asks of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// Sets the counter.
    Init,
    /// Lets one wave pass.
    V,
    /// Lets as many waves pass as the datum says.
    Bulk,
    /// Lets every waiting wave pass.
    ReleaseAll,
    /// Waits until it may pass.
    P,
    /// Waits for the others; the datum is the count for the next barrier.
    Barrier,
}

impl Request {
    /// An instruction's request.
    pub const fn of(op: Op) -> Option<Request> {
        Some(match op {
            Op::ds_gws_init => Request::Init,
            Op::ds_gws_sema_v => Request::V,
            Op::ds_gws_sema_br => Request::Bulk,
            Op::ds_gws_sema_release_all => Request::ReleaseAll,
            Op::ds_gws_sema_p => Request::P,
            Op::ds_gws_barrier => Request::Barrier,
            _ => return None,
        })
    }
}

/// The resource that an instruction names: six bits each of M0 and of its offset, added.
pub const fn resource(m0: u32, offset: u32) -> u32 {
    (m0 >> 16).wrapping_add(offset & 0xff) % RESOURCES as u32
}

/// Resources of a GPU.
pub const RESOURCES: usize = 64;

/// What a waiting wave remembers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ticket {
    /// At a semaphore.
    Semaphore,
    /// At a barrier, with the resource's flag when it came.
    Barrier(bool),
}

/// One of the 64 resources.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Resource {
    counter: u32,
    flag: bool,
    /// Waves at the semaphore.
    queued: u32,
}

impl Resource {
    /// A wave arrives with a request. None if it goes on at once.
    pub fn arrive(&mut self, request: Request, datum: u32) -> Option<Ticket> {
        match request {
            Request::Init => {
                self.counter = datum;
                self.flag = false;
            }
            Request::V => self.counter = self.counter.wrapping_add(1),
            Request::Bulk => self.counter = self.counter.wrapping_add(datum),
            Request::ReleaseAll => self.counter = self.queued,
            Request::P => {
                if !self.take() {
                    self.queued += 1;
                    return Some(Ticket::Semaphore);
                }
            }
            // The last wave turns the flag, which the others wait for.
            Request::Barrier if self.counter == 0 => {
                self.flag = !self.flag;
                self.counter = datum;
            }
            Request::Barrier => {
                self.counter -= 1;
                return Some(Ticket::Barrier(self.flag));
            }
        }
        None
    }

    /// Whether a waiting wave may go on; if so, it does.
    pub fn leave(&mut self, ticket: Ticket) -> bool {
        match ticket {
            Ticket::Barrier(flag) => self.flag != flag,
            Ticket::Semaphore => {
                let passes = self.take();
                self.queued -= passes as u32;
                passes
            }
        }
    }

    /// A waiting wave is gone: as if it had never come.
    pub fn abandon(&mut self, ticket: Ticket) {
        match ticket {
            Ticket::Semaphore => self.queued = self.queued.saturating_sub(1),
            Ticket::Barrier(flag) if flag == self.flag => self.counter = self.counter.wrapping_add(1),
            Ticket::Barrier(_) => {}
        }
    }

    fn take(&mut self) -> bool {
        let free = self.counter > 0;
        self.counter -= free as u32;
        free
    }
}
