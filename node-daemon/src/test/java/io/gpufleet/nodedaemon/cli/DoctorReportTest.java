package io.gpufleet.nodedaemon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.gpufleet.nodedaemon.app.DoctorFinding;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class DoctorReportTest {
    private final DoctorReport report = new DoctorReport(
            List.of(
                    DoctorFinding.ok("kubelet", "responds"),
                    DoctorFinding.warn("inotify", "9 of 10", "raise it"),
                    DoctorFinding.fail("Kafka", "k:9092 does not respond", "check it")),
            new TreeMap<>(Map.of("GPUFLEET_NODE", "n1")));

    @Test
    void tableIsAlignedAndEveryProblemHasARemedy() {
        assertThat(report.table()).isEqualTo("""
                      CHECK    FOUND
                OK    kubelet  responds
                WARN  inotify  9 of 10
                FAIL  Kafka    k:9092 does not respond

                recommended actions
                  WARN inotify: raise it
                  FAIL Kafka: check it

                settings that are set, all others have their defaults
                  GPUFLEET_NODE=n1

                1 ok, 1 warnings, 1 failed
                """);
    }

    @Test
    void onlyFailuresMakeTheReportUnhealthy() {
        assertThat(report.healthy()).isFalse();
        assertThat(new DoctorReport(report.findings().subList(0, 2), new TreeMap<>()).healthy())
                .isTrue();
    }

    @Test
    void jsonHasTheSame() throws Exception {
        JsonNode json = JsonMapper.builder().build().readTree(report.json());

        assertThat(json.get("healthy").asBoolean()).isFalse();
        assertThat(json.get("findings").get(2).get("status").asText()).isEqualTo("FAIL");
        assertThat(json.get("findings").get(2).get("remedy").asText()).isEqualTo("check it");
        assertThat(json.get("settings").get("GPUFLEET_NODE").asText()).isEqualTo("n1");
    }
}
