//! Sequences of calls: whatever is called in whatever order, with handles that are, were or never will be and with numbers of
//! any size, answers with a code, and what was written stays where it was written.
//!
//! Input: pieces of four bytes, the function and what it gets.

use crate::abi::*;
use crate::buffer::*;
use crate::enqueue::*;
use crate::event::*;
use crate::handle::Handle;
use crate::image::*;
use crate::kernel::*;
use crate::mapping::*;
use crate::memory::*;
use crate::program::*;
use crate::queue::*;
use crate::sampler::*;
use crate::svm::*;
use crate::svm_commands::*;
use crate::tests::{Rig, address, rig};
use crate::texels::{Desc, Format};
use crate::transfer::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Something has panicked: calls turn that into a code.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Bytes of the program's own memory, more than any object has.
const OWN: usize = 1 << 16;
/// Bytes behind them that nobody may write.
const BEHIND: usize = 4096;

/// What the calls have made, and may have released.
struct State {
    rig: Rig,
    own: Vec<u8>,
    queues: Vec<Handle<Queue>>,
    mems: Vec<Handle<Mem>>,
    events: Vec<Handle<Event>>,
    kernels: Vec<Handle<Kernel>>,
    samplers: Vec<Handle<Sampler>>,
    programs: Vec<Handle<Program>>,
    shared: Vec<(u64, usize)>,
    /// Events that the program has not completed: nobody may wait for queues meanwhile.
    user: Vec<Handle<Event>>,
}

/// One that there is or was, or a number that never was one.
fn pick<T>(list: &[Handle<T>], n: u8) -> Handle<T> {
    match list.len() {
        len if n < 0xf0 && len > 0 => list[usize::from(n) % len],
        _ => Handle::of([0, 1, 0x1000, usize::MAX, usize::MAX & !15][usize::from(n) % 5]),
    }
}

const SIZES: [usize; 10] =
    [0, 1, 64, 4096, 100, usize::MAX, 1 << 40, 1 << 63, usize::MAX - 4095, usize::MAX / 3];

fn size(n: u8) -> usize {
    SIZES[usize::from(n) % SIZES.len()]
}

impl State {
    fn new() -> State {
        let rig = rig(0);
        State {
            queues: vec![rig.queue],
            kernels: vec![rig.kernel],
            own: vec![0xa5; OWN + BEHIND],
            mems: Vec::new(),
            events: Vec::new(),
            samplers: Vec::new(),
            programs: Vec::new(),
            shared: Vec::new(),
            user: Vec::new(),
            rig,
        }
    }

    fn own(&mut self) -> Bytes {
        Bytes::at(self.own.as_mut_ptr() as u64)
    }

    fn step(&mut self, [what, a, b, c]: [u8; 4]) {
        let own = self.own();
        let context = self.rig.context;
        let (queue, mem, other) = (pick(&self.queues, a), pick(&self.mems, b), pick(&self.mems, c));
        let event = pick(&self.events, b);
        let (kernel, sampler) = (pick(&self.kernels, a), pick(&self.samplers, b));
        let (x, y) = (size(b), size(c));
        let three = [size(a), size(b), size(c)];
        let (three, ones, zeros) =
            (In::of(address(&three)), In::of(address(&[1usize; 3])), In::of(address(&[0usize; 3])));
        let mut made = Handle::<Event>::of(0);
        let new = if a & 1 == 0 { Out::NULL } else { Out::of(std::ptr::from_mut(&mut made) as u64) };
        let mut code = Code::SUCCESS;
        let error = Out::of(std::ptr::from_mut(&mut code) as u64);
        let none = In::NULL;
        // Whoever blocks would wait for an event of ours.
        let blocking = u32::from(self.user.is_empty() && c & 1 == 0);
        match what % 32 {
            0 => {
                let flags = [0, 1, 2, 4, 1 | 1 << 3, 1 | 1 << 5, 1 << 4, 1 << 9, 1 << 40][usize::from(b) % 9];
                let host = if flags & (1 << 3 | 1 << 5) != 0 { own } else { Bytes::at(0) };
                self.mems.push(clCreateBuffer(context, flags, y, host, error));
            }
            1 => self.mems.push(clCreateSubBuffer(mem, 0, 0x1220, Bytes::at(address(&[size(a), y])), error)),
            2 => _ = clReleaseMemObject(mem),
            3 => _ = clRetainMemObject(mem),
            4 => _ = clEnqueueReadBuffer(queue, mem, blocking, x, y, own, 0, none, new),
            5 => _ = clEnqueueWriteBuffer(queue, mem, blocking, x, y, own, 0, none, new),
            6 => _ = clEnqueueCopyBuffer(queue, mem, other, x, size(a), y, 0, none, new),
            7 => _ = clEnqueueFillBuffer(queue, mem, own, x, size(a), y, 0, none, new),
            8 => {
                let _ = clEnqueueReadBufferRect(
                    queue, mem, blocking, three, zeros, ones, x, y, 0, 0, own, 0, none, new,
                );
            }
            9 => {
                let _ =
                    clEnqueueCopyBufferRect(queue, mem, other, zeros, three, ones, x, y, y, x, 0, none, new);
            }
            10 => {
                let at =
                    clEnqueueMapBuffer(queue, mem, blocking, u64::from(a % 8), x, y, 0, none, new, error);
                if !at.is_null() && b & 1 == 0 {
                    _ = clEnqueueUnmapMemObject(queue, mem, Bytes::at(at as u64), 0, none, Out::NULL);
                }
            }
            11 => {
                let format = Format { order: 0x10b0 + u32::from(a % 24), ty: 0x10d0 + u32::from(b % 20) };
                let sides = [1, 4, 16, 0, usize::MAX];
                let side = |n: u8| sides[usize::from(n) % 5];
                let desc = Desc {
                    kind: 0x10f0 + u32::from(c % 9),
                    width: side(a),
                    height: side(b),
                    depth: side(c),
                    array_size: side(a ^ b),
                    row_pitch: if b & 0x40 == 0 { 0 } else { x },
                    slice_pitch: if c & 0x40 == 0 { 0 } else { y },
                    levels: u32::from(a >> 7),
                    samples: 0,
                    mem: if c & 0x80 == 0 { 0 } else { mem.address() },
                };
                let (format, desc) = (In::of(address(&format)), In::of(address(&desc)));
                self.mems.push(clCreateImage(context, 1, format, desc, Bytes::at(0), error));
            }
            12 => _ = clEnqueueReadImage(queue, mem, blocking, zeros, ones, 0, 0, own, 0, none, new),
            13 => _ = clEnqueueWriteImage(queue, mem, blocking, three, ones, 0, 0, own, 0, none, new),
            14 => _ = clEnqueueFillImage(queue, mem, In::of(own.address()), zeros, three, 0, none, new),
            15 => _ = clEnqueueCopyImage(queue, mem, other, zeros, three, ones, 0, none, new),
            16 => _ = clEnqueueCopyImageToBuffer(queue, mem, other, zeros, ones, size(a), 0, none, new),
            17 => _ = clEnqueueCopyBufferToImage(queue, mem, other, size(a), zeros, ones, 0, none, new),
            18 => {
                let at = clSVMAlloc(context, u64::from(a % 4), y, u32::from(b)) as u64;
                if at != 0 {
                    self.shared.push((at, y));
                }
            }
            19 if !self.shared.is_empty() => {
                let (at, len) = self.shared[usize::from(b) % self.shared.len()];
                let at = Bytes::at(at + (size(a) % len) as u64);
                let _ = match c % 4 {
                    0 => clEnqueueSVMMemcpy(queue, blocking, at, own, y.min(OWN), 0, none, new),
                    1 => clEnqueueSVMMemcpy(queue, blocking, own, at, y.min(OWN), 0, none, new),
                    2 => clEnqueueSVMMemFill(queue, at, own, x, y, 0, none, new),
                    _ => clEnqueueSVMMap(queue, blocking, 1, at, y, 0, none, new),
                };
            }
            20 if !self.shared.is_empty() && self.user.is_empty() => {
                // Nothing that is under way uses it.
                self.queues.iter().for_each(|q| _ = clFinish(*q));
                let (at, _) = self.shared.swap_remove(usize::from(b) % self.shared.len());
                clSVMFree(context, Bytes::at(at));
            }
            21 => self.kernels.push(match b & 1 {
                0 => clCreateKernel(self.rig.program, Text::of(c"add"), error),
                _ => clCloneKernel(kernel, error),
            }),
            22 => _ = clReleaseKernel(kernel),
            23 => {
                let value = if b & 1 == 0 { mem.address() } else { sampler.address() };
                let _ = clSetKernelArg(
                    kernel,
                    u32::from(c % 4),
                    [8, 4, 0, y][usize::from(b) % 4],
                    Bytes::at(address(&value)),
                );
            }
            24 => {
                let n = u32::from(a % 5);
                let _ = clEnqueueNDRangeKernel(
                    queue,
                    kernel,
                    n,
                    zeros,
                    In::of(address(&[64usize, x, 1])),
                    In::NULL,
                    0,
                    none,
                    new,
                );
                let _ = clEnqueueNDRangeKernel(queue, kernel, 1, zeros, three, three, 0, none, Out::NULL);
            }
            25 if self.user.is_empty() => _ = clWaitForEvents(u32::from(c % 2), In::of(address(&event))),
            26 => {
                let _ = clReleaseEvent(event);
                let _ = clGetEventProfilingInfo(event, 0x1280 + u32::from(c % 8), y.min(64), own, Out::NULL);
            }
            27 => _ = clEnqueueMarkerWithWaitList(queue, u32::from(c % 2), In::of(address(&event)), new),
            28 if self.user.len() < 4 => {
                let event = clCreateUserEvent(context, error);
                self.user.push(event);
                self.events.push(event);
            }
            29 => {
                if let Some(event) = self.user.pop() {
                    _ = clSetUserEventStatus(event, [0, -5, 1][usize::from(b) % 3]);
                    _ = clSetUserEventStatus(event, 0);
                }
            }
            30 => match b % 4 {
                0 => {
                    self.queues.push(clCreateCommandQueue(context, self.rig.device, u64::from(c % 4), error))
                }
                1 if self.user.is_empty() => _ = clFinish(queue),
                2 if self.user.is_empty() => _ = clReleaseCommandQueue(queue),
                _ => self.samplers.push(clCreateSampler(
                    context,
                    u32::from(a & 1),
                    0x1130 + u32::from(c % 6),
                    0x1140 + u32::from(a % 3),
                    error,
                )),
            },
            _ => self.ask(mem, sampler, [a, b, c]),
        }
        if made.address() != 0 {
            self.events.push(made);
        }
    }

    /// Queries, with more and less room than the answer takes.
    fn ask(&mut self, mem: Handle<Mem>, sampler: Handle<Sampler>, [a, b, c]: [u8; 3]) {
        let own = self.own();
        let (room, n, context) = (usize::from(b), u32::from(c % 32), self.rig.context);
        let program = pick(&self.programs, b);
        let _ = match a % 8 {
            0 => clGetMemObjectInfo(mem, 0x1100 + n, room, own, Out::NULL),
            1 => clGetImageInfo(mem, 0x1110 + n, room, own, Out::NULL),
            2 => clGetSamplerInfo(sampler, 0x1150 + n, room, own, Out::NULL),
            3 => clGetKernelInfo(pick(&self.kernels, c), 0x1190 + n, room, own, Out::NULL),
            4 => clGetCommandQueueInfo(pick(&self.queues, c), 0x1090 + n, room, own, Out::NULL),
            5 => clReleaseSampler(sampler),
            6 => {
                // A binary that is none, or a piece of ours.
                let (len, at, mut code) = (usize::from(c), own, Code::SUCCESS);
                let error = Out::of(std::ptr::from_mut(&mut code) as u64);
                let device = In::of(address(&self.rig.device));
                let (lens, binaries) = (In::of(address(&len)), In::of(address(&at)));
                self.programs.push(clCreateProgramWithBinary(
                    context,
                    1,
                    device,
                    lens,
                    binaries,
                    Out::NULL,
                    error,
                ));
                code
            }
            _ => {
                let _ = clGetProgramInfo(program, 0x1160 + n, room & !7, Bytes::at(0), Out::NULL);
                clReleaseProgram(program)
            }
        };
    }

    /// What every program does at its end.
    fn end(mut self) {
        while let Some(event) = self.user.pop() {
            _ = clSetUserEventStatus(event, 0);
        }
        self.queues.iter().for_each(|q| _ = clFinish(*q));
        assert!(
            self.own[OWN..].iter().all(|b| *b == 0xa5),
            "something was written behind the program's memory"
        );
        // Handles go as often as they came; those that are gone say so.
        self.mems.iter().for_each(|m| while clReleaseMemObject(*m) == Code::SUCCESS {});
        self.events.iter().for_each(|e| while clReleaseEvent(*e) == Code::SUCCESS {});
        self.kernels.iter().for_each(|k| while clReleaseKernel(*k) == Code::SUCCESS {});
        self.samplers.iter().for_each(|s| while clReleaseSampler(*s) == Code::SUCCESS {});
        self.programs.iter().for_each(|p| while clReleaseProgram(*p) == Code::SUCCESS {});
        self.queues.iter().for_each(|q| while clReleaseCommandQueue(*q) == Code::SUCCESS {});
        self.shared.iter().for_each(|(at, _)| clSVMFree(self.rig.context, Bytes::at(*at)));
        assert_eq!(clReleaseProgram(self.rig.program), Code::SUCCESS);
        assert_eq!(crate::context::clReleaseContext(self.rig.context), Code::SUCCESS);
    }
}

fn run(input: &[u8]) {
    let mut state = State::new();
    input.as_chunks::<4>().0.iter().take(64).for_each(|piece| state.step(*piece));
    state.end();
    assert!(!PANICKED.load(Ordering::SeqCst), "a call has panicked");
}

#[test]
fn any_calls() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICKED.store(true, Ordering::SeqCst);
        before(panic);
    }));
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/opencl");
    let scratch = std::env::temp_dir().join(format!("wavemill-opencl-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    wavemill_testing::fuzz::drive("opencl", &[seeds], &scratch, run);
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0, "nothing is left of it");
    std::fs::remove_dir_all(scratch).unwrap();
}
