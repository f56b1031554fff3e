//! An image as it was asked for, by a manifest and by options.

use std::path::PathBuf;

use crate::compression::Compression;
use crate::error::Error;
use crate::libraries::Libraries;
use crate::path::ImagePath;
use crate::recipe::{Host, Item, Recipe};

/// What was said about an image. `None` is what nobody said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Order {
    pub(crate) init: Option<PathBuf>,
    pub(crate) host: Option<PathBuf>,
    pub(crate) host_path: Option<ImagePath>,
    pub(crate) arguments: Vec<String>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) libraries: Option<Libraries>,
    pub(crate) compression: Option<Compression>,
    pub(crate) output: Option<Output>,
    pub(crate) items: Vec<Item>,
}

impl Order {
    /// Options over a manifest: what they say once, they say instead of it; what
    /// can be said many times is joined.
    pub(crate) fn over(self, manifest: Self) -> Self {
        let Self {
            init,
            host,
            host_path,
            arguments,
            config,
            libraries,
            compression,
            output,
            items,
        } = self;
        // A host of the options is another program: where that of the manifest
        // goes, and what it is started with, is not about it.
        let is_other = host.is_some();
        Self {
            init: init.or(manifest.init),
            host: host.or(manifest.host),
            host_path: if is_other {
                host_path
            } else {
                manifest.host_path
            },
            arguments: if is_other || !arguments.is_empty() {
                arguments
            } else {
                manifest.arguments
            },
            config: config.or(manifest.config),
            libraries: libraries.or(manifest.libraries),
            compression: compression.or(manifest.compression),
            output: output.or(manifest.output),
            items: [manifest.items, items].concat(),
        }
    }

    /// Refuses what would have no effect.
    pub(crate) fn hold(&self) -> Result<(), Error> {
        let refuse = |object, reason| Err(Error::new("use", object, reason));
        if self.host.is_none() && self.host_path.is_some() {
            return refuse("the host's path", "there is no host");
        }
        if self.arguments.is_empty() {
            return Ok(());
        }
        if self.host.is_none() {
            return refuse("the arguments", "there is no host to start with them");
        }
        if self.config.is_some() {
            return refuse(
                "the arguments",
                "the configuration says what the host is started with",
            );
        }
        Ok(())
    }

    pub(crate) fn recipe(self, init: PathBuf) -> Recipe {
        Recipe {
            init,
            host: self.host.map(|source| Host {
                source,
                path: self.host_path,
                arguments: self.arguments,
            }),
            config: self.config,
            libraries: self.libraries.unwrap_or_default(),
            items: self.items,
        }
    }
}

/// What to make, and where to put it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// A file that a kernel unpacks.
    Archive(PathBuf),
    /// A folder that a container's runtime unpacks.
    Container(PathBuf),
}

impl Output {
    /// The one that was said. Both would be one image too many.
    pub(crate) fn only(
        archive: Option<PathBuf>,
        container: Option<PathBuf>,
    ) -> Result<Option<Self>, &'static str> {
        match (archive, container) {
            (None, None) => Ok(None),
            (Some(path), None) => Ok(Some(Self::Archive(path))),
            (None, Some(path)) => Ok(Some(Self::Container(path))),
            (Some(_), Some(_)) => Err("an image has either `output` or `oci`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_the_options_comes_without_the_manifests_arguments() {
        let manifest = Order {
            host: Some("old".into()),
            host_path: Some("/old".parse().unwrap()),
            arguments: vec!["run".into()],
            ..Order::default()
        };
        let options = Order {
            host: Some("new".into()),
            ..Order::default()
        };

        let order = options.clone().over(manifest.clone());

        assert_eq!(order, options);
        assert_eq!(Order::default().over(manifest.clone()), manifest);
    }

    #[test]
    fn what_would_have_no_effect_is_refused() {
        let refused = |order: Order| order.hold().unwrap_err().to_string();
        let arguments = Order {
            arguments: vec!["run".into()],
            ..Order::default()
        };

        assert_eq!(
            refused(arguments.clone()),
            "use the arguments: there is no host to start with them"
        );
        assert_eq!(
            refused(Order {
                host: Some("host".into()),
                config: Some("config".into()),
                ..arguments
            }),
            "use the arguments: the configuration says what the host is started with"
        );
    }
}
