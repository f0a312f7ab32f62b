package io.gpufleet.cli.fleet;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Starts programs of the tree as processes that outlive this one. Their output goes to files, their input is empty. The
 * {@code gpufleet} script starts us with SIGINT ignored and in a session of our own; they inherit both, so that Ctrl-C
 * and a closed terminal reach the supervisor alone.
 */
public final class ProcessLauncher {
    /** The collector of small heaps: the virtual machine would choose by the machine. */
    public static final String SERIAL = "-XX:+UseSerialGC";

    private final Path tree;
    private final StateDirectory state;
    private final boolean training;
    private final ClassData classData;
    private final Set<Program> writers = ConcurrentHashMap.newKeySet();

    /** For the programs of one source tree. */
    public ProcessLauncher(Path tree, StateDirectory state) {
        this(tree, state, false);
    }

    private ProcessLauncher(Path tree, StateDirectory state, boolean training) {
        this.tree = tree;
        this.state = state;
        this.training = training;
        this.classData = new ClassData(tree, state.classData());
    }

    /** The first process of each program writes an AOT cache when it ends. */
    public static ProcessLauncher training(Path tree, StateDirectory state) {
        return new ProcessLauncher(tree, state, true);
    }

    /** Directory of logs and class data. */
    public StateDirectory directory() {
        return state;
    }

    /** Starts a process. */
    public FleetState.FleetProcess start(PlannedProcess planned) {
        return start(planned, command(planned));
    }

    /** Starts a process by a command line of its own. */
    public FleetState.FleetProcess start(PlannedProcess planned, List<String> command) {
        return start(
                planned.name(), planned.program().name(), command, planned.environment(), planned.ports(), Map.of());
    }

    /** Restarts a process with the same command and settings. */
    public FleetState.FleetProcess restart(FleetState.FleetProcess before) {
        return restart(before, Map.of());
    }

    /** Restarts a process with further variables, which the next restart does not have. */
    FleetState.FleetProcess restart(FleetState.FleetProcess before, Map<String, String> variables) {
        return start(
                before.name(), before.program(), before.command(), before.environment(), before.ports(), variables);
    }

    private FleetState.FleetProcess start(
            String name,
            String program,
            List<String> command,
            Map<String, String> environment,
            Map<String, Integer> ports,
            Map<String, String> variables) {
        try {
            Path log = state.log(name);
            Files.createDirectories(log.getParent());
            var builder = new ProcessBuilder(command)
                    .directory(state.root().toFile())
                    .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            // Settings of the caller are not inherited: a program refuses settings that it does not know.
            builder.environment().keySet().removeIf(key -> key.startsWith("GPUFLEET_") || key.equals("KUBECONFIG"));
            // As in the images: more arenas keep more of what the compiler has freed.
            builder.environment().put("MALLOC_ARENA_MAX", "2");
            builder.environment().putAll(environment);
            builder.environment().putAll(variables);
            Process process = builder.start();
            return new FleetState.FleetProcess(
                    name, program, ProcessIdentity.of(process.toHandle()), log.toString(), command, environment, ports);
        } catch (IOException failed) {
            throw new UncheckedIOException(name + " cannot be started", failed);
        }
    }

    /** The command line: a small heap and a fast start. */
    public List<String> command(PlannedProcess planned) {
        Program program = planned.program();
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags(program));
        command.addAll(cache(program));
        command.addAll(List.of("-cp", classPath(program), program.mainClass()));
        return command;
    }

    private List<String> flags(Program program) {
        return switch (program) {
            case NODE_DAEMON -> List.of("@" + tree.resolve(program.module()).resolve("jvm.args"));
            case INVENTORY, HEALTH, ALLOCATION ->
                List.of(
                        "-Xms24m",
                        "-Xmx" + program.heapMegabytes() + "m",
                        SERIAL,
                        "@" + tree.resolve("proto/service-runtime/jvm.args"));
            case FAKE_API_SERVER, FAKE_KUBELETS ->
                List.of(
                        "-Xmx" + program.heapMegabytes() + "m",
                        SERIAL,
                        "-XX:TieredStopAtLevel=1",
                        // No full collection because of compiled code or loaded classes, as with the jvm.args.
                        "-XX:ReservedCodeCacheSize=160m",
                        "-XX:MetaspaceSize=96m",
                        "-XX:+UseCompactObjectHeaders",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow");
        };
    }

    /** The AOT cache where there is one of this build, else class data. */
    private List<String> cache(Program program) {
        Path cache = AotCache.of(tree, program);
        if (training) {
            return writers.add(program) ? List.of("-XX:AOTCacheOutput=" + cache) : List.of();
        }
        return AotCache.fresh(tree, program)
                ? List.of("-XX:AOTCache=" + cache, "-Xlog:disable", "-Xlog:all=error:stderr")
                : classData.flags(program, flags(program), classPath(program));
    }

    /** Jar and libraries of the build; the classes when there is no jar. */
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
