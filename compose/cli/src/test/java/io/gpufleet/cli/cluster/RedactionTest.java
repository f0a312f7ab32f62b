package io.gpufleet.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedactionTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ssl.keystore.password=hunter2hunter2",
                "  GPUFLEET_TOKEN: hunter2hunter2",
                "{\"clientSecret\": \"hunter2hunter2\"}",
                "apiKey: 'hunter2hunter2'",
                "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username=\"a\" password=\"hunter2hunter2\";",
                "Authorization: Bearer hunter2hunter2",
                "token of the request is eyJhbGciOiJSUzI1NiJ9.hunter2hunter2.hunter2hunter2",
                "path: /admit/hunter2hunter2",
                "kafka at https://user:hunter2hunter2@broker:9092",
                "-----BEGIN EC PRIVATE KEY-----\nhunter2hunter2\n-----END EC PRIVATE KEY-----",
                "-----BEGIN PRIVATE KEY-----\nhunter2hunter2 of a line that was cut"
            })
    void secretsAreTakenOut(String text) {
        assertThat(Redaction.of(text)).doesNotContain("hunter2").contains(Redaction.REPLACEMENT);
    }

    @Test
    void whatHelpsStays() {
        String text = """
                metadata: {name: health-service-0, uid: 0c7e8a3e-5c9b-4b0e-9d44-2b1c1e6a5f10}
                GPUFLEET_KAFKA: kafka-0.kafka:9092
                time=2026-03-01T10:00:00Z level=WARN msg="the broker does not answer" topic=gpu.health partition=3
                -----BEGIN CERTIFICATE-----
                MIIBXjCCAQSgAwIBAgIJAJee51L6Tm3XMAoGCCqGSM49BAMCMCMxITAfBgNVBAMT
                -----END CERTIFICATE-----
                """;

        assertThat(Redaction.of(text)).isEqualTo(text);
    }
}
