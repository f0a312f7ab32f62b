package io.gpufleet.compose.pack;

import io.gpufleet.compose.bench.daemon.Rehearsal;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The node-daemon for machines without Java: {@code node-daemon/target/package} and the same as an archive. */
public final class DaemonPackage {
    private static final String MAIN = "io.gpufleet.nodedaemon.NodeDaemonMain";
    /** What the daemon and its libraries use; services that are found at run time are not seen by jdeps. */
    private static final String MODULES = "java.base,java.logging,java.management,java.naming,java.security.jgss,"
            + "java.security.sasl,java.xml,jdk.crypto.ec,jdk.management,jdk.naming.dns,jdk.unsupported";
    /** Codecs of Kafka's that no topic of a daemon is written with. */
    private static final Predicate<String> UNUSED = name -> name.matches("(zstd-jni|snappy-java|lz4-java)-.*");

    /** What may be carried to a machine in one piece. */
    private static final long LARGEST = 64L << 20;

    private final Path tree;
    private final Path home;

    /** Of a source tree that is built. */
    public DaemonPackage(Path tree) {
        this.tree = tree;
        this.home = tree.resolve("node-daemon/target/package");
    }

    /** The folder; it may be moved as a whole. */
    public Path home() {
        return home;
    }

    /** What starts the daemon of the folder. */
    public Path start() {
        return home.resolve("bin/node-daemon");
    }

    /** Makes both anew where the daemon was built since. */
    public void makeIfStale(Consumer<String> says) throws IOException, InterruptedException {
        try (Stream<Path> built = Files.list(tree.resolve("node-daemon/target"))) {
            Path jar = built.filter(DaemonPackage::isJar)
                    .findFirst()
                    .orElseThrow(() -> new ConfigurationException("node-daemon is not built: run './gpufleet build'"));
            if (!Files.exists(archive())
                    || older(archive(), jar)
                    || older(archive(), tree.resolve("node-daemon/jvm.args"))) {
                make(says);
            }
        }
    }

    private static boolean older(Path made, Path source) throws IOException {
        return Files.getLastModifiedTime(made).compareTo(Files.getLastModifiedTime(source)) < 0;
    }

    /** The same in one file. */
    public Path archive() {
        return tree.resolve("node-daemon/target/node-daemon.tar.gz");
    }

    /** Makes both anew. */
    public void make(Consumer<String> says) throws IOException, InterruptedException {
        remove(home);
        Files.createDirectories(home.resolve("bin"));
        says.accept("linking a runtime");
        String java = System.getProperty("java.home");
        run(
                Path.of(java, "bin", "jlink").toString(),
                "--add-modules",
                MODULES,
                "--strip-debug",
                "--no-header-files",
                "--no-man-pages",
                "--output",
                home.resolve("runtime").toString());
        List<String> jars = jars();
        Files.copy(tree.resolve("node-daemon/jvm.args"), home.resolve("jvm.args"));
        Files.writeString(start(), startScript(jars));
        Files.setPosixFilePermissions(start(), PosixFilePermissions.fromString("rwxr-xr-x"));
        says.accept("rehearsing, so that the virtual machine knows its classes");
        Rehearsal.of(
                tree,
                rehearsed(jars),
                tree.resolve(".gpufleet/rehearsal"),
                Path.of("/tmp/gpufleet-rehearsal-" + ProcessHandle.current().pid()));
        if (!Files.exists(classData())) {
            throw new IllegalStateException("the rehearsal left no " + classData() + "; see .gpufleet/rehearsal");
        }
        says.accept("trying it on GPUs that do not exist");
        run("env", "GPUFLEET_DEVICES=simulated:8xH100", start().toString(), "probe");
        says.accept("packing");
        run("tar", "-czf", archive().toString(), "-C", String.valueOf(home.getParent()), "package");
        if (Files.size(archive()) > LARGEST) {
            throw new IllegalStateException(archive() + " has " + Files.size(archive()) + " bytes, more than " + LARGEST
                    + "; a new library, or a module of the JDK that nobody needs?");
        }
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
                // Class data are valid for files of this very time.
                Files.copy(jar, lib.resolve(String.valueOf(jar.getFileName())), StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
        try (Stream<Path> copied = Files.list(lib)) {
            return copied.map(jar -> String.valueOf(jar.getFileName())).sorted().toList();
        }
    }

    private static boolean isJar(Path file) {
        String name = String.valueOf(file.getFileName());
        return name.endsWith(".jar") && !name.contains("-tests") && !UNUSED.test(name);
    }

    private List<String> rehearsed(List<String> jars) {
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

    /** Names every jar in the order of the rehearsal, or the class data would not be taken. */
    private static String startScript(List<String> jars) {
        return """
                #!/bin/sh
                # The node-daemon; JAVA_FLAGS has further flags for its virtual machine.
                home=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
                classes=
                for jar in %s; do
                  classes="$classes${classes:+:}$home/lib/$jar"
                done
                exec "$home/runtime/bin/java" "@$home/jvm.args" "-XX:AOTCache=$home/node-daemon.aot" \\
                  -Xlog:disable -Xlog:all=error:stderr $JAVA_FLAGS -cp "$classes" %s "$@"
                """.formatted(String.join(" ", jars), MAIN);
    }

    private static void run(String... command) throws IOException, InterruptedException {
        if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
            throw new ConfigurationException(command[0] + " failed, see above");
        }
    }

    private static void remove(Path directory) throws IOException {
        if (Files.exists(directory)) {
            try (Stream<Path> all = Files.walk(directory)) {
                for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
        }
    }
}
