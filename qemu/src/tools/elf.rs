//! Whether a program needs a loader, and so libraries that an image lacks.

use std::fs;
use std::path::Path;

/// The type of the program header that names a loader.
const INTERPRETER: u32 = 3;

/// The number of x86-64 among the machines of elf(5).
const X86_64: u16 = 62;

/// Whether the file is a program for x86-64 that runs by itself.
pub(super) fn is_static(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| needs_no_loader(&bytes) == Some(true))
}

/// None when it is not a 64-bit little-endian ELF file, or is cut short.
fn needs_no_loader(bytes: &[u8]) -> Option<bool> {
    if !bytes.starts_with(b"\x7fELF\x02\x01") || half(bytes, 18)? != X86_64 {
        return None;
    }
    let table = u64::from_le_bytes(bytes.get(32..40)?.try_into().ok()?);
    let table = usize::try_from(table).ok()?;
    let size = usize::from(half(bytes, 54)?);
    let count = usize::from(half(bytes, 56)?);

    for number in 0..count {
        let start = table.checked_add(number * size)?;
        let kind = bytes.get(start..start.checked_add(4)?)?;
        if kind == INTERPRETER.to_le_bytes() {
            return Some(false);
        }
    }
    Some(true)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(header: u32) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18] = 62;
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64..68].copy_from_slice(&header.to_le_bytes());
        bytes
    }

    #[test]
    fn a_program_that_names_a_loader_needs_it() {
        assert_eq!(needs_no_loader(&program(INTERPRETER)), Some(false));
        assert_eq!(needs_no_loader(&program(1)), Some(true));
    }

    #[test]
    fn a_file_cut_short_is_no_program() {
        let whole = program(1);

        for length in 0..68 {
            assert_eq!(needs_no_loader(&whole[..length]), None, "{length}");
        }
    }

    #[test]
    fn this_test_is_not_static() {
        assert!(!is_static(&std::env::current_exe().unwrap()));
    }
}
