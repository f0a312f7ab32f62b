#!/bin/sh
# Writes version and Git revision to a properties file: write-build-info.sh VERSION FILE, in the directory of this module.
# The revision ends with "-dirty" where tracked files differ from it. Outside a checkout of this repository, as in the
# build of an image, it is that of GPUFLEET_REVISION, or "unknown".
set -eu
version=$1
file=$2
revision=$(printf %.12s "${GPUFLEET_REVISION:-unknown}")
if [ -e ../../.git ]; then
    revision=$(git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null) || revision=unknown
fi
text="version=$version
revision=$revision"
if [ ! -f "$file" ] || [ "$(cat "$file")" != "$text" ]; then
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$text" > "$file"
fi
