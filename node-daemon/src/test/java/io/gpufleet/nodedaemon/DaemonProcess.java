package io.gpufleet.nodedaemon;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The daemon as its own process, as an operator runs it. */
final class DaemonProcess implements AutoCloseable {
    private static final Pattern PORT = Pattern.compile("daemon runs .*http=(\\d+)");

    private static final Logger LOG = LoggerFactory.getLogger(DaemonProcess.class);

    private final Map<String, String> environment = new TreeMap<>();
    private final Path directory;
    private final List<String> words = new ArrayList<>();
    private Process process;
    private Path log;
    private int starts;

    /** Starts it; everything it keeps is below the directory. */
    DaemonProcess(Path directory, Map<String, String> settings) throws IOException {
        this.directory = directory;
        environment.put("GPUFLEET_CLUSTER", "c1");
        environment.put("GPUFLEET_DEVICES", "simulated:8xH100");
        environment.put("GPUFLEET_SIMULATION_DIR", directory.resolve("faults").toString());
        environment.put("GPUFLEET_STATE_DIR", directory.resolve("state").toString());
        environment.put("GPUFLEET_RUN_DIR", directory.resolve("run").toString());
        environment.put("GPUFLEET_HTTP_HOST", "127.0.0.1");
        environment.put("GPUFLEET_HTTP_PORT", "0");
        environment.putAll(settings);
        this.log = directory.resolve("daemon-0.log");
        this.process = launch();
    }

    private Process launch() throws IOException {
        Files.createDirectories(directory.resolve("faults"));
        log = directory.resolve("daemon-" + starts++ + ".log");
        return start(environment, log, words);
    }

    private static Process start(Map<String, String> environment, Path log, List<String> words) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                // What the program says where it runs, and not what tests want to see of libraries.
                "-Dlogback.configurationFile=logback.xml",
                "-cp",
                System.getProperty("java.class.path"),
                "io.gpufleet.nodedaemon.NodeDaemonMain"));
        command.addAll(words);
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("GPUFLEET_"));
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** Exit status and output of another command with the daemon's settings. */
    String command(String... its) throws IOException, InterruptedException {
        var settings = new TreeMap<>(environment);
        settings.put("GPUFLEET_HTTP_PORT", port());
        Path printed = directory.resolve(its[0] + ".log");
        Process command = start(settings, printed, List.of(its));
        if (!command.waitFor(60, TimeUnit.SECONDS)) {
            command.destroyForcibly();
            throw new AssertionError(its[0] + " does not end");
        }
        return command.exitValue() + " " + Files.readString(printed);
    }

    private String port() {
        var port = PORT.matcher(log());
        return port.find() ? port.group(1) : "0";
    }

    void restart() throws IOException {
        process = launch();
    }

    /** SIGKILL; returns when it is dead. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    long pid() {
        return process.pid();
    }

    /** SIGTERM; the exit status. How long it took is told, not judged: the machine may be busy. */
    int terminate() throws InterruptedException {
        long start = System.nanoTime();
        process.destroy();
        int status = exit();
        LOG.atInfo()
                .addKeyValue("millis", (System.nanoTime() - start) / 1_000_000)
                .addKeyValue("status", status)
                .log("SIGTERM to exit");
        return status;
    }

    int exit() throws InterruptedException {
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            throw new AssertionError("the daemon does not end");
        }
        return process.exitValue();
    }

    String log() {
        try {
            return Files.readString(log, UTF_8);
        } catch (IOException notYet) {
            return "";
        }
    }

    /** Lines of the log that tell of an error. */
    List<String> errors() {
        return log().lines().filter(line -> line.contains(" ERROR ")).toList();
    }

    Path faults() {
        return directory.resolve("faults");
    }

    /** The fault happens now. */
    void fault(int gpu, int xid) throws IOException {
        Path next = Files.writeString(faults().resolve("next"), xid + "\n");
        Files.move(next, faults().resolve(gpu + ".xid"), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Its cause is gone. */
    void clear(int gpu) throws IOException {
        Files.delete(faults().resolve(gpu + ".xid"));
    }

    /** Status and body of a page. */
    String page(String path) throws IOException, InterruptedException {
        var port = PORT.matcher(log());
        if (!port.find()) {
            return "";
        }
        try (var client = HttpClient.newHttpClient()) {
            var answer = client.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port.group(1) + path))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            return answer.statusCode() + " " + answer.body();
        }
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }
}
