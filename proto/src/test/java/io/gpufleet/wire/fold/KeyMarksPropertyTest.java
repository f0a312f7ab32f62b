package io.gpufleet.wire.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.EventId;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.NullMarked;

/** Each topic keeps its order; between topics there is none, and anything may arrive twice, also after a restart. */
@NullMarked
class KeyMarksPropertyTest {
    private static final Source NODE = new Source.Node("c1", "n1");
    private static final List<Topic> TOPICS = List.of(Topic.INVENTORY, Topic.HEALTH, Topic.ALLOCATION);

    private record Sent(EventId id, String boot) {}

    @Property(tries = 2000)
    void everyInterleavingWithDuplicatesAdmitsEachEventExactlyOnceInItsTopicsOrder(@ForAll long seed) {
        var random = new Random(seed);
        long[] holes = new long[1];
        List<List<Sent>> logs = TOPICS.stream()
                .map(topic -> log(topic, new Random(seed), random, holes))
                .toList();
        var marks = new KeyMarks();
        List<Sent> admitted = new ArrayList<>();
        int[] next = new int[TOPICS.size()];
        long missed = 0;

        for (int topic = unread(logs, next, random); topic >= 0; topic = unread(logs, next, random)) {
            if (next[topic] > 0 && random.nextInt(3) == 0) {
                Sent again = logs.get(topic).get(random.nextInt(next[topic]));
                assertThat(marks.admit(NODE, again.id(), again.boot())).isEqualTo(Admission.STALE);
            }
            Sent event = logs.get(topic).get(next[topic]++);
            Admission admission = marks.admit(NODE, event.id(), event.boot());
            missed += admission.missed();
            if (admission.fresh()) {
                admitted.add(event);
            }
            if (random.nextInt(5) == 0) {
                marks = KeyMarks.of(marks.toMessage());
            }
        }

        assertThat(admitted).hasSize(logs.stream().mapToInt(List::size).sum());
        assertThat(missed).isEqualTo(holes[0]).isEqualTo(marks.toMessage().getMissed());
    }

    /** What one topic holds: machines that reboot, restart and are replaced, the same for all topics; own holes. */
    private static List<Sent> log(Topic topic, Random life, Random random, long[] holes) {
        List<Sent> log = new ArrayList<>();
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
                    log.add(new Sent(new EventId("n1", epoch, topic, sequence), boot));
                }
            }
        }
        return log;
    }

    private static int unread(List<List<Sent>> logs, int[] next, Random random) {
        List<Integer> open = new ArrayList<>();
        for (int topic = 0; topic < logs.size(); topic++) {
            if (next[topic] < logs.get(topic).size()) {
                open.add(topic);
            }
        }
        return open.isEmpty() ? -1 : open.get(random.nextInt(open.size()));
    }
}
