package io.gpufleet.testbed.testkit;

import io.gpufleet.testbed.kafka.FreePort;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A program of this repository as an operating-system process, from its module's build output, with the JVM flags that
 * operators run it with. Two things differ, since a test starts it for seconds only: it is compiled by C1, and it uses an
 * AOT cache once {@link Builder#recordCache} has left one.
 */
public final class ProgramProcess implements AutoCloseable {
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(15);
    private static final Duration RECORDING_TIMEOUT = Duration.ofSeconds(90);
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration HTTP_TIMEOUT = Duration.ofSeconds(30);
    private static final int LAST_LINES = 20;
    private static final Pattern CACHE_WRITING = Pattern.compile("\\[aot\\]|AOTCache|AOTConfiguration|AOT cache");
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final List<String> command;
    private final Map<String, String> environment;
    private final Path directory;
    private final String name;
    /** Cache that the first start of the process writes; none when it writes no cache. */
    private final List<Recording> recordings;

    private Path log;
    private Process process;

    /**
     * A cache that is being written.
     *
     * @param file written at the exit of the process
     */
    private record Recording(ProgramCache cache, Path file) {}

    private ProgramProcess(Builder builder) {
        this.environment = Map.copyOf(builder.environment);
        this.directory = builder.directory;
        this.name = builder.name();
        this.log = newLog();
        List<ProgramCache> cache = builder.cache().stream().toList();
        this.recordings = cache.stream()
                .filter(_ -> builder.recordsCache)
                .map(found -> new Recording(found, Path.of(log + ".aot")))
                .toList();
        this.command = builder.command(
                cache.stream().flatMap(found -> found.use().stream()).toList());
        this.process = launch(firstCommand(builder), environment, log);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> process.destroyForcibly(), name + "-end"));
    }

    private List<String> firstCommand(Builder builder) {
        return recordings.isEmpty()
                ? command
                : builder.command(recordings
                        .getFirst()
                        .cache()
                        .record(recordings.getFirst().file()));
    }

    /** Describes a process of a module, for example {@code health-service}, with its logs in a directory. */
    public static Builder of(String module, String mainClass, Path directory) {
        return new Builder(module, mainClass, directory);
    }

    /** Command and environment of a process. */
    public static final class Builder {
        private final String module;
        private final String mainClass;
        private final Path directory;
        private final Map<String, String> environment = new TreeMap<>();
        private final List<String> arguments = new ArrayList<>();
        private final Path target;
        private String classPath;
        private List<String> jvmFlags;
        private boolean asBuilt = true;
        private boolean recordsCache;

        private Builder(String module, String mainClass, Path directory) {
            this.module = module;
            this.mainClass = mainClass;
            this.directory = directory;
            this.target = Repository.module(module).resolve("target");
            this.classPath =
                    target.resolve("classes") + File.pathSeparator + target.resolve("lib") + File.separator + "*";
            Path flags = Repository.module(module).resolve("jvm.args");
            this.jvmFlags = Files.exists(flags)
                    ? List.of("@" + flags, "-XX:TieredStopAtLevel=1")
                    : List.of(
                            "-Xmx256m",
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "--enable-native-access=ALL-UNNAMED",
                            "--sun-misc-unsafe-memory-access=allow");
            environment.put("GPUFLEET_HTTP_HOST", "127.0.0.1");
            environment.put("GPUFLEET_HTTP_PORT", Integer.toString(FreePort.next()));
        }

        /** Adds settings, on top of the environment of this process without its GPUFLEET_* and KUBECONFIG. */
        public Builder environment(Map<String, String> variables) {
            environment.putAll(variables);
            return this;
        }

        /** Sets a setting to a free port. */
        public Builder freePort(String setting) {
            environment.put(setting, Integer.toString(FreePort.next()));
            return this;
        }

        /** Flags of the JVM instead of those of the module's {@code jvm.args} or, without that file, a small heap. */
        public Builder jvmFlags(String... flags) {
            jvmFlags = List.of(flags);
            asBuilt = false;
            return this;
        }

        /** A class path instead of the module's {@code target/classes} and {@code target/lib}. */
        public Builder classPath(String path) {
            classPath = path;
            asBuilt = false;
            return this;
        }

        /** Arguments of the program. */
        public Builder arguments(String... added) {
            arguments.addAll(List.of(added));
            return this;
        }

        /** The process leaves an AOT cache for all later ones, unless there is one; it is written by {@link ProgramProcess#close}. */
        public Builder recordCache() {
            recordsCache = cache().filter(found -> !found.fresh()).isPresent();
            return this;
        }

        /** True when the process will write a cache. */
        public boolean recordsCache() {
            return recordsCache;
        }

        private Optional<ProgramCache> cache() {
            return asBuilt ? ProgramCache.of(target) : Optional.empty();
        }

        /** Starts the process. */
        public ProgramProcess start() {
            return new ProgramProcess(this);
        }

        private String name() {
            return String.valueOf(Path.of(module).getFileName());
        }

        /** A cache works with jars only. */
        private List<String> command(List<String> cacheFlags) {
            var command = new ArrayList<String>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(jvmFlags);
            command.addAll(cacheFlags);
            String path = cacheFlags.isEmpty()
                    ? classPath
                    : cache().map(ProgramCache::classPath).orElse(classPath);
            command.addAll(List.of("-cp", path, mainClass));
            command.addAll(arguments);
            return List.copyOf(command);
        }
    }

    /** Process id of the current start. */
    public long pid() {
        return process.pid();
    }

    /** True while the process runs. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** The port of GPUFLEET_HTTP_PORT. */
    public int httpPort() {
        return Integer.parseInt(String.valueOf(environment.get("GPUFLEET_HTTP_PORT")));
    }

    /** GET; status 0 while nothing answers. */
    public HttpAnswer get(String path) {
        return send(HttpRequest.newBuilder(uri(path)));
    }

    /** POST with a bearer token, or without one when it is empty; further headers are names, each before its value. */
    public HttpAnswer post(String path, String bearerToken, String body, String... headers) {
        var request = HttpRequest.newBuilder(uri(path)).POST(HttpRequest.BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        if (!bearerToken.isEmpty()) {
            request.header("authorization", "Bearer " + bearerToken);
        }
        return send(request);
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + httpPort() + path);
    }

    private static HttpAnswer send(HttpRequest.Builder request) {
        try {
            HttpResponse<String> response =
                    HTTP.send(request.timeout(HTTP_TIMEOUT).build(), HttpResponse.BodyHandlers.ofString());
            return new HttpAnswer(response.statusCode(), response.body());
        } catch (IOException notYet) {
            return HttpAnswer.NONE;
        } catch (InterruptedException interrupted) {
            throw interrupted(interrupted);
        }
    }

    /** True when {@code /readyz} answers 200. */
    public boolean isReady() {
        return get("/readyz").status() == 200;
    }

    /** True when {@code /metrics} has a sample, for example {@code gpufleet_active 1.0}. */
    public boolean hasMetric(String sample) {
        return get("/metrics").body().lines().anyMatch(sample::equals);
    }

    /** Waits until the program is ready; fails with the end of its log. */
    public ProgramProcess awaitReady(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!isReady()) {
            if (waitFor(process, Duration.ofMillis(50))) {
                throw new IllegalStateException(
                        name + " exited with status " + process.exitValue() + ":\n" + lastLines());
            }
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(
                        name + " is not ready after " + timeout.toSeconds() + " s:\n" + lastLines());
            }
        }
        return this;
    }

    /** Standard output and error of the current start. */
    public String log() {
        return read(log);
    }

    /** Of the program: what the JVM prints after its end while it writes a cache would hide them. */
    private String lastLines() {
        List<String> lines = log().lines()
                .filter(line -> !CACHE_WRITING.matcher(line).find())
                .toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    }

    /** SIGKILL; returns when the process is dead. */
    public void kill() {
        process.destroyForcibly();
        waitFor(process, COMMAND_TIMEOUT);
    }

    /** SIGSTOP: the process stands still until {@link #resume()}. */
    public void suspend() {
        signal("STOP");
    }

    /** SIGCONT. */
    public void resume() {
        signal("CONT");
    }

    private void signal(String signal) {
        try {
            Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(pid())).start();
            if (!waitFor(kill, COMMAND_TIMEOUT) || kill.exitValue() != 0) {
                throw new IllegalStateException(name + " could not be sent SIG" + signal);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Starts the program again, with the same settings and a new log; a process that still runs is killed. */
    public void restart() {
        kill();
        log = newLog();
        process = launch(command, environment, log);
    }

    /** SIGTERM; the exit status. */
    public int terminate(Duration timeout) {
        process.destroy();
        return awaitExit(timeout);
    }

    /** Waits for the exit; the status. */
    public int awaitExit(Duration timeout) {
        if (!waitFor(process, timeout)) {
            throw new IllegalStateException(name + " still runs after " + timeout.toSeconds() + " s:\n" + lastLines());
        }
        return process.exitValue();
    }

    /** Runs another command of the program with the settings of this process. */
    public CommandOutput run(String... arguments) {
        var other = new ArrayList<>(command);
        other.addAll(List.of(arguments));
        Path output = newLog();
        Process started = launch(other, environment, output);
        if (!waitFor(started, COMMAND_TIMEOUT)) {
            started.destroyForcibly();
            throw new IllegalStateException(String.join(" ", arguments) + " does not end:\n" + read(output));
        }
        return new CommandOutput(started.exitValue(), read(output));
    }

    /** SIGTERM, and SIGKILL after 15 s, or later while it writes a cache. */
    @Override
    public void close() {
        process.destroy();
        if (!waitFor(process, recordings.isEmpty() ? STOP_TIMEOUT : RECORDING_TIMEOUT)) {
            kill();
        }
        recordings.forEach(recording -> recording.cache().recorded(recording.file()));
    }

    private Path newLog() {
        try {
            return Files.createTempFile(Files.createDirectories(directory), name + "-", ".log");
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static Process launch(List<String> command, Map<String, String> environment, Path output) {
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().keySet().removeIf(key -> key.startsWith("GPUFLEET_") || key.equals("KUBECONFIG"));
        builder.environment().putAll(environment);
        try {
            return builder.start();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static boolean waitFor(Process process, Duration timeout) {
        try {
            return process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            throw interrupted(interrupted);
        }
    }

    private static IllegalStateException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new IllegalStateException(cause);
    }
}
