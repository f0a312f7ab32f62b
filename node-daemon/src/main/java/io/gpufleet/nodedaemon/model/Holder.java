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
    /** Copies the list. */
    public Holder {
        deviceIds = List.copyOf(deviceIds);
    }
}
