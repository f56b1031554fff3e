//! A file that takes its place when it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

/// Writes beside the file and then puts it in its place: whoever reads it
/// meanwhile has the old file or the new one. Makes the folders it is in.
pub(crate) fn write<T>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
) -> io::Result<T> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    let write = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = BufWriter::new(File::create(&partial)?);
        let written = fill(&mut file)?;
        file.into_inner()?;
        fs::rename(&partial, path)?;
        Ok(written)
    };
    write().inspect_err(|_| {
        // What is left of it helps nobody; that it may not be there is fine.
        let _ = fs::remove_file(&partial);
    })
}
