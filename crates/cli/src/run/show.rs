//! `--show`: an argument's buffer as numbers or as a picture.

use super::number::Number;
use std::fmt::Write;
use std::io::IsTerminal;

/// How to show a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Its first elements.
    Numbers(Number, usize),
    /// One element for each pixel.
    Image {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Type of an element.
        ty: Number,
    },
}

/// Characters from dark to bright.
const RAMP: &[u8] = b" .:-=+*#%@";

impl Format {
    /// Reads `TYPE[:COUNT]` or `image:WIDTHxHEIGHT[:TYPE]`.
    pub fn parse(text: &str) -> Result<Format, String> {
        let mut parts = text.split(':');
        let first = parts.next().unwrap_or("");
        let number = |name: &str| Number::named(name).ok_or_else(|| format!("no type `{name}`"));
        let format = if first == "image" {
            let size = parts.next().and_then(|s| s.split_once('x'));
            let side = |n: &str| n.parse::<usize>().ok().filter(|n| (1..=4096).contains(n));
            let (width, height) =
                size.and_then(|(w, h)| Some((side(w)?, side(h)?))).ok_or("image:WIDTHxHEIGHT is wanted")?;
            Format::Image { width, height, ty: number(parts.next().unwrap_or("u32"))? }
        } else {
            let count =
                parts.next().map_or(Ok(16), |n| n.parse().map_err(|_| format!("`{n}` is not a number")))?;
            Format::Numbers(number(first)?, count)
        };
        match parts.next() {
            Some(rest) => Err(format!("`{rest}` is too much")),
            None => Ok(format),
        }
    }

    /// The buffer as text. Pictures have colours on a terminal, unless NO_COLOR is set.
    pub fn render(&self, bytes: &[u8]) -> String {
        match *self {
            Format::Numbers(ty, count) => {
                let texts: Vec<String> =
                    bytes.chunks_exact(ty.size()).take(count).map(|b| ty.text(b)).collect();
                format!("{}\n", texts.join(" "))
            }
            Format::Image { width, height, ty } => {
                let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
                let level = levels(bytes, width * height, ty);
                let pixel = |x: usize, y: usize| level.get(y * width + x).copied().unwrap_or(0.0);
                if colour { blocks(width, height, pixel) } else { characters(width, height, pixel) }
            }
        }
    }
}

/// Elements as 0 to 1.
fn levels(bytes: &[u8], count: usize, ty: Number) -> Vec<f64> {
    let values: Vec<f64> = bytes.chunks_exact(ty.size()).take(count).map(|b| ty.value(b)).collect();
    let high = values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
    let level = |v: f64| if high > 0.0 && v > 0.0 { (v / high).min(1.0) } else { 0.0 };
    values.into_iter().map(level).collect()
}

/// One character for each pixel.
fn characters(width: usize, height: usize, pixel: impl Fn(usize, usize) -> f64) -> String {
    let mut out = String::with_capacity((width + 1) * height);
    for y in 0..height {
        let mut line: String = (0..width)
            .map(|x| RAMP[((pixel(x, y).sqrt() * RAMP.len() as f64) as usize).min(RAMP.len() - 1)] as char)
            .collect();
        line.truncate(line.trim_end().len());
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Two pixels in each character, one above the other, in 24-bit colours.
fn blocks(width: usize, height: usize, pixel: impl Fn(usize, usize) -> f64) -> String {
    let colour = |level: f64| {
        // From black over blue and orange to white; what is at the limit is black again, as pictures of sets have it.
        let t = if level >= 1.0 { 0.0 } else { level.sqrt() };
        let wave = |phase: f64| (255.0 * (t * 4.0 - phase).clamp(0.0, 1.0)) as u8;
        (wave(0.8), wave(1.4), (255.0 * (t * 2.0).min(1.0)) as u8)
    };
    let mut out = String::new();
    for y in (0..height).step_by(2) {
        for x in 0..width {
            let (above, below) =
                (colour(pixel(x, y)), colour(if y + 1 < height { pixel(x, y + 1) } else { 0.0 }));
            let _ = write!(
                out,
                "\x1b[38;2;{};{};{};48;2;{};{};{}m\u{2580}",
                above.0, above.1, above.2, below.0, below.1, below.2
            );
        }
        out.push_str("\x1b[0m\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read() {
        assert_eq!(Format::parse("f32"), Ok(Format::Numbers(Number::Float(4), 16)));
        assert_eq!(Format::parse("u8:3"), Ok(Format::Numbers(Number::Uint(1), 3)));
        let image = Format::Image { width: 8, height: 4, ty: Number::Uint(4) };
        assert_eq!(Format::parse("image:8x4"), Ok(image));
        for text in ["", "image", "image:0x4", "image:8", "f33", "f32:x", "f32:1:2", "image:8x4:f9"] {
            assert!(Format::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pictures_go_from_dark_to_bright() {
        let format = Format::Image { width: 3, height: 2, ty: Number::Uint(1) };
        let text = characters(3, 2, |x, y| levels(&[0, 1, 100, 100, 0, 0], 6, Number::Uint(1))[y * 3 + x]);
        assert_eq!(text, " .@\n@\n");
        assert_eq!(format.render(&[0, 1]).lines().count(), 2, "what is missing is dark");
        assert_eq!(Format::Numbers(Number::Int(2), 9).render(&[255, 255, 1, 0, 7]), "-1 1\n");
    }
}
