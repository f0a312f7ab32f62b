package io.gpufleet.allocation.model.devicetime;

/** How the time of a GPU counts while nobody holds it; of several, the last applies. */
public enum DeviceCondition {
    /** Offered. */
    IDLE("idle"),
    /** Used by processes without an allocation. */
    UNACCOUNTED("unaccounted"),
    /** Out of service by a verdict, or not offered by its daemon. */
    QUARANTINED("quarantined"),
    /** Its daemon is silent. */
    UNREACHABLE("unreachable"),
    /** The node does not have it. */
    ABSENT("absent");

    private final String quality;

    DeviceCondition(String quality) {
        this.quality = quality;
    }

    /** Quality as the API names it. */
    public String quality() {
        return quality;
    }
}
