#!/bin/bash
# Applies what an installation by kubectl brings to the API server of compose.yaml: the namespace of the fleet and files
# with one definition each. Nothing but bash is wanted, since the images have no HTTP client.
#
#   objects.sh HOST PORT FILE...
set -euo pipefail
host=$1
port=$2
shift 2

apply() { # path, body
  exec 3<>"/dev/tcp/$host/$port"
  printf 'PATCH %s?fieldManager=compose&force=true HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer admin\r\n' "$1" "$host" >&3
  printf 'Content-Type: application/apply-patch+yaml\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' "${#2}" "$2" >&3
  read -r -t 30 _ status _ <&3
  exec 3>&-
  case $status in
    200 | 201) echo "applied $1" ;;
    *)
      echo "objects.sh: $host answers $status to $1" >&2
      exit 1
      ;;
  esac
}

LC_ALL=C # lengths in bytes
apply /api/v1/namespaces/gpufleet-local '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gpufleet-local"}}'
for file in "$@"; do
  body=$(<"$file")
  name=${body#*name: }
  apply "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name%%[[:space:]]*}" "$body"
done
