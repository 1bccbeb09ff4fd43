//! Time for tests with a limit, on machines that are busy with other things.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// How long this thread has had a processor: what something takes, whatever others leave of the machine.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
