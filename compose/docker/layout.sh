#!/bin/sh
# Lays out /opt/gpufleet of one image from the built tree that the script is in: the jars, the arguments of the virtual
# machine, and bin/ with the start script. The Dockerfile and the tests of a real cluster use it.
#
#   layout.sh PROGRAM DIRECTORY    PROGRAM: node-daemon, inventory-service, health-service, allocation-service or cli
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
program=$1
directory=$2

# What the profile bom of the build has written: a CycloneDX bill of materials and the licences of the jars.
materials() { # module
  for file in bom.json licenses.txt; do
    [ ! -e "$tree/$1/target/$file" ] || cp -p "$tree/$1/target/$file" "$directory/$file"
  done
}

case $program in
  node-daemon)
    # With its own runtime and AOT cache, as './gpufleet package node-daemon' made it.
    [ -x "$tree/node-daemon/target/package/bin/node-daemon" ] || {
      echo "layout.sh: run './gpufleet package node-daemon' first" >&2
      exit 2
    }
    mkdir -p "$directory"
    cp -a "$tree/node-daemon/target/package/." "$directory/"
    materials node-daemon
    exit 0
    ;;
  inventory-service) module=inventory-service main=io.gpufleet.inventory.InventoryMain ;;
  health-service) module=health-service main=io.gpufleet.health.HealthMain ;;
  allocation-service) module=allocation-service main=io.gpufleet.allocation.AllocationMain ;;
  cli) module=compose/cli main=io.gpufleet.cli.GpufleetMain ;;
  fake-apiserver) module=compose/testbed/fake-apiserver main=io.gpufleet.testbed.fakeapiserver.FakeApiServerMain ;;
  fake-kubelet) module=compose/testbed/fake-kubelet main=io.gpufleet.testbed.fakekubelet.FakeKubeletMain ;;
  *)
    echo "layout.sh: '$program' is no program of an image" >&2
    exit 2
    ;;
esac

mkdir -p "$directory/lib" "$directory/bin"
cp -p "$tree/$module"/target/lib/*.jar "$directory/lib/"
cp -p "$tree/$module"/target/*-SNAPSHOT.jar "$directory/lib/"
cp "$tree/proto/service-runtime/jvm.args" "$directory/jvm.args"
materials "$module"
# A command ends before another collector could be of use. The heap of a Job is half of its memory limit.
[ "$program" != cli ] || printf '%s\n' -DGPUFLEET_LOG_LEVEL=ERROR -XX:+UseSerialGC -XX:MaxRAMPercentage=50 >>"$directory/jvm.args"
name=$program
[ "$program" != cli ] || name=gpufleet
large=
case $program in
  *-service)
    cp "$tree/proto/service-runtime/jvm-large.args" "$directory/jvm-large.args"
    cp -p "$tree/compose/docker/large.sh" "$directory/bin/large"
    large='! /opt/gpufleet/bin/large || large=@/opt/gpufleet/jvm-large.args'
    ;;
esac
cat >"$directory/bin/$name" <<SCRIPT
#!/bin/sh
# $program; JAVA_FLAGS has further flags for its virtual machine. exec, so that SIGTERM reaches it.
large=
$large
exec /opt/java/bin/java @/opt/gpufleet/jvm.args \$large \$JAVA_FLAGS -cp '/opt/gpufleet/lib/*' $main "\$@"
SCRIPT
chmod 755 "$directory/bin/$name"
