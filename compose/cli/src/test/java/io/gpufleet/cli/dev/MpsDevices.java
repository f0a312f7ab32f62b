package io.gpufleet.cli.dev;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.PageCommands;
import io.gpufleet.cli.install.TestImages;
import io.gpufleet.testbed.testkit.RealCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The component {@code mps}, with stand-ins for the two programs of the driver that its script calls. */
final class MpsDevices {
    private static final String PAGE = "k8s/components/mps/README.md";
    private static final String POD = "gpufleet-it-mps";

    private static final Map<String, String> PROGRAMS =
            Map.of("nvidia-smi", "#!/bin/sh\necho \"smi $*\" >>/tmp/calls\n", "nvidia-cuda-mps-control", """
            #!/bin/sh
            # Answers while the process is alive whose id it wrote.
            pid=$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid
            if [ "${1:-}" = -d ]; then
              echo "start $CUDA_VISIBLE_DEVICES" >>/tmp/calls
              touch /dev/shm/of-the-server
              sleep 3600 >/dev/null 2>&1 &
              printf %s $! >"$pid"
              touch "$CUDA_MPS_PIPE_DIRECTORY/control"
              exit 0
            fi
            read -r command
            [ -s "$pid" ] && [ -d "/proc/$(cat "$pid")" ] || exit 1
            echo "$command" >>/tmp/calls
            case $command in
              get_*) echo 50.0 ;;
              quit) kill "$(cat "$pid")" ;;
            esac
            """);

    private MpsDevices() {}

    /** Loads the image of its pods. */
    static void loadImage(Path directory) throws IOException, InterruptedException {
        Path programs = Files.createDirectories(directory.resolve("mps-programs"));
        for (var program : PROGRAMS.entrySet()) {
            Files.writeString(programs.resolve(program.getKey()), program.getValue());
        }
        TestImages.loadMps(directory, programs);
    }

    /** Shares each GPU by two: the control daemon gets the limits, and a pod its pipe and shared memory. */
    static void share(CheckoutCopy checkout, RealCluster cluster, InstalledNode node) throws Exception {
        for (String file : List.of("shared.yaml", "select.yaml")) {
            Files.writeString(checkout.directory().resolve(file), PageCommands.block(PAGE, "# " + file));
        }
        checkout.runBlock(PAGE, "kubectl -n gpufleet-node create configmap");
        checkout.edit(
                DevOverlayClusterIT.OVERLAY + "/kustomization.yaml",
                "components:\n",
                "components:\n  - ../../components/mps\n");
        checkout.run("kubectl apply -k " + DevOverlayClusterIT.OVERLAY);
        checkout.run("kubectl -n gpufleet-node rollout status daemonset/node-daemon --timeout=60s");
        node.awaitLabel("nvidia.com/mps.capable", "true");
        node.awaitGpus(16);
        assertThat(checkout.run("kubectl -n gpufleet-node exec ds/mps-control -- sh -c 'cat /tmp/calls'"))
                .contains("-c EXCLUSIVE_PROCESS", "start GPU-", "set_default_active_thread_percentage 50");

        cluster.runPod(
                "default",
                POD,
                1,
                "echo pipe=$CUDA_MPS_PIPE_DIRECTORY; ls $CUDA_MPS_PIPE_DIRECTORY /dev/shm; grep ' /dev/shm ' /proc/mounts");
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(
                        () -> assertThat(cluster.podState("default", POD)).startsWith("Succeeded"));
        assertThat(cluster.podLog("default", POD))
                .contains("pipe=/mps/nvidia.com/gpu/pipe", "nvidia-cuda-mps-control.pid", "of-the-server", "tmpfs");
        cluster.deletePod("default", POD);
    }
}
