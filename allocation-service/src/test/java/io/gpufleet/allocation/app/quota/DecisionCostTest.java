package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A decision costs as much as the quotas of its namespace have limits: told by executed branches and calls, not by a clock. */
class DecisionCostTest {
    private static final int PODS = 20_000;

    // An interface of ours would be loaded anew, and be another one there.
    @SuppressWarnings("unchecked")
    private static CountedSteps.Cost cost(Map<String, Integer> sizes) throws ReflectiveOperationException {
        Function<Map<String, Integer>, Runnable> decision = new CountedSteps().load(DecisionCost.class, Function.class);
        return CountedSteps.of(decision.apply(sizes));
    }

    private static void assertAlike(CountedSteps.Cost large, CountedSteps.Cost small) {
        assertThat(large.steps()).isBetween(small.steps(), small.steps() * 11 / 10);
        assertThat(large.bytes()).isLessThan(small.bytes() * 3 / 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100, 1_000})
    void quotasAndPodsOfOthersAreNotVisited(int quotas) throws ReflectiveOperationException {
        assertAlike(cost(Map.of("quotas", quotas, "pods", PODS)), cost(Map.of()));
    }

    @Test
    void quotasOfOthersThatCannotBeWrittenAreNotVisited() throws ReflectiveOperationException {
        assertAlike(cost(Map.of("refused", 1_000)), cost(Map.of()));
    }

    @Test
    void costGrowsWithTheQuotasOfTheNamespace() throws ReflectiveOperationException {
        long one = cost(Map.of("own", 1)).steps();
        long ten = cost(Map.of("own", 10)).steps();
        assertThat(ten).isBetween(2 * one, 10 * one);
        assertThat(cost(Map.of("own", 100)).steps()).isBetween(2 * ten, 11 * ten);
    }

    /** The holders of a limit are kept in order, which is where the logarithm is from. */
    @Test
    void podsOfTheNamespaceCostALogarithm() throws ReflectiveOperationException {
        assertThat(cost(Map.of("ownPods", PODS)).steps())
                .isLessThan(2 * cost(Map.of("ownPods", 1)).steps());
    }

    @Test
    void refusalNamesTheLargestHoldersWithoutVisitingTheOthers() throws ReflectiveOperationException {
        assertAlike(
                cost(Map.of("limit", PODS, "ownPods", PODS, "quotas", 1_000)),
                cost(Map.of("limit", 100, "ownPods", 100)));
    }
}
