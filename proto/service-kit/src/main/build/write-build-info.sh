#!/bin/sh
# Writes version and Git revision to a properties file: write-build-info.sh VERSION FILE, in the directory of this module.
# The revision is "unknown" outside a checkout of this repository or without git, and ends with "-dirty" where tracked
# files differ from it.
set -eu
version=$1
file=$2
revision=unknown
if [ -e ../../.git ]; then
    revision=$(git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null) || revision=unknown
fi
text="version=$version
revision=$revision"
if [ ! -f "$file" ] || [ "$(cat "$file")" != "$text" ]; then
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$text" > "$file"
fi
