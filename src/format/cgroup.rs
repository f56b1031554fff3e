//! Control groups, version 2, as the kernel writes of them (`cgroups(7)`).

/// The controllers that the services' groups get, where there are such.
const CONTROLLERS: [&str; 4] = ["cpu", "io", "memory", "pids"];

/// The group of a process, as a path from the root of the hierarchy that it sees:
/// from the content of its `/proc/PID/cgroup`. None when it is in no group of
/// version 2, or in one outside of what it sees.
pub fn path(text: &[u8]) -> Option<&[u8]> {
    text.split(|byte| *byte == b'\n')
        .find_map(|line| line.strip_prefix(b"0::"))
        .filter(|path| path.starts_with(b"/") && !path.starts_with(b"/.."))
}

/// Those of [`CONTROLLERS`] that a group has to give: from its
/// `cgroup.controllers`.
pub fn controllers(text: &[u8]) -> impl Iterator<Item = &'static str> {
    CONTROLLERS.into_iter().filter(|name| {
        text.split(u8::is_ascii_whitespace)
            .any(|word| word == name.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_the_one_of_version_2() {
        for (text, expected) in [
            ("0::/\n", Some("/")),
            ("0::/a.slice/b c:d\n", Some("/a.slice/b c:d")),
            ("4:memory:/x\n1:name=systemd:/y\n0::/z\n", Some("/z")),
            ("4:memory:/x\n", None),
            ("10::/x\n", None),
            ("0::/../../elsewhere\n", None),
            ("0::", None),
            ("", None),
        ] {
            assert_eq!(path(text.as_bytes()), expected.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn the_controllers_that_are_there_are_taken() {
        let taken = |text: &str| -> Vec<&str> { controllers(text.as_bytes()).collect() };

        assert_eq!(
            taken("cpuset cpu io memory hugetlb pids rdma misc\n"),
            ["cpu", "io", "memory", "pids"]
        );
        assert_eq!(taken("cpuset\n"), [""; 0]);
        assert_eq!(taken("pids"), ["pids"]);
    }
}
