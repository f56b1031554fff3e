//! Links the one freestanding program; every other target links as usual.

fn main() {
    for argument in [
        // No start files and no library: `_start` is ours, and an allocation or
        // a call of the C library is a link error.
        "-nostartfiles",
        "-nostdlib",
        "-static",
        // A fixed address needs no relocation, and so no loader.
        "-no-pie",
        // Code, read-only data and data on pages of their own.
        "-Wl,-z,separate-code",
        "-Wl,-z,noexecstack",
        "-Wl,-z,norelro",
        // The same sources give the same bytes.
        "-Wl,--build-id=none",
        // Unwind tables serve nobody: a panic here never unwinds.
        "-Wl,--no-eh-frame-hdr",
    ] {
        println!("cargo::rustc-link-arg-bin=host-init={argument}");
    }
    println!("cargo::rerun-if-changed=src/build.rs");
}
