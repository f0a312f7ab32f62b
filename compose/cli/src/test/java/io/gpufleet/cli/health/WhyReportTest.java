package io.gpufleet.cli.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.kit.config.ConfigurationException;
import org.junit.jupiter.api.Test;

/** The explanation of a node as text. */
class WhyReportTest {
    private static final String WHY = """
            {"node": "node-1", "state": "UNHEALTHY", "trusted": false, "since": "2026-03-01T10:00:00Z", "reason": "Xid79",
             "recommendedAction": "reboot", "heldBack": "", "desired": {"outcome": "as desired"},
             "devices": [{"uuid": "GPU-0", "state": "UNHEALTHY", "trusted": false, "reason": "Xid79",
                          "recommendedAction": "reboot", "heldBack": ""},
                         {"uuid": "GPU-1", "state": "HEALTHY", "trusted": true}],
             "shadow": [{"device": "GPU-1", "at": "2026-03-01T10:00:00Z", "only": "shadow", "rule": "strict/xid-13",
                         "action": "withdraw device"},
                        {"device": "", "at": "2026-03-01T10:00:00Z", "only": "policy", "rule": "nvidia/xid-79",
                         "action": "taint node"}],
             "incidents": [{"open": true, "begin": "2026-03-01T10:00:00Z", "firstFact": "node-1/1/health/5",
                            "reason": "Xid79", "rule": "nvidia/xid-79", "budget": "nodes of default: 0 of 10",
                            "gpuSecondsLost": 60, "pods": [{"namespace": "ml", "pod": "trainer-0", "owner": "Job/trainer"},
                                                        {"namespace": "ml", "pod": "notebook"}, {"masked": true}],
                            "decisions": [{"at": "2026-03-01T10:00:00Z", "device": "GPU-0", "to": "UNHEALTHY",
                                           "outcome": "acted", "action": "withdraw device"},
                                          {"at": "2026-03-01T10:00:00Z", "device": "", "to": "UNHEALTHY",
                                           "outcome": "acted", "action": "taint node"}]}]}
            """;

    @Test
    void incidentHasFactRuleBudgetPodsAndEffects() throws Exception {
        assertThat(WhyReport.render(new ObjectMapper().readTree(WHY))).isEqualTo("""
                node-1: UNHEALTHY, tainted, Xid79, recommended: reboot (since 2026-03-01T10:00:00Z)
                Node object: as desired
                1 of 2 GPUs are healthy
                GPU    STATE      IN SERVICE  REASON  RECOMMENDED  HELD BACK
                GPU-0  UNHEALTHY  no          Xid79   reboot
                only the shadow policy: GPU-1: withdraw device (strict/xid-13, 2026-03-01T10:00:00Z)
                not the shadow policy: taint node (nvidia/xid-79, 2026-03-01T10:00:00Z)

                open incident since 2026-03-01T10:00:00Z
                  first fact  node-1/1/health/5
                  reason      Xid79
                  rule        nvidia/xid-79
                  budget      nodes of default: 0 of 10
                  pods        ml/trainer-0 of Job/trainer, ml/notebook, 1 in namespaces that you may not see
                  lost        60 GPU seconds
                  AT                    GPU     TO         OUTCOME  ACTION
                  2026-03-01T10:00:00Z  GPU-0   UNHEALTHY  acted    withdraw device
                  2026-03-01T10:00:00Z  (node)  UNHEALTHY  acted    taint node
                """);
    }

    @Test
    void faultThatTheDaemonForgotIsALine() throws Exception {
        String why = """
                {"node": "node-1", "devices": [{"uuid": "GPU-0", "state": "UNHEALTHY",
                 "faults": [{"fault": "xid-79", "forgotten": "kept: the daemon lost its state directory"},
                            {"fault": "xid-63"}]}]}
                """;

        assertThat(WhyReport.render(new ObjectMapper().readTree(why)).lines())
                .contains("GPU-0 xid-79: kept: the daemon lost its state directory")
                .noneMatch(line -> line.contains("xid-63"));
    }

    @Test
    void eventsThatWereRefusedOrMissedAreALineEach() throws Exception {
        String why = """
                {"node": "node-1", "eventsRefused": "40 events in a row are older than known: the clock was set back",
                 "missedFromServices": ["2 events of allocation-service-0 on gpu.usage"]}
                """;

        assertThat(WhyReport.render(new ObjectMapper().readTree(why)).lines())
                .contains(
                        "refused: 40 events in a row are older than known: the clock was set back",
                        "missed: 2 events of allocation-service-0 on gpu.usage");
    }

    @Test
    void serverThatIsNoUrlIsOneLine() {
        assertThatThrownBy(() -> new HealthClient("127.0.0.1:8080/v1", ""))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage(
                        "--server '127.0.0.1:8080/v1' is not usable: it takes a URL such as https://127.0.0.1:8080");
    }
}
