package io.gpufleet.nodedaemon;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Prometheus' own parser of its text format, in the language in which there is one: src/test/go, built once. */
final class ExpfmtCheck {
    private static final Path SOURCES = Path.of("src", "test", "go");
    private static final List<Path> USUAL_PLACES = List.of(Path.of("/usr/local/go/bin/go"), Path.of("/usr/bin/go"));

    private final Path program;

    private ExpfmtCheck(Path program) {
        this.program = program;
    }

    /** One sample as the parser understood it; of a histogram the value is the count. */
    record Parsed(String family, String type, String help, Map<String, String> labels, double value) {}

    /** The parser, or why there is none on this machine. */
    record Offer(Optional<ExpfmtCheck> check, String reason) {}

    /** Builds it where that is possible; the first time it may fetch modules from the Go module proxy. */
    static Offer build() throws IOException, InterruptedException {
        Optional<Path> go = Stream.concat(
                        Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
                                .map(directory -> Path.of(directory, "go")),
                        USUAL_PLACES.stream())
                .filter(Files::isExecutable)
                .findFirst();
        if (go.isEmpty()) {
            return new Offer(Optional.empty(), "there is no go on this machine, install Go 1.23 or newer");
        }
        Path output = Path.of("target", "expfmtcheck").toAbsolutePath();
        Path log = Files.createTempFile("expfmtcheck", ".log");
        var build = new ProcessBuilder(go.get().toString(), "build", "-o", output.toString(), ".")
                .directory(SOURCES.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        build.environment().put("CGO_ENABLED", "0");
        Process building = build.start();
        if (!building.waitFor(5, TimeUnit.MINUTES)) {
            building.destroyForcibly();
        }
        String said = Files.readString(log);
        Files.delete(log);
        return building.waitFor() == 0
                ? new Offer(Optional.of(new ExpfmtCheck(output)), "")
                : new Offer(Optional.empty(), "Prometheus' parser can not be built here: " + said);
    }

    /** What it reads on the page; fails with its words where it refuses the page. */
    List<Parsed> parse(String page) throws IOException, InterruptedException {
        Path input = Files.writeString(Files.createTempFile("page", ".txt"), page);
        Path output = Files.createTempFile("page", ".json");
        Path errors = Files.createTempFile("page", ".err");
        try {
            int status = new ProcessBuilder(program.toString())
                    .redirectInput(input.toFile())
                    .redirectOutput(output.toFile())
                    .redirectError(errors.toFile())
                    .start()
                    .waitFor();
            if (status != 0) {
                throw new AssertionError(Files.readString(errors));
            }
            return Files.readAllLines(output, UTF_8).stream()
                    .map(JsonObject::new)
                    .map(ExpfmtCheck::parsed)
                    .toList();
        } finally {
            for (Path file : List.of(input, output, errors)) {
                Files.delete(file);
            }
        }
    }

    private static Parsed parsed(JsonObject json) {
        var labels = new TreeMap<String, String>();
        json.getJsonObject("labels").forEach(label -> labels.put(label.getKey(), String.valueOf(label.getValue())));
        return new Parsed(
                json.getString("family"),
                json.getString("type"),
                json.getString("help"),
                labels,
                json.getDouble("value"));
    }
}
