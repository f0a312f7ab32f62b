#!/bin/sh
# Keeps the wanted driver on a node: compares it with the one that answers, installs or repairs it in the root of the host, and
# starts over when either changes. It never ends a process that uses a GPU: the operator drains the node.
#
#   <settings>/version   wanted driver, for example 580.95.05 or 580; empty: the host has its own, which is only watched
#   <settings>/source    run (NVIDIA's installer, needs the kernel's headers) or packages (precompiled modules of the distribution)
#   <settings>/url       run: where from; @VERSION@ and @ARCH@ are replaced
#   <settings>/sha256    run: checksum of the file; empty: not compared
#   <settings>/packages  packages: their names; @KERNEL@ is replaced by the running kernel
#   <run>/installer      written here: the state and its details; the node-daemon publishes the first line
#   <run>/hold           written here while a driver is replaced; <run>/released is the node-daemon's answer
#
# The first word of the state is one of: no-gpu, ready, waiting, downloading, releasing, installing, failed.
# The settings are never executed.
set -u
host=${HOST_ROOT:-/host}
run=${RUN_DIR:-/run/gpufleet}
settings=${SETTINGS_DIR:-/etc/driver}
pause=${PAUSE:-30}
retry=${RETRY:-30}
release_time=${RELEASE_TIME:-120}
# In the root of the host, so that it outlives the pod: what is there is not loaded again.
cache=/var/lib/gpufleet/driver
reason='reason: driver installer'
last=
leaving=

state() {
  [ "$last" = "$*" ] || echo "$(date -u +%FT%TZ) $*"
  last=$*
  echo "$*" >"$run/installer.next" && mv "$run/installer.next" "$run/installer"
}

setting() { head -n 1 "$settings/$1" 2>/dev/null | tr -d '\r'; }

# All that the installation depends on.
wanted() { for name in version source url sha256 packages; do setting $name; done; uname -r; }

nap() { sleep "$1" & wait $!; }

in_host() { chroot "$host" "$@"; }

gpus() { cat "$host"/sys/bus/pci/devices/*/vendor 2>/dev/null | grep -q 0x10de; }

kernel_version() {
  sed -nE '1s/.*[[:space:]]([0-9]{3,}\.[0-9.]+)[[:space:]].*/\1/p' "$host/proc/driver/nvidia/version" 2>/dev/null
}

# Version of the driver if module and library agree and all of it answers.
answering() {
  module=$(kernel_version)
  [ -n "$module" ] || return 1
  library=$(in_host timeout 60 nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null) || return 1
  [ "$(echo "$library" | head -n 1 | tr -d ' ')" = "$module" ] && echo "$module"
}

matches() { case $1 in "$2" | "$2".*) true ;; *) false ;; esac; }

# Programs that use a GPU; those that the installer asks or stops itself are left out, unless "all" is given.
users() {
  find "$host"/proc/[0-9]*/fd -lname '/dev/nvidia*' 2>/dev/null | sed 's|/fd/.*||' | sort -u | while read -r process; do
    name=$(tr '\0' ' ' <"$process/cmdline" 2>/dev/null | cut -c 1-2000)
    case "${1:-} $name" in
      all*) echo "$name" ;;
      *node-daemon* | *nodedaemon* | *nvidia-persistenced* | *nv-fabricmanager*) ;;
      *) echo "$(basename "${name%% *}") (process ${process##*/})" ;;
    esac
  done | head -n 5
}

held_by_us() { grep -qs "^$reason" "$run/hold"; }

give_back() { ! held_by_us || rm -f "$run/hold"; }

# Requests the GPUs from the node-daemon. A hold of somebody else is not overruled: a link replaces nothing.
release() {
  state "releasing the GPUs for driver $version"
  give_back
  printf '%s, %s is coming\ndeadline: 1h\n' "$reason" "$version" >"$run/hold.installer"
  ln "$run/hold.installer" "$run/hold" 2>/dev/null || return 1
  rm -f "$run/hold.installer"
  waited=0
  until [ -e "$run/released" ]; do
    [ "$waited" -lt "$release_time" ] || [ -n "$(users all)" ] || return 0
    [ "$waited" -lt "$release_time" ] || return 1
    nap 1
    waited=$((waited + 1))
  done
}

unload() {
  in_host systemctl stop nvidia-persistenced nvidia-fabricmanager >/dev/null 2>&1
  for module in nvidia_drm nvidia_modeset nvidia_uvm nvidia_peermem nvidia_fs gdrdrv nvidia; do
    ! grep -qs "^$module " "$host/proc/modules" || in_host rmmod "$module" || return 1
  done
}

load() {
  in_host modprobe nvidia >/dev/null 2>&1 && in_host modprobe nvidia-uvm >/dev/null 2>&1
  in_host nvidia-modprobe -c 0 -u >/dev/null 2>&1
  in_host systemctl start nvidia-persistenced nvidia-fabricmanager >/dev/null 2>&1
}

# Runs in the background, so that changed settings end it; what has arrived stays, and the next attempt goes on from there.
download() {
  file=$cache/NVIDIA-Linux-$(uname -m)-$version.run
  url=$(setting url | sed -e "s|@VERSION@|$version|g" -e "s|@ARCH@|$(uname -m)|g")
  [ ! -e "$host$file" ] || return 0
  state "downloading driver $version"
  mkdir -p "$host$cache"
  # Not by in_host: a function would run in a shell of its own, whose end leaves curl to write on.
  chroot "$host" curl -fsSL --retry 3 -C - -o "$file.part" "$url" &
  loading=$!
  while kill -0 $loading 2>/dev/null; do
    [ "$(wanted)" = "$goal" ] && [ -z "$leaving" ] || kill $loading 2>/dev/null
    nap 1
  done
  wait $loading || { problem="$url cannot be loaded"; return 1; }
  sum=$(setting sha256)
  if [ -n "$sum" ] && ! echo "$sum  $host$file.part" | sha256sum -c --status; then
    rm -f "$host$file.part"
    problem="$url has another checksum than sha256 of the settings"
    return 1
  fi
  mv "$host$file.part" "$host$file"
}

install_run() {
  in_host sh "$file" --silent --accept-license --no-install-compat32-libs --no-drm </dev/null >"$host$cache/log" 2>&1
}

install_packages() {
  packages=$(setting packages | sed "s|@KERNEL@|$(uname -r)|g")
  # Several names, therefore not quoted; valid() has looked at their characters.
  if in_host sh -c 'command -v apt-get' >/dev/null 2>&1; then
    in_host env DEBIAN_FRONTEND=noninteractive apt-get update >"$host$cache/log" 2>&1
    in_host env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y $packages >>"$host$cache/log" 2>&1
  else
    in_host dnf install -y $packages >"$host$cache/log" 2>&1
  fi
}

valid() {
  problem=
  echo "$version" | grep -qE '^[0-9]+(\.[0-9]+){0,2}$' || problem="version '$version' is none such as 580.95.05"
  case $source in
    run)
      setting url | grep -qE '^(https?|file)://[^[:space:]|&\\]+$' || problem="url '$(setting url)' is none such as https://…" ;;
    packages)
      setting packages | grep -qE '^[A-Za-z0-9@][A-Za-z0-9@.+_:=~ -]*$' || problem="packages '$(setting packages)' are no names" ;;
    *) problem="source '$source' is neither run nor packages" ;;
  esac
  [ -z "$problem" ]
}

# Not interrupted: half a driver is worse than a late one. A file that is no installer is loaded again next time.
replace() {
  state "installing driver $version"
  mkdir -p "$host$cache"
  unload || { problem='the modules of the old driver cannot be unloaded'; return 1; }
  install_"$source" || {
    problem="the installation failed, $cache/log on the host has its output: $(tail -n 1 "$host$cache/log" | cut -c 1-100)"
    [ "$source" != run ] || rm -f "$host$file"
    return 1
  }
  load
  since=$(kernel_version)
  matches "$(answering)" "$version" || { problem="after the installation $(answering || echo no driver) answers"; return 1; }
}

# Sets since, the version that was there before it was compared: one that changes later is noticed, however soon.
reconcile() {
  goal=$(wanted)
  since=$(kernel_version)
  version=$(setting version)
  source=$(setting source)
  gpus || { state no-gpu; return 0; }
  if [ -e "$run/hold" ] && ! held_by_us; then
    state "waiting: the GPUs are held, $(head -n 1 "$run/hold" | cut -c 1-100)"
    return 0
  fi
  found=$(answering)
  if [ -z "$version" ]; then
    [ -n "$found" ] && state "ready $found, of the host" || state 'waiting for a driver of the host, none is wanted here'
    return 0
  fi
  valid || return 1
  # After a reboot the installed modules only have to be loaded.
  if [ -z "$found" ] && [ -z "$(kernel_version)" ]; then
    load
    since=$(kernel_version)
    found=$(answering)
  fi
  if matches "$found" "$version"; then
    state "ready $found"
    return 0
  fi
  [ "$source" != run ] || download || return 1
  busy=$(users)
  if [ -n "$busy" ]; then
    state "waiting for $(echo "$busy" | head -n 1) to release its GPU; drain the node"
    return 0
  fi
  release || { problem='the node-daemon has not released the GPUs'; return 1; }
  replace || return 1
  state "ready $(answering)"
}

trap 'leaving=yes' TERM INT
mkdir -p "$run"
rest=$retry
failed=
until [ -n "$leaving" ]; do
  if reconcile; then
    rest=$retry
    nap_time=$pause
    failed=
  elif [ "$(wanted)" != "$goal" ]; then
    nap_time=0
  else
    [ "$failed" = "$goal" ] || rest=$retry
    failed=$goal
    nap_time=$rest
    since=$(kernel_version)
    state "failed: $problem; next attempt in $rest s"
    rest=$((rest * 2 < 1800 ? rest * 2 : 1800))
  fi
  give_back
  slept=0
  while [ "$slept" -lt "$nap_time" ] && [ -z "$leaving" ] && [ "$(wanted)" = "$goal" ] && [ "$(kernel_version)" = "$since" ]; do
    nap 1
    slept=$((slept + 1))
  done
done
give_back
rm -f "$run/installer"
