package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class BrokerOutageTest {
    private final BrokerOutage outage = new BrokerOutage("no-such-host.invalid:9092", "WRITE", "events wait");

    @Test
    void nameThatWasNeverResolvedIsReasonNotToBeReady() {
        KafkaException failure = unresolved();

        outage.failed(failure);

        assertThat(outage.unresolvable()).isTrue();
        assertThat(outage.readinessFailure())
                .hasValue("Kafka: no name of 'no-such-host.invalid:9092' can be resolved; check GPUFLEET_KAFKA");
    }

    @Test
    void outageOfBrokerIsNoReason() {
        outage.failed(new TimeoutException("no metadata"));

        assertThat(outage.unresolvable()).isFalse();
        assertThat(outage.readinessFailure()).isEmpty();
    }

    @Test
    void nameThatIsLostLaterIsCountedButNoReason() {
        outage.reached();

        outage.failed(unresolved());

        assertThat(outage.unresolvable()).isTrue();
        assertThat(outage.readinessFailure()).isEmpty();
    }

    @Test
    void refusedRightIsNamedUntilTheBrokerAccepts() {
        outage.reached();

        outage.log(new TopicAuthorizationException(Set.of("gpu.health")));

        assertThat(outage.readinessFailure())
                .hasValue("Kafka refuses topic gpu.health: grant WRITE on it to the principal of node-daemon");
        outage.reached();
        assertThat(outage.readinessFailure()).isPresent();
        outage.accepted();
        assertThat(outage.readinessFailure()).isEmpty();
    }

    @Test
    void wrongPasswordIsReasonNotToBeReady() {
        outage.log(new SaslAuthenticationException("invalid credentials"));

        assertThat(outage.readinessFailure())
                .hasValue("Kafka does not know node-daemon: invalid credentials; check GPUFLEET_KAFKA_CONFIG");
    }

    private static KafkaException unresolved() {
        var properties = new Properties();
        properties.put("bootstrap.servers", "no-such-host.invalid:9092");
        try (var unexpected = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            throw new AssertionError("resolved: " + unexpected);
        } catch (KafkaException failed) {
            return failed;
        }
    }
}
