//! Code objects: readers, executables, symbols of every kind, external variables, and the loader's extension.

use crate::constants::*;
use crate::ffi::*;
use crate::setup::*;
use std::ffi::{CString, c_char, c_void};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::ptr::{null, null_mut};

/// A kernel with some of everything, a variable, a constant, and a kernel that reads a variable of another's.
fn source(external: bool) -> String {
    let mut text = kernel_text(
        "rich",
        40,
        "  s_nop 0",
        ".amdhsa_group_segment_fixed_size 512\n.amdhsa_private_segment_fixed_size 48\n\
         .amdhsa_system_sgpr_private_segment_wavefront_offset 1",
    );
    text += ".data\n.globl number\n.type number,@object\n.p2align 3\nnumber:\n  .quad 0x1122334455667788\n\
             .size number, 8\n.section .rodata\n.globl table\n.type table,@object\n.p2align 4\ntable:\n\
             .long 10, 20, 30, 40\n.size table, 16\n";
    if external {
        // Stores the external variable's value where the argument says.
        let code = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_getpc_b64 s[6:7]\n\
                    s_add_u32 s6, s6, outside@gotpcrel32@lo+4\n  s_addc_u32 s7, s7, outside@gotpcrel32@hi+12\n\
                    s_load_dwordx2 s[6:7], s[6:7], 0x0\n  s_waitcnt lgkmcnt(0)\n  s_load_dword s8, s[6:7], 0x0\n\
                    s_waitcnt lgkmcnt(0)\n  v_mov_b32_e32 v0, 0\n  v_mov_b32_e32 v1, s8\n\
                    global_store_dword v0, v1, s[4:5]";
        text += &kernel_text("reads", 8, code, "");
    }
    text
}

fn reader(code: &[u8]) -> Reader {
    let mut reader = Reader::default();
    ok(hsa_code_object_reader_create_from_memory(code.as_ptr().cast(), code.len(), &mut reader));
    reader
}

fn executable() -> Executable {
    let mut executable = Executable::default();
    ok(hsa_executable_create_alt(PROFILE_BASE, DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, null(), &mut executable));
    executable
}

fn load(executable: Executable, reader: Reader) -> Status {
    hsa_executable_load_agent_code_object(executable, system().gpu, reader, null(), null_mut())
}

fn info<T: Default>(symbol: Symbol, attribute_: u32) -> T {
    attribute(|p| hsa_executable_symbol_get_info(symbol, attribute_, p))
}

fn name(symbol: Symbol) -> String {
    let mut bytes = vec![0u8; info::<u32>(symbol, EXECUTABLE_SYMBOL_INFO_NAME_LENGTH) as usize];
    ok(hsa_executable_symbol_get_info(symbol, EXECUTABLE_SYMBOL_INFO_NAME, bytes.as_mut_ptr().cast()));
    String::from_utf8(bytes).expect("a name is text")
}

#[test]
fn kernels_and_variables() {
    let system = system();
    let program = Program::new(&source(false));
    let kernel = program.symbol("rich.kd");
    assert_eq!(name(kernel), "rich.kd");
    assert_eq!(info::<u32>(kernel, EXECUTABLE_SYMBOL_INFO_TYPE), SYMBOL_KIND_KERNEL);
    assert_eq!(info::<u32>(kernel, EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE), 40);
    assert_eq!(info::<u32>(kernel, EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT), 16);
    assert_eq!(info::<u32>(kernel, EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE), 512);
    assert_eq!(info::<u32>(kernel, EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE), 48);
    assert!(!info::<bool>(kernel, EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK));
    assert!(info::<bool>(kernel, EXECUTABLE_SYMBOL_INFO_IS_DEFINITION));
    assert_eq!(info::<u32>(kernel, EXECUTABLE_SYMBOL_INFO_LINKAGE), SYMBOL_LINKAGE_PROGRAM);
    assert_eq!(info::<Agent>(kernel, EXECUTABLE_SYMBOL_INFO_AGENT), system.gpu);
    assert_eq!(info::<u32>(kernel, EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH), 0);
    assert_eq!(info::<u64>(kernel, EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT) % 64, 0);

    for (variable, size, constant) in [("number", 8u32, false), ("table", 16, true)] {
        let symbol = program.symbol(variable);
        assert_eq!(name(symbol), variable);
        assert_eq!(info::<u32>(symbol, EXECUTABLE_SYMBOL_INFO_TYPE), SYMBOL_KIND_VARIABLE);
        assert_eq!(info::<u32>(symbol, EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE), size);
        assert_eq!(
            info::<u32>(symbol, EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION),
            VARIABLE_ALLOCATION_AGENT
        );
        assert_eq!(info::<bool>(symbol, EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST), constant, "{variable}");
        let address: u64 = info(symbol, EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS);
        let mut bytes = [0u8; 16];
        ok(hsa_memory_copy(bytes.as_mut_ptr().cast(), address as *const c_void, size as usize));
        let expected: &[u8] = if constant { &[10, 0, 0, 0, 20, 0] } else { &[0x88, 0x77, 0x66] };
        assert_eq!(&bytes[..expected.len()], expected);
    }
}

#[test]
fn symbols_are_iterated() {
    let system = system();
    let program = Program::new(&source(false));
    unsafe extern "C" fn each(_: Executable, symbol: Symbol, data: *mut c_void) -> Status {
        // SAFETY: the vector below.
        unsafe { &mut *data.cast::<Vec<String>>() }.push(name(symbol));
        STATUS_SUCCESS
    }
    unsafe extern "C" fn each_of_agent(_: Executable, _: Agent, symbol: Symbol, data: *mut c_void) -> Status {
        // SAFETY: the vector below.
        unsafe { &mut *data.cast::<Vec<String>>() }.push(name(symbol));
        STATUS_SUCCESS
    }
    let expected = ["number", "rich.kd", "table"];
    let mut names: Vec<String> = Vec::new();
    ok(hsa_executable_iterate_symbols(program.0, Some(each), (&raw mut names).cast()));
    names.sort();
    assert_eq!(names, expected);
    names.clear();
    let data = (&raw mut names).cast();
    ok(hsa_executable_iterate_agent_symbols(program.0, system.gpu, Some(each_of_agent), data));
    names.sort();
    assert_eq!(names, expected);
    names.clear();
    ok(hsa_executable_iterate_program_symbols(program.0, Some(each), (&raw mut names).cast()));
    assert!(names.is_empty(), "{names:?}");
    // A callback can stop the iteration.
    unsafe extern "C" fn stop(_: Executable, _: Symbol, _: *mut c_void) -> Status {
        STATUS_INFO_BREAK
    }
    assert_eq!(hsa_executable_iterate_symbols(program.0, Some(stop), null_mut()), STATUS_INFO_BREAK);
}

#[test]
fn external_variables() {
    let system = system();
    let code = code_object(&source(true));
    let value = Memory::of(system.host, &[4321u32]);
    let outside = c"outside";
    let executable = executable();
    let reader = reader(&code);
    let define = || {
        let address = value.pointer.cast();
        hsa_executable_agent_global_variable_define(executable, system.gpu, outside.as_ptr(), address)
    };
    ok(define());
    assert_eq!(define(), STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
    ok(load(executable, reader));
    ok(hsa_executable_freeze(executable, null()));
    let program = Program(executable);
    let out = Memory::<u32>::new(system.host, 1);
    let arguments = Memory::of(system.kernarg, &[out.address()]);
    let (ring, done) = (Ring::new(64), OwnSignal::new(1));
    ring.submit(&dispatch(program.kernel("reads"), 1, 1, arguments.address(), Some(&done)));
    done.wait();
    assert_eq!(out.get(), [4321]);
    ring.destroy();
    ok(hsa_code_object_reader_destroy(reader));
}

#[test]
fn an_undefined_variable_is_refused() {
    let code = code_object(&source(true));
    let (executable, reader) = (executable(), reader(&code));
    // The header lets the runtime notice it when the executable is frozen; real ones do when it is loaded.
    let status = match load(executable, reader) {
        STATUS_SUCCESS => hsa_executable_freeze(executable, null()),
        status => status,
    };
    assert_eq!(status, STATUS_ERROR_VARIABLE_UNDEFINED);
    ok(hsa_executable_destroy(executable));
    ok(hsa_code_object_reader_destroy(reader));
}

#[test]
fn from_a_file() {
    let code = code_object(&source(false));
    let path = std::env::temp_dir().join(format!("wavemill-loader-{}.co", std::process::id()));
    std::fs::File::create(&path).and_then(|mut f| f.write_all(&code)).expect("a file");
    let file = std::fs::File::open(&path).expect("the file");
    let mut reader = Reader::default();
    ok(hsa_code_object_reader_create_from_file(file.as_raw_fd(), &mut reader));
    drop(file);
    std::fs::remove_file(&path).expect("the file goes");
    let executable = executable();
    let mut loaded = Loaded::default();
    ok(hsa_executable_load_agent_code_object(executable, system().gpu, reader, null(), &mut loaded));
    assert_ne!(loaded.handle, 0);
    let state = || attribute::<u32>(|p| hsa_executable_get_info(executable, EXECUTABLE_INFO_STATE, p));
    assert_eq!(state(), EXECUTABLE_STATE_UNFROZEN);
    ok(hsa_executable_freeze(executable, null()));
    assert_eq!(state(), EXECUTABLE_STATE_FROZEN);
    let mut result = 1;
    ok(hsa_executable_validate(executable, &mut result));
    assert_eq!(result, 0);
    let profile: u32 = attribute(|p| hsa_executable_get_info(executable, EXECUTABLE_INFO_PROFILE, p));
    assert_eq!(profile, PROFILE_BASE);
    ok(hsa_executable_destroy(executable));
    ok(hsa_code_object_reader_destroy(reader));
}

/// A code object for another processor, and bytes that are none.
#[test]
fn wrong_code_objects_are_refused() {
    let executable = executable();
    let good = code_object(&source(false));
    let mut broken = good.clone();
    broken.truncate(200);
    let foreign = code_object_for("gfx906", ".text\n.globl f\nf:\n  s_endpgm\n");
    // EF_AMDGPU_MACH_AMDGCN_GFX1030, in e_flags.
    let mut later = good.clone();
    later[48] = 0x36;
    for (code, expected) in [
        (foreign, STATUS_ERROR_INCOMPATIBLE_ARGUMENTS),
        (later, STATUS_ERROR_INCOMPATIBLE_ARGUMENTS),
        (broken, STATUS_ERROR_INVALID_CODE_OBJECT),
        (b"not an ELF file at all, just some words".to_vec(), STATUS_ERROR_INVALID_CODE_OBJECT),
    ] {
        let reader = reader(&code);
        assert_eq!(load(executable, reader), expected);
        ok(hsa_code_object_reader_destroy(reader));
    }
    ok(hsa_executable_destroy(executable));
}

/// The calls of HSA 1.0, which GCC's and LLVM's offloading still use.
#[test]
fn the_old_way() {
    let system = system();
    let mut code = code_object(&source(false));
    let mut object = CodeObject::default();
    ok(hsa_code_object_deserialize(code.as_mut_ptr().cast(), code.len(), null(), &mut object));
    let mut executable = Executable::default();
    ok(hsa_executable_create(PROFILE_BASE, EXECUTABLE_STATE_UNFROZEN, c"".as_ptr(), &mut executable));
    ok(hsa_executable_load_code_object(executable, system.gpu, object, c"".as_ptr()));
    ok(hsa_executable_freeze(executable, c"".as_ptr()));
    let mut symbol = Symbol::default();
    ok(hsa_executable_get_symbol(executable, null(), c"rich.kd".as_ptr(), system.gpu, 0, &mut symbol));
    assert_eq!(info::<u32>(symbol, EXECUTABLE_SYMBOL_INFO_TYPE), SYMBOL_KIND_KERNEL);
    ok(hsa_executable_destroy(executable));
    ok(hsa_code_object_destroy(object));
}

/// The extension that HIP asks for: version 1.00 has three functions.
#[test]
fn the_loader_extension() {
    let system = system();
    type QueryHost = unsafe extern "C" fn(*const c_void, *mut *const c_void) -> Status;
    type QuerySegments = unsafe extern "C" fn(*mut c_void, *mut usize) -> Status;
    type QueryExecutable = unsafe extern "C" fn(*const c_void, *mut Executable) -> Status;
    #[repr(C)]
    struct Table {
        host_address: Option<QueryHost>,
        segment_descriptors: Option<QuerySegments>,
        executable: Option<QueryExecutable>,
    }
    let mut table = Table { host_address: None, segment_descriptors: None, executable: None };
    let length = size_of::<Table>();
    let extension = EXTENSION_AMD_LOADER as u16;
    ok(hsa_system_get_major_extension_table(extension, 1, length, (&raw mut table).cast()));
    let program = Program::new(&source(false));
    let object = program.kernel("rich");
    let (mut executable, mut host) = (Executable::default(), null());
    // SAFETY: as the header `hsa_ven_amd_loader.h` declares them.
    unsafe {
        ok(table.executable.expect("a function")(object as *const c_void, &mut executable));
        assert_eq!(executable, program.0);
        ok(table.host_address.expect("a function")(object as *const c_void, &mut host));
        // A kernel descriptor starts with the sizes of group segment, private segment and arguments.
        let descriptor: [u32; 3] = host.cast::<[u32; 3]>().read_unaligned();
        assert_eq!(descriptor, [512, 48, 40]);
        let mut count = 0;
        ok(table.segment_descriptors.expect("a function")(null_mut(), &mut count));
        assert!(count >= 1);
        let nowhere = table.host_address.expect("a function")(8 as *const c_void, &mut host);
        assert_eq!(nowhere, STATUS_ERROR_INVALID_ARGUMENT);
    }
    let mut supported = false;
    ok(hsa_system_extension_supported(extension, 1, 0, &mut supported));
    assert!(supported);
    let missing: CString = CString::new("nothing").expect("text");
    let mut symbol = Symbol::default();
    let name: *const c_char = missing.as_ptr();
    let status = hsa_executable_get_symbol_by_name(program.0, name, &system.gpu, &mut symbol);
    assert_eq!(status, STATUS_ERROR_INVALID_SYMBOL_NAME);
}
