//! How the archive's bytes are packed; the kernel finds out by their first two.

use std::fmt;
use std::io;
use std::str::FromStr;

use flate2::GzBuilder;

/// zstd's level: what is gained above it is small, and it costs seconds.
const ZSTD_LEVEL: i32 = 15;

/// How an image is packed.
///
/// The bytes are the same every time for one version of this crate's
/// dependencies: an encoder may find a better packing in its next release.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Compression {
    /// The archive as it is.
    #[default]
    None,
    /// A gzip stream whose header has neither name nor time.
    Gzip,
    /// A zstd frame with a checksum over what was packed.
    Zstd,
}

impl Compression {
    /// What a file name of this kind ends in: `cpio`, `cpio.gz` or `cpio.zst`.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::None => "cpio",
            Self::Gzip => "cpio.gz",
            Self::Zstd => "cpio.zst",
        }
    }

    /// Packs what `fill` writes, in one thread: several would make the bytes
    /// depend on their number.
    pub(crate) fn pack<W: io::Write>(
        self,
        mut writer: W,
        fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Self::None => fill(&mut writer)?,
            Self::Gzip => {
                let mut encoder = GzBuilder::new()
                    .mtime(0)
                    .write(&mut writer, flate2::Compression::best());
                fill(&mut encoder)?;
                encoder.finish()?;
            }
            Self::Zstd => {
                let mut encoder = zstd::Encoder::new(&mut writer, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                fill(&mut encoder)?;
                encoder.finish()?;
            }
        }
        writer.flush()
    }
}

impl FromStr for Compression {
    type Err = CompressionError;

    fn from_str(text: &str) -> Result<Self, CompressionError> {
        match text {
            "none" => Ok(Self::None),
            "gzip" => Ok(Self::Gzip),
            "zstd" => Ok(Self::Zstd),
            _ => Err(CompressionError(text.to_owned())),
        }
    }
}

/// A text that is no compression.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CompressionError(String);

impl fmt::Display for CompressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no compression: none, gzip or zstd", self.0)
    }
}

impl std::error::Error for CompressionError {}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn packed(compression: Compression, bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        compression
            .pack(&mut packed, |writer| writer.write_all(bytes))
            .unwrap();
        packed
    }

    #[test]
    fn what_was_packed_comes_back() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();

        let gzip = packed(Compression::Gzip, &bytes);
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&gzip[..])
            .read_to_end(&mut back)
            .unwrap();

        assert_eq!(back, bytes);
        assert_eq!(packed(Compression::None, &bytes), bytes);
        let zstd = packed(Compression::Zstd, &bytes);
        assert_eq!(zstd::decode_all(&zstd[..]).unwrap(), bytes);
    }

    #[test]
    fn a_gzip_header_has_no_name_and_no_time() {
        let header = &packed(Compression::Gzip, b"bytes")[..10];

        // Magic, deflate, no flags, time 0, best, system unknown.
        assert_eq!(header, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);
    }

    #[test]
    fn a_zstd_frame_notices_a_flipped_bit() {
        let mut frame = packed(Compression::Zstd, &[7; 1000]);
        assert_eq!(frame[..4], 0xfd2f_b528_u32.to_le_bytes());
        // Bit 2 of the descriptor: a checksum follows the blocks.
        assert_eq!(frame[4] & 0b100, 0b100);

        *frame.last_mut().unwrap() ^= 1;

        assert!(zstd::decode_all(&frame[..]).is_err());
    }
}
