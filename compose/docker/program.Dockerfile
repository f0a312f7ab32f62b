# One image for each program: the build argument names the module and its main class. Needs a built tree as context.
#   docker build -f compose/docker/program.Dockerfile \
#     --build-arg MODULE=health-service --build-arg MAIN=io.gpufleet.health.HealthMain -t gpufleet/health-service .
FROM eclipse-temurin:25-jdk AS runtime
# What the programs use; jdeps does not see the services that are found at run time.
RUN jlink --add-modules java.base,java.compiler,java.desktop,java.instrument,java.logging,java.management,java.naming,java.net.http,java.security.jgss,java.security.sasl,java.sql,java.xml,jdk.crypto.ec,jdk.jfr,jdk.management,jdk.naming.dns,jdk.unsupported,jdk.zipfs \
      --strip-java-debug-attributes --no-header-files --no-man-pages --compress zip-6 --output /runtime

FROM debian:13-slim
ARG MODULE
ARG MAIN
COPY --from=runtime /runtime /opt/java
COPY proto/service-runtime/jvm.args /opt/gpufleet/jvm.args
COPY ${MODULE}/target/lib /opt/gpufleet/lib
COPY ${MODULE}/target/*-SNAPSHOT.jar /opt/gpufleet/lib/
# More arenas keep more of what the compiler has freed.
ENV PATH=/opt/java/bin:$PATH MAIN=${MAIN} MALLOC_ARENA_MAX=2
# The services need no rights; the daemon's manifest and compose.yaml name another user.
USER 65532:65532
# exec, so that SIGTERM reaches the program.
ENTRYPOINT ["/bin/sh", "-c", "exec java @/opt/gpufleet/jvm.args $JAVA_FLAGS -cp '/opt/gpufleet/lib/*' $MAIN \"$@\"", "--"]
