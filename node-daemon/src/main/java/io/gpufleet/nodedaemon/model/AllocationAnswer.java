package io.gpufleet.nodedaemon.model;

import java.util.List;
import java.util.Map;

/** What the kubelet is answered when it asks what containers need. */
public sealed interface AllocationAnswer {
    /** One grant for each container, in the order of the request. */
    record Granted(List<Grant> containers) implements AllocationAnswer {
        /** Copies the list. */
        public Granted {
            containers = List.copyOf(containers);
        }
    }

    /**
     * The whole call fails.
     *
     * @param kind whose mistake it is
     * @param message names the id and what to do
     */
    record Refused(Refusal kind, String message) implements AllocationAnswer {}

    /** Whose mistake it is. */
    enum Refusal {
        /** The request can never be granted as it stands. */
        INVALID_ARGUMENT,
        /** The request is well-formed, the device is not in a state to be handed out. */
        FAILED_PRECONDITION
    }

    /**
     * What one container gets.
     *
     * @param annotations for the container runtime
     * @param cdiDevices fully qualified CDI names, {@code vendor/class=name}
     */
    record Grant(
            Map<String, String> environment,
            List<Mount> mounts,
            List<DeviceNode> deviceNodes,
            Map<String, String> annotations,
            List<String> cdiDevices) {
        /** Copies. */
        public Grant {
            environment = Map.copyOf(environment);
            mounts = List.copyOf(mounts);
            deviceNodes = List.copyOf(deviceNodes);
            annotations = Map.copyOf(annotations);
            cdiDevices = List.copyOf(cdiDevices);
        }
    }

    /** A file or directory of the host. */
    record Mount(String hostPath, String containerPath, boolean readOnly) {
        /** A mount that the container can not write to. */
        public Mount(String hostPath, String containerPath) {
            this(hostPath, containerPath, true);
        }
    }

    /** A device node, where it is on the host and where the container sees it. */
    record DeviceNode(String hostPath, String path, String permissions) {
        /** The same path inside and outside. */
        public DeviceNode(String path, String permissions) {
            this(path, path, permissions);
        }
    }
}
