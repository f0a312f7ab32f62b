package io.gpufleet.health.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.policy.TestPolicies;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ExplanationJsonTest {
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0");

    @Test
    void refusedEventsAreExplainedWithTheTimeThatTheClockMustPass() {
        String line = ExplanationJson.of(scenario.state(), "as desired", true, Optional.empty())
                .getString("eventsRefused");

        assertThat(line).contains("older than events already applied", "1970-01-01T00:00:01Z", "clock of the node");
    }

    @Test
    void faultThatTheDaemonForgotSaysWhyItIsKeptAndWhatEndsIt() {
        scenario.xid("gpu-0", 79);
        assertThat(firstFault().containsKey("forgotten")).isFalse();

        scenario.openSince(NodeScenario.INCARNATION.epoch() + 1, Map.of("gpu-0", true));

        assertThat(firstFault().getString("forgotten"))
                .isEqualTo(
                        "kept: the daemon lost its state directory after it reported this fault, and cannot vouch for its"
                                + " end. It ends by a boot of the node as the policy says, by the command clear for its device, or"
                                + " by its own end once the daemon observes it again");
    }

    private JsonObject firstFault() {
        return ExplanationJson.of(scenario.state(), "as desired", false, Optional.empty())
                .getJsonArray("devices")
                .getJsonObject(0)
                .getJsonArray("faults")
                .getJsonObject(0);
    }

    @Test
    void nodeWhoseEventsAreAppliedHasNoSuchReason() {
        assertThat(ExplanationJson.of(scenario.state(), "as desired", false, Optional.empty())
                        .containsKey("eventsRefused"))
                .isFalse();
    }
}
