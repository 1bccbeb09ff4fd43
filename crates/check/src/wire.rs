//! Reports on their way from one process to another: a line each, fields behind tabs.

use crate::report::{CodeLocation, Report};

/// A field: no tabs, no line ends.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n")
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => out.push(c),
            _ => match chars.next() {
                Some('t') => out.push('\t'),
                Some('n') => out.push('\n'),
                other => out.extend(other),
            },
        }
    }
    out
}

fn put_place(place: &CodeLocation, out: &mut Vec<String>) {
    let (function, offset) = place.function.clone().unwrap_or_default();
    let (file, line) = place.source.clone().unwrap_or_default();
    out.extend([
        place.pc.to_string(),
        function,
        offset.to_string(),
        file,
        line.to_string(),
        place.instruction.clone(),
    ]);
}

/// A report as a line, without its end.
pub fn line(report: &Report) -> String {
    let mut fields = vec![
        report.check.clone(),
        report.kind.clone(),
        report.kernel.clone(),
        report.message.clone(),
        report.mend.clone(),
    ];
    fields.push(report.count.to_string());
    fields.push(report.lanes.to_string());
    fields.push(u8::from(report.fault).to_string());
    put_place(&report.place, &mut fields);
    let three = |n: [u32; 3]| n.map(|n| n.to_string()).join(" ");
    fields.push(report.wave.map_or(String::new(), |(group, wave)| format!("{} {wave}", three(group))));
    fields.push(report.item.map_or(String::new(), three));
    match &report.other {
        Some((what, place)) => {
            fields.push(what.clone());
            put_place(place, &mut fields);
        }
        None => fields.push(String::new()),
    }
    fields.push(report.facts.len().to_string());
    fields.extend(report.facts.iter().flat_map(|(name, fact)| [name.clone(), fact.clone()]));
    fields.extend(report.listing.iter().flat_map(|(address, text)| [address.to_string(), text.clone()]));
    fields.iter().map(|f| escape(f)).collect::<Vec<_>>().join("\t")
}

/// The fields of a line, one after the other.
struct Fields<'a>(std::str::Split<'a, char>);

impl Fields<'_> {
    fn text(&mut self) -> Option<String> {
        self.0.next().map(unescape)
    }

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.0.next()?.parse().ok()
    }

    fn numbers(&mut self) -> Option<Vec<u32>> {
        self.0.next()?.split_whitespace().map(|n| n.parse().ok()).collect()
    }

    fn place(&mut self) -> Option<CodeLocation> {
        let pc = self.number()?;
        let function = (self.text()?, self.number()?);
        let source = (self.text()?, self.number()?);
        let instruction = self.text()?;
        Some(CodeLocation {
            pc,
            function: Some(function).filter(|f| !f.0.is_empty()),
            source: Some(source).filter(|s| !s.0.is_empty()),
            instruction,
        })
    }
}

/// The report of a line; none of what is no such line.
pub fn parse(line: &str) -> Option<Report> {
    let mut f = Fields(line.split('\t'));
    let mut report = Report {
        check: f.text()?,
        kind: f.text()?,
        kernel: f.text()?,
        message: f.text()?,
        mend: f.text()?,
        count: f.number()?,
        lanes: f.number()?,
        fault: f.number::<u8>()? != 0,
        place: f.place()?,
        ..Report::default()
    };
    if let [x, y, z, wave] = f.numbers()?[..] {
        report.wave = Some(([x, y, z], wave));
    }
    if let [x, y, z] = f.numbers()?[..] {
        report.item = Some([x, y, z]);
    }
    let what = f.text()?;
    if !what.is_empty() {
        report.other = Some((what, f.place()?));
    }
    for _ in 0..f.number::<usize>()? {
        report.facts.push((f.text()?, f.text()?));
    }
    while let Some(address) = f.number() {
        report.listing.push((address, f.text()?));
    }
    Some(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_come_back_as_they_were() {
        let place = |line| CodeLocation {
            pc: 0x1234,
            function: Some(("k".into(), 16)),
            source: Some(("dir\twith\\odd\nname.s".into(), line)),
            instruction: "s_nop 0".into(),
        };
        let whole = Report {
            check: "race".into(),
            kind: "lds-race".into(),
            kernel: "k".into(),
            message: "two".into(),
            place: place(3),
            listing: vec![(0x1230, "s_nop 1".into()), (0x1234, "s_nop 0".into())],
            other: Some(("written".into(), place(7))),
            wave: Some(([1, 2, 3], 4)),
            lanes: 0x8000_0000_0000_0001,
            item: Some([5, 6, 7]),
            facts: vec![("address".into(), "0x10\tin LDS".into())],
            mend: "wait".into(),
            count: 12,
            fault: true,
        };
        let bare = Report { place: CodeLocation { pc: 1, ..CodeLocation::default() }, ..Report::default() };
        for report in [whole, bare] {
            assert_eq!(parse(&line(&report)), Some(report));
        }
        assert_eq!(parse("no report"), None);
    }
}
