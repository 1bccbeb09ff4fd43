//! The facts as JSON.

use super::facts::{self, Facts};
use super::{Parts, Subject, debug};
use crate::json::{Json, Scalar};
use std::io::Write;
use wavemill_isa::target::Processor;
use wavemill_object::demangle;
use wavemill_object::read::{Error, File, KernelForm, symbol_type_name};
use wavemill_object::target_id::Setting;
use wavemill_object::{descriptor, kernel_code, metadata};

pub(super) fn write<W: Write>(subject: &Subject<'_>, parts: Parts, json: &mut Json<W>) -> Result<(), Error> {
    let file = subject.file;
    let id = file.target_id()?;
    let cpu = facts::processor(file)?;
    // Everything that can fail, before the first byte is written.
    let notes = file.notes()?;
    let kernels = if parts.kernels || parts.descriptors { file.kernels()? } else { Vec::new() };
    let said = if parts.kernels { file.kernel_metadata()? } else { Vec::new() };
    let documents: Vec<_> = match parts.notes {
        true => notes.iter().map(|n| n.document()).collect::<Result<_, _>>()?,
        false => Vec::new(),
    };
    let relocations = if parts.relocations { facts::relocations(file)? } else { Vec::new() };
    let units = if parts.debug { debug::read(file)? } else { Vec::new() };
    json.object(|j| {
        j.field("file", subject.name);
        j.field("entry", subject.entry.as_deref());
        j.field("target", id.as_ref().map(|i| i.to_string()).as_deref());
        j.field("processor", id.as_ref().map(|i| i.processor.as_str()));
        j.field("xnack", id.as_ref().map(|i| setting(i.xnack)));
        j.field("sramecc", id.as_ref().map(|i| setting(i.sramecc)));
        j.field("version", u32::from(file.version()));
        j.field("kind", facts::kind_name(file.kind));
        j.field("os", file.os().name());
        j.field("os_abi", u32::from(file.os_abi));
        j.field("abi_version", u32::from(file.abi_version));
        j.field("e_flags", file.flags);
        j.field("size", file.catalyst.as_ref().map_or(file.data.len(), |c| c.data.len()));
        if let Some(container) = &file.catalyst {
            let (device, driver) = container.device(file.inner());
            j.key("catalyst").object(|j| {
                j.field("device", device.map(|d| d.name));
                j.field("driver", driver);
                j.field("pointer_bytes", container.width.bytes());
                j.field("compiler", container.acl_version);
                j.field("options", container.options);
            });
        }
        if parts.kernels || parts.descriptors {
            j.key("kernels").array(|j| {
                for facts in facts::kernels(&kernels, &said, cpu) {
                    j.object(|j| kernel(&facts, file, cpu, parts, j));
                }
            });
        }
        if parts.notes {
            j.key("notes").array(|j| {
                for (note, document) in notes.iter().zip(&documents) {
                    j.object(|j| {
                        j.field("owner", note.owner);
                        j.field("type", note.kind);
                        j.field("name", note.kind_name());
                        j.field("section", note.part);
                        j.field("offset", note.offset);
                        j.field("size", note.contents.len());
                        match document {
                            Some(d) => value(d, j.key("metadata")),
                            None => {
                                j.field("decoded", note.decoded().as_deref());
                                j.field("bytes", hex(note.contents).as_str());
                            }
                        }
                    });
                }
            });
        }
        if parts.symbols {
            symbols(file, j);
        }
        if parts.sections {
            sections(file, j);
        }
        if parts.relocations {
            j.key("relocations").array(|j| {
                for (section, r) in relocations.iter().flat_map(|(s, all)| all.iter().map(move |r| (s, r))) {
                    j.object(|j| {
                        j.field("section", Some(*section).filter(|s| !s.is_empty()));
                        j.field("offset", r.offset);
                        j.field("type", &*r.ty);
                        j.field("symbol", r.symbol.as_ref());
                        j.field("addend", Scalar::Signed(r.addend));
                    });
                }
            });
        }
        if parts.debug {
            debug::json(&units, j);
        }
    });
    Ok(())
}

fn setting(setting: Setting) -> &'static str {
    match setting {
        Setting::Unsupported => "unsupported",
        Setting::Any => "any",
        Setting::Off => "off",
        Setting::On => "on",
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn kernel<W: Write>(
    facts: &Facts<'_, '_>,
    file: &File<'_>,
    cpu: Option<&'static Processor>,
    parts: Parts,
    j: &mut Json<W>,
) {
    j.field("name", facts.name);
    j.field("demangled", &*demangle::shown(facts.name));
    j.field("symbol", facts.kernel.map(|k| k.symbol.name));
    j.field("address", facts.kernel.map(|k| k.symbol.value));
    j.field("entry", facts.kernel.and_then(|k| k.entry));
    j.field("code_size", facts.kernel.and_then(|k| k.code).map(|c| c.size));
    if parts.kernels {
        let said = facts.said;
        j.field("language", said.and_then(|s| s.language.as_deref()));
        numbers("language_version", said.and_then(|s| s.language_version.as_ref()).map(|v| &v[..]), j);
        j.field("source_name", said.map(|s| &*s.name).filter(|n| !n.is_empty()));
        j.field("kind", said.and_then(|s| s.kind.as_deref()));
        j.field("group_segment_fixed_size", facts.lds);
        j.field("private_segment_fixed_size", facts.scratch);
        j.field("kernarg_segment_size", facts.kernarg_size);
        j.field("kernarg_segment_align", said.and_then(|s| s.kernarg_segment_align));
        j.field("uses_dynamic_stack", said.is_some_and(|s| s.uses_dynamic_stack));
        j.field("wavefront_size", said.and_then(|s| s.wavefront_size));
        j.field("vgpr_count", said.and_then(|s| s.vgpr_count));
        j.field("agpr_count", said.and_then(|s| s.agpr_count));
        j.field("sgpr_count", said.and_then(|s| s.sgpr_count));
        j.field("vgpr_spill_count", said.and_then(|s| s.vgpr_spill_count));
        j.field("sgpr_spill_count", said.and_then(|s| s.sgpr_spill_count));
        j.field("allocated_vgprs", facts.vgprs);
        j.field("accum_offset", facts.accum_offset);
        j.field("allocated_sgprs", facts.sgprs);
        j.field("max_flat_workgroup_size", said.and_then(|s| s.max_flat_workgroup_size));
        numbers("reqd_workgroup_size", said.and_then(|s| s.reqd_workgroup_size.as_ref()).map(|v| &v[..]), j);
        numbers("workgroup_size_hint", said.and_then(|s| s.workgroup_size_hint.as_ref()).map(|v| &v[..]), j);
        j.field("vec_type_hint", said.and_then(|s| s.vec_type_hint.as_deref()));
        j.field("device_enqueue_symbol", said.and_then(|s| s.device_enqueue_symbol.as_deref()));
        match &facts.occupancy {
            None => j.field("occupancy", Scalar::Null),
            Some(o) => j.key("occupancy").object(|j| {
                j.field("waves_per_simd", o.waves);
                j.field("most", o.most);
                j.field("limited_by", o.limiter.name());
            }),
        }
        j.key("arguments").array(|j| {
            for a in said.map_or(&[][..], |s| &s.args) {
                j.object(|j| argument(a, j));
            }
        });
        if let Some(said) = said.filter(|s| !s.other.is_empty()) {
            j.key("other").object(|j| {
                for (key, v) in &said.other {
                    value(v, j.key(key));
                }
            });
        }
    }
    if parts.descriptors {
        match facts.kernel.map(|k| &k.form) {
            Some(KernelForm::Descriptor(d)) => {
                j.field("descriptor_offset", facts.kernel.and_then(|k| file_offset(file, &k.symbol)));
                j.field("descriptor_bytes", hex(&d.0).as_str());
                j.key("descriptor").object(|j| {
                    let has = |f: &&descriptor::Field| {
                        f.width > 0 && cpu.map_or(f.has == descriptor::Has::All, |c| f.has.on(c.level))
                    };
                    descriptor::FIELDS.iter().filter(has).for_each(|f| j.field(f.name, d.get(f)));
                });
            }
            // No descriptor in the file: the registers that its driver sets.
            Some(KernelForm::Registers(r)) => {
                j.key("registers").object(|j| {
                    let has = |f: &&descriptor::Field| {
                        f.width > 0 && cpu.map_or(f.has == descriptor::Has::All, |c| f.has.on(c.level))
                    };
                    descriptor::FIELDS.iter().filter(has).for_each(|f| j.field(f.name, r.descriptor.get(f)));
                });
            }
            Some(KernelForm::KernelCode(code)) => {
                j.field("descriptor_bytes", hex(&code.0).as_str());
                j.key("kernel_code").object(|j| {
                    kernel_code::FIELDS.iter().for_each(|f| j.field(f.name, code.get(f)));
                    j.field("control_directive", hex(code.control_directive()).as_str());
                });
            }
            None => {}
        }
    }
}

/// Where in the file a symbol's bytes are.
fn file_offset(file: &File<'_>, symbol: &wavemill_object::read::Symbol<'_>) -> Option<u64> {
    let section = file.sections.get(symbol.section as usize)?;
    symbol.value.checked_sub(section.address)?.checked_add(section.offset)
}

fn numbers<W: Write>(key: &str, numbers: Option<&[u32]>, j: &mut Json<W>) {
    match numbers {
        Some(n) => j.key(key).array(|j| n.iter().for_each(|n| j.value(*n))),
        None => j.field(key, Scalar::Null),
    }
}

fn argument<W: Write>(a: &metadata::kernel::Argument<'_>, j: &mut Json<W>) {
    j.field("name", a.name.as_deref());
    j.field("type_name", a.type_name.as_deref());
    j.field("offset", a.offset);
    j.field("size", a.size);
    j.field("value_kind", &*a.value_kind);
    j.field("value_type", a.value_type.as_deref());
    j.field("address_space", a.address_space.as_deref());
    j.field("access", a.access.as_deref());
    j.field("actual_access", a.actual_access.as_deref());
    j.field("pointee_align", a.pointee_align);
    let flags = [
        ("is_const", a.is_const),
        ("is_restrict", a.is_restrict),
        ("is_volatile", a.is_volatile),
        ("is_pipe", a.is_pipe),
    ];
    for (key, _) in flags.iter().filter(|f| f.1) {
        j.field(key, true);
    }
}

/// A metadata document.
fn value<W: Write>(v: &metadata::Value<'_>, j: &mut Json<W>) {
    use metadata::Value;
    match v {
        Value::Int(i) => j.value(Scalar::Signed(*i)),
        Value::UInt(u) => j.value(*u),
        Value::Nil => j.value(Scalar::Null),
        Value::Bool(b) => j.value(*b),
        Value::Float(f) => j.value(Scalar::Float(*f)),
        Value::Str(s) => j.value(&**s),
        Value::Bin(b) => j.value(hex(b).as_str()),
        Value::Array(a) => j.array(|j| a.iter().for_each(|v| value(v, j))),
        Value::Map(m) => j.object(|j| {
            for (k, v) in m.iter() {
                // Keys are text in every document but PAL's registers, which are numbers.
                let key = match k {
                    Value::Str(s) => s.to_string(),
                    Value::UInt(u) => format!("{u:#x}"),
                    other => format!("{other:?}"),
                };
                value(v, j.key(&key));
            }
        }),
    }
}

fn symbols<W: Write>(file: &File<'_>, j: &mut Json<W>) {
    j.key("symbols").array(|j| {
        for s in file.symbols.iter().skip(1) {
            j.object(|j| {
                j.field("name", s.name);
                j.field("value", s.value);
                j.field("size", s.size);
                j.field("type", &*symbol_type_name(s.ty));
                j.field("binding", facts::binding_name(s.binding));
                j.field("visibility", facts::visibility_name(s.other));
                j.field("section_number", s.section);
                j.field("section", facts::home(file, s).as_str());
            });
        }
    });
}

fn sections<W: Write>(file: &File<'_>, j: &mut Json<W>) {
    j.key("sections").array(|j| {
        for s in file.sections.iter().skip(1) {
            j.object(|j| {
                j.field("name", s.name);
                j.field("type", s.ty);
                j.field("flags", s.flags);
                j.field("address", s.address);
                j.field("offset", s.offset);
                j.field("size", s.size);
                j.field("align", s.align);
            });
        }
    });
    j.key("segments").array(|j| {
        for s in &file.segments {
            j.object(|j| {
                j.field("type", s.ty);
                j.field("flags", s.flags);
                j.field("address", s.address);
                j.field("offset", s.offset);
                j.field("file_size", s.data.len());
                j.field("memory_size", s.memory_size);
                j.field("align", s.align);
            });
        }
    });
}
