#!/bin/sh
# Runs one MPS control daemon for each resource that the node-daemon shares by MPS.
#
#   <root>/<resource>/desired   written by the node-daemon: version=, devices=, threads=, limits=
#   <root>/<resource>/ready    written here each time the control daemon has responded: version, process id
#   <root>/<resource>/running  written here: the copy of desired that the control daemon was started with
#   <root>/<resource>/ending   exists while the control daemon waits for its last client
#   <root>/<resource>/pipe     pipe directory of the control daemon
#   <root>/<resource>/shm      shared memory of clients and server, mounted as /dev/shm
#
# The content of desired is never executed. Clients are never terminated: a control daemon ends after its last client.
set -u
root=${MPS_ROOT:-/run/nvidia/mps}
pause=${MPS_PAUSE:-2}

log() { echo "$(date -u +%FT%TZ) $*"; }

field() { sed -n "s/^$2=//p" "$1/$3" 2>/dev/null | head -n 1; }

# The response of the control daemon; empty if there is none.
ask() { echo "$2" | CUDA_MPS_PIPE_DIRECTORY="$1/pipe" timeout 5 nvidia-cuda-mps-control 2>/dev/null; }

answers() { ask "$1" get_default_active_thread_percentage | grep -q '[0-9]'; }

compute_mode() {
  for device in $(echo "$1" | tr , ' '); do
    nvidia-smi -i "$device" -c "$2" >/dev/null || log "compute mode $2 could not be set on $device"
  done
}

limits() {
  ask "$1" "set_default_active_thread_percentage $(field "$1" threads desired)" >/dev/null
  for limit in $(field "$1" limits desired); do
    ask "$1" "set_default_device_pinned_mem_limit ${limit%%:*} ${limit#*:}" >/dev/null
  done
  cp "$1/desired" "$1/running"
}

start() {
  devices=$(field "$1" devices desired)
  log "starting $1 on $devices"
  mkdir -p "$1/pipe" "$1/log" "$1/shm"
  mountpoint -q "$1/shm" || mount -t tmpfs -o mode=1777,size=50% tmpfs "$1/shm"
  compute_mode "$devices" EXCLUSIVE_PROCESS
  # In its own mount namespace, so that each resource has its own /dev/shm.
  CUDA_VISIBLE_DEVICES="$devices" CUDA_MPS_PIPE_DIRECTORY="$1/pipe" CUDA_MPS_LOG_DIRECTORY="$1/log" \
    unshare --mount sh -c 'mount --bind "$1" /dev/shm && exec nvidia-cuda-mps-control -d' sh "$1/shm" \
    || log "the control daemon of $1 could not be started"
  limits "$1"
}

# Waits for the clients in the background: other resources do not wait.
stop() {
  if [ ! -e "$1/ending" ]; then
    log "ending $1 after its last client"
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
  elif [ "$(field "$1" devices running)" != "$(field "$1" devices desired)" ]; then
    rm -f "$1/ready"
    stop "$1"
  else
    [ "$(field "$1" version running)" = "$(field "$1" version desired)" ] || limits "$1"
    { field "$1" version running; cat "$1/pipe/nvidia-cuda-mps-control.pid"; echo; } >"$1/ready.next" &&
      mv "$1/ready.next" "$1/ready"
  fi
}

# The end of the pod ends every control daemon: ready files must not outlive them.
leave() {
  find "$root" -maxdepth 3 -name ready -exec rm -f {} +
  find "$root" -maxdepth 3 -name running | while read -r running; do
    compute_mode "$(field "${running%/running}" devices running)" DEFAULT
  done
  exit 0
}
trap leave TERM INT

# Control daemons of an earlier pod have ended.
find "$root" -maxdepth 3 \( -name ready -o -name ending -o -name running \) -exec rm -f {} + 2>/dev/null
log "watching $root every $pause s"
while true; do
  for desired in $(find "$root" -maxdepth 3 -name desired 2>/dev/null); do
    serve "${desired%/desired}"
  done
  for running in $(find "$root" -maxdepth 3 -name running 2>/dev/null); do
    folder=${running%/running}
    [ -e "$folder/desired" ] || { rm -f "$folder/ready"; stop "$folder"; }
  done
  sleep "$pause" &
  wait $!
done
