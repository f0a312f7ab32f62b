package io.gpufleet.health.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.policy.TestPolicies;
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
    void nodeWhoseEventsAreAppliedHasNoSuchReason() {
        assertThat(ExplanationJson.of(scenario.state(), "as desired", false, Optional.empty())
                        .containsKey("eventsRefused"))
                .isFalse();
    }
}
