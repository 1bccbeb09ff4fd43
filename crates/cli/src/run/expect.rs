//! `--expect N:FILE`: what a buffer must hold after the run.

use super::args::{ArgSpec, Buffer, Data, read};
use super::npy::Array;
use super::number::Number;

/// How far numbers may be from what is wanted: by `atol`, and by `rtol` of what is wanted, as NumPy's `allclose`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Relative.
    pub relative: f64,
    /// Absolute.
    pub absolute: f64,
}

impl Tolerance {
    fn allows(self, got: f64, want: f64) -> bool {
        got == want
            || (got.is_nan() && want.is_nan())
            || (got - want).abs() <= self.absolute + self.relative * want.abs()
    }
}

/// What is wanted of a buffer.
pub struct Expectation {
    file: String,
    data: Vec<u8>,
    ty: Option<Number>,
    array: Option<Array>,
}

impl Expectation {
    /// Reads the file.
    pub fn read(file: &str) -> Result<Expectation, String> {
        let ArgSpec::Buffer { data, ty, wrapping } = read(file, u64::MAX)? else {
            return Err(format!("{file}: it is no data"));
        };
        let data = match data {
            Data::Bytes(bytes) => bytes,
            Data::Zeros(n) => vec![0; n as usize],
        };
        let array = match wrapping {
            super::args::Wrapping::Npy(header) => Array::read(&header).ok(),
            _ => None,
        };
        Ok(Expectation { file: file.to_owned(), data, ty, array })
    }

    /// Compares; what is different is an error: how much, where first, and how far off at most.
    pub fn compare(&self, buffer: &Buffer, tolerance: Tolerance) -> Result<(), String> {
        // The file knows best; else what the buffer was made of; else it is bytes.
        let ty = self.ty.or(buffer.ty).unwrap_or(Number::Uint(1));
        let got = buffer.bytes();
        if got.len() != self.data.len() {
            return Err(format!(
                "{} has {} elements of {}, the buffer has {}",
                self.file,
                self.data.len() / ty.size(),
                ty.name(),
                got.len() / ty.size()
            ));
        }
        let pairs = got.chunks_exact(ty.size()).zip(self.data.chunks_exact(ty.size()));
        let total = got.len() / ty.size();
        let mut first = None;
        let (mut count, mut worst) = (0, (0.0, 0));
        for (i, (got, want)) in pairs.enumerate() {
            let (a, b) = (ty.value(got), ty.value(want));
            if got == want || tolerance.allows(a, b) {
                continue;
            }
            count += 1;
            first.get_or_insert((i, ty.text(got), ty.text(want)));
            let off = (a - b).abs();
            if off > worst.0 || count == 1 {
                worst = (off, i);
            }
        }
        let Some((at, got, want)) = first else { return Ok(()) };
        let index = |at: usize| self.array.as_ref().map_or_else(|| at.to_string(), |a| a.index(at));
        let far = if count > 1 {
            format!("; the farthest is [{}], off by {:e}", index(worst.1), worst.0)
        } else {
            String::new()
        };
        Err(format!(
            "{count} of {total} elements differ from {}: the first is [{}], {got} instead of {want}{far}",
            self.file,
            index(at)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_is_what_numpy_calls_close() {
        let tolerance = Tolerance { relative: 1e-5, absolute: 1e-8 };
        assert!(tolerance.allows(1.00001, 1.0) && !tolerance.allows(1.0001, 1.0));
        assert!(tolerance.allows(f64::NAN, f64::NAN) && tolerance.allows(f64::INFINITY, f64::INFINITY));
        assert!(!tolerance.allows(f64::INFINITY, 1.0) && !tolerance.allows(1.0, f64::NAN));
        assert!(tolerance.allows(1e-9, 0.0) && !tolerance.allows(1e-7, 0.0));
    }
}
