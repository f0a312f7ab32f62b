package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.testkit.HostDriver;
import io.gpufleet.testbed.testkit.RealCluster;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Our CDI spec, and mounts without one, with a real kubelet and a real container runtime. */
class CdiClusterIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String POD = "gpufleet-it-cdi";
    /** The spec in the directory of the cluster's container runtime. */
    private static final Path SPEC = Path.of("/var/run/cdi/gpufleet.io-gpu.json");

    @TempDir
    Path directory;

    private final RealCluster cluster = RealCluster.open();

    @AfterEach
    void tidy() throws Exception {
        cluster.close();
        run(kubectl("delete", "pod", POD, "--ignore-not-found", "--grace-period=0", "--force"));
        Files.deleteIfExists(SPEC);
    }

    private static String run(List<String> command) throws Exception {
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new AssertionError(command + " printed " + output);
        }
        return output;
    }

    private static List<String> kubectl(String... arguments) {
        var command = new ArrayList<>(List.of(
                Optional.ofNullable(System.getenv("GPUFLEET_TEST_CLUSTER"))
                        .orElseThrow(() -> new AssertionError("GPUFLEET_TEST_CLUSTER has no cluster tool")),
                "kubectl"));
        command.addAll(List.of(arguments));
        return command;
    }

    private DaemonProcess daemon(int gpus, String strategy) throws Exception {
        var settings = new HashMap<>(HostDriver.make(directory, gpus));
        settings.put("GPUFLEET_KAFKA", "127.0.0.1:1");
        settings.put("GPUFLEET_NODE", cluster.nodeName());
        settings.put("GPUFLEET_DEVICES", "simulated:" + gpus + "xH100");
        settings.put("GPUFLEET_DEVICE_LIST_STRATEGY", strategy);
        return new DaemonProcess(directory, settings);
    }

    private void createPod(String driverFiles) throws Exception {
        Path manifest = Files.writeString(directory.resolve("pod.yaml"), """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  restartPolicy: Never
                  terminationGracePeriodSeconds: 0
                  containers:
                    - name: main
                      image: testbed/busybox:1
                      imagePullPolicy: IfNotPresent
                      command:
                        - sh
                        - -c
                        - |
                          echo visible=$NVIDIA_VISIBLE_DEVICES path=$LD_LIBRARY_PATH
                          ls /dev/nvidia*
                          echo kept > /dev/nvidiactl && echo writable
                          cat %s
                      resources: {limits: {nvidia.com/gpu: 1}}
                """.formatted(POD, driverFiles));
        run(kubectl("apply", "-f", manifest.toString()));
    }

    // A different number of devices each time, so that the Node's previous capacity does not match.
    @ParameterizedTest
    @CsvSource({"cdi-cri, 2", "cdi-annotations, 3"})
    void podHasTheDeviceAndTheDriverOfTheSpec(String strategy, int gpus) throws Exception {
        String printed = outputOfAPod(
                strategy, gpus, "/usr/lib64/libcuda.so.1 /usr/local/nvidia/lib64/libcuda.so.1 /usr/bin/nvidia-smi");

        assertThat(printed)
                .contains("visible=void path=\n", "/dev/nvidiactl\n", "writable\n", "this is nvidia-smi\n")
                .containsSubsequence("this is libcuda\n", "this is libcuda\n");
        assertThat(printed.lines().filter(line -> line.matches("/dev/nvidia\\d")))
                .hasSize(1);
    }

    @Test
    void podWithoutCdiHasTheDeviceAndTheDriverDirectory() throws Exception {
        String printed =
                outputOfAPod("host-mounts", 4, "/usr/local/nvidia/lib64/libcuda.so.1 /usr/local/nvidia/bin/nvidia-smi");

        assertThat(printed)
                .contains("visible=void path=\n", "/dev/nvidiactl\n", "/dev/nvidia-uvm\n", "writable\n")
                .endsWith("this is libcuda\nthis is nvidia-smi\n");
        assertThat(printed.lines().filter(line -> line.matches("/dev/nvidia\\d")))
                .hasSize(1);
    }

    /** Output of a pod with one GPU, once it has succeeded. */
    private String outputOfAPod(String strategy, int gpus, String driverFiles) throws Exception {
        try (var daemon = daemon(gpus, strategy)) {
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(cluster.allocatableGpus())
                            .as(daemon.log())
                            .isEqualTo(gpus));
            createPod(driverFiles);
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(run(kubectl("get", "pod", POD, "-o", "jsonpath={.status.phase}")))
                            .as(() -> describe(daemon))
                            .isEqualTo("Succeeded"));
            return run(kubectl("logs", POD));
        }
    }

    private static String describe(DaemonProcess daemon) {
        try {
            return run(kubectl("describe", "pod", POD)) + daemon.log();
        } catch (Exception failed) {
            return failed + daemon.log();
        }
    }
}
