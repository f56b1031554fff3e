//! What runs in the containers, for `sh -c`.

/// Stays until it is asked to end, and has a code of its own then.
pub(crate) const HONEST: &str = "
trap 'echo asked; exit 3' TERM
echo up
sleep 1000 &
wait
";

/// Hears nothing of being asked to end.
pub(crate) const STUBBORN: &str = "
trap '' TERM
echo up
while :; do sleep 1000; done
";

/// Says when a process that lost its parent is its parent's child.
pub(crate) const ADOPTED: &str = "
orphan=$(sh -c 'sleep 1000 >/dev/null & echo $!')
while read -r name value; do
    [ \"$name\" != PPid: ] || parent=$value
done </proc/$orphan/status
[ $parent != $PPID ] || echo adopted by $parent.
";
