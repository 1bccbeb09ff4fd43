//! What the ICD loader calls through: a table of all functions, in the order of its `cl_icd.h`, and how it finds us.

use crate::abi::*;
use crate::handle::{self, Handle};
use crate::platform::Platform;
use crate::{
    buffer, context, device, enqueue, event, image, kernel, mapping, memory, platform, program, queue,
    sampler, svm, svm_commands, transfer,
};
use std::ffi::c_void;

/// An address of a function.
#[repr(transparent)]
struct Function(*const c_void);

// SAFETY: addresses of code, which nobody writes.
unsafe impl Sync for Function {}

macro_rules! functions {
    ($($function:path),* $(,)?) => { [$(Function($function as *const c_void)),*] };
}

/// Functions of extensions that are not there, for whoever calls them without asking: those that return a code, and those
/// that make an object and have the code's address for their third, fourth, fifth or sixth argument.
extern "C" fn no_operation() -> Code {
    Code::INVALID_OPERATION
}

extern "C" fn no_object_3(_: usize, _: usize, errcode: Out<Code>) -> usize {
    errcode.put(Code::INVALID_OPERATION);
    0
}

extern "C" fn no_object_4(_: usize, _: usize, _: usize, errcode: Out<Code>) -> usize {
    errcode.put(Code::INVALID_OPERATION);
    0
}

extern "C" fn no_object_5(_: usize, _: usize, _: usize, _: usize, errcode: Out<Code>) -> usize {
    errcode.put(Code::INVALID_OPERATION);
    0
}

extern "C" fn no_object_6(_: usize, _: usize, _: usize, _: usize, _: usize, errcode: Out<Code>) -> usize {
    errcode.put(Code::INVALID_OPERATION);
    0
}

/// The table (`cl_icd_dispatch`).
#[rustfmt::skip]
static TABLE: [Function; 149] = functions![
    platform::clGetPlatformIDs,
    platform::clGetPlatformInfo,
    device::clGetDeviceIDs,
    device::clGetDeviceInfo,
    context::clCreateContext,
    context::clCreateContextFromType,
    context::clRetainContext,
    context::clReleaseContext,
    context::clGetContextInfo,
    queue::clCreateCommandQueue,
    queue::clRetainCommandQueue,
    queue::clReleaseCommandQueue,
    queue::clGetCommandQueueInfo,
    queue::clSetCommandQueueProperty,
    buffer::clCreateBuffer,
    image::clCreateImage2D,
    image::clCreateImage3D,
    memory::clRetainMemObject,
    memory::clReleaseMemObject,
    image::clGetSupportedImageFormats,
    memory::clGetMemObjectInfo,
    image::clGetImageInfo,
    sampler::clCreateSampler,
    sampler::clRetainSampler,
    sampler::clReleaseSampler,
    sampler::clGetSamplerInfo,
    program::clCreateProgramWithSource,
    program::clCreateProgramWithBinary,
    program::clRetainProgram,
    program::clReleaseProgram,
    program::clBuildProgram,
    context::clUnloadCompiler,
    program::clGetProgramInfo,
    program::clGetProgramBuildInfo,
    kernel::clCreateKernel,
    kernel::clCreateKernelsInProgram,
    kernel::clRetainKernel,
    kernel::clReleaseKernel,
    kernel::clSetKernelArg,
    kernel::clGetKernelInfo,
    kernel::clGetKernelWorkGroupInfo,
    event::clWaitForEvents,
    event::clGetEventInfo,
    event::clRetainEvent,
    event::clReleaseEvent,
    event::clGetEventProfilingInfo,
    queue::clFlush,
    queue::clFinish,
    transfer::clEnqueueReadBuffer,
    transfer::clEnqueueWriteBuffer,
    transfer::clEnqueueCopyBuffer,
    transfer::clEnqueueReadImage,
    transfer::clEnqueueWriteImage,
    transfer::clEnqueueCopyImage,
    transfer::clEnqueueCopyImageToBuffer,
    transfer::clEnqueueCopyBufferToImage,
    mapping::clEnqueueMapBuffer,
    mapping::clEnqueueMapImage,
    mapping::clEnqueueUnmapMemObject,
    enqueue::clEnqueueNDRangeKernel,
    enqueue::clEnqueueTask,
    enqueue::clEnqueueNativeKernel,
    queue::clEnqueueMarker,
    queue::clEnqueueWaitForEvents,
    queue::clEnqueueBarrier,
    clGetExtensionFunctionAddress,
    no_object_4 /* clCreateFromGLBuffer */,
    no_object_6 /* clCreateFromGLTexture2D */,
    no_object_6 /* clCreateFromGLTexture3D */,
    no_object_4 /* clCreateFromGLRenderbuffer */,
    no_operation /* clGetGLObjectInfo */,
    no_operation /* clGetGLTextureInfo */,
    no_operation /* clEnqueueAcquireGLObjects */,
    no_operation /* clEnqueueReleaseGLObjects */,
    no_operation /* clGetGLContextInfoKHR */,
    no_operation /* clGetDeviceIDsFromD3D10KHR */,
    no_object_4 /* clCreateFromD3D10BufferKHR */,
    no_object_5 /* clCreateFromD3D10Texture2DKHR */,
    no_object_5 /* clCreateFromD3D10Texture3DKHR */,
    no_operation /* clEnqueueAcquireD3D10ObjectsKHR */,
    no_operation /* clEnqueueReleaseD3D10ObjectsKHR */,
    event::clSetEventCallback,
    buffer::clCreateSubBuffer,
    memory::clSetMemObjectDestructorCallback,
    event::clCreateUserEvent,
    event::clSetUserEventStatus,
    transfer::clEnqueueReadBufferRect,
    transfer::clEnqueueWriteBufferRect,
    transfer::clEnqueueCopyBufferRect,
    no_operation /* clCreateSubDevicesEXT */,
    no_operation /* clRetainDeviceEXT */,
    no_operation /* clReleaseDeviceEXT */,
    no_object_3 /* clCreateEventFromGLsyncKHR */,
    device::clCreateSubDevices,
    device::clRetainDevice,
    device::clReleaseDevice,
    image::clCreateImage,
    program::clCreateProgramWithBuiltInKernels,
    program::clCompileProgram,
    program::clLinkProgram,
    context::clUnloadPlatformCompiler,
    kernel::clGetKernelArgInfo,
    transfer::clEnqueueFillBuffer,
    transfer::clEnqueueFillImage,
    transfer::clEnqueueMigrateMemObjects,
    queue::clEnqueueMarkerWithWaitList,
    queue::clEnqueueBarrierWithWaitList,
    clGetExtensionFunctionAddressForPlatform,
    no_object_6 /* clCreateFromGLTexture */,
    no_operation /* clGetDeviceIDsFromD3D11KHR */,
    no_object_4 /* clCreateFromD3D11BufferKHR */,
    no_object_5 /* clCreateFromD3D11Texture2DKHR */,
    no_object_5 /* clCreateFromD3D11Texture3DKHR */,
    no_object_6 /* clCreateFromDX9MediaSurfaceKHR */,
    no_operation /* clEnqueueAcquireD3D11ObjectsKHR */,
    no_operation /* clEnqueueReleaseD3D11ObjectsKHR */,
    no_operation /* clGetDeviceIDsFromDX9MediaAdapterKHR */,
    no_operation /* clEnqueueAcquireDX9MediaSurfacesKHR */,
    no_operation /* clEnqueueReleaseDX9MediaSurfacesKHR */,
    no_object_6 /* clCreateFromEGLImageKHR */,
    no_operation /* clEnqueueAcquireEGLObjectsKHR */,
    no_operation /* clEnqueueReleaseEGLObjectsKHR */,
    no_object_4 /* clCreateEventFromEGLSyncKHR */,
    queue::clCreateCommandQueueWithProperties,
    buffer::clCreatePipe,
    buffer::clGetPipeInfo,
    svm::clSVMAlloc,
    svm::clSVMFree,
    svm_commands::clEnqueueSVMFree,
    svm_commands::clEnqueueSVMMemcpy,
    svm_commands::clEnqueueSVMMemFill,
    svm_commands::clEnqueueSVMMap,
    svm_commands::clEnqueueSVMUnmap,
    sampler::clCreateSamplerWithProperties,
    kernel::clSetKernelArgSVMPointer,
    kernel::clSetKernelExecInfo,
    kernel::clGetKernelSubGroupInfoKHR,
    kernel::clCloneKernel,
    program::clCreateProgramWithIL,
    svm_commands::clEnqueueSVMMigrateMem,
    device::clGetDeviceAndHostTimer,
    device::clGetHostTimer,
    kernel::clGetKernelSubGroupInfo,
    queue::clSetDefaultDeviceCommandQueue,
    program::clSetProgramReleaseCallback,
    program::clSetProgramSpecializationConstant,
    buffer::clCreateBufferWithProperties,
    image::clCreateImageWithProperties,
    context::clSetContextDestructorCallback,
];

/// Functions that are not in libraries but asked for by name.
fn extension(name: &str) -> *mut c_void {
    match name {
        "clIcdGetPlatformIDsKHR" => clIcdGetPlatformIDsKHR as *mut c_void,
        "clCreateProgramWithILKHR" => program::clCreateProgramWithIL as *mut c_void,
        "clGetKernelSubGroupInfoKHR" => kernel::clGetKernelSubGroupInfoKHR as *mut c_void,
        _ => std::ptr::null_mut(),
    }
}

api! {
    /// What loaders call first.
    #[unsafe(no_mangle)]
    fn clIcdGetPlatformIDsKHR(room: u32, platforms: Out<Handle<Platform>>, count: Out<u32>) -> Code {
        handle::set_dispatch((&raw const TABLE) as usize);
        match platform::clGetPlatformIDs(room, platforms, count) {
            Code::SUCCESS => Ok(()),
            code => Err(code),
        }
    }

    /// A function by its name; null if there is none.
    #[unsafe(no_mangle)]
    fn clGetExtensionFunctionAddress(name: Text) -> *mut c_void {
        make(Out::NULL, || Ok(extension(&name.get()?)))
    }

    /// A function by its name; null if there is none.
    fn clGetExtensionFunctionAddressForPlatform(of: Handle<Platform>, name: Text) -> *mut c_void {
        make(Out::NULL, || {
            handle::get(of)?;
            Ok(extension(&name.get()?))
        })
    }
}
