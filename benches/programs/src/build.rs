//! Links every program of this package without a C library.

fn main() {
    for argument in [
        "-nostartfiles",
        "-nostdlib",
        "-static",
        "-no-pie",
        // Headers and read-only data on the page of the code: the fewest pages.
        "-Wl,-z,noseparate-code",
        "-Wl,--no-rosegment",
        "-Wl,-z,noexecstack",
        "-Wl,-z,norelro",
        "-Wl,--build-id=none",
        "-Wl,--no-eh-frame-hdr",
    ] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    println!("cargo::rerun-if-changed=src/build.rs");
}
