//! The manifest: an image written down, as TOML.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, shown};
use crate::libraries::Libraries;
use crate::order::{Order, Output};
use crate::tables::{DeviceTable, DirectoryTable, SymlinkTable, Tables};

/// Reads a manifest. Paths of this machine in it start at its folder.
pub(crate) fn read(path: &Path) -> Result<Order, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse(&text, folder).map_err(|reason| Error::new("read", shown(path), reason))
}

fn parse(text: &str, folder: &Path) -> Result<Order, String> {
    let tables: Tables = toml::from_str(text).map_err(|error| located(text, &error))?;
    let from = |path: PathBuf| folder.join(path);
    let directories = tables.directory.into_iter().map(DirectoryTable::item);
    let files = tables.file.into_iter().map(|table| table.item(folder));
    let trees = tables.tree.into_iter().map(|table| table.item(folder));
    let symlinks = tables.symlink.into_iter().map(SymlinkTable::item);
    let devices = tables.device.into_iter().map(DeviceTable::item);
    let items = directories
        .chain(files)
        .chain(trees)
        .chain(symlinks)
        .chain(devices)
        .collect();
    Ok(Order {
        init: tables.init.map(from),
        host: tables.host.map(from),
        host_path: tables.host_path,
        arguments: tables.arguments,
        config: tables.config.map(from),
        libraries: tables.libraries.map(|wanted| match wanted {
            true => Libraries::Copy,
            false => Libraries::Refuse,
        }),
        compression: tables.compress,
        output: Output::only(tables.output.map(from), tables.oci.map(from))?,
        items,
    })
}

/// One line, where the crate would draw the place in several.
fn located(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', ", ");
    let Some(span) = error.span() else {
        return message;
    };
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    format!("line {line}, column {column}: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::Compression;
    use crate::entry::{DeviceKind, Mode, Owner};
    use crate::recipe::{Item, What};

    fn reason(text: &str) -> String {
        parse(text, Path::new("folder")).unwrap_err()
    }

    #[test]
    fn every_key_is_read() {
        let order = parse(
            r#"
            compress = "zstd"
            init = "init"
            host = "/abs/host"
            host-path = "/opt/host"
            arguments = ["run"]
            config = "../config.toml"
            libraries = true
            output = "image"

            [[directory]]
            path = "/data"
            mode = "0700"
            uid = 1000
            gid = 100

            [[file]]
            path = "/etc/motd"
            contents = "hello\n"

            [[file]]
            path = "/etc/issue"
            source = "issue"
            mode = "0600"

            [[tree]]
            path = "/"
            source = "root"

            [[symlink]]
            path = "/bin/sh"
            target = "busybox"

            [[device]]
            path = "/dev/vda"
            kind = "block"
            major = 254
            minor = 0
            "#,
            Path::new("folder"),
        )
        .unwrap();

        let item = |path: &str, what| Item {
            path: path.parse().unwrap(),
            what,
            mode: None,
            owner: Owner::ROOT,
        };
        let expected = Order {
            init: Some("folder/init".into()),
            host: Some("/abs/host".into()),
            host_path: Some("/opt/host".parse().unwrap()),
            arguments: vec!["run".into()],
            config: Some("folder/../config.toml".into()),
            libraries: Some(Libraries::Copy),
            compression: Some(Compression::Zstd),
            output: Some(Output::Archive("folder/image".into())),
            items: vec![
                Item {
                    mode: Mode::new(0o700),
                    owner: Owner {
                        user: 1000,
                        group: 100,
                    },
                    ..item("/data", What::Directory)
                },
                item("/etc/motd", What::Text("hello\n".into())),
                Item {
                    mode: Mode::new(0o600),
                    ..item("/etc/issue", What::File("folder/issue".into()))
                },
                item("/", What::Tree("folder/root".into())),
                item("/bin/sh", What::Symlink("busybox".into())),
                item(
                    "/dev/vda",
                    What::Device {
                        kind: DeviceKind::Block,
                        major: 254,
                        minor: 0,
                    },
                ),
            ],
        };
        assert_eq!(order, expected);
    }

    #[test]
    fn an_empty_manifest_says_nothing() {
        assert_eq!(parse("", Path::new("")).unwrap(), Order::default());
    }

    #[test]
    fn a_container_image_is_written_instead_of_an_archive() {
        let order = parse("oci = 'image'", Path::new("folder")).unwrap();

        assert_eq!(order.output, Some(Output::Container("folder/image".into())));
        assert_eq!(
            reason("oci = 'image'\noutput = 'image.cpio'"),
            "an image has either `output` or `oci`"
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_column() {
        for (text, expected) in [
            ("\nhots = 'a'", "line 2, column 1: unknown field `hots`"),
            (
                "[[file]]\npath = '/a'\nsize = 3",
                "line 3, column 1: unknown field `size`",
            ),
            (
                "[[directory]]\npath = 'a'",
                "line 2, column 8: add a: a path in the image",
            ),
            (
                "[[directory]]\npath = '/a'\nmode = '0999'",
                "line 3, column 8: \"0999\" is no mode",
            ),
            (
                "[[directory]]\npath = '/a'\nmode = 755",
                "line 3, column 8: invalid type",
            ),
            (
                "compress = 'xz'",
                "line 1, column 12: \"xz\" is no compression",
            ),
            ("host = 'a'\nhost = 'b'", "line 2, column 1: duplicate key"),
            ("host = ", "line 1, column 8: "),
            (
                "\n[[file]]\npath = '/a'",
                "line 2, column 1: a file has either",
            ),
            (
                "[[device]]\npath = '/a'\nkind = 'pipe'",
                "line 3, column 8: unknown variant `pipe`",
            ),
            (
                "[[symlink]]\npath = '/a'",
                "line 1, column 1: missing field `target`",
            ),
            (
                "[[directory]]\npath = '/a'\nuid = -1",
                "line 3, column 7: invalid value",
            ),
        ] {
            let reason = reason(text);
            assert!(reason.starts_with(expected), "{text:?}: {reason}");
            assert!(!reason.contains('\n'), "{reason}");
        }
    }
}
