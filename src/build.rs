//! Links the one freestanding program; every other target links as usual.

fn main() {
    let directory = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let script = format!("-Wl,-T,{directory}/src/link.ld");
    for argument in [
        // No start files and no library: `_start` is ours, and an allocation or
        // a call of the C library is a link error.
        "-nostartfiles",
        "-nostdlib",
        "-static",
        // A fixed address needs no relocation, and so no loader.
        "-no-pie",
        "-Wl,-z,noexecstack",
        "-Wl,-z,norelro",
        // The same sources give the same bytes.
        "-Wl,--build-id=none",
        &script,
    ] {
        println!("cargo::rustc-link-arg-bin=host-init={argument}");
    }
    println!("cargo::rerun-if-changed=src/build.rs");
    println!("cargo::rerun-if-changed=src/link.ld");
}
