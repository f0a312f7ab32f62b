package io.gpufleet.inventory.model.taint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Plans for the taints of a Node, and who owns them. */
class NodeTaintsTest {
    private static List<NodeTaint> taints(String text) {
        return text.equals("-")
                ? List.of()
                : Arrays.stream(text.split(" "))
                        .map(part -> NodeTaint.parse(part).orElseThrow())
                        .toList();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            # present               | annotation    | desired       | removed       | added          | annotation after
            -                       | -             | gpu=a:NoSchedule | -          | gpu=a:NoSchedule | gpu=a:NoSchedule
            gpu=a:NoSchedule        | gpu=a:NoSchedule | gpu=a:NoSchedule | -       | -              | gpu=a:NoSchedule
            gpu=a:NoSchedule        | gpu=a:NoSchedule | -          | gpu=a:NoSchedule | -           | -
            gpu=a:NoSchedule        | gpu=a:NoSchedule | gpu=b:NoSchedule | gpu=a:NoSchedule | gpu=b:NoSchedule | gpu=b:NoSchedule
            # of the operator: never adopted, never removed, never overwritten
            gpu=a:NoSchedule        | -             | gpu=a:NoSchedule | -          | -              | -
            gpu=a:NoSchedule        | -             | -             | -             | -              | -
            gpu=x:NoSchedule        | -             | gpu=a:NoSchedule | -          | -              | -
            # the operator changed or removed what was added
            gpu=x:NoSchedule        | gpu=a:NoSchedule | gpu=a:NoSchedule | -       | -              | -
            gpu=x:NoSchedule        | gpu=a:NoSchedule | -          | -             | -              | -
            -                       | gpu=a:NoSchedule | gpu=a:NoSchedule | -       | gpu=a:NoSchedule | gpu=a:NoSchedule
            -                       | gpu=a:NoSchedule | -          | -             | -              | -
            # another effect is another taint
            gpu=a:NoExecute         | -             | gpu=a:NoSchedule | -          | gpu=a:NoSchedule | gpu=a:NoSchedule
            """)
    void planChangesOwnTaintsOnly(
            String present, String applied, String desired, String removed, String added, String after) {
        var taints = new NodeTaints(taints(present), applied.equals("-") ? "" : applied, true);

        TaintPlan plan = taints.plan(Set.copyOf(taints(desired)));

        assertThat(plan).isEqualTo(new TaintPlan(taints(removed), taints(added), after.equals("-") ? "" : after));
    }

    @Test
    void unreadableAnnotationOwnsNothingAndIsRemoved() {
        var taints = new NodeTaints(taints("gpu=a:NoSchedule"), "{}", true);
        TaintPlan plan = taints.plan(Set.of());
        assertThat(plan).isEqualTo(new TaintPlan(List.of(), List.of(), ""));
        assertThat(taints.satisfies(plan)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvidia.com/gpu=present:NoSchedule", "gpu:NoExecute", "a.b/c_d.e=1:PreferNoSchedule"})
    void textOfATaintIsReadBack(String text) {
        assertThat(NodeTaint.parse(text)).map(NodeTaint::toString).contains(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "gpu", "gpu=a", "gpu=a:Never", "=a:NoSchedule", "gpu=-:NoSchedule", "A/gpu=a:NoSchedule"})
    void invalidTaintIsRefused(String text) {
        assertThat(NodeTaint.parse(text)).isEmpty();
    }

    @Test
    void severalTaintsAreOwned() {
        var none = new NodeTaints(List.of(), "", false);
        TaintPlan plan = none.plan(taints("b=1:NoSchedule a:NoExecute").stream().collect(Collectors.toSet()));
        assertThat(plan.applied()).isEqualTo("a:NoExecute,b=1:NoSchedule");
    }
}
