package io.gpufleet.inventory.model;

import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The newest full snapshot of what a node has; an empty text means that the daemon could not tell.
 *
 * @param bootId the boot in which it was made
 * @param reason why it was sent
 * @param daemonVersion version of the daemon
 * @param deviceSource {@code nvml} or {@code simulated}
 * @param driverState the driver as the daemon found it
 * @param driverVersion for example {@code 550.54.15}
 * @param cudaVersion highest CUDA version of the driver, {@code major.minor}
 * @param kernelVersion kernel release
 * @param machine DMI product name
 * @param gpus every physical GPU, by index
 * @param resources what the kubelet is offered
 * @param installerState state of the driver installer
 * @param mpsStates MPS control daemons by resource name
 * @param migStrategy how MIG instances become resources
 * @param appendedAt when it was appended to the log
 */
public record Announcement(
        String bootId,
        Reason reason,
        String daemonVersion,
        String deviceSource,
        DriverState driverState,
        String driverVersion,
        String cudaVersion,
        String kernelVersion,
        String machine,
        List<Gpu> gpus,
        List<Resource> resources,
        String installerState,
        Map<String, String> mpsStates,
        MigStrategy migStrategy,
        Instant appendedAt) {
    /** Copies the collections, maps sorted, so that the same snapshot has the same bytes on the log. */
    public Announcement {
        gpus = List.copyOf(gpus);
        resources = List.copyOf(resources);
        mpsStates = Collections.unmodifiableMap(new TreeMap<>(mpsStates));
    }

    /** Whether two snapshots say the same of the node, whyever and whenever they were sent. */
    public boolean saysTheSameAs(Announcement other) {
        return equals(other.sent(reason, appendedAt));
    }

    private Announcement sent(Reason why, Instant at) {
        return new Announcement(
                bootId,
                why,
                daemonVersion,
                deviceSource,
                driverState,
                driverVersion,
                cudaVersion,
                kernelVersion,
                machine,
                gpus,
                resources,
                installerState,
                mpsStates,
                migStrategy,
                at);
    }

    /** One Kubernetes resource and how much of it the kubelet is told. */
    public record Resource(String name, int capacity, int allocatable) {}

    /** Why a snapshot was sent. */
    public enum Reason {
        /** Not told. */
        UNKNOWN,
        /** The daemon started. */
        START,
        /** Something in it changed. */
        CHANGED,
        /** Events were lost before. */
        AFTER_LOSS,
        /** Nothing changed. */
        PERIODIC
    }

    /** The GPU driver as the daemon finds it. */
    public enum DriverState {
        /** Not told. */
        UNKNOWN,
        /** The driver answers. */
        READY,
        /** The library was not found. */
        LIBRARY_ABSENT,
        /** No driver is loaded. */
        NOT_LOADED,
        /** Library and kernel driver differ. */
        VERSION_MISMATCH,
        /** NVML was let go on request. */
        HELD,
        /** NVML answers with another error. */
        FAILED
    }

    /** How MIG instances become resources. */
    public enum MigStrategy {
        /** Not told. */
        UNKNOWN,
        /** MIG is ignored. */
        NONE,
        /** All instances are alike and are {@code nvidia.com/gpu}. */
        SINGLE,
        /** Each profile is a resource of its own. */
        MIXED
    }
}
