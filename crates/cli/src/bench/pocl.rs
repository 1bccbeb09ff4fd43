//! OpenCL kernels on PoCL, which compiles them for the host. The loader of OpenCL is looked for when it is needed, and PoCL
//! among its platforms: nothing here is linked.

#[cfg(target_os = "linux")]
pub use linux::Pocl;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::Pocl;

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use crate::bench::known::Case;

    /// On this host there is none.
    pub enum Pocl {}

    impl Pocl {
        /// None.
        pub fn new(_: &Case) -> Result<Option<Pocl>, String> {
            Ok(None)
        }
        /// Nothing to run.
        pub fn run(&self) -> Result<(), String> {
            match *self {}
        }
        /// Nothing to read.
        pub fn read(&self, _: usize) -> Result<Vec<u32>, String> {
            match *self {}
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use crate::bench::known::{Arg, Case};
    use std::ffi::{CStr, CString, c_char, c_void};
    use std::ptr::{null, null_mut};

    type Object = *mut c_void;
    type Code = i32;

    /// Functions of OpenCL 1.2 (Khronos' specification), by their names there.
    struct Functions {
        platforms: unsafe extern "C" fn(u32, *mut Object, *mut u32) -> Code,
        platform_info: unsafe extern "C" fn(Object, u32, usize, *mut c_void, *mut usize) -> Code,
        devices: unsafe extern "C" fn(Object, u64, u32, *mut Object, *mut u32) -> Code,
        context: unsafe extern "C" fn(
            *const isize,
            u32,
            *const Object,
            *const c_void,
            *mut c_void,
            *mut Code,
        ) -> Object,
        queue: unsafe extern "C" fn(Object, Object, u64, *mut Code) -> Object,
        program: unsafe extern "C" fn(Object, u32, *const *const c_char, *const usize, *mut Code) -> Object,
        build: unsafe extern "C" fn(
            Object,
            u32,
            *const Object,
            *const c_char,
            *const c_void,
            *mut c_void,
        ) -> Code,
        kernel: unsafe extern "C" fn(Object, *const c_char, *mut Code) -> Object,
        buffer: unsafe extern "C" fn(Object, u64, usize, *mut c_void, *mut Code) -> Object,
        argument: unsafe extern "C" fn(Object, u32, usize, *const c_void) -> Code,
        launch: unsafe extern "C" fn(
            Object,
            Object,
            u32,
            *const usize,
            *const usize,
            *const usize,
            u32,
            *const Object,
            *mut Object,
        ) -> Code,
        read: unsafe extern "C" fn(
            Object,
            Object,
            u32,
            usize,
            usize,
            *mut c_void,
            u32,
            *const Object,
            *mut Object,
        ) -> Code,
        finish: unsafe extern "C" fn(Object) -> Code,
    }

    /// A function of a library.
    ///
    /// # Safety
    /// The library must have a function of type `F` under this name.
    unsafe fn function<F: Copy>(library: *mut c_void, name: &CStr) -> Option<F> {
        // SAFETY: a name with its end, and a library that is never closed.
        let at = unsafe { libc::dlsym(library, name.as_ptr()) };
        // SAFETY: the caller's promise; pointers to functions are pointers.
        (!at.is_null()).then(|| unsafe { std::mem::transmute_copy::<*mut c_void, F>(&at) })
    }

    impl Functions {
        /// Loads them; none if there is no loader of OpenCL, or not all of it.
        fn load() -> Option<Functions> {
            // SAFETY: the loader's own start-up is all that runs.
            let library = unsafe { libc::dlopen(c"libOpenCL.so.1".as_ptr(), libc::RTLD_NOW) };
            if library.is_null() {
                return None;
            }
            // SAFETY: these are their types in the specification.
            unsafe {
                Some(Functions {
                    platforms: function(library, c"clGetPlatformIDs")?,
                    platform_info: function(library, c"clGetPlatformInfo")?,
                    devices: function(library, c"clGetDeviceIDs")?,
                    context: function(library, c"clCreateContext")?,
                    queue: function(library, c"clCreateCommandQueue")?,
                    program: function(library, c"clCreateProgramWithSource")?,
                    build: function(library, c"clBuildProgram")?,
                    kernel: function(library, c"clCreateKernel")?,
                    buffer: function(library, c"clCreateBuffer")?,
                    argument: function(library, c"clSetKernelArg")?,
                    launch: function(library, c"clEnqueueNDRangeKernel")?,
                    read: function(library, c"clEnqueueReadBuffer")?,
                    finish: function(library, c"clFinish")?,
                })
            }
        }

        /// PoCL's platform, by its name.
        fn pocl(&self) -> Option<Object> {
            const CL_PLATFORM_NAME: u32 = 0x902;
            let (mut all, mut count) = ([null_mut(); 16], 0);
            // SAFETY: as many as there is room for, and their number.
            let code = unsafe { (self.platforms)(16, all.as_mut_ptr(), &mut count) };
            let all = &all[..if code == 0 { count.min(16) as usize } else { 0 }];
            all.iter().copied().find(|&platform| {
                let mut name = [0u8; 64];
                // SAFETY: as many bytes as there are.
                let code = unsafe {
                    (self.platform_info)(platform, CL_PLATFORM_NAME, 64, name.as_mut_ptr().cast(), null_mut())
                };
                code == 0 && name.starts_with(b"Portable Computing Language")
            })
        }
    }

    /// A kernel on PoCL, with its arguments. What OpenCL made of them stays until the process ends.
    pub struct Pocl {
        cl: Functions,
        queue: Object,
        kernel: Object,
        buffers: Vec<Option<(Object, usize)>>,
        grid: Vec<usize>,
        block: Vec<usize>,
        steps: Vec<Vec<u32>>,
    }

    fn fine(code: Code, what: &str) -> Result<(), String> {
        if code == 0 { Ok(()) } else { Err(format!("PoCL: {what} fails with {code}")) }
    }

    impl Pocl {
        /// Compiles a kernel; none where PoCL is not installed.
        pub fn new(case: &Case) -> Result<Option<Pocl>, String> {
            const CL_DEVICE_TYPE_ALL: u64 = 0xffff_ffff;
            const CL_MEM_READ_WRITE: u64 = 1;
            const CL_MEM_COPY_HOST_PTR: u64 = 32;
            let Some(cl) = Functions::load() else { return Ok(None) };
            let Some(platform) = cl.pocl() else { return Ok(None) };
            let (mut device, mut code) = (null_mut(), 0);
            let text = CString::new(case.source).map_err(|e| e.to_string())?;
            let name = CString::new(case.kernel).map_err(|e| e.to_string())?;
            // SAFETY: objects that OpenCL has just made, pointers to what lives until it returns, lengths that are theirs.
            unsafe {
                fine(
                    (cl.devices)(platform, CL_DEVICE_TYPE_ALL, 1, &mut device, null_mut()),
                    "clGetDeviceIDs",
                )?;
                let context = (cl.context)(null(), 1, &device, null(), null_mut(), &mut code);
                fine(code, "clCreateContext")?;
                let queue = (cl.queue)(context, device, 0, &mut code);
                fine(code, "clCreateCommandQueue")?;
                let program = (cl.program)(context, 1, &text.as_ptr(), null(), &mut code);
                fine(code, "clCreateProgramWithSource")?;
                let options = c"-cl-std=CL2.0";
                fine(
                    (cl.build)(program, 1, &device, options.as_ptr(), null(), null_mut()),
                    "clBuildProgram",
                )?;
                let kernel = (cl.kernel)(program, name.as_ptr(), &mut code);
                fine(code, "clCreateKernel")?;
                let mut buffers = Vec::new();
                for (i, arg) in case.args.iter().enumerate() {
                    let (buffer, code) = match arg {
                        Arg::Buffer(words) => {
                            let (from, flags) = (words.as_ptr().cast_mut().cast(), CL_MEM_COPY_HOST_PTR);
                            let len = size_of_val(&words[..]);
                            let buffer =
                                (cl.buffer)(context, CL_MEM_READ_WRITE | flags, len, from, &mut code);
                            fine(code, "clCreateBuffer")?;
                            let code = (cl.argument)(
                                kernel,
                                i as u32,
                                size_of::<Object>(),
                                (&raw const buffer).cast(),
                            );
                            (Some((buffer, len)), code)
                        }
                        Arg::Number(n) => {
                            (None, (cl.argument)(kernel, i as u32, 4, std::ptr::from_ref(n).cast()))
                        }
                        Arg::Local(bytes) => (None, (cl.argument)(kernel, i as u32, *bytes as usize, null())),
                    };
                    fine(code, "clSetKernelArg")?;
                    buffers.push(buffer);
                }
                let sizes = |n: &[u32]| n.iter().map(|&n| n as usize).collect();
                let (grid, block, steps) = (sizes(&case.grid), sizes(&case.block), case.steps.clone());
                Ok(Some(Pocl { cl, queue, kernel, buffers, grid, block, steps }))
            }
        }

        /// Runs it once.
        pub fn run(&self) -> Result<(), String> {
            for step in &self.steps {
                // SAFETY: objects that are alive, and sizes of as many dimensions as there are.
                unsafe {
                    for (i, n) in step.iter().enumerate() {
                        let at = (self.buffers.len() + i) as u32;
                        let code = (self.cl.argument)(self.kernel, at, 4, std::ptr::from_ref(n).cast());
                        fine(code, "clSetKernelArg")?;
                    }
                    let (grid, block) = (self.grid.as_ptr(), self.block.as_ptr());
                    let dimensions = self.grid.len() as u32;
                    let code = (self.cl.launch)(
                        self.queue,
                        self.kernel,
                        dimensions,
                        null(),
                        grid,
                        block,
                        0,
                        null(),
                        null_mut(),
                    );
                    fine(code, "clEnqueueNDRangeKernel")?;
                }
            }
            // SAFETY: a queue that is alive.
            fine(unsafe { (self.cl.finish)(self.queue) }, "clFinish")
        }

        /// What is in a buffer.
        pub fn read(&self, index: usize) -> Result<Vec<u32>, String> {
            let Some(&Some((buffer, len))) = self.buffers.get(index) else {
                return Err("no buffer there".to_owned());
            };
            let mut words = vec![0u32; len / 4];
            // SAFETY: a buffer of this length, and room for it; the call returns when it is read.
            let code = unsafe {
                let to = words.as_mut_ptr().cast();
                (self.cl.read)(self.queue, buffer, 1, 0, len, to, 0, null(), null_mut())
            };
            fine(code, "clEnqueueReadBuffer")?;
            Ok(words)
        }
    }
}
