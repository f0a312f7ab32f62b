#!/bin/sh
# Succeeds where this container may use two processors and 1,792 MiB or more, as for a large fleet: its service has the
# arguments of jvm-large.args as well. DIRECTORY has memory.max and cpu.max, ONLINE the processors of the machine; where no
# limit can be read the answer is no.
directory=${1:-/sys/fs/cgroup}
online=${2:-/sys/devices/system/cpu/online}
[ -r "$directory/memory.max" ] && [ -r "$directory/cpu.max" ] && [ -r "$online" ] || exit 1
read -r memory <"$directory/memory.max"
read -r quota period <"$directory/cpu.max"
read -r processors <"$online"
[ "$memory" = max ] || [ "$memory" -ge $((1792 * 1024 * 1024)) ] || exit 1
# As the virtual machine counts them: part of a processor is one.
[ "$processors" != 0 ] && { [ "$quota" = max ] || [ "$quota" -gt "$period" ]; }
