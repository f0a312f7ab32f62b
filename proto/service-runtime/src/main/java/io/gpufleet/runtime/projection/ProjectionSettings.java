package io.gpufleet.runtime.projection;

import java.time.Duration;

/**
 * How a projection runs.
 *
 * @param service service name without the replica, for example {@code health-service}; names group and transactional id
 * @param instance instance name, unique among replicas and stable over restarts (the pod's name)
 * @param grpcAddress where this replica answers the others, host:port, or empty
 * @param sessionTimeout how long a dead leader keeps its role; 6 s unless a test shortens it
 * @param leaseDuration how long a commit proves leadership; 3 s unless a test shortens it
 * @param writerGapWait how long an event of a service is awaited that others came after; 150 s unless a test shortens it
 */
public record ProjectionSettings(
        String service,
        String instance,
        String grpcAddress,
        Duration sessionTimeout,
        Duration leaseDuration,
        Duration writerGapWait) {
    /** The session of the design. */
    public static final Duration SESSION = Duration.ofSeconds(6);

    /** Longer than the 2 min for which a producer tries. */
    public static final Duration WRITER_GAP_WAIT = Duration.ofSeconds(150);

    /** The lease of the design. */
    public static final Duration LEASE = Duration.ofSeconds(3);

    /** With the lease of the design. */
    public ProjectionSettings(String service, String instance, String grpcAddress, Duration sessionTimeout) {
        this(service, instance, grpcAddress, sessionTimeout, LEASE, WRITER_GAP_WAIT);
    }
}
