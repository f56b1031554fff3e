//! The config, held against the `toml` crate: what is TOML, and what it means.
//!
//! Differences, which `agree` knows:
//! - what TOML allows and host-init has no use for (unknown keys, other types)
//!   is refused as such, never as a fault of syntax or a duplicate;
//! - `a.b = 1` under `[[a]]`, and the like, TOML refuses as a duplicate and
//!   host-init as a table in the wrong place: refused all the same;
//! - a statement of more than 1,024 tokens is refused;
//! - the oracle reads TOML 1.0, host-init 1.1 as well: the escapes `\e` and `\x`,
//!   and inline tables of several lines ([`is_new`]).

use host_init::format::config::error::Reason;
use host_init::format::config::parse;
use host_init::policy::config::{Config, Ready};
use proptest::prelude::*;

mod config {
    pub(crate) mod foreign;
    pub(crate) mod oracle;
    pub(crate) mod plan;
    pub(crate) mod sample;
}
use config::oracle::assert_same;
use config::{foreign, plan, sample};

/// What was said of a text.
struct Said {
    lines: Vec<String>,
    is_toml: bool,
}

/// Reads a text with exactly as many bytes for its strings as are promised to be
/// enough.
fn with<T>(text: &[u8], look: impl FnOnce(Option<&Config<'_>>, &Said) -> T) -> T {
    let mut arena = vec![0xaa; text.len()];
    let mut said = Said {
        lines: Vec::new(),
        is_toml: true,
    };
    let config = parse(text, &mut arena, &mut |error| {
        said.lines.push(error.to_string());
        said.is_toml &= !matches!(
            error.reason,
            Reason::Syntax { .. } | Reason::Encoding | Reason::Duplicate
        );
    });
    assert_eq!(config.is_some(), said.lines.is_empty());
    look(config.as_ref(), &said)
}

/// Ours and the oracle agree on a text.
fn agree(text: &[u8]) {
    with(text, |ours, said| {
        let shown = text.escape_ascii();
        let Ok(text) = core::str::from_utf8(text) else {
            assert!(!said.is_toml, "{shown}");
            return;
        };
        match toml::from_str::<toml::Table>(text) {
            Ok(theirs) => {
                assert!(said.is_toml, "{:?} of {shown}", said.lines);
                if let Some(ours) = ours {
                    assert_same(ours, &theirs);
                }
            }
            Err(error) => assert!(ours.is_none() || is_new(text, &error), "{error} of {shown}"),
        }
    });
}

/// Whether the oracle refuses what came with TOML 1.1.
fn is_new(text: &str, error: &toml::de::Error) -> bool {
    let at = error.span().map_or(0, |span| span.start);
    let has_before = |escape: &str| text[..at].ends_with(escape);
    match error.message().lines().next() {
        Some("invalid escape sequence") => has_before("\\x") || has_before("\\e"),
        Some("invalid inline table") => text[at..].starts_with(['\n', '\r', '#', '}']),
        _ => false,
    }
}

/// Numbers that are the same in every run (xorshift64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }
}

#[test]
fn a_good_config_means_what_the_oracle_reads() {
    for text in sample::GOOD {
        with(text.as_bytes(), |config, said| {
            assert!(config.is_some(), "{:?} of {text}", said.lines);
        });
        agree(text.as_bytes());
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_what_was_expected() {
    for (text, expected) in sample::BAD {
        with(text.as_bytes(), |_, said| {
            assert_eq!(said.lines, *expected, "{text}");
        });
        agree(text.as_bytes());
    }
}

#[test]
fn what_is_toml_and_no_config_is_refused_as_that() {
    for text in foreign::FOREIGN {
        assert!(toml::from_str::<toml::Table>(text).is_ok(), "{text}");
        with(text.as_bytes(), |config, said| {
            assert!(config.is_none(), "{text}");
            assert!(said.is_toml, "{:?} of {text}", said.lines);
        });
    }
}

#[test]
fn what_is_no_toml_is_refused() {
    for text in foreign::BROKEN {
        assert!(toml::from_str::<toml::Table>(text).is_err(), "{text}");
        with(text.as_bytes(), |config, _| {
            assert!(config.is_none(), "{text}");
        });
    }
}

#[test]
fn every_prefix_is_read_as_the_oracle_reads_it() {
    for text in sample::WHOLE {
        for end in 0..=text.len() {
            agree(&text.as_bytes()[..end]);
        }
    }
}

#[test]
fn every_flipped_bit_is_read_as_the_oracle_reads_it() {
    for text in sample::WHOLE {
        let mut bytes = text.as_bytes().to_vec();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                bytes[at] ^= 1 << bit;
                agree(&bytes);
                bytes[at] ^= 1 << bit;
            }
        }
    }
}

#[test]
fn every_swapped_byte_is_read_as_the_oracle_reads_it() {
    for text in sample::WHOLE {
        let mut bytes = text.as_bytes().to_vec();
        for at in 0..bytes.len() {
            let before = bytes[at];
            for byte in *b"[]{}\"'\\=.,#\n\r \0a" {
                bytes[at] = byte;
                agree(&bytes);
            }
            bytes[at] = before;
        }
    }
}

#[test]
fn random_splices_are_read_as_the_oracle_reads_them() {
    let mut dice = Dice(0x5eed_0f10_1112_1314);
    let pool: Vec<&str> = sample::WHOLE
        .iter()
        .chain(sample::GOOD)
        .chain(foreign::FOREIGN)
        .chain(foreign::BROKEN)
        .copied()
        .chain(sample::BAD.iter().map(|(text, _)| *text))
        .collect();
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..1 + dice.below(4) {
            let piece = pool[dice.below(pool.len())].as_bytes();
            // Half of the cuts are at lines, which keeps more of it TOML.
            if dice.below(2) == 0 {
                let lines: Vec<_> = piece.split_inclusive(|byte| *byte == b'\n').collect();
                let start = dice.below(lines.len());
                let end = start + dice.below(lines.len() - start + 1);
                bytes.extend(lines[start..end].concat());
            } else {
                let start = dice.below(piece.len());
                let end = start + dice.below(piece.len() - start + 1);
                bytes.extend(&piece[start..end]);
            }
        }
        agree(&bytes);
    }
}

#[test]
fn nesting_and_length_have_an_end() {
    for text in [
        "[".repeat(60_000),
        "a=".to_owned() + &"[".repeat(60_000),
        "a=".to_owned() + &"{a=".repeat(20_000),
        "a=".to_owned() + &"[".repeat(79) + &"]".repeat(79),
        "a.".repeat(30_000),
        "[[mount]]\n".repeat(6_000),
        "\n".repeat(65_536),
        "#\n".repeat(32_768),
        "\u{feff}".repeat(20_000),
        "a=\"".to_owned() + &"\\".repeat(60_000),
        "hostname = ".to_owned() + &"-".repeat(60_000) + "1",
    ] {
        with(text.as_bytes(), |_, said| assert!(said.lines.len() <= 65));
    }
}

#[test]
fn more_brackets_than_anybody_needs_are_refused_as_the_oracle_does() {
    let nested = |depth: usize| format!("x = {}{}", "[".repeat(depth), "]".repeat(depth));

    with(nested(80).as_bytes(), |_, said| {
        assert_eq!(said.lines, ["1:1: x: unknown key"]);
    });
    with(nested(81).as_bytes(), |_, said| {
        assert_eq!(said.lines, ["1:85: too many brackets"]);
    });
    agree(nested(80).as_bytes());
    agree(nested(81).as_bytes());
}

#[test]
fn a_statement_without_an_end_is_refused_where_it_starts() {
    let text = format!("hostname = 'a'\nmount = [{}\n", "{},\n".repeat(500));

    with(text.as_bytes(), |_, said| {
        let expected = "2:1: expected an end of this array or table, or a shorter one";
        assert_eq!(said.lines, [expected]);
    });
}

#[test]
fn only_the_first_64_errors_are_told_and_the_rest_is_counted() {
    with("x = 1\n".repeat(100).as_bytes(), |_, said| {
        assert_eq!(said.lines.len(), 65);
        assert_eq!(said.lines[63], "64:1: x: unknown key");
        assert_eq!(said.lines[64], "101:1: 36 more errors");
    });
}

#[test]
fn a_file_of_the_greatest_length_is_read_and_a_longer_one_is_not() {
    let text = format!("hostname = \"a\"\n#{}", "x".repeat(65_536 - 16));
    assert_eq!(text.len(), 65_536);
    with(text.as_bytes(), |config, _| assert!(config.is_some()));

    let longer = text + "x";
    with(longer.as_bytes(), |_, said| {
        assert_eq!(
            said.lines,
            ["2:65522: expected a file of at most 65536 bytes"]
        );
    });
}

#[test]
fn a_host_is_ready_by_one_of_seven_descriptors_and_no_other() {
    let text = |ready: &str| format!("[host]\ncommand = [\"/a\"]\nready = \"{ready}\"\n");
    let timed = |ready: &str| text(ready) + "ready-timeout = \"5s\"\n";
    for number in 3..=9 {
        with(timed(&format!("fd:{number}")).as_bytes(), |config, said| {
            let host = config.and_then(|config| config.host.as_ref());
            let ready = host.map(|host| host.ready);
            assert_eq!(ready, Some(Ready::Descriptor(number)), "{:?}", said.lines);
        });
    }

    for bad in ["fd:2", "fd:10", "fd:x", "fd:", "fd:03", "fd: 3", "3"] {
        with(text(bad).as_bytes(), |_, said| {
            let expected = format!(
                "3:9: host.ready: expected \"none\", \"notify\" or one of \"fd:3\" to \"fd:9\", found \"{bad}\""
            );
            assert_eq!(said.lines, [expected]);
        });
    }
    with(timed("none").as_bytes(), |_, said| {
        let expected = "4:1: host.ready-timeout: expected ready beside it, and not \"none\"";
        assert_eq!(said.lines, [expected]);
    });
}

#[test]
fn every_place_that_is_not_utf_8_is_told() {
    with(b"a = \"\xff\"\n# \xc3\xa9\xc3\n", |_, said| {
        assert_eq!(said.lines, ["1:6: expected UTF-8", "2:4: expected UTF-8"]);
    });
}

#[test]
fn the_most_entries_fit_and_one_more_does_not() {
    let mounts = |count: usize| -> String {
        (0..count)
            .map(|n| format!("[[mount]]\nsource = \"s\"\ntarget = \"/{n}\"\ntype = \"t\"\n"))
            .collect()
    };
    let directories = |count: usize| "[[directory]]\npath = \"/a\"\n".repeat(count);
    let words = |count: usize| format!("[host]\ncommand = [{}]\n", "\"/a\",".repeat(count));
    let variables = |count: usize| -> String {
        let lines = (0..count).map(|n| format!("V{n} = \"\" # as long as it likes\n"));
        format!(
            "{}[host.environment]\n{}",
            words(1),
            lines.collect::<String>()
        )
    };

    for text in [mounts(32), directories(32), words(64), variables(64)] {
        with(text.as_bytes(), |config, said| {
            assert!(config.is_some(), "{:?}", said.lines);
        });
        agree(text.as_bytes());
    }
    for (text, expected) in [
        (mounts(33), "129:1: mount[32]: expected at most 32 mounts"),
        (
            directories(33),
            "65:1: directory[32]: expected at most 32 directories",
        ),
        (
            words(65),
            "2:332: host.command: expected at most 64 words, found \"/a\"",
        ),
        (
            variables(65),
            "68:1: host.environment.V64: expected at most 64 entries",
        ),
    ] {
        with(text.as_bytes(), |_, said| {
            assert_eq!(said.lines, [expected]);
        });
    }
}

#[test]
fn too_small_a_place_for_the_strings_is_refused() {
    let text = b"hostname = \"edge\"";
    for length in 0..5 {
        let mut count = 0;

        let is_read = parse(text, &mut vec![0; length], &mut |_| count += 1).is_some();

        assert!(!is_read);
        assert_eq!(count, 1);
    }
    assert!(parse(text, &mut [0; 8], &mut |_| ()).is_some());
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(plan in plan::plan()) {
        let text = plan.written();

        with(text.as_bytes(), |config, said| {
            let config = config.ok_or_else(|| {
                TestCaseError::fail(format!("{:?} of {text}", said.lines))
            })?;
            prop_assert_eq!(config, &plan.config());
            Ok(())
        })?;
    }
}
