package io.gpufleet.testbed.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ParserFuzzerTest {
    private static final List<String> SAMPLES = List.of("name: value", "{\"list\": [1, 2, 3]}");

    @AfterEach
    void forgetTheSeed() {
        System.clearProperty(ParserFuzzer.SEED);
    }

    private static List<String> texts() {
        var texts = new ArrayList<String>();
        ParserFuzzer.check(200, SAMPLES, List.of(), text -> texts.add(new String(text, UTF_8)));
        return texts;
    }

    @Test
    void halfOfTheTextsAreKeptAndHalfAreNew() {
        // When
        List<String> first = texts();
        List<String> second = texts();

        // Then
        int kept = SAMPLES.size() + 100;
        assertThat(first).hasSize(SAMPLES.size() + 200).startsWith(SAMPLES.toArray(new String[0]));
        assertThat(second.subList(0, kept)).isEqualTo(first.subList(0, kept));
        assertThat(second.subList(kept, second.size())).isNotEqualTo(first.subList(kept, first.size()));
    }

    @Test
    void failureNamesTheSeedThatRepeatsIt() {
        // Given
        var refused = new ArrayList<String>();
        var failure =
                catchThrowable(() -> ParserFuzzer.check(200, SAMPLES, List.of(), text -> refuseChanged(text, refused)));
        assertThat(failure).isInstanceOf(AssertionError.class).hasMessageContaining("-D" + ParserFuzzer.SEED + "=");

        // When
        System.setProperty(
                ParserFuzzer.SEED, String.valueOf(failure.getMessage()).replaceAll("(?s).*?seed=(\\d+).*", "$1"));

        // Then
        assertThatThrownBy(() -> ParserFuzzer.check(200, SAMPLES, List.of(), text -> refuseChanged(text, refused)))
                .hasMessage(failure.getMessage());
        assertThat(refused).hasSize(2).containsOnly(refused.getFirst());
    }

    private static void refuseChanged(byte[] bytes, List<String> refused) {
        var text = new String(bytes, UTF_8);
        if (!SAMPLES.contains(text)) {
            refused.add(text);
            throw new IllegalStateException("changed");
        }
    }
}
