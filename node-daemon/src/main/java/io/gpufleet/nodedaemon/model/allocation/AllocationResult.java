package io.gpufleet.nodedaemon.model.allocation;

import java.util.List;
import java.util.Map;

/** Result of an Allocate call. */
public sealed interface AllocationResult {
    /** One allocation for each container, in the order of the request. */
    record Accepted(List<ContainerAllocation> containers) implements AllocationResult {
        /** Copies the list. */
        public Accepted {
            containers = List.copyOf(containers);
        }
    }

    /**
     * The whole call is refused.
     *
     * @param code class of the refusal
     * @param message names the device id and the remedy
     */
    record Refused(RefusalCode code, String message) implements AllocationResult {}

    /** Class of a refusal, as in gRPC. */
    enum RefusalCode {
        /** The request can never succeed. */
        INVALID_ARGUMENT,
        /** The request is valid, but the device cannot be allocated in its present state. */
        FAILED_PRECONDITION
    }

    /**
     * The allocation of one container.
     *
     * @param annotations for the container runtime
     * @param cdiDevices fully qualified CDI names, {@code vendor/class=name}
     */
    record ContainerAllocation(
            Map<String, String> environment,
            List<Mount> mounts,
            List<DeviceNode> deviceNodes,
            Map<String, String> annotations,
            List<String> cdiDevices) {
        /** Copies. */
        public ContainerAllocation {
            environment = Map.copyOf(environment);
            mounts = List.copyOf(mounts);
            deviceNodes = List.copyOf(deviceNodes);
            annotations = Map.copyOf(annotations);
            cdiDevices = List.copyOf(cdiDevices);
        }
    }

    /** A mount of a file or directory of the host. */
    record Mount(String hostPath, String containerPath, boolean readOnly) {
        /** Makes a read-only mount. */
        public Mount(String hostPath, String containerPath) {
            this(hostPath, containerPath, true);
        }
    }

    /** A device node, by its path on the host and in the container. */
    record DeviceNode(String hostPath, String path, String permissions) {
        /** Makes a node with the same path on the host and in the container. */
        public DeviceNode(String path, String permissions) {
            this(path, path, permissions);
        }
    }
}
