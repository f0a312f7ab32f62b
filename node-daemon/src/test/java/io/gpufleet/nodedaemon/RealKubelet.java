package io.gpufleet.nodedaemon;

import io.gpufleet.testbed.testkit.RealCluster;

/** The real kubelet of the cluster, with pods in the namespace {@code default}. */
final class RealKubelet implements AutoCloseable {
    private static final String NAMESPACE = "default";

    private final RealCluster cluster = RealCluster.open();

    static RealKubelet open() {
        return new RealKubelet();
    }

    String node() {
        return cluster.nodeName();
    }

    /** Allocatable and all GPUs of the Node, for example {@code 7 of 8}. */
    String gpus() {
        return cluster.allocatableGpus() + " of " + cluster.capacityGpus();
    }

    void stop() {
        cluster.stopKubelet();
    }

    void start() {
        cluster.startKubelet();
    }

    void run(String name, int gpus, String shellCommand) {
        cluster.runPod(NAMESPACE, name, gpus, shellCommand);
    }

    String state(String name) {
        return cluster.podState(NAMESPACE, name);
    }

    String log(String name) {
        return cluster.podLog(NAMESPACE, name);
    }

    void remove(String name) {
        cluster.deletePod(NAMESPACE, name);
    }

    @Override
    public void close() {
        cluster.close();
    }
}
