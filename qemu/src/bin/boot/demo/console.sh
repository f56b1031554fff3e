#!/bin/sh
# Keeps a shell on the console. Each is a session of its own, so that the console
# is its terminal.
while :; do
    setsid -c demo-shell </dev/ttyS0 >/dev/ttyS0 2>&1
done
