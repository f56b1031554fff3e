//! The kernel's name for one boot: `/proc/sys/kernel/random/boot_id`.

/// What tells one boot from another: a number that the kernel has drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BootId(pub [u8; 16]);

impl BootId {
    /// The number in the kernel's text: 32 hexadecimal digits, with hyphens and a
    /// line end; none when it is something else.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(text.trim_ascii_end()).ok()?;
        let mut digits = text.chars().filter(|character| *character != '-');
        let mut id = Self::default();
        for byte in &mut id.0 {
            let high = digits.next()?.to_digit(16)?;
            let low = digits.next()?.to_digit(16)?;
            *byte = u8::try_from(high.checked_shl(4)? | low).ok()?;
        }
        digits.next().is_none().then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_text_is_read() {
        let id = BootId::parse(b"01234567-89ab-cdef-fedc-ba9876543210\n").unwrap();

        assert_eq!(
            u128::from_be_bytes(id.0),
            0x0123_4567_89ab_cdef_fedc_ba98_7654_3210
        );
        let kernels = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap();
        assert!(BootId::parse(&kernels).is_some());
    }

    #[test]
    fn anything_else_is_none() {
        for text in [
            &b""[..],
            b"\n",
            b"0123",
            b"01234567-89ab-cdef-fedc-ba987654321",
            b"01234567-89ab-cdef-fedc-ba98765432101",
            b"01234567-89ab-cdef-fedc-ba987654321g",
            b"01234567-89ab-cdef-fedc-ba987654321\xff",
        ] {
            assert_eq!(BootId::parse(text), None, "{text:?}");
        }
    }
}
