#!/bin/bash
# Copies the part of a Debian that the images need: the C library and what programs load by name, two shells, and the few
# commands of the start scripts. What is not there needs no update.
#
#   root.sh DIRECTORY [TOOL...]    with further commands of this machine
set -euo pipefail
root=$1
shift
# The daemon loads the libraries of NVIDIA's driver, some of which are C++.
libraries=(libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2 libutil.so.1 libnss_dns.so.2
  libnss_files.so.2 libgcc_s.so.1 libstdc++.so.6)

mkdir -p "$root"/{etc,proc,sys,dev,run,tmp,opt,var/lib/dpkg,usr/bin,usr/lib,usr/local/bin}
chmod 1777 "$root/tmp"
ln -s usr/bin "$root/bin"
ln -s usr/lib "$root/lib"
for tool in sh bash cat dirname env id ls mkdir mv readlink rm sleep "$@"; do
  cp -L "$(command -v "$tool")" "$root/usr/bin/$tool"
done
{
  ldd "$root"/usr/bin/* | grep -o '/[^ ]*\.so[^ ]*'
  for library in "${libraries[@]}"; do find /lib/*-linux-gnu -name "$library"; done
} | sed 's,^/usr/lib,/lib,' | sort -u | while read -r library; do
  case $library in
    /lib64/*) [ -e "$root/lib64" ] || ln -s usr/lib64 "$root/lib64" ;;
    /lib/*) ;;
    *) continue ;;
  esac
  mkdir -p "$root/usr${library%/*}"
  cp -L "$library" "$root/usr$library"
done

printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'nonroot:x:65532:65532:nonroot:/tmp:/bin/sh' >"$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'nonroot:x:65532:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
# Scanners of images read the distribution and the versions of its packages here.
cp -L /etc/os-release "$root/etc/os-release"
[ ! -r /var/lib/dpkg/status ] ||
  awk -v RS= '/^Package: (libc6|bash|dash|coreutils|libtinfo6|libselinux1|libpcre2-8-0|libgcc-s1|libstdc\+\+6)\n/ {
    print $0 "\n"
  }' /var/lib/dpkg/status >"$root/var/lib/dpkg/status"
# No times of the copy: two builds agree.
find "$root" -exec touch -h -d "@${SOURCE_DATE_EPOCH:-0}" {} +
