package io.gpufleet.testbed.fakeapiserver.select;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import org.junit.jupiter.api.Test;

/** The text form and the object form of label selectors. */
class LabelSelectorTest {
    private static final ObjectNode LABELS =
            Json.object().put("model", "H100").put("count", "8").put("empty", "");

    private static boolean selects(String text) {
        return LabelSelector.parse(text).matchesLabels(LABELS);
    }

    @Test
    void everyFormIsUnderstood() {
        assertThat(selects("")).isTrue();
        assertThat(selects("model=H100")).isTrue();
        assertThat(selects("model==H100,count!=4")).isTrue();
        assertThat(selects("model in (A100, H100),!other")).isTrue();
        assertThat(selects("model notin (A100)")).isTrue();
        assertThat(selects("other notin (A100)"))
                .as("an absent label is not in the set")
                .isTrue();
        assertThat(selects("empty=")).isTrue();
        assertThat(selects("count>7,count<9")).isTrue();
        assertThat(selects("count>8")).isFalse();
        assertThat(selects("model=A100")).isFalse();
        assertThat(selects("other")).isFalse();
        assertThat(selects("!model")).isFalse();
    }

    @Test
    void malformedSelectorIsBadRequest() {
        assertThatThrownBy(() -> selects("a b"))
                .isInstanceOfSatisfying(
                        ApiError.class, error -> assertThat(error.code()).isEqualTo(400));
        assertThatThrownBy(() -> selects("a=b,,c"))
                .isInstanceOfSatisfying(
                        ApiError.class, error -> assertThat(error.code()).isEqualTo(400));
    }

    @Test
    void objectFormJoinsLabelsAndExpressions() {
        // Given
        ObjectNode selector = Json.object();
        selector.putObject("matchLabels").put("model", "H100");
        ObjectNode expression = selector.putArray("matchExpressions").addObject();
        expression
                .put("key", "count")
                .put("operator", "NotIn")
                .putArray("values")
                .add("4");
        // Then
        assertThat(LabelSelector.of(selector).matchesLabels(LABELS)).isTrue();
        expression.putArray("values").add("8");
        assertThat(LabelSelector.of(selector).matchesLabels(LABELS)).isFalse();
    }
}
