package io.gpufleet.nodedaemon.model;

/**
 * What the kubelet is told of one device, with both opinions apart: either may withdraw, both must agree to offer.
 *
 * @param id as the kubelet knows the device
 * @param gpu the physical GPU
 * @param resource Kubernetes resource name
 * @param locallyHealthy the daemon's own opinion
 * @param overlayAllows what the verdict allows
 * @param reason why it is not offered Healthy, one line; empty when it is
 */
public record Offer(String id, Gpu gpu, String resource, boolean locallyHealthy, boolean overlayAllows, String reason) {
    /** What the kubelet is told. */
    public boolean healthy() {
        return locallyHealthy && overlayAllows;
    }
}
