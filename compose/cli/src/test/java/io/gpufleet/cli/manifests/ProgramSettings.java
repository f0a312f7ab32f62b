package io.gpufleet.cli.manifests;

import io.gpufleet.cli.fleet.Program;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The variables that a program reads, by its source. */
public final class ProgramSettings {
    private static final Pattern SETTING = Pattern.compile("\"(GPUFLEET_[A-Z0-9_]+)\"");
    private static final String CLI = "compose/cli";

    private ProgramSettings() {}

    /** Those of the program whose image has this name. */
    public static Set<String> of(String image) {
        String module = Stream.concat(Arrays.stream(Program.values()).map(Program::module), Stream.of(CLI))
                .filter(path -> path.endsWith(image))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no program has the image " + image));
        return Stream.of(module, "proto", "proto/service-kit", "proto/service-runtime")
                .flatMap(part -> sources(Repository.module(part).resolve("src/main/java")))
                .flatMap(source -> SETTING.matcher(source).results())
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Defaults that the programs have for a variable: the text that follows its name in their lists of settings. */
    public static Set<String> defaults(String name) {
        var declaration = Pattern.compile("Setting\\.optional\\(\\s*\"" + name + "\",\\s*\"([^\"]*)\"");
        return Stream.concat(Arrays.stream(Program.values()).map(Program::module), Stream.of("proto/service-runtime"))
                .flatMap(part -> sources(Repository.module(part).resolve("src/main/java")))
                .flatMap(source -> declaration.matcher(source).results())
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<String> sources(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".java")).map(ManifestFiles::text).toList().stream();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
