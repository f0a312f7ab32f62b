#!/bin/sh
# Keeps one MPS control daemon running for each resource that the node-daemon wants shared by MPS.
#
#   <root>/<resource>/wanted   written by the node-daemon: order=, devices=, threads=, limits=
#   <root>/<resource>/ready    written here, anew each time that the control daemon has answered: order, process id
#   <root>/<resource>/pipe     where clients find the control daemon
#   <root>/<resource>/shm      what clients and server share; /dev/shm to both
#
# Nothing of wanted is ever executed. Clients are never cut off: a control daemon ends when its last client has ended.
set -u
root=${MPS_ROOT:-/run/nvidia/mps}
pause=${MPS_PAUSE:-2}

say() { echo "$(date -u +%FT%TZ) $*"; }

field() { sed -n "s/^$2=//p" "$1/$3" 2>/dev/null | head -n 1; }

# The control daemon's answer; nothing where it does not answer.
ask() { echo "$2" | CUDA_MPS_PIPE_DIRECTORY="$1/pipe" timeout 5 nvidia-cuda-mps-control 2>/dev/null; }

answers() { ask "$1" get_default_active_thread_percentage | grep -q '[0-9]'; }

compute_mode() {
  for device in $(echo "$1" | tr , ' '); do
    nvidia-smi -i "$device" -c "$2" >/dev/null || say "compute mode $2 could not be set on $device"
  done
}

limits() {
  ask "$1" "set_default_active_thread_percentage $(field "$1" threads wanted)" >/dev/null
  for limit in $(field "$1" limits wanted); do
    ask "$1" "set_default_device_pinned_mem_limit ${limit%%:*} ${limit#*:}" >/dev/null
  done
  cp "$1/wanted" "$1/running"
}

start() {
  devices=$(field "$1" devices wanted)
  say "starts $1 on $devices"
  mkdir -p "$1/pipe" "$1/log" "$1/shm"
  mountpoint -q "$1/shm" || mount -t tmpfs -o mode=1777,size=50% tmpfs "$1/shm"
  compute_mode "$devices" EXCLUSIVE_PROCESS
  # In a mount namespace of its own, so that each resource has its own /dev/shm.
  CUDA_VISIBLE_DEVICES="$devices" CUDA_MPS_PIPE_DIRECTORY="$1/pipe" CUDA_MPS_LOG_DIRECTORY="$1/log" \
    unshare --mount sh -c 'mount --bind "$1" /dev/shm && exec nvidia-cuda-mps-control -d' sh "$1/shm" \
    || say "the control daemon of $1 could not be started"
  limits "$1"
}

# Waits for the clients, beside the loop: other resources need not wait.
stop() {
  if [ ! -e "$1/ending" ]; then
    say "ends $1 when its last client has ended"
    touch "$1/ending"
    (echo quit | CUDA_MPS_PIPE_DIRECTORY="$1/pipe" nvidia-cuda-mps-control >/dev/null 2>&1
     compute_mode "$(field "$1" devices running)" DEFAULT
     rm -f "$1/ending" "$1/running") &
  fi
}

serve() {
  if [ -e "$1/ending" ]; then
    rm -f "$1/ready"
  elif ! answers "$1"; then
    rm -f "$1/ready"
    start "$1"
  elif [ "$(field "$1" devices running)" != "$(field "$1" devices wanted)" ]; then
    rm -f "$1/ready"
    stop "$1"
  else
    [ "$(field "$1" order running)" = "$(field "$1" order wanted)" ] || limits "$1"
    { field "$1" order running; cat "$1/pipe/nvidia-cuda-mps-control.pid"; echo; } >"$1/ready.next" &&
      mv "$1/ready.next" "$1/ready"
  fi
}

# The pod ends, and with it every control daemon: nobody must be told that they still answer.
leave() {
  find "$root" -maxdepth 3 -name ready -exec rm -f {} +
  find "$root" -maxdepth 3 -name running | while read -r running; do
    compute_mode "$(field "${running%/running}" devices running)" DEFAULT
  done
  exit 0
}
trap leave TERM INT

# What an earlier pod left behind runs no more.
find "$root" -maxdepth 3 \( -name ready -o -name ending -o -name running \) -exec rm -f {} + 2>/dev/null
say "looks for orders below $root every $pause s"
while true; do
  for wanted in $(find "$root" -maxdepth 3 -name wanted 2>/dev/null); do
    serve "${wanted%/wanted}"
  done
  for running in $(find "$root" -maxdepth 3 -name running 2>/dev/null); do
    folder=${running%/running}
    [ -e "$folder/wanted" ] || { rm -f "$folder/ready"; stop "$folder"; }
  done
  sleep "$pause" &
  wait $!
done
