#!/bin/bash
# Root file system of an image without Docker and without a registry, for tests: what root.sh takes of this machine in
# place of the base image, then what the Dockerfile copies.
#
#   rootfs.sh PROGRAM DIRECTORY    the Java runtime is linked once, next to the directory
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1
root=$2
java=${JAVA_HOME:?is not set}

[ -x "${root%/*}/runtime/bin/java" ] || "$here/runtime.sh" "$java" "${root%/*}/runtime"
"$here/root.sh" "$root"
[ "$program" = node-daemon ] || cp -a "${root%/*}/runtime" "$root/opt/java"
"$here/layout.sh" "$program" "$root/opt/gpufleet"
for start in "$root"/opt/gpufleet/bin/*; do
  ln -s "/opt/gpufleet/bin/${start##*/}" "$root/usr/local/bin/${start##*/}"
done
