package io.gpufleet.nodedaemon.model;

import java.util.List;

/**
 * One container that has devices of one resource.
 *
 * @param podUid empty while unknown: the kubelet tells it only in its checkpoint
 * @param deviceIds as the kubelet knows them, sorted
 */
public record Holder(
        String namespace, String pod, String podUid, String container, String resource, List<String> deviceIds) {
    /** Stands where the resource would for devices of a claim; it is the name of NVIDIA's DRA driver. */
    public static final String DRA_DRIVER = "gpu.nvidia.com";

    /** Copies the list. */
    public Holder {
        deviceIds = List.copyOf(deviceIds);
    }

    /** The same holder, now that the UID of its pod is known. */
    public Holder of(String uid) {
        return new Holder(namespace, pod, uid, container, resource, deviceIds);
    }

    /** Whether a pod has by a claim what nobody can tell the place of. */
    boolean mayBeAnywhere(String uid) {
        return resource.equals(DRA_DRIVER)
                && (podUid.isEmpty() || podUid.equals(uid))
                && deviceIds.stream().anyMatch(id -> id.startsWith("gpu-"));
    }

    /** The same holder with other names for its devices. */
    Holder having(List<String> ids) {
        return new Holder(namespace, pod, podUid, container, resource, ids);
    }
}
