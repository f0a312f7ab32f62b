package io.gpufleet.nodedaemon.kafka;

import java.util.Optional;
import org.apache.kafka.common.config.ConfigException;

/**
 * Whether the names of the brokers can be resolved. A broker that does not answer is an outage, for which the outbox is
 * made; a name that was never resolved is a wrong setting, which a rollout must not spread.
 */
final class BrokerResolution {
    private final String bootstrap;
    private volatile boolean reached;
    private volatile boolean unresolved;

    BrokerResolution(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    /** A producer has metadata of the topics. */
    void succeeded() {
        reached = true;
        unresolved = false;
    }

    /** A producer could not be created or got no metadata. */
    void failed(Throwable failure) {
        unresolved = failure.getCause() instanceof ConfigException;
    }

    /** True while no name can be resolved. */
    boolean unresolvable() {
        return unresolved;
    }

    /** The reason not to be ready; empty once a broker was reached. */
    Optional<String> readinessFailure() {
        return unresolved && !reached
                ? Optional.of("Kafka: no name of '" + bootstrap + "' can be resolved; check GPUFLEET_KAFKA")
                : Optional.empty();
    }

    /** The cause where the client only says that it could not be constructed. */
    static String reason(Throwable failure) {
        Throwable cause = failure.getCause();
        return String.valueOf((cause == null ? failure : cause).getMessage());
    }
}
