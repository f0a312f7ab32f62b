package io.gpufleet.nodedaemon.metrics;

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

/** Prometheus' own parser of its text format, a Go program in src/test/go that is built once. */
final class ExpfmtParser {
    private static final Path SOURCES = Path.of("src", "test", "go");
    private static final List<Path> GO_BINARIES = List.of(Path.of("/usr/local/go/bin/go"), Path.of("/usr/bin/go"));

    private final Path program;

    private ExpfmtParser(Path program) {
        this.program = program;
    }

    /** One parsed sample; the value of a histogram is its count. */
    record ParsedSample(String family, String type, String help, Map<String, String> labels, double value) {}

    /** The parser, or the reason why this machine has none. */
    record ParserAvailability(Optional<ExpfmtParser> parser, String reason) {}

    /** Builds it if possible; the first build may fetch modules from the Go module proxy. */
    static ParserAvailability build() throws IOException, InterruptedException {
        Optional<Path> go = Stream.concat(
                        Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
                                .map(directory -> Path.of(directory, "go")),
                        GO_BINARIES.stream())
                .filter(Files::isExecutable)
                .findFirst();
        if (go.isEmpty()) {
            return new ParserAvailability(Optional.empty(), "there is no go on this machine, install Go 1.23 or newer");
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
        String buildLog = Files.readString(log);
        Files.delete(log);
        return building.waitFor() == 0
                ? new ParserAvailability(Optional.of(new ExpfmtParser(output)), "")
                : new ParserAvailability(Optional.empty(), "Prometheus' parser cannot be built: " + buildLog);
    }

    /** Parses a page; fails with the parser's message if the page is invalid. */
    List<ParsedSample> parse(String page) throws IOException, InterruptedException {
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
                    .map(ExpfmtParser::parsed)
                    .toList();
        } finally {
            for (Path file : List.of(input, output, errors)) {
                Files.delete(file);
            }
        }
    }

    private static ParsedSample parsed(JsonObject json) {
        var labels = new TreeMap<String, String>();
        json.getJsonObject("labels").forEach(label -> labels.put(label.getKey(), String.valueOf(label.getValue())));
        return new ParsedSample(
                json.getString("family"),
                json.getString("type"),
                json.getString("help"),
                labels,
                json.getDouble("value"));
    }
}
