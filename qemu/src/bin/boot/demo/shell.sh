#!/bin/sh
# A shell on the console: at once for a person who presses Enter, or a command at
# a time for a program that types (demo.scripted on the kernel's command line).
cd /root || exit

if ! grep -q 'demo\.scripted' /proc/cmdline; then
    echo "demo: press Enter for a shell; poweroff, reboot and halt end the machine"
    read -r line
    # Who typed a command at once meant it.
    [ -z "$line" ] || sh -c "$line"
    exec sh -i
fi

while printf 'demo# ' && read -r line; do
    sh -c "$line" </dev/null
    # Whatever comes next must not overtake the ending.
    case $line in
        poweroff* | reboot* | halt*) sleep 60 ;;
    esac
done
echo "demo: there are no more commands"
poweroff
sleep 60
