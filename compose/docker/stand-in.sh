#!/bin/bash
# Stand-ins for the base images of the Dockerfile where no registry can be reached, for tests: the same names, made of the
# installed Debian packages of this machine. The one of Maven also has the libraries of the local repository, so that the
# build needs no network. Builds name them with GPUFLEET_BASES=compose/docker/stand-ins, compose with --env-file docker/stand-ins.
#
#   stand-in.sh    beside a built tree also Kafka's image for compose.yaml, with Debian's package prometheus that one;
#                  with DOCKER_HOST where dockerd has another socket; MAVEN_REPOSITORY for another than ~/.m2/repository;
#                  by Podman where there is no docker
set -euo pipefail
java=${JAVA_HOME:?is not set}
docker=$(command -v docker || command -v podman)
repository=${MAVEN_REPOSITORY:-$HOME/.m2/repository}
base=(bash dash coreutils findutils sed grep gawk tar gzip util-linux libc-bin login base-files base-passwd)
build=(gcc libc6-dev maven git)

# The files of packages and of all that they depend on, as far as they are installed here.
files() {
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$@" |
    grep -v '^[ <|]' | sort -u | while read -r package; do
    dpkg -L "$package" 2>/dev/null || true
  done | sort -u | while read -r file; do
    if [ -e "$file" ] && { [ ! -d "$file" ] || [ -L "$file" ]; }; then echo "$file"; fi
  done | grep -v '^/usr/share/\(doc\|man\|locale\|info\)/' | grep -v '^/usr/lib/jvm/'
}

# Imports the files that are listed on standard input.
import() { # name, instructions of a Dockerfile
  local name=$1 instruction list changes=()
  shift
  # One each: Podman takes what follows the first variable of an ENV for its value.
  for instruction in "$@"; do changes+=(-c "$instruction"); done
  list=$(mktemp)
  cat >"$list"
  # Directories that are links on this machine come first, so that what is below them lands where they lead.
  tar -C / -c --no-recursion --hard-dereference -T <(
    printf "%s\n" usr usr/bin usr/sbin usr/lib usr/lib64
    for link in bin sbin lib lib64; do if [ -L "/$link" ]; then echo "$link"; fi; done
    { sed 's,^/,,' "$list"; printf '%s\n' etc/passwd etc/group tmp; } | sort -u | grep -vx 'bin\|sbin\|lib\|lib64'
  ) 2>/dev/null | "$docker" import "${changes[@]}" - "$name" >/dev/null
  rm -f "$list"
  "$docker" image inspect --format "$name {{.Size}}" "$name"
}

files "${base[@]}" | import debian:13-slim 'CMD ["bash"]'
{
  files "${base[@]}" "${build[@]}"
  find "$java" "$(readlink -f "$java/lib/security/cacerts")" "$repository" /usr/share/maven* /etc/maven /etc/alternatives /usr/bin/{mvn,awk,which}
} | import maven:3.9-eclipse-temurin-25 "ENV JAVA_HOME=$java" \
  "ENV PATH=$java/bin:/usr/bin:/bin" "ENV HOME=$HOME" "ENV MAVEN_OPTS=-Dmaven.repo.local=$repository"

if command -v prometheus >/dev/null; then
  { files "${base[@]}" prometheus wget && echo /usr/bin/prometheus; } | import prom/prometheus:v3.5.0 \
    'ENTRYPOINT ["/usr/bin/prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]'
fi

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ -d "$tree/compose/testbed/kafka-broker/target/kafka" ] || exit 0
context=$(mktemp -d)
"$tree/compose/docker/kafka-stand-in.sh" "$context"
printf '%s\n' 'FROM maven:3.9-eclipse-temurin-25' 'COPY . /' 'CMD ["/etc/kafka/docker/run"]' >"$context/Dockerfile"
echo Dockerfile >"$context/.dockerignore"
"$docker" build -q -t apache/kafka:4.3.1 "$context"
rm -rf "$context"
