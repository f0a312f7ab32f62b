package io.gpufleet.testbed.testkit.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.Topic;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AsyncApiContractTest {
    private static final String VERDICT = "{\"revision\":\"1\",\"trusted\":false,\"state\":\"HEALTH_STATE_HEALTHY\"}";

    private final AsyncApiContract schemas = AsyncApiContract.load();

    @Test
    void eventOfItsChannelFits() {
        assertThat(schemas.violations(Topic.VERDICTS, event("verdict.reached.v1", VERDICT)))
                .isEmpty();
        assertThat(schemas.violations(Topic.VERDICTS, event("verdict.reached.v1", null)))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"trusted\":\"no\"}",
                "{\"revision\":1}",
                "{\"tursted\":false}",
                "{\"state\":\"HEALTH_STATE_SPLENDID\"}",
                "{\"devices\":[{\"tursted\":false}]}",
                "[1]",
                "no JSON",
            })
    void valueThatIsNotDescribedIsAViolation(String value) {
        assertThat(schemas.violations(Topic.VERDICTS, event("verdict.reached.v1", value)))
                .isNotEmpty();
    }

    @Test
    void eventOfAnotherChannelIsAViolation() {
        assertThat(schemas.violations(Topic.HEALTH, event("verdict.reached.v1", VERDICT)))
                .isNotEmpty();
        assertThat(schemas.violations(Topic.VERDICTS, event("verdict.reached.v9", VERDICT)))
                .isNotEmpty();
        assertThat(schemas.violations(Topic.HEALTH, event("fault.observed.v1", null)))
                .isNotEmpty();
    }

    @Test
    void missingHeaderIsAViolation() {
        ConsumerRecord<String, byte[]> record = event("verdict.reached.v1", VERDICT);
        record.headers().remove("ce_agems");
        assertThat(schemas.violations(Topic.VERDICTS, record))
                .singleElement()
                .asString()
                .contains("ce_agems");
    }

    private static ConsumerRecord<String, byte[]> event(String type, @Nullable String value) {
        var headers = new RecordHeaders();
        headers.add("content-type", "application/json".getBytes(UTF_8));
        headers.add("ce_type", ("io.gpufleet." + type).getBytes(UTF_8));
        for (String name : new String[] {
            "specversion", "id", "source", "time", "recordedtime", "agems", "partitionkey", "sequence", "dataschema"
        }) {
            headers.add("ce_" + name, "1.0".getBytes(UTF_8));
        }
        byte[] bytes = value == null ? null : value.getBytes(UTF_8);
        return new ConsumerRecord<>(
                "gpu.any", 0, 0, 0, TimestampType.LOG_APPEND_TIME, 0, 0, "n1", bytes, headers, Optional.empty());
    }
}
