//! What everybody shows whose terminal a command gets.

use crate::session::Session;

/// For `sh -c`: says what its terminal does, and ends with 6.
pub(crate) const SCRIPT: &str = "
trap 'echo got INT' INT
trap 'exit 6' QUIT
trap 'echo size $(stty size).' WINCH
echo up
while :; do
    read -r line || continue
    echo \"read $line.\"
    [ \"$line\" != wait ] || break
done
while :; do sleep 1000 & wait; done
";

/// Types at the script, and gives it another size, of which it says so much.
pub(crate) fn reach(session: &mut Session, size: &str) {
    session.says("up");

    // A shell that is about to read has not always seen a signal: the line ends that.
    session.types("\x03\n");
    session.says("got INT");
    session.types("\x1aon\n");
    session.says("read on.");
    session.types("wait\n");
    session.says("read wait.");
    session.resizes(33, 111);
    session.says(size);
    session.types("\x1c");

    session.ends_with(6);
}

/// What it says of a size that it is told.
pub(crate) const SIZE: &str = "size 33 111.";
