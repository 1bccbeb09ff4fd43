//! Archives of objects: System V's format, with long names in a member of their own.

/// What an archive starts with.
pub(crate) const MAGIC: &[u8] = b"!<arch>\n";
/// Bytes of a member's header.
const HEADER: usize = 60;

/// A file in an archive.
pub(crate) struct Member<'a> {
    pub name: String,
    pub data: &'a [u8],
}

/// The files in an archive, without its tables. The error is the byte where a member is broken.
pub(crate) fn members(archive: &[u8]) -> Result<Vec<Member<'_>>, usize> {
    let mut members = Vec::new();
    let mut long_names: &[u8] = b"";
    let mut at = MAGIC.len();
    while let Some(header) = archive.get(at..at + HEADER) {
        let size = std::str::from_utf8(&header[48..58]).ok().and_then(|s| s.trim().parse::<usize>().ok());
        let start = at + HEADER;
        let data = size.and_then(|s| archive.get(start..start.checked_add(s)?)).ok_or(at)?;
        let raw = String::from_utf8_lossy(&header[..16]).trim_end().to_string();
        match raw.as_str() {
            "/" | "/SYM64/" => {}
            "//" => long_names = data,
            _ => {
                let long = raw.strip_prefix('/').and_then(|n| n.parse::<usize>().ok());
                let name = match long.and_then(|n| long_names.get(n..)) {
                    Some(rest) => {
                        let end = rest.iter().position(|b| matches!(b, b'/' | b'\n')).unwrap_or(rest.len());
                        String::from_utf8_lossy(&rest[..end]).into_owned()
                    }
                    None => raw.trim_end_matches('/').to_string(),
                };
                members.push(Member { name, data });
            }
        }
        at = start + data.len().next_multiple_of(2);
    }
    Ok(members)
}
