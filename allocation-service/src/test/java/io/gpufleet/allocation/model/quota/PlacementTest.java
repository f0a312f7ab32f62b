package io.gpufleet.allocation.model.quota;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which nodes a pod may run on. */
class PlacementTest {
    private static final NodeFacts NODE =
            new NodeFacts("n1", Map.of("nvidia.com/gpu.product", "NVIDIA-A100", "zone", "z1", "gpus", "8"), true);

    private static Placement.Term term(String key, String operator, String... values) {
        return new Placement.Term(
                List.of(new Requirement(key, Requirement.Operator.of(operator), List.of(values))), List.of());
    }

    private static boolean allowed(Placement.Term... terms) {
        return new Placement(Map.of(), List.of(terms), "").allows(NODE);
    }

    @Test
    void aPodWithoutWishesMayRunAnywhere() {
        assertThat(Placement.ANYWHERE.allows(NODE)).isTrue();
    }

    @Test
    void everyLabelOfTheNodeSelectorHasToBeThere() {
        assertThat(new Placement(Map.of("zone", "z1"), List.of(), "").allows(NODE))
                .isTrue();
        assertThat(new Placement(Map.of("zone", "z1", "rack", "r1"), List.of(), "").allows(NODE))
                .isFalse();
    }

    @Test
    void oneTermOfTheAffinityIsEnough() {
        assertThat(allowed(term("zone", "In", "z9"), term("zone", "In", "z1", "z2")))
                .isTrue();
        assertThat(allowed(term("zone", "In", "z9"))).isFalse();
    }

    @Test
    void operatorsAreThoseOfKubernetes() {
        assertThat(allowed(term("zone", "NotIn", "z1"))).isFalse();
        assertThat(allowed(term("rack", "NotIn", "r1"))).isTrue();
        assertThat(allowed(term("rack", "Exists"))).isFalse();
        assertThat(allowed(term("rack", "DoesNotExist"))).isTrue();
        assertThat(allowed(term("gpus", "Gt", "7"))).isTrue();
        assertThat(allowed(term("gpus", "Lt", "8"))).isFalse();
        assertThat(allowed(term("zone", "Gt", "1"))).isFalse();
    }

    @Test
    void aTermMayNameTheNodeItself() {
        var itself = new Placement.Term(
                List.of(), List.of(new Requirement("metadata.name", Requirement.Operator.IN, List.of("n1"))));
        assertThat(allowed(itself)).isTrue();
    }

    @Test
    void aTermThatAsksForNothingAllowsNothing() {
        assertThat(allowed(new Placement.Term(List.of(), List.of()))).isFalse();
    }

    @Test
    void aBoundPodIsWhereItIs() {
        assertThat(new Placement(Map.of(), List.of(), "n2").allows(NODE)).isFalse();
    }
}
