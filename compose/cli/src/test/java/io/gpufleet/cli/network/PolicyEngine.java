package io.gpufleet.cli.network;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gpufleet.cli.chart.Manifests;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** kube-router as a process on the machine of the test's cluster: it enforces network policies there and does nothing else. */
public final class PolicyEngine implements AutoCloseable {
    private static final Path REMOVE =
            Repository.module("compose/cli").resolve("src/test/resources/remove-policy-engine.sh");

    private static final List<String> TOOLS = List.of("kube-router", "ipset", "iptables");

    private final Process router;

    private PolicyEngine(Process router) {
        this.router = router;
    }

    /** True where this machine has it. */
    public static boolean isHere() {
        return TOOLS.stream().allMatch(Manifests::isOnPath);
    }

    /** Starts it for the node; the test is left out where this machine does not have it. */
    public static PolicyEngine start(String node, Path log) throws IOException {
        assumeTrue(isHere(), "no " + String.join(" or ", TOOLS) + " here, by which network policies take effect");
        return new PolicyEngine(new ProcessBuilder(
                        "kube-router",
                        "--kubeconfig=" + RealCluster.kubeconfig(),
                        "--hostname-override=" + node,
                        "--run-firewall=true",
                        "--run-router=false",
                        "--run-service-proxy=false",
                        "--health-port=0")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start());
    }

    /** Ends it, and takes its rules away. */
    @Override
    public void close() throws IOException, InterruptedException {
        router.destroy();
        if (!router.waitFor(20, TimeUnit.SECONDS)) {
            router.destroyForcibly().waitFor();
        }
        int status =
                new ProcessBuilder("sh", REMOVE.toString()).inheritIO().start().waitFor();
        if (status != 0) {
            throw new AssertionError(REMOVE + " exited with status " + status);
        }
    }
}
