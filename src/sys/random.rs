//! Numbers by chance.

use rustix::rand::{GetRandomFlags, getrandom};

/// Bytes by chance, to tell things apart and not to keep a secret: early in a boot the
/// kernel may know little. All zeros when it gives none. Never waits.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Kernels before 5.6 have only the second.
    for flags in [GetRandomFlags::INSECURE, GetRandomFlags::NONBLOCK] {
        if getrandom(&mut bytes[..], flags).is_ok_and(|count| count == N) {
            return bytes;
        }
    }
    [0; N]
}
