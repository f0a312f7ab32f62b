package io.gpufleet.cli.images;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.gpufleet.cli.manifests.ManifestFiles;
import io.gpufleet.testbed.kafka.FreePort;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every image of compose/docker has in common. */
class ImagesTest {
    private static final Path DOCKER = Repository.module("compose/docker");
    private static final String DIGEST = "5e".repeat(32);

    @ParameterizedTest
    @ValueSource(strings = {"source", "licenses", "vendor", "version", "revision"})
    void imagesSayWhereTheyComeFrom(String label) throws IOException {
        assertThat(Files.readString(DOCKER.resolve("Dockerfile"))).contains("org.opencontainers.image." + label + "=");
    }

    @ParameterizedTest
    @CsvSource({"service, 8080", "node-daemon, 9400"})
    void imagesOfServersHaveAHealthCheck(String target, int port) throws IOException {
        assertThat(stage(target)).contains("HEALTHCHECK").contains("[\"/usr/local/bin/ready\", \"" + port + "\"]");
        assertThat(DOCKER.resolve("ready.sh")).isExecutable();
    }

    @Test
    void imagesHaveNothingButWhatIsCopied() throws IOException {
        assertThat(stage("base")).startsWith("FROM scratch AS base\nCOPY --from=root /image /\n");
    }

    @Test
    void programsButTheDaemonAreNotRoot() throws IOException {
        assertThat(stage("service")).startsWith("FROM base AS service\n").contains("\nUSER 65532:65532\n");
        List<String> stages = Files.readString(DOCKER.resolve("Dockerfile"))
                .lines()
                .filter(line -> line.startsWith("FROM "))
                .toList();
        assertThat(stages.subList(stages.indexOf("FROM scratch AS base"), stages.size()))
                .containsExactly(
                        "FROM scratch AS base",
                        "FROM base AS node-daemon",
                        "FROM base AS service",
                        "FROM service AS inventory-service",
                        "FROM service AS health-service",
                        "FROM service AS allocation-service",
                        "FROM service AS cli",
                        "FROM service AS fake-apiserver",
                        "FROM service AS fake-kubelet");
        assertThat(Files.readString(DOCKER.resolve("Dockerfile"))).containsOnlyOnce("USER ");
    }

    private static String stage(String target) throws IOException {
        String stages = Files.readString(DOCKER.resolve("Dockerfile"));
        int name = stages.indexOf(" AS " + target + "\n");
        return stages.substring(stages.lastIndexOf("\nFROM ", name) + 1).split("\nFROM ", 2)[0];
    }

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseSerialGC", "-XX:+UseG1GC", "-XX:+UseParallelGC"})
    void serviceStartsWithTheCollectorThatJavaFlagsName(String collector) throws Exception {
        Process version = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "@" + Repository.module("proto/service-runtime").resolve("jvm.args"),
                        collector,
                        "-version")
                .redirectErrorStream(true)
                .start();

        assertThat(version.inputReader().lines()).noneMatch(line -> line.contains("Conflicting"));
        assertThat(version.waitFor()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "1879048192, 200000 100000, 0-1, 0",
        "max, max 100000, 0-127, 0",
        "3758096384, 150000 100000, 0-7, 0",
        "1879048191, max 100000, 0-7, 1",
        "1073741824, max 100000, 0-7, 1",
        "3758096384, 100000 100000, 0-7, 1",
        "3758096384, max 100000, 0, 1"
    })
    void serviceOfALargeContainerHasTheArgumentsOfALargeFleet(
            String memory, String quota, String processors, int exitStatus, @TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("memory.max"), memory + "\n");
        Files.writeString(directory.resolve("cpu.max"), quota + "\n");
        Files.writeString(directory.resolve("online"), processors + "\n");

        assertThat(large(directory)).isEqualTo(exitStatus);
    }

    @Test
    void serviceWithoutALimitThatCanBeReadHasTheUsualArguments(@TempDir Path directory) throws Exception {
        assertThat(large(directory)).isEqualTo(1);
    }

    private static int large(Path limits) throws Exception {
        return new ProcessBuilder(
                        DOCKER.resolve("large.sh").toString(),
                        limits.toString(),
                        limits.resolve("online").toString())
                .start()
                .waitFor();
    }

    @ParameterizedTest
    @CsvSource({"200, 0", "503, 1"})
    void healthCheckAsksWhetherTheProgramIsReady(int answer, int exitStatus) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/readyz", exchange -> {
            exchange.sendResponseHeaders(answer, -1);
            exchange.close();
        });
        server.start();
        try {
            assertThat(ready(server.getAddress().getPort())).isEqualTo(exitStatus);
        } finally {
            server.stop(0);
        }
    }

    @Test
    void healthCheckFailsWhereNothingListens() throws Exception {
        assertThat(ready(FreePort.next())).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Dockerfile", "layout.sh", "root.sh", "rootfs.sh", "runtime.sh", "ready.sh", "large.sh"})
    void imagesAreBuiltForAnyArchitecture(String file) throws IOException {
        assertThat(Files.readString(DOCKER.resolve(file)).replace("linux/arm64", ""))
                .doesNotContainPattern("(?i)amd64|x86.64|aarch64|arm64");
    }

    @Test
    void buildTakesTheBasesOfTheFile(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(
                directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim@sha256:" + DIGEST + "\n");

        assertThat(images.run("build", "registry.example/fleet")).isZero();

        assertThat(images.dockerCalls())
                .filteredOn(call -> call.startsWith("build "))
                .hasSize(5)
                .allMatch(call -> call.contains(
                        "--build-arg GPUFLEET_BUILD_IMAGE=maven:3 --build-arg GPUFLEET_BASE_IMAGE=debian:13-slim@sha256:"
                                + DIGEST))
                .anyMatch(call -> call.contains("-t registry.example/fleet/health-service:"));
    }

    @Test
    void pushSendsEveryImageThatBuildMakes(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");

        assertThat(images.run("push", "registry.example:5000/fleet"))
                .as(images.output())
                .isZero();

        assertThat(images.dockerCalls())
                .filteredOn(call -> !call.startsWith("version"))
                .containsExactlyInAnyOrderElementsOf(ManifestFiles.IMAGES.stream()
                        .map(image -> "push registry.example:5000/fleet" + image.substring(image.indexOf('/')) + ":"
                                + ManifestFiles.RELEASE)
                        .toList());
    }

    @Test
    void pushWithoutRegistryCallsNobody(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");

        assertThat(images.run("push")).isEqualTo(2);

        assertThat(images.output()).contains("images push: name the registry");
        assertThat(images.dockerCalls()).isEmpty();
    }

    @Test
    void imageThatTheRegistryRefusesEndsThePush(@TempDir Path directory) throws Exception {
        // Given
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");
        Path docker = directory.resolve("bin/docker");
        Files.writeString(
                docker,
                Files.readString(docker)
                        .replace("case", "case \"$1 $2\" in push*/health-service:*) exit 1 ;; esac\ncase"));
        // When
        int status = images.run("push", "registry.example/fleet");
        // Then
        assertThat(status).isEqualTo(1);
        assertThat(images.output())
                .contains("registry.example/fleet/health-service:" + ManifestFiles.RELEASE + " was not pushed");
        assertThat(images.dockerCalls()).noneMatch(call -> call.contains("/cli:"));
    }

    @Test
    void releaseIsNotBuiltOnABaseWithoutDigest(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(
                directory, "GPUFLEET_BUILD_IMAGE=maven:3@sha256:" + DIGEST + "\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");

        assertThat(images.run("build", "--release", "registry.example/fleet")).isEqualTo(2);

        assertThat(images.output())
                .contains("'GPUFLEET_BASE_IMAGE=debian:13-slim'", "has no digest", "./gpufleet images pin");
        assertThat(images.dockerCalls()).isEmpty();
    }

    @Test
    void basesOfThisCheckoutArePinned() throws IOException {
        assertThat(Files.readAllLines(Repository.module("compose/.env")))
                .filteredOn(line -> !line.startsWith("#"))
                .hasSize(2)
                .allMatch(line -> line.matches("GPUFLEET_(BUILD|BASE)_IMAGE=[a-z]+:[^@]+@sha256:[0-9a-f]{64}"));
        assertThat(Files.readAllLines(DOCKER.resolve("Dockerfile")))
                .contains("ARG GPUFLEET_BUILD_IMAGE", "ARG GPUFLEET_BASE_IMAGE");
    }

    @Test
    void pinWritesTheDigestOfTheRegistry(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(
                directory,
                "# bases\nGPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13@sha256:" + "0".repeat(64) + "\n");

        assertThat(images.run("pin")).isZero();

        assertThat(images.dockerCalls()).contains("pull -q maven:3", "pull -q debian:13");
        assertThat(images.bases())
                .isEqualTo("# bases\nGPUFLEET_BUILD_IMAGE=maven:3@sha256:" + DIGEST
                        + "\nGPUFLEET_BASE_IMAGE=debian:13@sha256:" + DIGEST + "\n");
        assertThat(images.run("build", "--release", "registry.example/fleet")).isZero();
    }

    @Test
    void podmanBuildsWhereNoDockerDaemonAnswers(@TempDir Path directory) throws Exception {
        // Given
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");
        Path docker = directory.resolve("bin/docker");
        Files.move(docker, docker.resolveSibling("podman"));
        Files.writeString(docker, "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n");
        assertThat(docker.toFile().setExecutable(true)).isTrue();
        // When
        int status = images.run("build", "registry.example/fleet");
        // Then
        assertThat(status).as(images.output()).isZero();
        assertThat(images.dockerCalls())
                .filteredOn(call -> call.startsWith("build "))
                .hasSize(5)
                .allMatch(call -> call.contains(" --format docker "));
    }

    @Test
    void comparedImagesNameTheFilesThatDiffer(@TempDir Path directory) throws Exception {
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");
        images.export("one", "same", "cache of one");
        images.export("other", "same", "cache of the other");
        assertThat(images.run("compare", "one", "other")).as(images.output()).isZero();

        images.export("other", "changed", "cache of the other");
        assertThat(images.run("compare", "one", "other")).isEqualTo(1);

        assertThat(images.output())
                .contains("health-service: ./opt/gpufleet/jvm.args")
                .doesNotContain(".aot");
    }

    @Test
    void comparedImagesNameModesOwnersLinksAndConfigurationsThatDiffer(@TempDir Path directory) throws Exception {
        // Given
        var images = new ImagesCommand(directory, "GPUFLEET_BUILD_IMAGE=maven:3\nGPUFLEET_BASE_IMAGE=debian:13-slim\n");
        images.export("one", "same", "cache");
        Path other = images.export("other", "same", "cache");
        Path arguments = other.resolve("jvm.args");
        Path link = other.resolve("latest");

        // When, one after the other
        assertThat(arguments.toFile().setExecutable(true)).isTrue();
        images.pack("other");
        assertThat(images.run("compare", "one", "other")).isEqualTo(1);
        // Then
        assertThat(images.output()).containsPattern("opt/gpufleet/jvm.args is -rwx[rwx-]+ [0-9]+/[0-9]+");

        assertThat(arguments.toFile().setExecutable(false)).isTrue();
        Files.delete(link);
        Files.createSymbolicLink(link, Path.of("elsewhere"));
        images.pack("other");
        assertThat(images.run("compare", "one", "other")).isEqualTo(1);
        assertThat(images.output())
                .contains("opt/gpufleet/latest -> elsewhere is l", "opt/gpufleet/latest -> jvm.args");

        Files.delete(link);
        Files.createSymbolicLink(link, Path.of("jvm.args"));
        images.pack("other", "--owner=7");
        assertThat(images.run("compare", "one", "other")).isEqualTo(1);
        assertThat(images.output()).containsPattern("opt/gpufleet/jvm.args is -[rwx-]+ 7/");

        images.pack("other");
        images.configuration("other", "{\"User\":\"0\",\"Image\":\"sha256:5e\"}");
        assertThat(images.run("compare", "one", "other")).isEqualTo(1);
        assertThat(images.output()).contains("configuration {\"User\":\"0\"}").doesNotContain("sha256:5e");

        images.configuration("other", "{\"User\":\"65532\",\"Image\":\"sha256:5e\"}");
        assertThat(images.run("compare", "one", "other")).as(images.output()).isZero();
    }

    private static int ready(int port) throws IOException, InterruptedException {
        var check = new ProcessBuilder(DOCKER.resolve("ready.sh").toString(), Integer.toString(port));
        check.environment().keySet().removeIf(name -> name.startsWith("GPUFLEET_"));
        return check.redirectErrorStream(true).start().waitFor();
    }

    /** {@code ./gpufleet images} with a docker that notes how it is called, and knows one digest. */
    private record ImagesCommand(Path directory) {
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
            builder.environment()
                    .put("GPUFLEET_BASES", directory.resolve("bases").toString());
            builder.environment()
                    .merge("PATH", directory.resolve("bin").toString(), (path, first) -> first + ":" + path);
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
            assertThat(new ProcessBuilder(command).inheritIO().start().waitFor())
                    .isZero();
        }

        String output() throws IOException {
            return Files.readString(directory.resolve("output"));
        }

        String bases() throws IOException {
            return Files.readString(directory.resolve("bases"));
        }
    }
}
