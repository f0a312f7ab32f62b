package io.gpufleet.cli.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gpufleet.cli.chart.Manifests;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The images that {@code ./gpufleet images build} has made on this machine, where Docker runs and has them. */
class BuiltImagesIT {
    private static final String VERSION = version();

    @ParameterizedTest
    @CsvSource(textBlock = """
        node-daemon,        '',          true
        inventory-service,  65532:65532, true
        health-service,     65532:65532, true
        allocation-service, 65532:65532, true
        cli,                65532:65532, false
        """)
    void imageSaysItsUserItsVersionAndItsHealthCheck(String program, String user, boolean isServer) {
        assertThat(inspect(program, "{{.Config.User}}")).isEqualTo(user);
        assertThat(inspect(program, "{{index .Config.Labels \"org.opencontainers.image.version\"}}"))
                .isEqualTo(VERSION);
        assertThat(inspect(program, "{{index .Config.Labels \"org.opencontainers.image.revision\"}}"))
                .matches("[0-9a-f]{40}");
        assertThat(inspect(program, "{{.Config.Healthcheck.Test}}"))
                .isEqualTo(isServer ? healthCheck(program) : "[NONE]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"node-daemon", "inventory-service", "health-service", "allocation-service", "cli"})
    void programStartsWithAReadOnlyRootAndWithoutRights(String program) {
        String said = run(program, "--read-only", "--cap-drop=ALL", "--network=none", image(program), "--version");

        assertThat(said).contains(VERSION);
    }

    /** With this mode a virtual machine that cannot map its cache does not start. */
    @Test
    void daemonMapsItsAotCache() {
        String said = run("node-daemon", "--env=JAVA_FLAGS=-XX:AOTMode=on", image("node-daemon"), "--version");

        assertThat(said).contains(VERSION);
    }

    @ParameterizedTest
    @ValueSource(strings = {"node-daemon", "inventory-service", "health-service", "allocation-service", "cli"})
    void imageHasItsBillOfMaterialsAndTheLicences(String program) {
        String bill = run(program, "--entrypoint=/bin/cat", image(program), "/opt/gpufleet/bom.json");
        String licences = run(program, "--entrypoint=/bin/cat", image(program), "/opt/gpufleet/licenses.txt");

        assertThat(bill).contains("\"CycloneDX\"");
        // Each library that the image carries, by its name and version.
        assertThat(libraries(program))
                .anyMatch(jar -> jar.startsWith("kafka-clients-"))
                .allSatisfy(jar -> assertThat(materials(bill)).anyMatch(jar::startsWith));
        assertThat(licences).contains("Apache");
    }

    /** Jars of others; those of gpufleet are of this build. */
    private static List<String> libraries(String program) {
        String paths = run(program, "--entrypoint=/bin/sh", image(program), "-c", "echo /opt/gpufleet/lib/*.jar");
        return Arrays.stream(paths.split(" "))
                .map(path -> path.substring(path.lastIndexOf('/') + 1))
                .filter(jar -> !jar.contains("-SNAPSHOT"))
                .toList();
    }

    /** Artifact and version of every package URL, as the name of a jar begins. */
    private static List<String> materials(String bill) {
        return Pattern.compile("pkg:maven/[^/]+/([^@\"?]+)@([^?\"]+)")
                .matcher(bill)
                .results()
                .map(found -> found.group(1) + "-" + found.group(2))
                .toList();
    }

    private static String healthCheck(String program) {
        return "[CMD /usr/local/bin/ready " + (program.equals("node-daemon") ? 9400 : 8080) + "]";
    }

    private static String inspect(String program, String format) {
        requireImage(program);
        return succeeded(Manifests.run("docker", "image", "inspect", "--format", format, image(program)));
    }

    private static String run(String program, String... arguments) {
        requireImage(program);
        var command = new String[arguments.length + 3];
        command[0] = "docker";
        command[1] = "run";
        command[2] = "--rm";
        System.arraycopy(arguments, 0, command, 3, arguments.length);
        return succeeded(Manifests.run(command));
    }

    private static void requireImage(String program) {
        assumeTrue(Manifests.isOnPath("docker"), "no docker here, by which images are built and run");
        CommandOutput found = Manifests.run("docker", "image", "inspect", image(program));
        assumeTrue(found.status() == 0, () -> "no " + image(program) + " here: ./gpufleet images build");
    }

    private static String succeeded(CommandOutput output) {
        assertThat(output.status()).as(output.text()).isZero();
        return output.text().strip();
    }

    private static String image(String program) {
        return "gpufleet/" + program + ":" + VERSION;
    }

    private static String version() {
        try {
            Matcher found = Pattern.compile("(?m)^  <version>(.*?)(?:-SNAPSHOT)?</version>")
                    .matcher(Files.readString(Repository.root().resolve("pom.xml")));
            assertThat(found.find()).isTrue();
            return found.group(1);
        } catch (IOException failed) {
            throw new AssertionError("pom.xml cannot be read", failed);
        }
    }
}
