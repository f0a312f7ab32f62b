package io.gpufleet.health.model.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.HealthSignal.ReportedFault;
import io.gpufleet.health.model.NodeReference;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the policy decides about one of the recorded events. */
class EventExplainerTest {
    private static final String EXPLAINED = "node-1/1000/health/7";

    private final EventExplainer replay = replay("nvidia");

    private static EventExplainer replay(String policy) {
        return new EventExplainer(new HealthMachine(PolicyFile.load(policy), Duration.ofMinutes(10)), EXPLAINED);
    }

    private static EventMetadata metadata(String id, Instant at) {
        return new EventMetadata(id, at, Duration.ZERO);
    }

    private static HealthSignal fault(String id, FaultCode code, Instant at) {
        return new HealthSignal.FaultObserved(
                metadata(id, at),
                NodeScenario.INCARNATION,
                new ReportedFault("gpu-0", "H100", code, FaultReport.of(RecoveryAction.NONE)),
                "",
                List.of());
    }

    private List<String> lines() {
        return replay.explained().orElseThrow().lines();
    }

    @Test
    void everyDecisionIsExplainedWithItsRule() {
        replay.signal("node-1", fault(EXPLAINED, FaultCode.xid(79), NodeScenario.START));

        assertThat(lines())
                .startsWith(
                        "event      " + EXPLAINED + ", appended at " + NodeScenario.START + ", age PT0S",
                        "node       node-1")
                .anyMatch(line -> line.startsWith(
                        "decides    gpu-0: withdraw device (HEALTHY -> UNHEALTHY) by" + " nvidia/xid-79, ACTED: "))
                .anyMatch(line -> line.startsWith("decides    taint node (HEALTHY -> UNHEALTHY) by nvidia/xid-79"));
    }

    @Test
    void signalsAfterTheEventChangeNothing() {
        replay.signal("node-1", fault(EXPLAINED, FaultCode.xid(13), NodeScenario.START));
        List<String> explained = lines();

        replay.signal("node-1", fault("node-1/1000/health/8", FaultCode.xid(79), NodeScenario.START));

        assertThat(lines()).isEqualTo(explained).noneMatch(line -> line.contains("withdraw"));
    }

    @Test
    void repeatedFaultDecidesNothing() {
        replay.signal("node-1", fault("node-1/1000/health/6", FaultCode.xid(79), NodeScenario.START));
        replay.signal("node-1", fault(EXPLAINED, FaultCode.xid(79), NodeScenario.START.plusSeconds(1)));

        assertThat(lines()).anyMatch(line -> line.startsWith("decides    nothing: "));
    }

    @Test
    void faultInItsGraceSaysWhenTimeDecides() {
        replay.signal("node-1", fault(EXPLAINED, FaultCode.of(FaultKind.DRIVER), NodeScenario.START));

        assertThat(lines())
                .noneMatch(line -> line.contains("withdraw device"))
                .contains("later      time alone decides next at " + NodeScenario.START.plus(Duration.ofMinutes(30)));
    }

    @Test
    void overrideInForceIsNamed() {
        replay.signal(
                "node-1",
                new HealthSignal.NodeObjectObserved(
                        metadata("a", NodeScenario.START), "uid", new NodeReference.Placement(Map.of(), true)));
        replay.signal("node-1", fault("b", FaultCode.xid(79), NodeScenario.START));
        replay.signal(
                "node-1",
                new HealthSignal.OverrideObserved(
                        metadata(EXPLAINED, NodeScenario.START.plusSeconds(60)),
                        "taint",
                        "alice",
                        // A verdict gets its revision when it is committed, some time after the fault was appended.
                        NodeScenario.START.plusMillis(70).toEpochMilli()));

        assertThat(lines()).contains("override   taint removed by alice at " + NodeScenario.START.plusSeconds(60));
    }

    @Test
    void eventThatIsNotAmongTheSignalsIsNotExplained() {
        replay.signal("node-1", fault("node-1/1000/health/8", FaultCode.xid(79), NodeScenario.START));

        assertThat(replay.explained()).isEmpty();
    }
}
