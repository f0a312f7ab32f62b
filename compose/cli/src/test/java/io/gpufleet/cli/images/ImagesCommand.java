package io.gpufleet.cli.images;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code ./gpufleet images} with a docker that notes how it is called, and knows one digest. */
record ImagesCommand(Path directory) {
    /** Digest that its docker knows of each image. */
    static final String DIGEST = "5e".repeat(32);

    ImagesCommand(Path directory, String bases) throws IOException {
        this(directory);
        Files.writeString(directory.resolve("bases"), bases);
        Path docker = Files.createDirectories(directory.resolve("bin")).resolve("docker");
        Files.writeString(docker, """
                #!/bin/sh
                echo "$*" >>%1$s/calls
                case "$*" in
                  *RepoDigests*) echo "name@sha256:%2$s" ;;
                  *.Size*) echo 1048576 ;;
                  create*) echo "${2%%%%/*}" ;;
                  *json*Config*) for image; do :; done; cat %1$s/"${image%%%%/*}".config ;;
                  export*) cat %1$s/"$2".tar ;;
                esac
                """.formatted(directory, DIGEST));
        assertThat(docker.toFile().setExecutable(true)).isTrue();
    }

    int run(String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<String>();
        command.add(Repository.root().resolve("gpufleet").toString());
        command.add("images");
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output").toFile());
        builder.environment().put("GPUFLEET_BASES", directory.resolve("bases").toString());
        builder.environment().merge("PATH", directory.resolve("bin").toString(), (path, first) -> first + ":" + path);
        return builder.start().waitFor();
    }

    List<String> dockerCalls() throws IOException {
        Path calls = directory.resolve("calls");
        return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
    }

    /** What each image of a registry has; returns the directory of its program. */
    Path export(String registry, String arguments, String cache) throws IOException, InterruptedException {
        Path files = Files.createDirectories(directory.resolve(registry + "/opt/gpufleet"));
        Files.writeString(files.resolve("jvm.args"), arguments);
        Files.writeString(files.resolve("node-daemon.aot"), cache);
        Files.deleteIfExists(files.resolve("latest"));
        Files.createSymbolicLink(files.resolve("latest"), Path.of("jvm.args"));
        configuration(registry, "{\"User\":\"65532\",\"Image\":\"sha256:" + registry + "\"}");
        pack(registry);
        return files;
    }

    void configuration(String registry, String json) throws IOException {
        Files.writeString(directory.resolve(registry + ".config"), json + "\n");
    }

    void pack(String registry, String... options) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("tar", "-c"));
        command.addAll(List.of(options));
        command.addAll(List.of(
                "-f",
                directory.resolve(registry + ".tar").toString(),
                "-C",
                directory.resolve(registry).toString(),
                "opt"));
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }

    String output() throws IOException {
        return Files.readString(directory.resolve("output"));
    }

    String bases() throws IOException {
        return Files.readString(directory.resolve("bases"));
    }
}
