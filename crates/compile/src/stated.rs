//! What an assembly source says about its target.

use wavemill_object::target_id::TargetId;

/// The target id that a source states: by `.amdgcn_target` or `.amd_amdgpu_isa`, else by `.hsa_code_object_isa`, which
/// has numbers only.
pub fn target(text: &[u8]) -> Option<TargetId> {
    let mut numbered = None;
    for line in text.split(|b| *b == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let mut words = line.trim_start().splitn(2, [' ', '\t']);
        let (directive, rest) = (words.next().unwrap_or(""), words.next().unwrap_or("").trim());
        match directive {
            ".amdgcn_target" | ".amd_amdgpu_isa" => {
                let id = rest.trim_start_matches('"').split('"').next()?;
                return TargetId::parse(id).ok().map(|t| t.0);
            }
            ".hsa_code_object_isa" => {
                let mut numbers = rest.split(',').map_while(|n| n.trim().parse::<u32>().ok());
                if let (Some(major), Some(minor), Some(stepping)) =
                    (numbers.next(), numbers.next(), numbers.next())
                {
                    numbered = numbered.or_else(|| TargetId::from_isa_version(major, minor, stepping));
                }
            }
            _ => {}
        }
    }
    numbered
}

/// The triple of a target id, with its environment if it has one.
pub fn triple(id: &TargetId) -> String {
    let environment = if id.environment.is_empty() { String::new() } else { format!("-{}", id.environment) };
    format!("{}-{}-{}{environment}", id.arch, id.vendor, id.os_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_names_its_target() {
        let id = target(b"  .amdgcn_target \"amdgcn-amd-amdhsa--gfx906:xnack-\"\n").unwrap();
        assert_eq!((id.processor.as_str(), id.xnack.request()), ("gfx906", Some(false)));
        let id = target(b"\t.hsa_code_object_isa 8,0,3,\"AMD\",\"AMDGPU\"\n").unwrap();
        assert_eq!((id.processor.as_str(), triple(&id).as_str()), ("gfx803", "amdgcn-amd-amdhsa"));
        let id = target(b"\t.amdgcn_target \"amdgcn-amd-amdhsa-opencl-gfx900\"\n").unwrap();
        assert_eq!(triple(&id), "amdgcn-amd-amdhsa-opencl");
        assert_eq!(target(b"s_endpgm\n"), None);
    }
}
