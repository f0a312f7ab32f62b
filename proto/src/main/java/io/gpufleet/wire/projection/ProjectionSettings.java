package io.gpufleet.wire.projection;

import java.time.Duration;

/**
 * Settings of an engine.
 *
 * @param service service name without the replica, for example {@code health-service}; names group and transactional id
 * @param instance instance name, unique among replicas and stable over restarts (the pod's name)
 * @param bootstrap Kafka's bootstrap servers
 * @param grpcAddress host:port where other replicas reach this one, or empty
 * @param sessionTimeout time until a dead active replica loses its role; 6 s, shorter in tests
 */
public record ProjectionSettings(
        String service, String instance, String bootstrap, String grpcAddress, Duration sessionTimeout) {
    /** Default session timeout. */
    public static final Duration SESSION = Duration.ofSeconds(6);
}
