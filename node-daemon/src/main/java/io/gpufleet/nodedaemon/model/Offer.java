package io.gpufleet.nodedaemon.model;

/**
 * What the kubelet is told of one device, with both opinions apart: either may withdraw, both must agree to offer.
 *
 * @param id as the kubelet knows the device
 * @param gpu the physical GPU
 * @param part what of the GPU it is
 * @param resource Kubernetes resource name
 * @param replicas how often the part is offered; 1 without sharing
 * @param locallyHealthy the daemon's own opinion
 * @param overlayAllows what the verdict allows
 * @param leaving the node has no such device any more, it is only listed until nobody misses it
 * @param reason why it is not offered Healthy, one line; empty when it is
 */
public record Offer(
        String id,
        Gpu gpu,
        Part part,
        String resource,
        int replicas,
        boolean locallyHealthy,
        boolean overlayAllows,
        boolean leaving,
        String reason) {
    /** What the kubelet is told. */
    public boolean healthy() {
        return locallyHealthy && overlayAllows && !leaving;
    }

    /** UUID of what is offered, without the number of the share. */
    public String deviceUuid() {
        return part.uuid(gpu);
    }

    /** The same device, on its way out of the list. */
    Offer leaving(String why) {
        return new Offer(id, gpu, part, resource, replicas, locallyHealthy, overlayAllows, true, why);
    }

    /** Whether it says the same of the same GPU, whichever of its devices it is. */
    boolean sameWordAs(Offer other) {
        return gpu.uuid().equals(other.gpu.uuid())
                && resource.equals(other.resource)
                && locallyHealthy == other.locallyHealthy
                && overlayAllows == other.overlayAllows
                && leaving == other.leaving
                && reason.equals(other.reason);
    }
}
