package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

class KafkaClientsTest {
    @Test
    void clientRegistersNoManagementBeans() throws MalformedObjectNameException {
        // Given a client of a broker that does not listen
        var properties = KafkaClients.plain("127.0.0.1:1").properties("quiet");
        // When
        try (var _ = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
            // Then
            assertThat(ManagementFactory.getPlatformMBeanServer()
                            .queryNames(new ObjectName("kafka.*:client-id=quiet,*"), null))
                    .isEmpty();
        }
    }
}
