package io.gpufleet.runtime.sequence;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The table of TOPICS.md by which an outside reader drops duplicates says what our services do. */
@NullMarked
class DuplicatesOfTheDocumentTest {
    private static final EventSource NODE = new EventSource.Node("c1", "n1");

    /**
     * A row of the table, and an event that is one.
     *
     * @param epoch of the event that follows epoch 1000, sequence 5, boot b1; boot b0 was there before
     */
    private record Row(String event, String action, long epoch, long sequence, String boot) {}

    static Stream<Row> rows() {
        return Stream.of(
                new Row("same epoch, higher sequence", "take it", 1000, 6, "b1"),
                new Row("same epoch, same or lower sequence", "drop it", 1000, 5, "b1"),
                new Row("same epoch, same or lower sequence", "drop it", 1000, 4, "b1"),
                new Row("higher epoch", "take it", 1001, 1, "b1"),
                new Row("lower epoch, a `bootId` never seen", "take it, keep its epoch and sequence", 999, 9, "b2"),
                new Row("lower epoch, no `bootId` or a known one", "drop it", 999, 9, "b1"),
                new Row("lower epoch, no `bootId` or a known one", "drop it", 999, 9, ""),
                new Row("lower epoch, no `bootId` or a known one", "drop it", 999, 9, "b0"));
    }

    @ParameterizedTest
    @MethodSource("rows")
    void eventIsTakenOrDroppedAsItsRowSays(Row row) throws IOException {
        assertThat(table())
                .anyMatch(line ->
                        line.startsWith("| " + row.event() + " | ") && line.endsWith(" | " + row.action() + " |"));
        var sequences = new KeySequences();
        deduplicate(sequences, 900, 1, "b0");
        deduplicate(sequences, 1000, 5, "b1");

        DedupeResult result = deduplicate(sequences, row.epoch(), row.sequence(), row.boot());

        assertThat(result.equals(DedupeResult.STALE)).isEqualTo(row.action().startsWith("drop"));
        if (row.action().contains("keep its epoch and sequence")) {
            assertThat(deduplicate(sequences, row.epoch(), row.sequence(), row.boot()))
                    .isEqualTo(DedupeResult.STALE);
            assertThat(deduplicate(sequences, row.epoch(), row.sequence() + 1, row.boot()))
                    .isNotEqualTo(DedupeResult.STALE);
        }
    }

    @Test
    void everyRowOfTheTableIsTried() throws IOException {
        assertThat(table())
                .hasSize(5)
                .allMatch(line -> rows().anyMatch(row -> line.startsWith("| " + row.event() + " | ")));
    }

    private static List<String> table() throws IOException {
        String document = Files.readString(Path.of("../TOPICS.md"));
        return document.substring(document.indexOf("### Duplicates"), document.indexOf("### Bootstrap"))
                .lines()
                .filter(line -> line.startsWith("| ") && !line.startsWith("| next event"))
                .toList();
    }

    private static DedupeResult deduplicate(KeySequences sequences, long epoch, long sequence, String boot) {
        return sequences.deduplicate(NODE, new EventId("n1", epoch, Topic.HEALTH, sequence), boot);
    }
}
