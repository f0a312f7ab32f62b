package io.gpufleet.inventory.model;

import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The newest full inventory of a node; an empty text is a value that the daemon could not read.
 *
 * @param system operating system of the node
 * @param daemon the daemon that announced it
 * @param driver GPU driver
 * @param gpus every physical GPU, by index
 * @param resources extended resources advertised to the kubelet
 * @param companions driver installer and MPS control daemons
 * @param migStrategy how MIG instances are advertised
 * @param metadata reason and time of the announcement
 */
public record Announcement(
        NodeSystemInfo system,
        Daemon daemon,
        Driver driver,
        List<Gpu> gpus,
        List<ExtendedResource> resources,
        Companions companions,
        MigStrategy migStrategy,
        EventMetadata metadata) {
    /** Copies the lists. */
    public Announcement {
        gpus = List.copyOf(gpus);
        resources = List.copyOf(resources);
    }

    /** The boot in which it was announced. */
    public String bootId() {
        return system.bootId();
    }

    /** Time at which it was appended to the log. */
    public Instant appendedAt() {
        return metadata.appendedAt();
    }

    /** Whether two announcements differ in nothing but their reason and time. */
    public boolean hasSameContentAs(Announcement other) {
        return withMetadata(other.metadata).equals(other);
    }

    /** The same content with another reason and time. */
    public Announcement withMetadata(EventMetadata other) {
        return new Announcement(system, daemon, driver, gpus, resources, companions, migStrategy, other);
    }

    /**
     * Operating system of a node.
     *
     * @param bootId boot id of the kernel
     * @param kernelVersion kernel release
     * @param machine DMI product name
     */
    public record NodeSystemInfo(String bootId, String kernelVersion, String machine) {}

    /**
     * The daemon that announced.
     *
     * @param version its version
     * @param deviceSource {@code nvml} or {@code simulated}
     * @param gpusKnownSince since when it keeps the set of GPUs, null where it does not tell
     */
    public record Daemon(
            String version, String deviceSource, @Nullable Instant gpusKnownSince) {}

    /**
     * GPU driver of a node.
     *
     * @param state state that the daemon found
     * @param version for example {@code 550.54.15}
     * @param cudaVersion highest CUDA version of the driver, {@code major.minor}
     */
    public record Driver(DriverState state, String version, String cudaVersion) {}

    /** State of the GPU driver. */
    public enum DriverState {
        /** Not reported. */
        UNKNOWN,
        /** The driver responds. */
        READY,
        /** The library was not found. */
        LIBRARY_ABSENT,
        /** No driver is loaded. */
        NOT_LOADED,
        /** Library and kernel driver differ. */
        VERSION_MISMATCH,
        /** NVML was shut down on request. */
        HELD,
        /** NVML returns another error. */
        FAILED
    }

    /** One extended resource of the node, with the number of its devices and of the healthy ones. */
    public record ExtendedResource(String name, int capacity, int allocatable) {}

    /** State of the driver installer, and of the MPS control daemons by resource name. */
    public record Companions(String installerState, Map<String, String> mpsStates) {
        /** A node without companions. */
        public static final Companions NONE = new Companions("", Map.of());

        /** Copies the map, sorted, so that equal announcements have equal bytes on the log. */
        public Companions {
            mpsStates = Collections.unmodifiableMap(new TreeMap<>(mpsStates));
        }
    }

    /** How MIG instances are advertised as resources. */
    public enum MigStrategy {
        /** Not reported. */
        UNKNOWN,
        /** MIG is ignored. */
        NONE,
        /** All instances have one profile and are {@code nvidia.com/gpu}. */
        SINGLE,
        /** Each profile is a resource of its own. */
        MIXED
    }

    /** Reason of an announcement, and the time at which it was appended to the log. */
    public record EventMetadata(AnnouncementReason reason, Instant appendedAt) {}

    /** Reason of an announcement. */
    public enum AnnouncementReason {
        /** Not reported. */
        UNKNOWN,
        /** The daemon started. */
        START,
        /** The content changed. */
        CHANGED,
        /** Events were lost before. */
        AFTER_LOSS,
        /** Nothing changed. */
        PERIODIC
    }
}
