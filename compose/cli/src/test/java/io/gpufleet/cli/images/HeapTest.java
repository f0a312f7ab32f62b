package io.gpufleet.cli.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.gpufleet.cli.manifests.ManifestFiles;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heaps of virtual machines with the arguments of the images and manifests. */
class HeapTest {
    private static final Pattern MAX_HEAP = Pattern.compile("MaxHeapSize += (\\d+)");
    private static final Pattern PAGE = Pattern.compile("heap of a service is (\\d+) % of its memory limit");
    private static final Pattern COMMANDS =
            Pattern.compile("\\[ \"\\$program\" != cli ] \\|\\| printf '%s\\\\n' (.*) >>");
    private static final long MEBIBYTE = 1 << 20;

    private static Process java(Path arguments, List<String> further) throws IOException {
        var command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "@" + arguments));
        command.addAll(further);
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("JDK_JAVA_OPTIONS");
        return builder.start();
    }

    /** The largest heap of a virtual machine in a container with a memory limit. */
    private static long maxHeap(long limit, List<String> flags) throws Exception {
        var further = new ArrayList<>(List.of("-XX:MaxRAM=" + limit));
        further.addAll(flags);
        further.addAll(List.of("-XX:+PrintFlagsFinal", "-version"));
        Process process = java(Repository.module("proto/service-runtime").resolve("jvm.args"), further);
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return Long.parseLong(group(MAX_HEAP, output));
    }

    private static String group(Pattern pattern, String text) {
        Matcher found = pattern.matcher(text);
        assertThat(found.find()).as("%s in %s", pattern, text).isTrue();
        return found.group(1);
    }

    private static long memoryLimit(Container container) {
        return Quantity.getAmountInBytes(container.getResources().getLimits().get("memory"))
                .longValueExact();
    }

    @Test
    void heapOfAServiceIsThePartOfItsLimitThatThePageNames() throws Exception {
        int percent = Integer.parseInt(group(PAGE, Files.readString(Repository.module("k8s/README.md"))));
        List<Container> services = ManifestFiles.objects().stream()
                .filter(StatefulSet.class::isInstance)
                .map(StatefulSet.class::cast)
                .flatMap(set -> set.getSpec().getTemplate().getSpec().getContainers().stream())
                .filter(container -> container.getName().endsWith("-service"))
                .toList();
        assertThat(services).hasSize(3);

        for (Container service : services) {
            String flags = service.getEnv().stream()
                    .filter(variable -> variable.getName().equals("JAVA_FLAGS"))
                    .map(EnvVar::getValue)
                    .findFirst()
                    .orElseThrow();
            long limit = memoryLimit(service);
            assertThat(limit).as(service.getName()).isEqualTo(1024 * MEBIBYTE);
            assertThat(maxHeap(limit, List.of(flags.split(" "))))
                    .as(service.getName())
                    .isCloseTo(limit * percent / 100, within(2 * MEBIBYTE));
        }
    }

    @Test
    void heapOfACommandIsHalfOfTheLimitOfItsJob() throws Exception {
        String flags = group(COMMANDS, Files.readString(Repository.module("compose/docker/layout.sh")));

        assertThat(maxHeap(256 * MEBIBYTE, List.of(flags.split(" ")))).isCloseTo(128 * MEBIBYTE, within(2 * MEBIBYTE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"proto/service-runtime", "node-daemon"})
    void programWithoutHeapEndsWithStatus3(String module) throws Exception {
        Path classes = Path.of(EndlessHeap.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Process process = java(
                Repository.module(module).resolve("jvm.args"),
                List.of("-Xms16m", "-Xmx16m", "-cp", classes.toString(), EndlessHeap.class.getName()));
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(3);
            assertThat(process.inputReader().readAllAsString()).contains("java.lang.OutOfMemoryError");
        } finally {
            process.destroyForcibly();
        }
    }
}
