//! What signals do, at each moment that the script could be in.

use std::time::{Duration, Instant};

use crate::differences::As::{self, Difference, Script};
use crate::init::End;
use crate::lines::eventually;
use crate::node::{Files, Node, stop};

/// A moment and a signal, whether what followed is the same, and what does follow.
pub(crate) const ROWS: [(&str, As, fn()); 10] = [
    ("TERM before the loop", Script, || {
        let node = Node::new(&[]);
        let mut init = node.start_with(libc::SIGTERM);

        assert_eq!(init.end(), End::Code(0));
    }),
    ("TERM while it is halted", Difference(12), || {
        let node = Node::new(&[]);
        node.put("halted", b"");
        let mut init = node.start();
        node.is_halted(&mut init, "by the file halted");
        assert!(init.lives_for(Duration::from_millis(50)), "it stays");

        assert_eq!(init.stop(), End::Code(0));
    }),
    ("TERM while the host runs", Difference(13), || {
        for number in [libc::SIGTERM, libc::SIGINT] {
            let mut node = Node::new(&["slow 300"]);
            let mut init = node.start();
            assert_eq!(node.room.told.next(), "slow");

            init.signal(number);

            assert_eq!(init.end(), End::Code(0));
            let told = node.room.told.all();
            assert_eq!(told.last().unwrap(), "ended", "it was waited for");
        }
    }),
    ("INT while the host runs", Script, || {
        let mut node = Node::new(&["stay"]);
        let mut init = node.start();
        assert_eq!(node.room.told.next(), "stay");

        init.signal(libc::SIGINT);

        init.says("host: killed by TERM");
        assert_eq!(init.end(), End::Code(0));
    }),
    ("TERM to a host that ignores it", Difference(14), || {
        let mut node = Node::new(&["stubborn"]).config("stop-grace = \"100ms\"");
        let mut init = node.start();
        assert_eq!(node.room.told.next(), "stubborn");

        init.signal(libc::SIGTERM);

        assert_eq!(init.end(), End::Code(137));
        init.says("host: killed by KILL");
    }),
    ("a second TERM", Difference(14), || {
        let mut node = Node::new(&["stubborn"]).config("stop-grace = \"1h\"");
        let mut init = node.start();
        assert_eq!(node.room.told.next(), "stubborn");

        init.signal(libc::SIGTERM);
        init.says("powering off");
        init.signal(libc::SIGTERM);
        init.says("asked again: less time");

        assert_eq!(init.end(), End::Code(137));
    }),
    ("TERM during the rollback", Difference(15), || {
        let mut node = Node::new(&[]);
        node.put("start-attempts", b"3\n");
        node.help("takes 300 exit 0");
        let mut init = node.start();
        assert_eq!(node.room.told.next(), "rollback");
        assert_eq!(node.room.told.next(), "begins");

        init.signal(libc::SIGTERM);

        assert_eq!(init.end(), End::Code(0));
        assert_eq!(node.room.told.all().last().unwrap(), "begins", "no host");
        // It was done, and counts.
        node.will_have(&Files::new("0", None, true));
    }),
    ("TERM during the back-off", Difference(16), || {
        let node = Node::new(&["exit 1"; 2]).variable("MESH_HOST_BACKOFF", "3600");
        let mut init = node.start();
        init.says("host: next start in 3");
        let start = Instant::now();

        assert_eq!(init.stop(), End::Code(0));

        assert!(start.elapsed() < Duration::from_secs(20));
        node.will_have(&Files::new("2", None, false));
    }),
    ("HUP", Difference(17), || {
        let mut node = Node::new(&[]);
        let mut init = node.start();
        assert_eq!(node.room.told.next(), "stay");

        init.signal(libc::SIGHUP);

        init.says("config: read again");
        eventually("one start", || node.starts() == 1);
        stop(init);
    }),
    ("QUIT, PIPE", Difference(17), || {
        let mut node = Node::new(&[]);
        let init = node.start();
        assert_eq!(node.room.told.next(), "stay");
        eventually("its state", || node.starts() == 1);

        for number in [libc::SIGQUIT, libc::SIGPIPE] {
            init.signal(number);
        }

        init.has_heard_all();
        stop(init);
    }),
];

#[test]
fn every_signal_has_its_row() {
    for (name, _, row) in ROWS {
        eprintln!("{name}");
        row();
    }
}
