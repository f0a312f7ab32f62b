package io.gpufleet.compose.fleet;

/** The programs that a fleet runs as processes; each has a class path and a virtual machine of its own. */
public enum Program {
    /** The stand-in API. */
    KUBE_API("compose/kube-api", "io.gpufleet.compose.kubeapi.KubeApiMain", 192),
    /** All stand-in kubelets in one process. */
    KUBELETS("compose/kubelet", "io.gpufleet.compose.kubelet.KubeletMain", 128),
    /** One a replica. */
    INVENTORY("inventory-service", "io.gpufleet.inventory.InventoryMain", 192),
    /** One a replica. */
    HEALTH("health-service", "io.gpufleet.health.HealthMain", 192),
    /** One a replica. */
    ALLOCATION("allocation-service", "io.gpufleet.allocation.AllocationMain", 192),
    /** One a node. */
    NODE_DAEMON("node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", 32);

    private final String module;
    private final String mainClass;
    private final int heapMegabytes;

    Program(String module, String mainClass, int heapMegabytes) {
        this.module = module;
        this.mainClass = mainClass;
        this.heapMegabytes = heapMegabytes;
    }

    /** Folder below the root of the tree. */
    public String module() {
        return module;
    }

    /** The class with {@code main}. */
    public String mainClass() {
        return mainClass;
    }

    /** Largest heap, MiB. */
    public int heapMegabytes() {
        return heapMegabytes;
    }
}
