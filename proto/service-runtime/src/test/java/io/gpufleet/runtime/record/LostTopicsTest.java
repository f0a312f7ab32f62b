package io.gpufleet.runtime.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class LostTopicsTest {
    private static final Map<String, String> BEFORE = Map.of("state", "1", "verdicts", "2", "health", "3");

    private final LostTopics lost = new LostTopics("state", Set.of("verdicts"));

    @Test
    void topicsThatAreTheSameAreNoReason() {
        check(BEFORE, false);
        check(BEFORE, false);

        assertThat(lost.lines()).isEmpty();
    }

    @Test
    void changelogThatWasMadeAnewIsAReasonUntilARestart() {
        check(BEFORE, false);

        check(Map.of("state", "9", "verdicts", "2", "health", "3"), false);
        check(Map.of("state", "9", "verdicts", "2", "health", "3"), false);

        assertThat(lost.lines()).singleElement().asString().contains("own changelog state was deleted", "restart");
    }

    @Test
    void outputThatWasMadeAnewTakesNoReplicaOutOfService() {
        check(BEFORE, false);

        check(Map.of("state", "1", "verdicts", "9", "health", "3"), false);

        assertThat(lost.lines()).isEmpty();
    }

    @Test
    void inputThatWasMadeAnewIsNone() {
        check(BEFORE, false);

        check(Map.of("state", "1", "verdicts", "2", "health", "9"), false);

        assertThat(lost.lines()).isEmpty();
    }

    @Test
    void topicsOfAnotherKafkaAreNotLost() {
        check(BEFORE, false);

        check(Map.of("state", "7", "verdicts", "8", "health", "9"), true);

        assertThat(lost.lines()).isEmpty();
    }

    private void check(Map<String, String> ids, boolean anotherKafka) {
        lost.check(ids, anotherKafka, () -> false);
    }
}
