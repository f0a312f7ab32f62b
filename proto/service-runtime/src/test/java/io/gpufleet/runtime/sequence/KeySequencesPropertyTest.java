package io.gpufleet.runtime.sequence;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.NullMarked;

/** Each topic keeps its order; between topics there is none, and anything may arrive twice, also after a restart. */
@NullMarked
class KeySequencesPropertyTest {
    private static final EventSource NODE = new EventSource.Node("c1", "n1");
    private static final List<Topic> TOPICS = List.of(Topic.INVENTORY, Topic.HEALTH, Topic.ALLOCATION);

    private record SentEvent(EventId id, String boot) {}

    @Property(tries = 2000)
    void everyInterleavingWithDuplicatesAppliesEachEventExactlyOnceInTopicOrder(@ForAll long seed) {
        var random = new Random(seed);
        long[] holes = new long[1];
        List<List<SentEvent>> logs = TOPICS.stream()
                .map(topic -> log(topic, new Random(seed), random, holes))
                .toList();
        var marks = new KeySequences();
        List<SentEvent> admitted = new ArrayList<>();
        int[] next = new int[TOPICS.size()];
        long missed = 0;

        for (int topic = unread(logs, next, random); topic >= 0; topic = unread(logs, next, random)) {
            if (next[topic] > 0 && random.nextInt(3) == 0) {
                SentEvent again = logs.get(topic).get(random.nextInt(next[topic]));
                assertThat(marks.deduplicate(NODE, again.id(), again.boot())).isEqualTo(DedupeResult.STALE);
            }
            SentEvent event = logs.get(topic).get(next[topic]++);
            DedupeResult admission = marks.deduplicate(NODE, event.id(), event.boot());
            missed += admission.missed();
            if (admission.fresh()) {
                admitted.add(event);
            }
            if (random.nextInt(5) == 0) {
                marks = KeySequences.of(marks.toMessage());
            }
        }

        assertThat(admitted).hasSize(logs.stream().mapToInt(List::size).sum());
        assertThat(missed).isEqualTo(holes[0]).isEqualTo(marks.toMessage().getMissed());
    }

    /** What one topic holds: machines that reboot, restart and are replaced, the same for all topics; own holes. */
    private static List<SentEvent> log(Topic topic, Random life, Random random, long[] holes) {
        List<SentEvent> log = new ArrayList<>();
        long epoch = 1_000_000;
        for (int era = 0; era < 1 + life.nextInt(6); era++) {
            boolean replaced = life.nextInt(3) == 0;
            epoch += replaced ? -life.nextInt(1, 1000) : life.nextInt(1, 1000);
            String boot = "boot-" + era;
            for (int restart = 0; restart < life.nextInt(1, 3); restart++) {
                epoch += life.nextInt(1, 50);
                long sequence = 0;
                for (int i = random.nextInt(6); i > 0; i--) {
                    long hole = random.nextInt(4) == 0 ? random.nextInt(1, 5) : 0;
                    sequence += hole + 1;
                    holes[0] += log.isEmpty() ? 0 : hole;
                    log.add(new SentEvent(new EventId("n1", epoch, topic, sequence), boot));
                }
            }
        }
        return log;
    }

    private static int unread(List<List<SentEvent>> logs, int[] next, Random random) {
        List<Integer> open = new ArrayList<>();
        for (int topic = 0; topic < logs.size(); topic++) {
            if (next[topic] < logs.get(topic).size()) {
                open.add(topic);
            }
        }
        return open.isEmpty() ? -1 : open.get(random.nextInt(open.size()));
    }
}
