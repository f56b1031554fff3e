//! The kernel that guests boot, and its modules.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::tools::{apt, unpacked};

/// The variable that names another kernel than Debian's.
const OVERRIDE: &str = "HOST_INIT_KERNEL";

/// The package that depends on Debian's newest kernel for virtual machines.
const NEWEST: &str = "linux-image-cloud-amd64";

/// A kernel and the modules that were built with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// The file that QEMU loads.
    pub image: PathBuf,
    /// Its directory of modules, `lib/modules/<release>`, if it was found.
    pub modules: Option<PathBuf>,
}

impl Kernel {
    /// The kernel in a file. `boot/vmlinuz-<release>` has its modules in
    /// `lib/modules/<release>` beside the `boot`.
    pub fn of(image: impl Into<PathBuf>) -> Self {
        let image = image.into();
        let modules = modules(&image);
        Self { image, modules }
    }

    /// The file of a module, packed or not, by the module's name.
    pub fn module(&self, name: &str) -> Option<PathBuf> {
        // In names `-` and `_` are one; files have either.
        let wanted = name.replace('-', "_");
        let is_wanted = |path: &Path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.split_once(".ko")
                .is_some_and(|(stem, _)| stem.replace('-', "_") == wanted)
        };
        let mut directories = vec![self.modules.clone()?];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).ok()?.flatten() {
                let path = entry.path();
                // Not through links: `build` and `source` lead elsewhere.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    directories.push(path);
                } else if is_wanted(&path) {
                    return Some(path);
                }
            }
        }
        None
    }
}

/// The kernel of `HOST_INIT_KERNEL`, or else Debian's, fetched once.
pub fn kernel() -> Result<Kernel, Error> {
    if let Some(path) = std::env::var_os(OVERRIDE) {
        let path = PathBuf::from(path);
        return match fs::metadata(&path) {
            Ok(_) => Ok(Kernel::of(path)),
            Err(error) => {
                let object = format!("{}, which {OVERRIDE} names", path.display());
                Err(Error::new("open", object, error))
            }
        };
    }
    let root = unpacked("kernel", || apt::dependency(NEWEST, "linux-image-"))?;
    let boot = root.join("boot");
    let is_kernel = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with("vmlinuz-")
    };
    fs::read_dir(&boot)
        .map_err(|error| Error::new("read", boot.display(), error))?
        .flatten()
        .map(|entry| entry.path())
        .find(is_kernel)
        .map(Kernel::of)
        .ok_or_else(|| Error::new("find", "a kernel", format!("none in {}", boot.display())))
}

fn modules(image: &Path) -> Option<PathBuf> {
    let release = image.file_name()?.to_str()?.strip_prefix("vmlinuz-")?;
    let root = image.parent()?.parent()?;
    ["lib/modules", "usr/lib/modules"]
        .map(|place| root.join(place).join(release))
        .into_iter()
        .find(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;

    fn tree(files: &[&str]) -> Scratch {
        let scratch = Scratch::new().unwrap();
        for file in files {
            let path = scratch.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        scratch
    }

    #[test]
    fn the_modules_are_those_of_the_release() {
        let tree = tree(&["boot/vmlinuz-1", "lib/modules/1/a.ko", "lib/modules/2/a.ko"]);

        let kernel = Kernel::of(tree.path().join("boot/vmlinuz-1"));

        assert_eq!(kernel.modules, Some(tree.path().join("lib/modules/1")));
    }

    #[test]
    fn a_module_is_found_by_its_name_packed_or_not() {
        let tree = tree(&[
            "boot/vmlinuz-1",
            "usr/lib/modules/1/kernel/dm-verity.ko.xz",
            "usr/lib/modules/1/kernel/deep/loop.ko",
        ]);
        let kernel = Kernel::of(tree.path().join("boot/vmlinuz-1"));

        assert!(kernel.module("loop").unwrap().ends_with("deep/loop.ko"));
        assert!(
            kernel
                .module("dm_verity")
                .unwrap()
                .ends_with("dm-verity.ko.xz")
        );
        assert_eq!(kernel.module("verity"), None);
    }

    #[test]
    fn a_kernel_without_a_release_in_its_name_has_no_modules() {
        assert_eq!(Kernel::of("/boot/bzImage").modules, None);
    }
}
