//! Bytes that are named by their digest.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A part of a container image.
pub(crate) struct Blob {
    digest: Digest,
    bytes: Vec<u8>,
}

impl Blob {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self {
            digest: Digest::of(&bytes),
            bytes,
        }
    }

    pub(crate) const fn digest(&self) -> &Digest {
        &self.digest
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The SHA-256 of some bytes.
pub(crate) struct Digest {
    hex: String,
}

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let hash = Sha256::digest(bytes);
        Self {
            hex: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// The name of the file with those bytes.
    pub(crate) fn hex(&self) -> &str {
        &self.hex
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_spelled_with_its_algorithm() {
        let blob = Blob::new(b"abc".to_vec());

        // The example of FIPS 180-2.
        assert_eq!(
            blob.digest().to_string(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
