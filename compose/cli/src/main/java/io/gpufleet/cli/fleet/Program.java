package io.gpufleet.cli.fleet;

import java.util.stream.Stream;

/** The programs that a fleet runs as processes, each with a class path and a JVM of its own. */
public enum Program {
    /** The fake API server. */
    FAKE_API_SERVER("compose/testbed/fake-apiserver", "io.gpufleet.testbed.fakeapiserver.FakeApiServerMain", 192),
    /** All fake kubelets in one process. */
    FAKE_KUBELETS("compose/testbed/fake-kubelet", "io.gpufleet.testbed.fakekubelet.FakeKubeletMain", 128),
    /** One process per replica. */
    INVENTORY("inventory-service", "io.gpufleet.inventory.InventoryMain", 192),
    /** One process per replica. */
    HEALTH("health-service", "io.gpufleet.health.HealthMain", 192),
    /** One process per replica. */
    ALLOCATION("allocation-service", "io.gpufleet.allocation.AllocationMain", 192),
    /** One process per node. */
    NODE_DAEMON("node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", 32);

    private final String module;
    private final String mainClass;
    private final int heapMegabytes;

    Program(String module, String mainClass, int heapMegabytes) {
        this.module = module;
        this.mainClass = mainClass;
        this.heapMegabytes = heapMegabytes;
    }

    /** Whether the program of that name is one of the three services. */
    public static boolean isService(String name) {
        return Stream.of(INVENTORY, HEALTH, ALLOCATION)
                .anyMatch(service -> service.name().equals(name));
    }

    /** Directory below the root of the tree. */
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
