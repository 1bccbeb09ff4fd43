//! The patterns of DS_SWIZZLE_B32.

use crate::lex::Tok;
use crate::parser::Parser;
use crate::source::Diag;

/// `swizzle(QUAD_PERM, 0, 1, 2, 3)` and the other patterns (manual 12.12.1); the cursor is on `swizzle`.
pub(super) fn parse(p: &mut Parser<'_>) -> Result<i64, Diag> {
    p.lex.bump();
    p.expect(Tok::LParen, "expected a left parenthesis")?;
    let at = p.lex.here();
    let mode = p.lex.ident();
    if !mode.is_empty() {
        p.lex.bump();
    }
    let masks = |and: i64, or: i64, xor: i64| and | or << 5 | xor << 10;
    let value = match mode {
        "QUAD_PERM" => {
            let mut value = 0x8000;
            for lane in 0..4 {
                value |= argument(p, 0, 3, "a lane is a number from 0 to 3")? << (2 * lane);
            }
            value
        }
        "BITMASK_PERM" => {
            p.expect(Tok::Comma, "expected a comma")?;
            bitmask(p)?
        }
        "BROADCAST" => {
            let size = group(p, 2, 32)?;
            let lane = argument(p, 0, size - 1, "the lane must lie in the group")?;
            masks(32 - size, lane, 0)
        }
        "SWAP" => masks(31, 0, group(p, 1, 16)?),
        "REVERSE" => masks(31, 0, group(p, 2, 32)? - 1),
        _ => {
            let modes = "expected a swizzle mode: QUAD_PERM, BITMASK_PERM, BROADCAST, SWAP or REVERSE";
            return Err(Diag::error(at, modes));
        }
    };
    p.expect(Tok::RParen, "expected a closing parenthesis")?;
    Ok(value)
}

fn argument(p: &mut Parser<'_>, min: i64, max: i64, what: &'static str) -> Result<i64, Diag> {
    p.expect(Tok::Comma, "expected a comma")?;
    let at = p.lex.here();
    let value = p.absolute()?;
    if value < min || value > max {
        return Err(Diag::error(at, what));
    }
    Ok(value)
}

fn group(p: &mut Parser<'_>, min: i64, max: i64) -> Result<i64, Diag> {
    p.expect(Tok::Comma, "expected a comma")?;
    let at = p.lex.here();
    let value = p.absolute()?;
    if value < min || value > max || value.count_ones() != 1 {
        return Err(Diag::error(at, format!("the group size is a power of two from {min} to {max}")));
    }
    Ok(value)
}

/// `"0p1i0"`: for each bit of the lane from the top, 0, 1, preserve or invert.
fn bitmask(p: &mut Parser<'_>) -> Result<i64, Diag> {
    let token = p.lex.peek();
    let text = p.lex.bytes(token);
    let five = "expected a string of five characters 0, 1, p or i";
    if token.kind != Tok::Str || text.len() != 7 {
        return Err(p.token_error(five));
    }
    let (mut and, mut or, mut xor) = (0, 0, 0);
    for byte in &text[1..6] {
        (and, or, xor) = (and << 1, or << 1, xor << 1);
        match byte {
            b'0' => {}
            b'1' => or |= 1,
            b'p' => and |= 1,
            b'i' => {
                and |= 1;
                xor |= 1;
            }
            _ => return Err(p.token_error(five)),
        }
    }
    p.lex.bump();
    Ok(and | or << 5 | xor << 10)
}
