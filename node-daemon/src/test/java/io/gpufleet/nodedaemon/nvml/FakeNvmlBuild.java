package io.gpufleet.nodedaemon.nvml;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Compiles src/test/c with gcc into target/fakenvml, again only when a source changed. */
public final class FakeNvmlBuild {
    private static final Path SOURCES = Path.of("src", "test", "c");
    private static final Path OUTPUT = Path.of("target", "fakenvml");
    private static final List<String> FLAGS =
            List.of("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-fvisibility=hidden");

    private FakeNvmlBuild() {}

    /** The library of a current driver. */
    static Path library() {
        return built("libnvidia-ml.so", "nvml.c", List.of("-fPIC", "-shared", "-Wl,-Bsymbolic"));
    }

    /** The library of an old driver, which exports the old names only. */
    static Path oldLibrary() {
        return built("libnvidia-ml-old.so", "nvml.c", List.of("-DOLD", "-fPIC", "-shared", "-Wl,-Bsymbolic"));
    }

    /** Sizes and offsets of the C compiler, by "struct" and "struct.field". */
    public static Map<String, Integer> layouts() {
        Map<String, Integer> layouts = new TreeMap<>();
        for (String line : run(List.of(built("layouts", "layouts.c", List.of()).toString()))
                .split("\n", -1)) {
            String[] words = line.split(" ", -1);
            if (words.length == 2) {
                layouts.put(words[0], Integer.valueOf(words[1]));
            }
        }
        return layouts;
    }

    private static synchronized Path built(String name, String source, List<String> more) {
        Path output = OUTPUT.resolve(name).toAbsolutePath();
        try {
            if (Files.exists(output) && Files.getLastModifiedTime(output).compareTo(newestSource()) > 0) {
                return output;
            }
            Files.createDirectories(OUTPUT);
            Path partial = Files.createTempFile(OUTPUT.toAbsolutePath(), name, ".partial");
            List<String> command = new ArrayList<>(List.of("gcc"));
            command.addAll(FLAGS);
            command.addAll(more);
            command.addAll(
                    List.of("-o", partial.toString(), SOURCES.resolve(source).toString(), "-ldl"));
            String _ = run(command);
            return Files.move(partial, output, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static FileTime newestSource() throws IOException {
        FileTime newest = FileTime.fromMillis(0);
        try (Stream<Path> sources = Files.list(SOURCES)) {
            for (Path source : sources.toList()) {
                FileTime time = Files.getLastModifiedTime(source);
                newest = time.compareTo(newest) > 0 ? time : newest;
            }
        }
        return newest;
    }

    private static String run(List<String> command) {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new IllegalStateException(
                    "cannot run " + command.getFirst()
                            + ": the tests of package nvml compile a fake NVML library in C;"
                            + " install gcc (apt install gcc) and run them again",
                    e);
        }
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IllegalStateException(String.join(" ", command) + "\n" + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
