package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;

/**
 * A program that keeps events in an outbox and forgets them again until it is killed, and says all that it does: first
 * {@code S} for every event that it found, then {@code R}, then {@code A} after each that it kept, {@code F} before and
 * {@code G} after each that it forgot.
 */
final class OutboxDrill {
    private static final List<Topic> TOPICS =
            List.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.TELEMETRY, Topic.HEALTH);

    private final Outbox outbox;
    private final long epoch;
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
    private final Random random = new Random();
    private final int[] sequences = new int[Topic.values().length];

    private OutboxDrill(Path directory) {
        // The clock stands still: only what is kept makes one epoch greater than the other.
        this.epoch = Epoch.next(directory, 1_000);
        this.outbox = open(directory, epoch, 8 << 20);
    }

    static Outbox open(Path directory, long epoch, long bytes) {
        var settings = new BusSettings("localhost:1", "c1", "gpu.", "n1", "boot-1", directory, bytes);
        return new Outbox(Disk.REAL, directory.resolve("outbox"), settings, epoch);
    }

    /** Runs until it is killed. */
    public static void main(String[] arguments) throws IOException {
        new OutboxDrill(Path.of(arguments[0])).run();
    }

    private static String id(OutboxEntry entry) {
        return entry.topic().suffix() + "/" + entry.epoch() + "/" + entry.sequence();
    }

    private void run() {
        for (var next = outbox.next(); next.isPresent(); next = outbox.next()) {
            out.println("S "
                    + next.flatMap(Outbox.Outgoing::entry).map(OutboxDrill::id).orElse("unreadable"));
        }
        out.println("R " + epoch);
        outbox.rewind();
        var underWay = new ArrayDeque<Outbox.Outgoing>();
        while (true) {
            keep();
            while (random.nextInt(5) < 3 && underWay.size() < 50) {
                outbox.next().ifPresent(underWay::add);
            }
            while (random.nextInt(5) < 3 && !underWay.isEmpty()) {
                forget(underWay.remove());
            }
        }
    }

    private void keep() {
        Topic topic = TOPICS.get(random.nextInt(TOPICS.size()));
        EventType type = topic == Topic.TELEMETRY ? EventType.TELEMETRY_SAMPLED : EventType.FAULT_OBSERVED;
        outbox.add(type, topic, "GPU-0", new byte[random.nextInt(3_000)], new Moment(Instant.EPOCH, 0));
        sequences[topic.ordinal()]++;
        out.println("A " + topic.suffix() + "/" + epoch + "/" + sequences[topic.ordinal()]);
    }

    private void forget(Outbox.Outgoing sent) {
        String id = sent.entry().map(OutboxDrill::id).orElse("unreadable");
        out.println("F " + id);
        outbox.acknowledge(sent.lane(), sent.after());
        out.println("G " + id);
    }
}
