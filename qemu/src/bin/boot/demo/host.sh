#!/bin/sh
# The demonstration's host: serves a page over loopback, counts its boots on the
# disk, and offers a shell on the console.
export PATH=/bin:/usr/bin HOME=/root

say() {
    echo "demo: $*" >/dev/console
}

httpd -f -p 127.0.0.1:80 -h /srv/www &
server=$!
trap 'kill $server; exit 0' TERM

# The server needs a moment before it answers.
tries=0
until page=$(wget -q -O - http://127.0.0.1/ 2>/dev/null); do
    tries=$((tries + 1))
    if [ $tries -ge 50 ]; then
        say "the page is not served"
        exit 1
    fi
    usleep 100000
done
say "the page says: $(echo "$page" | head -n 1)"

# A restart of the host is no boot: the note of this boot is in memory.
if ! [ -e /run/demo-boots ]; then
    boots=$(cat /var/lib/boots 2>/dev/null)
    boots=$((${boots:-0} + 1))
    # Renamed into place: a power cut leaves the old number or the new one.
    echo $boots >/var/lib/boots.new && mv /var/lib/boots.new /var/lib/boots
    echo $boots >/run/demo-boots
fi
say "this is boot $(cat /run/demo-boots) of this disk"

# Not by `&`: what a script starts so ignores Ctrl-C, and so would the shell.
start-stop-daemon -S -q -b -m -p /run/demo-console.pid -x /usr/bin/demo-console

# Without the page the demonstration is over: the init starts it again.
wait $server
