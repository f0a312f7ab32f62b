package io.gpufleet.nodedaemon.kafka;

import java.util.Optional;
import java.util.TreeSet;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Why a client of this daemon does not get through to Kafka. A broker that does not answer is an outage, for which the outbox is
 * made; a name that was never resolved, and a right or an identity that the broker refuses, are wrong settings, which a rollout
 * must not spread. One line for each outage and one for its refusal are logged.
 */
final class BrokerOutage {
    private static final Logger LOG = LoggerFactory.getLogger(BrokerOutage.class);

    private final String bootstrap;
    private final String right;
    private final String consequence;
    private volatile boolean reached;
    private volatile boolean unresolved;
    private volatile String refused = "";
    private boolean logged;
    private boolean refusalLogged;

    /**
     * Begins with a broker that was not reached yet.
     *
     * @param right what the client needs on its topics, WRITE or READ
     * @param consequence what an outage means, for example "events wait in the outbox"
     */
    BrokerOutage(String bootstrap, String right, String consequence) {
        this.bootstrap = bootstrap;
        this.right = right;
        this.consequence = consequence;
    }

    /** A client has metadata of its topics. */
    void reached() {
        reached = true;
        unresolved = false;
    }

    /** The broker accepted what the client asked for. */
    void accepted() {
        refused = "";
    }

    /** A client could not be created or got no metadata. */
    void failed(Throwable failure) {
        unresolved = failure.getCause() instanceof ConfigException;
    }

    /** Logs why, unless this outage was logged. */
    void log(Throwable why) {
        Optional<String> refusal = refusal(why);
        refusal.ifPresent(line -> refused = line);
        if (refusal.isPresent() ? refusalLogged : logged) {
            return;
        }
        logged = true;
        refusalLogged |= refusal.isPresent();
        LOG.atWarn()
                .addKeyValue("kafka", bootstrap)
                .addKeyValue("error", refusal.orElseGet(() -> reason(why)))
                .log((refusal.isPresent() ? "broker refuses this daemon, " : "broker unreachable, ")
                        + consequence
                        + (refusal.isPresent() ? "" : "; check GPUFLEET_KAFKA and the topics"));
    }

    /** The outage is over; the next one is logged again. */
    void ended() {
        logged = false;
        refusalLogged = false;
    }

    /** True while no name can be resolved. */
    boolean unresolvable() {
        return unresolved;
    }

    /** The reason not to be ready: nothing was reached yet, or something is refused. */
    Optional<String> readinessFailure() {
        if (!refused.isEmpty()) {
            return Optional.of(refused);
        }
        return unresolved && !reached
                ? Optional.of("Kafka: no name of '" + bootstrap + "' can be resolved; check GPUFLEET_KAFKA")
                : Optional.empty();
    }

    private Optional<String> refusal(Throwable failure) {
        return switch (failure) {
            case TopicAuthorizationException topics ->
                Optional.of("Kafka refuses topic " + String.join(", ", new TreeSet<>(topics.unauthorizedTopics()))
                        + ": grant " + right + " on it to the principal of node-daemon");
            case AuthorizationException other -> Optional.of("Kafka refuses node-daemon: " + other.getMessage());
            case AuthenticationException identity ->
                Optional.of(
                        "Kafka does not know node-daemon: " + identity.getMessage() + "; check GPUFLEET_KAFKA_CONFIG");
            case Throwable _ -> Optional.empty();
        };
    }

    /** The cause where the client only says that it could not be constructed. */
    private static String reason(Throwable failure) {
        Throwable cause = failure.getCause();
        return String.valueOf((cause == null ? failure : cause).getMessage());
    }
}
