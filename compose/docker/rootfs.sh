#!/bin/bash
# Root file system of an image without Docker and without a registry, for tests: the libraries and the shell of this
# machine in place of the base image, then what the Dockerfile copies.
#
#   rootfs.sh PROGRAM DIRECTORY    the Java runtime is linked once, next to the directory
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1
root=$2
java=${JAVA_HOME:?is not set}

[ -x "${root%/*}/runtime/bin/java" ] || "$here/runtime.sh" "$java" "${root%/*}/runtime"
mkdir -p "$root"/{bin,etc,tmp,proc,sys,dev,run,usr/local/bin,opt/gpufleet}

# The shell and what start scripts call, with the libraries of these and of the runtime.
for tool in sh readlink dirname cat; do
  cp -L "$(command -v $tool)" "$root/bin/$tool"
done
{ ldd "$root"/bin/* 2>/dev/null; find "${root%/*}/runtime" -name '*.so' -exec ldd {} + 2>/dev/null; } |
  grep -o '/[^ ]*\.so[^ ]*' | sort -u | grep -v "^${root%/*}" | grep '^/\(lib\|usr/lib\)' | while read -r library; do
  mkdir -p "$root${library%/*}"
  cp -L "$library" "$root$library"
done
ln -sfn bin "$root/usr/bin" 2>/dev/null || true
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo 'nonroot:x:65532:65532:nonroot:/tmp:/bin/sh' >>"$root/etc/passwd"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"

[ "$program" = node-daemon ] || cp -a "${root%/*}/runtime" "$root/opt/java"
"$here/layout.sh" "$program" "$root/opt/gpufleet"
for start in "$root"/opt/gpufleet/bin/*; do
  ln -s "/opt/gpufleet/bin/${start##*/}" "$root/usr/local/bin/${start##*/}"
done
