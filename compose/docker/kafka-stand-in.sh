#!/bin/bash
# Lays out what stands in for the image apache/kafka where no registry can be reached, for tests: Kafka's jars of the built tree where
# the image has them, and a start that does what the image's does. As there, Kafka's own kafka.docker.KafkaDockerWrapper makes the
# properties of the variables KAFKA_* and of files in /mnt/shared/config and formats the log, whose directory may be a volume; then the
# broker runs with KAFKA_HEAP_OPTS. What the image has besides is not there: the scripts of bin/, JMX, the checks of TLS and SASL.
#
#   kafka-stand-in.sh DIRECTORY    the root of an image with bash and java
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
root=$1

mkdir -p "$root"/{opt/kafka/config,etc/kafka/docker,mnt/shared/config,var/lib/kafka/data}
cp -rL "$tree/compose/testbed/kafka-broker/target/kafka" "$root/opt/kafka/libs"
# There they belong to the user 1000, here all files are of root.
chmod 777 "$root/opt/kafka/config" "$root/var/lib/kafka/data"
echo 'Configuration: {Appenders: {Console: {name: STDOUT, PatternLayout: {pattern: "[%d] %p %m (%c)%n"}}},
  Loggers: {Root: {level: INFO, AppenderRef: [{ref: STDOUT}]}}}' >"$root/etc/kafka/docker/log4j2.yaml"
cp "$root/etc/kafka/docker/log4j2.yaml" "$root/etc/kafka/docker/tools-log4j2.yaml"
touch "$root/etc/kafka/docker/server.properties"
cat >"$root/etc/kafka/docker/run" <<'RUN'
#!/bin/bash
set -eu
export CLUSTER_ID=${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw} CLASSPATH="/opt/kafka/libs/*"
setup=$(java -Xmx128m -XX:+UseSerialGC kafka.docker.KafkaDockerWrapper setup --default-configs-dir /etc/kafka/docker \
  --mounted-configs-dir /mnt/shared/config --final-configs-dir /opt/kafka/config 2>&1) ||
  [[ $setup == *"already formatted"* ]] || { echo "$setup"; exit 1; }
exec java ${KAFKA_HEAP_OPTS:--Xmx1G -Xms1G} -Dlog4j2.configurationFile=/opt/kafka/config/log4j2.yaml \
  kafka.Kafka /opt/kafka/config/server.properties
RUN
chmod 755 "$root/etc/kafka/docker/run"
