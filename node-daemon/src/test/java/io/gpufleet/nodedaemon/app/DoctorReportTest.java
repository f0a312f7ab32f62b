package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.gpufleet.nodedaemon.model.Finding;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What doctor prints. */
class DoctorReportTest {
    private final DoctorReport report = new DoctorReport(
            List.of(
                    Finding.ok("kubelet", "answers"),
                    Finding.warn("inotify", "9 of 10", "raise it"),
                    Finding.fail("Kafka", "k:9092 does not answer", "check it")),
            new TreeMap<>(Map.of("GPUFLEET_NODE", "n1")));

    @Test
    void theTableIsAlignedAndEveryTroubleHasItsRemedy() {
        assertThat(report.table()).isEqualTo("""
                      WHAT     FOUND
                OK    kubelet  answers
                WARN  inotify  9 of 10
                FAIL  Kafka    k:9092 does not answer

                what to do
                  WARN inotify: raise it
                  FAIL Kafka: check it

                settings that are set, all others have their defaults
                  GPUFLEET_NODE=n1

                1 ok, 1 to look at, 1 fail
                """);
    }

    @Test
    void onlyAFailureMakesANodeIll() {
        assertThat(report.well()).isFalse();
        assertThat(new DoctorReport(report.findings().subList(0, 2), new TreeMap<>()).well())
                .isTrue();
    }

    @Test
    void jsonHasTheSame() throws Exception {
        JsonNode json = JsonMapper.builder().build().readTree(report.json());

        assertThat(json.get("well").asBoolean()).isFalse();
        assertThat(json.get("findings").get(2).get("grade").asText()).isEqualTo("FAIL");
        assertThat(json.get("findings").get(2).get("remedy").asText()).isEqualTo("check it");
        assertThat(json.get("settings").get("GPUFLEET_NODE").asText()).isEqualTo("n1");
    }
}
