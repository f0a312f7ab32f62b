package io.gpufleet.wire.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code TOPICS.md} agrees with the catalogue in code. */
@NullMarked
class TopicsDocumentTest {
    private static final List<String> ROWS = List.of(
            "Key",
            "Value",
            "Order",
            "Delivery",
            "Retention",
            "Partitions",
            "Compression",
            "Producers",
            "Consumers",
            "On failure",
            "Versions");

    private final Map<String, Map<String, String>> document = read();

    @Test
    void everyTopicIsOneSectionInTheOrderOfTheCatalogue() {
        var topics = new Topics(Topics.DEFAULT_PREFIX);
        assertThat(document.keySet())
                .containsExactlyElementsOf(
                        Arrays.stream(Topic.values()).map(topics::name).toList());
        assertThat(document.values()).allSatisfy(rows -> {
            assertThat(rows.keySet()).containsExactlyElementsOf(ROWS);
            assertThat(rows.values()).allSatisfy(text -> assertThat(text).isNotBlank());
        });
    }

    @ParameterizedTest
    @EnumSource
    void sectionAgreesWithTheCatalogue(Topic topic) {
        Map<String, String> rows = Objects.requireNonNull(document.get("gpu." + topic.suffix()));

        assertThat(types(rows.getOrDefault("Value", ""))).isEqualTo(typesOn(topic));
        assertThat(rows.get("Key")).startsWith(key(topic));
        assertThat(rows.get("Retention")).startsWith(retention(topic));
        assertThat(rows.get("Partitions")).matches(topic.partitions() + "(,.*)?");
        assertThat(rows.get("Compression")).isEqualTo(topic.compression().kafkaName());
        assertThat(rows.get("Producers")).isEqualTo(producers(topic));
    }

    @Test
    void partitionsOfTheExampleAreThoseOfKafkasPartitionerAndOurs() {
        Matcher example = Pattern.compile(
                        "`([a-z0-9-]+)` is in partition (\\d+) of (\\d+), and (\\d+) of the (\\d+) of "
                                + "`gpu\\.verdicts`")
                .matcher(String.join(" ", lines()));
        assertThat(example.find()).isTrue();
        String node = example.group(1);

        assertThat(partition(node, Integer.parseInt(example.group(3)))).hasToString(example.group(2));
        assertThat(Topic.HEALTH.partitions()).hasToString(example.group(3));
        assertThat(Topic.HEALTH.partitionOf(node)).hasToString(example.group(2));
        assertThat(Topic.VERDICTS.partitions()).hasToString(example.group(5));
        assertThat(Topic.VERDICTS.partitionOf(node)).hasToString(example.group(4));
    }

    /** As Kafka's own producer. */
    private static int partition(String key, int partitions) {
        return BuiltInPartitioner.partitionForKey(key.getBytes(StandardCharsets.UTF_8), partitions);
    }

    @ParameterizedTest
    @EnumSource
    void tombstonesAreKeptForAsLongAsTheSectionSays(Topic topic) {
        String row = Objects.requireNonNull(
                Objects.requireNonNull(document.get("gpu." + topic.suffix())).get("Retention"));
        if (!topic.compacted()) {
            assertThat(row).doesNotContain("tombstone");
            return;
        }
        Matcher kept =
                Pattern.compile("a tombstone(, .*,)? is kept for (\\d+) d").matcher(row);
        assertThat(kept.find()).as(row).isTrue();
        assertThat(topic.brokerSettings())
                .containsEntry(
                        "delete.retention.ms",
                        String.valueOf(
                                Duration.ofDays(Long.parseLong(kept.group(2))).toMillis()));
    }

    private static TreeSet<String> types(String text) {
        return Pattern.compile("`(io\\.gpufleet\\.[a-z.]+\\.v\\d+)`")
                .matcher(text)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static TreeSet<String> typesOn(Topic topic) {
        return Arrays.stream(EventType.values())
                .filter(type -> type.topics().contains(topic))
                .map(EventType::ceType)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String key(Topic topic) {
        return switch (topic.key()) {
            case NODE -> "node name";
            case DAY -> "`<day>/<namespace>/<model>/<quality>`";
            case AS_FOUND -> "as found";
            case NONE -> "none";
        };
    }

    private static String retention(Topic topic) {
        return switch (topic.retention()) {
            case Topic.Retention.DeleteAfter(Duration age) ->
                "delete after " + (age.toDays() > 0 ? age.toDays() + " d" : age.toHours() + " h");
            case Topic.Retention.Compacted() -> "compact";
        };
    }

    /** Returns the narrowest writer: offsets and the active replica are written by the owner of the changelog. */
    private static String producers(Topic topic) {
        var writers = Arrays.stream(EventType.values())
                .filter(type -> type.topics().contains(topic))
                .map(EventType::writer)
                .collect(Collectors.toCollection(TreeSet::new));
        if (writers.size() > 1) {
            writers.remove(EventType.Writer.ANY_SERVICE);
        }
        return switch (topic) {
            case ELECTION -> "none";
            case DEADLETTER -> "any of the three services";
            default ->
                switch (writers.getFirst()) {
                    case DAEMON -> "node-daemon";
                    case ANY_SERVICE -> "any of the three services";
                    case HEALTH_SERVICE -> "health-service";
                    case INVENTORY_SERVICE -> "inventory-service";
                    case ALLOCATION_SERVICE -> "allocation-service";
                };
        };
    }

    private static Map<String, Map<String, String>> read() {
        Map<String, Map<String, String>> sections = new LinkedHashMap<>();
        Map<String, String> rows = new LinkedHashMap<>();
        for (String line : lines()) {
            if (line.startsWith("## ")) {
                rows = new LinkedHashMap<>();
                if (line.startsWith("## gpu.")) {
                    sections.put(line.substring(3), rows);
                }
            } else if (line.startsWith("| ") && !line.equals("| | |")) {
                String[] cells = line.split("\\|", 4);
                rows.put(cells[1].strip(), cells[2].strip());
            }
        }
        return sections;
    }

    private static List<String> lines() {
        try {
            return Files.readAllLines(Path.of("TOPICS.md"));
        } catch (IOException missing) {
            throw new java.io.UncheckedIOException(missing);
        }
    }
}
