package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class BrokerResolutionTest {
    private final BrokerResolution resolution = new BrokerResolution("no-such-host.invalid:9092");

    @Test
    void nameThatWasNeverResolvedIsReasonNotToBeReady() {
        KafkaException failure = unresolved();

        resolution.failed(failure);

        assertThat(resolution.unresolvable()).isTrue();
        assertThat(resolution.readinessFailure())
                .hasValue("Kafka: no name of 'no-such-host.invalid:9092' can be resolved; check GPUFLEET_KAFKA");
        assertThat(BrokerResolution.reason(failure)).contains("No resolvable bootstrap urls");
    }

    @Test
    void outageOfBrokerIsNoReason() {
        resolution.failed(new TimeoutException("no metadata"));

        assertThat(resolution.unresolvable()).isFalse();
        assertThat(resolution.readinessFailure()).isEmpty();
    }

    @Test
    void nameThatIsLostLaterIsCountedButNoReason() {
        resolution.succeeded();

        resolution.failed(unresolved());

        assertThat(resolution.unresolvable()).isTrue();
        assertThat(resolution.readinessFailure()).isEmpty();
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
