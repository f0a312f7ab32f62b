package io.gpufleet.allocation.model.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Nodes on which a pod may run. */
class SchedulingConstraintsTest {
    private static final NodeInfo NODE =
            new NodeInfo("n1", Map.of("nvidia.com/gpu.product", "NVIDIA-A100", "zone", "z1", "gpus", "8"), true);

    private static SchedulingConstraints.NodeSelectorTerm term(String key, String operator, String... values) {
        return new SchedulingConstraints.NodeSelectorTerm(
                List.of(new SelectorRequirement(key, SelectorRequirement.Operator.of(operator), List.of(values))),
                List.of());
    }

    private static boolean allowed(SchedulingConstraints.NodeSelectorTerm... terms) {
        return new SchedulingConstraints(Map.of(), List.of(terms), "").allows(NODE);
    }

    @Test
    void podWithoutConstraintsMatchesEveryNode() {
        assertThat(SchedulingConstraints.NONE.allows(NODE)).isTrue();
    }

    @Test
    void everyLabelOfTheNodeSelectorIsRequired() {
        assertThat(new SchedulingConstraints(Map.of("zone", "z1"), List.of(), "").allows(NODE))
                .isTrue();
        assertThat(new SchedulingConstraints(Map.of("zone", "z1", "rack", "r1"), List.of(), "").allows(NODE))
                .isFalse();
    }

    @Test
    void oneMatchingTermOfTheAffinityIsEnough() {
        assertThat(allowed(term("zone", "In", "z9"), term("zone", "In", "z1", "z2")))
                .isTrue();
        assertThat(allowed(term("zone", "In", "z9"))).isFalse();
    }

    @Test
    void operatorsMatchAsInKubernetes() {
        assertThat(allowed(term("zone", "NotIn", "z1"))).isFalse();
        assertThat(allowed(term("rack", "NotIn", "r1"))).isTrue();
        assertThat(allowed(term("rack", "Exists"))).isFalse();
        assertThat(allowed(term("rack", "DoesNotExist"))).isTrue();
        assertThat(allowed(term("gpus", "Gt", "7"))).isTrue();
        assertThat(allowed(term("gpus", "Lt", "8"))).isFalse();
        assertThat(allowed(term("zone", "Gt", "1"))).isFalse();
    }

    @Test
    void termMayMatchNodeByName() {
        var byName = new SchedulingConstraints.NodeSelectorTerm(
                List.of(),
                List.of(new SelectorRequirement("metadata.name", SelectorRequirement.Operator.IN, List.of("n1"))));
        assertThat(allowed(byName)).isTrue();
    }

    @Test
    void emptyTermMatchesNoNode() {
        assertThat(allowed(new SchedulingConstraints.NodeSelectorTerm(List.of(), List.of())))
                .isFalse();
    }

    @Test
    void boundPodMatchesOnlyItsNode() {
        assertThat(new SchedulingConstraints(Map.of(), List.of(), "n2").allows(NODE))
                .isFalse();
    }
}
