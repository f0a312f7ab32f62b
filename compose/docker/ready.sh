#!/bin/bash
# Health check of the images: succeeds where the program of this container answers /readyz with 200. Nothing but bash is
# wanted, since the images have no HTTP client.
host=${GPUFLEET_HTTP_HOST:-127.0.0.1}
[ "$host" != 0.0.0.0 ] || host=127.0.0.1
exec 3<>"/dev/tcp/$host/${GPUFLEET_HTTP_PORT:-${1:?names the usual port}}" || exit 1
printf 'GET /readyz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$host" >&3
read -r -t 4 _ status _ <&3 && [ "$status" = 200 ]
