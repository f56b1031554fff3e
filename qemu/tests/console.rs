//! The console: heard line by line, typed on, dead, absent.

use core::time::Duration;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use qemu::{Boot, Console, Ending};

mod image;

use image::{BOUND, script};

#[test]
fn a_wait_that_fails_shows_the_whole_console() {
    let mut guest = script("echo first\necho second\nread x").start().unwrap();
    guest.wait_line("second", BOUND).unwrap();

    let error = guest
        .wait_line("third", Duration::ZERO)
        .unwrap_err()
        .to_string();

    assert!(
        error.starts_with("boot: wait for a line with \"third\": 0ns passed\n"),
        "{error}"
    );
    assert!(error.contains("first\nsecond\n"), "{error}");
}

#[test]
fn waits_go_forward_and_a_guest_that_ends_fails_them_at_once() {
    let mut guest = script("echo tick\necho tock\npoweroff -f").start().unwrap();

    guest.wait_line("tick", BOUND).unwrap();
    guest
        .wait_line_where("tock and no more", |line| line == "tock", BOUND)
        .unwrap();
    let error = guest.wait_line("tick", BOUND).unwrap_err().to_string();

    assert!(
        error.contains("the guest has ended: it powered off"),
        "{error}"
    );
}

#[test]
fn what_is_typed_at_a_prompt_is_read() {
    let mut guest = script("printf 'name? '\nread name\necho \"hello, $name\"\nread x")
        .start()
        .unwrap();

    guest.wait_text("name? ", BOUND).unwrap();
    guest.type_line("world").unwrap();

    assert_eq!(guest.wait_line("hello, ", BOUND).unwrap(), "hello, world");
}

#[test]
fn a_console_that_nobody_reads_blocks_its_writer_until_it_is_read() {
    // The writer alone is stuck. It comes free when somebody reads.
    let body = "yes stuck | head -n 2000 >/dev/ttyS0 && poweroff -f";
    let mut guest = script(body).console(Console::Unread).start().unwrap();
    assert_eq!(guest.wait_end(Duration::from_secs(5)), Ending::Hung);
    assert_eq!(guest.console(), "");

    guest.thaw_console();

    assert_eq!(guest.wait_end(BOUND), Ending::PoweredOff);
    // Less the 4 KiB that the kernel may still hold when the power goes off.
    let lines = guest.console().matches("stuck\n").count();
    assert!(lines > 1000, "{lines}");
}

#[test]
fn a_console_that_is_frozen_later_takes_no_more() {
    let body = "echo up\nread x\nyes stuck | head -n 2000\npoweroff -f";
    let mut guest = script(body).start().unwrap();
    guest.wait_line("up", BOUND).unwrap();

    guest.freeze_console();
    guest.type_line("").unwrap();

    assert_eq!(guest.wait_end(Duration::from_secs(2)), Ending::Hung);
    assert!(
        !guest
            .console()
            .contains("stuck\nstuck\nstuck\nstuck\nstuck")
    );
}

#[test]
fn the_console_is_copied_to_the_mirror() {
    let copy = Copy::default();

    let mut guest = script("echo mirrored\npoweroff -f")
        .mirror(copy.clone())
        .start()
        .unwrap();
    assert_eq!(guest.wait_end(BOUND), Ending::PoweredOff);

    let copied = String::from_utf8(copy.0.lock().unwrap().clone()).unwrap();
    assert!(copied.contains("mirrored\r\n"), "{copied}");
}

#[derive(Clone, Default)]
struct Copy(Arc<Mutex<Vec<u8>>>);

impl Write for Copy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_archive_that_is_not_there_is_an_error_that_names_it() {
    let error = Boot::new(PathBuf::from("/no/archive"))
        .start()
        .err()
        .unwrap();

    assert!(
        error.to_string().starts_with("boot: open /no/archive: "),
        "{error}"
    );
}

#[test]
fn an_argument_that_qemu_refuses_is_an_error_with_its_words() {
    let error = script("")
        .arguments(["-no-such-option"])
        .start()
        .err()
        .unwrap();

    assert!(
        error
            .to_string()
            .contains("-no-such-option: invalid option"),
        "{error}"
    );
}
