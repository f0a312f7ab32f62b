package io.gpufleet.nodedaemon.model.holders;

import java.util.List;

/**
 * One container with devices of one resource.
 *
 * @param podUid empty while unknown: only the kubelet's checkpoint has it
 * @param deviceIds as the kubelet knows them, sorted
 */
public record Holder(
        String namespace, String pod, String podUid, String container, String resource, List<String> deviceIds) {
    /** Takes the place of the resource for devices of a ResourceClaim: the name of NVIDIA's DRA driver. */
    public static final String DRA_DRIVER = "gpu.nvidia.com";

    /** Copies the list. */
    public Holder {
        deviceIds = List.copyOf(deviceIds);
    }

    /** Returns the same holder with the UID of its pod. */
    public Holder withPodUid(String uid) {
        return new Holder(namespace, pod, uid, container, resource, deviceIds);
    }

    /** Whether the holder has a device by a claim that cannot be mapped to a GPU. */
    boolean mayHoldAnyDevice(String uid) {
        return resource.equals(DRA_DRIVER)
                && (podUid.isEmpty() || podUid.equals(uid))
                && deviceIds.stream().anyMatch(id -> id.startsWith("gpu-"));
    }

    /** Returns the same holder with other device ids. */
    Holder withDeviceIds(List<String> ids) {
        return new Holder(namespace, pod, podUid, container, resource, ids);
    }
}
