package io.gpufleet.wire.fold;

import java.time.Duration;

/**
 * How a fold runs.
 *
 * @param service service name without the replica, for example {@code health-service}; names group and transactional id
 * @param instance instance name, unique among replicas and stable over restarts (the pod's name)
 * @param bootstrap Kafka's bootstrap servers
 * @param grpcAddress where this replica answers the others, host:port, or empty
 * @param sessionTimeout how long a dead active replica keeps its role; 6 s unless a test shortens it
 */
public record FoldSettings(
        String service, String instance, String bootstrap, String grpcAddress, Duration sessionTimeout) {
    /** The session of the design, 6 s. */
    public static final Duration SESSION = Duration.ofSeconds(6);
}
