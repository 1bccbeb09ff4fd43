//! Program control that is more than a jump: the fork and join of arbitrary control flow (manual 4.6, 12.1 to 12.3).

/// Where a fork or join leaves the wave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The PC.
    pub pc: u64,
    /// EXEC.
    pub exec: u64,
    /// MODE.CSP, the stack pointer.
    pub csp: u32,
    /// What a fork puts on the stack: EXEC and PC of the side that waits, in four SGPRs from this one on.
    pub push: Option<(u32, u64, u64)>,
}

/// Entries of four SGPRs that the stack can have: the pointer is three bits, and the side with fewer lanes runs first,
/// so that six are enough for 64 lanes.
pub const STACK_DEPTH: u32 = 6;

/// S_CBRANCH_G_FORK and S_CBRANCH_I_FORK: the side with fewer lanes runs first, the other waits on the stack.
pub const fn fork(mask: u64, exec: u64, csp: u32, next: u64, target: u64) -> Flow {
    let (pass, fail) = (mask & exec, !mask & exec);
    if pass == exec {
        return Flow { pc: target, exec, csp, push: None };
    }
    if fail == exec {
        return Flow { pc: next, exec, csp, push: None };
    }
    let (run, pc, wait, resume) = if fail.count_ones() < pass.count_ones() {
        (fail, next, pass, target)
    } else {
        (pass, target, fail, next)
    };
    Flow { pc, exec: run, csp: (csp + 1) & 7, push: Some((csp * 4, wait, resume)) }
}

/// The SGPR that a join at another depth than `saved` pops from; none at that depth: the program goes on.
pub const fn join(csp: u32, saved: u32) -> Option<u32> {
    if csp == saved { None } else { Some(csp.wrapping_sub(1) & 7) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lanes on one side: a jump, or none.
    #[test]
    fn uniform() {
        assert_eq!(fork(!0, 0xff, 2, 4, 100), Flow { pc: 100, exec: 0xff, csp: 2, push: None });
        assert_eq!(fork(0, 0xff, 2, 4, 100), Flow { pc: 4, exec: 0xff, csp: 2, push: None });
        // With no lane active, all of none pass.
        assert_eq!(fork(1, 0, 2, 4, 100), Flow { pc: 100, exec: 0, csp: 2, push: None });
    }

    #[test]
    fn fewer_lanes_first() {
        // Two pass, six fail: the two go to the target.
        let flow = fork(0b11, 0xff, 1, 4, 100);
        assert_eq!(flow, Flow { pc: 100, exec: 0b11, csp: 2, push: Some((4, 0xfc, 4)) });
        // Six pass, two fail: the two go on.
        let flow = fork(0xfc, 0xff, 1, 4, 100);
        assert_eq!(flow, Flow { pc: 4, exec: 0b11, csp: 2, push: Some((4, 0xfc, 100)) });
        // A tie: the lanes that pass run.
        assert_eq!(fork(0xf, 0xff, 0, 4, 100).exec, 0xf);
    }

    /// Halving 64 lanes takes six entries.
    #[test]
    fn depth() {
        let (mut exec, mut csp) = (!0u64, 0);
        while exec.count_ones() > 1 {
            // Every second of the active lanes passes.
            let half = (0..64).filter(|l| exec >> l & 1 != 0).step_by(2).fold(0, |m, l| m | 1 << l);
            let flow = fork(half, exec, csp, 4, 100);
            (exec, csp) = (flow.exec, flow.csp);
        }
        assert_eq!(csp, STACK_DEPTH);
        assert_eq!((join(csp, 0), join(3, 3), join(0, 5)), (Some(5), None, Some(7)));
    }
}
