#!/bin/sh
# Links the Java runtime of the images. The modules are those that the programs use; jdeps does not see the services that
# are found at run time.
#
#   runtime.sh JAVA_HOME DIRECTORY
set -eu
exec "$1/bin/jlink" --add-modules "$(printf '%s,' \
  java.base java.compiler java.instrument java.logging java.management java.naming java.net.http \
  java.security.jgss java.security.sasl java.sql java.xml jdk.crypto.ec jdk.jfr jdk.management jdk.naming.dns jdk.net \
  jdk.unsupported jdk.zipfs | sed 's/,$//')" \
  --strip-debug --no-header-files --no-man-pages --compress zip-6 --output "$2"
