package io.gpufleet.compose.fleet;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Starts programs of the tree as processes that outlive this one. Their output goes to files, they read nothing. The
 * {@code gpufleet} script starts us with SIGINT ignored and in a session of our own; they inherit both, so that Ctrl-C
 * and a closed terminal reach the supervisor alone.
 */
public final class Launcher {
    private final Path tree;
    private final StateDirectory state;
    private final Set<Program> keepers = ConcurrentHashMap.newKeySet();

    /** For the programs of one source tree. */
    public Launcher(Path tree, StateDirectory state) {
        this.tree = tree;
        this.state = state;
    }

    /** Where logs and class data go. */
    public StateDirectory directory() {
        return state;
    }

    /** Starts a part. */
    public FleetState.Started start(Part part) {
        return start(part.name(), part.program().name(), command(part), part.environment(), part.ports());
    }

    /** Starts a part again as it was started before. */
    public FleetState.Started again(FleetState.Started before) {
        return start(before.name(), before.program(), before.command(), before.environment(), before.ports());
    }

    private FleetState.Started start(
            String name,
            String program,
            List<String> command,
            Map<String, String> environment,
            Map<String, Integer> ports) {
        try {
            Path log = state.log(name);
            Files.createDirectories(log.getParent());
            Files.createDirectories(state.classData());
            var builder = new ProcessBuilder(command)
                    .directory(state.root().toFile())
                    .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            // Settings of the caller are for the caller; a part would refuse what it does not know.
            builder.environment().keySet().removeIf(key -> key.startsWith("GPUFLEET_") || key.equals("KUBECONFIG"));
            builder.environment().putAll(environment);
            Process process = builder.start();
            return new FleetState.Started(
                    name, program, Identity.of(process.toHandle()), log.toString(), command, environment, ports);
        } catch (IOException failed) {
            throw new UncheckedIOException(name + " can not be started", failed);
        }
    }

    /** The command line of a part: small, quick to start, one core's worth of compiler. */
    public List<String> command(Part part) {
        Program program = part.program();
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags(program));
        command.addAll(classData(program));
        command.addAll(List.of("-cp", classPath(program), program.mainClass()));
        return command;
    }

    private List<String> flags(Program program) {
        return switch (program) {
            case NODE_DAEMON -> List.of("@" + tree.resolve(program.module()).resolve("jvm.args"));
            case KUBE_API, KUBELETS, INVENTORY, HEALTH, ALLOCATION ->
                List.of(
                        "-Xmx" + program.heapMegabytes() + "m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseCompactObjectHeaders",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow");
        };
    }

    /** The first process of a program keeps the archive up to date at its end, the others only read it. */
    private List<String> classData(Program program) {
        Path archive = state.classData().resolve(program.name().toLowerCase(Locale.ROOT) + ".jsa");
        var flags = new ArrayList<String>();
        if (keepers.add(program)) {
            flags.addAll(List.of("-XX:+AutoCreateSharedArchive", "-Dgpufleet.keep-class-data=true"));
        } else if (!Files.exists(archive)) {
            return List.of();
        }
        flags.addAll(List.of("-XX:SharedArchiveFile=" + archive, "-Xshare:auto", "-Xlog:disable"));
        return flags;
    }

    /** Jar and libraries as the build left them; the classes when there is no jar. */
    private String classPath(Program program) {
        Path target = tree.resolve(program.module()).resolve("target");
        String own = jar(target)
                .or(() -> Optional.of(target.resolve("classes")).filter(Files::isDirectory))
                .map(Path::toString)
                .orElseThrow(() -> new ConfigurationException(program.module()
                        + " is not built: run './gpufleet up', or 'mvn -DskipTests package' in " + tree));
        return own + File.pathSeparator + target.resolve("lib") + File.separator + "*";
    }

    private static Optional<Path> jar(Path target) {
        if (!Files.isDirectory(target)) {
            return Optional.empty();
        }
        try (Stream<Path> files = Files.list(target)) {
            return files.filter(file -> file.getFileName().toString().endsWith(".jar"))
                    .filter(file -> !file.getFileName().toString().contains("-tests"))
                    .findFirst();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
