package io.gpufleet.cli.pack;

import io.gpufleet.cli.fleet.DirectoryTrees;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Packages the node-daemon for machines without Java: {@code node-daemon/target/package} and an archive of it. */
public final class DaemonPackage {
    private static final String MAIN = "io.gpufleet.nodedaemon.NodeDaemonMain";
    /**
     * JDK modules of the daemon and its libraries; jdeps does not see services that are looked up at run time. Without java.xml,
     * a quarter of them, which only Logback's configuration files would need.
     */
    private static final String MODULES = "java.base,java.logging,java.management,java.naming,java.security.jgss,"
            + "java.security.sasl,jdk.crypto.ec,jdk.management,jdk.naming.dns,jdk.unsupported";
    /** Compression that the daemon's topics do not use, and what serves the pages of the services. */
    private static final Predicate<String> UNUSED_LIBRARY =
            name -> name.matches("(zstd-jni|snappy-java|lz4-java|vertx-web|vertx-auth-common)-.*");

    /** Limit for the archive. */
    private static final long MAX_ARCHIVE_BYTES = 64L << 20;

    private final Path tree;
    private final Path home;

    /** The package of a built source tree. */
    public DaemonPackage(Path tree) {
        this.tree = tree;
        this.home = tree.resolve("node-daemon/target/package");
    }

    /** The relocatable directory. */
    public Path home() {
        return home;
    }

    /** The start script. */
    public Path executable() {
        return home.resolve("bin/node-daemon");
    }

    /** Packages the daemon if it was built since the last time. */
    public void makeIfStale(Consumer<String> log) throws IOException, InterruptedException {
        try (Stream<Path> built = Files.list(tree.resolve("node-daemon/target"))) {
            Path jar = built.filter(DaemonPackage::isJar)
                    .findFirst()
                    .orElseThrow(() -> new ConfigurationException("node-daemon is not built: run './gpufleet build'"));
            if (!Files.exists(archive())
                    || older(archive(), jar)
                    || older(archive(), tree.resolve("node-daemon/jvm.args"))) {
                make(log);
            }
        }
    }

    private static boolean older(Path made, Path source) throws IOException {
        return Files.getLastModifiedTime(made).compareTo(Files.getLastModifiedTime(source)) < 0;
    }

    /** The archive of the directory. */
    public Path archive() {
        return tree.resolve("node-daemon/target/node-daemon.tar.gz");
    }

    /** Packages the daemon. */
    public void make(Consumer<String> log) throws IOException, InterruptedException {
        DirectoryTrees.delete(home);
        Files.createDirectories(home.resolve("bin"));
        log.accept("linking a runtime");
        linkRuntime();
        List<String> jars = jars();
        Files.copy(tree.resolve("node-daemon/jvm.args"), home.resolve("jvm.args"));
        Files.copy(
                tree.resolve("node-daemon/src/main/package/ask-daemon"),
                home.resolve("bin/ask-daemon"),
                StandardCopyOption.COPY_ATTRIBUTES);
        Files.writeString(executable(), startScript(jars));
        Files.setPosixFilePermissions(executable(), PosixFilePermissions.fromString("rwxr-xr-x"));
        log.accept("training run for the AOT cache");
        AotTrainingRun.execute(
                tree,
                trainingCommand(jars),
                tree.resolve(".gpufleet/training"),
                Path.of("/tmp/gpufleet-training-" + ProcessHandle.current().pid()));
        if (!Files.exists(classData())) {
            throw new IllegalStateException("the training run wrote no " + classData() + "; see .gpufleet/training");
        }
        log.accept("probing with simulated GPUs");
        run("env", "GPUFLEET_DEVICES=simulated:8xH100", executable().toString(), "probe");
        log.accept("packing");
        run("tar", "-czf", archive().toString(), "-C", String.valueOf(home.getParent()), "package");
        if (Files.size(archive()) > MAX_ARCHIVE_BYTES) {
            throw new IllegalStateException(archive() + " has " + Files.size(archive()) + " bytes, more than "
                    + MAX_ARCHIVE_BYTES + "; check for a new library or an unused JDK module");
        }
    }

    private void linkRuntime() throws IOException, InterruptedException {
        Path runtime = home.resolve("runtime");
        run(
                Path.of(System.getProperty("java.home"), "bin", "jlink").toString(),
                "--add-modules",
                MODULES,
                "--strip-debug",
                "--no-header-files",
                "--no-man-pages",
                "--compress",
                "zip-6",
                "--output",
                runtime.toString());
        // The names of the virtual machine's own functions are a sixth of it, and only of use in its crash reports,
        // which have
        // the places too. binutils is there: the training run needs a C compiler.
        run("strip", "--strip-unneeded", runtime.resolve("lib/server/libjvm.so").toString());
    }

    private Path classData() {
        return home.resolve("node-daemon.aot");
    }

    private List<String> jars() throws IOException {
        Path lib = Files.createDirectories(home.resolve("lib"));
        Path target = tree.resolve("node-daemon/target");
        try (Stream<Path> own = Files.list(target);
                Stream<Path> libraries = Files.list(target.resolve("lib"))) {
            for (Path jar : Stream.concat(own.filter(DaemonPackage::isJar), libraries.filter(DaemonPackage::isJar))
                    .toList()) {
                ShippedJar.copy(jar, lib.resolve(String.valueOf(jar.getFileName())));
            }
        }
        try (Stream<Path> copied = Files.list(lib)) {
            return copied.map(jar -> String.valueOf(jar.getFileName())).sorted().toList();
        }
    }

    private static boolean isJar(Path file) {
        String name = String.valueOf(file.getFileName());
        return name.endsWith(".jar") && !name.contains("-tests") && !UNUSED_LIBRARY.test(name);
    }

    private List<String> trainingCommand(List<String> jars) {
        var command = new ArrayList<String>();
        command.add(home.resolve("runtime/bin/java").toString());
        command.add("@" + home.resolve("jvm.args"));
        command.add("-XX:AOTCacheOutput=" + classData());
        command.add("-Dgpufleet.keep-class-data=true");
        command.add("-cp");
        command.add(String.join(
                File.pathSeparator,
                jars.stream()
                        .map(jar -> home.resolve("lib").resolve(jar).toString())
                        .toList()));
        command.add(MAIN);
        return command;
    }

    /** Lists the jars in the order of the training run, as the AOT cache requires. */
    private static String startScript(List<String> jars) {
        return """
            #!/bin/sh
            # The node-daemon; JAVA_FLAGS has further flags for its virtual machine.
            home=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
            case "${1:-}" in
              doctor | probe)
                # A daemon that runs here reports itself; 75: none does.
                if command -v bash >/dev/null; then
                  bash "$home/bin/ask-daemon" "$@"
                  status=$?
                  [ "$status" -eq 75 ] || exit "$status"
                fi
                ;;
            esac
            classes=
            for jar in %s; do
              classes="$classes${classes:+:}$home/lib/$jar"
            done
            exec "$home/runtime/bin/java" "@$home/jvm.args" "-XX:AOTCache=$home/node-daemon.aot" \\
              "-Dgpufleet.aot-cache=$home/node-daemon.aot" -Xlog:disable -Xlog:all=error:stderr $JAVA_FLAGS -cp "$classes" %s "$@"
            """.formatted(String.join(" ", jars), MAIN);
    }

    private static void run(String... command) throws IOException, InterruptedException {
        var builder = new ProcessBuilder(command).inheritIO();
        // Settings of whoever packages, for example of a test, are not those of the daemon.
        builder.environment().keySet().removeIf(key -> key.startsWith("GPUFLEET_"));
        if (builder.start().waitFor() != 0) {
            throw new ConfigurationException(command[0] + " failed, see above");
        }
    }
}
