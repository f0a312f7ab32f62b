package io.gpufleet.nodedaemon.kafka.outbox;

import io.gpufleet.nodedaemon.kafka.EpochFile;
import io.gpufleet.nodedaemon.model.device.Moment;
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
 * Adds events to an outbox and acknowledges them until it is killed, and prints each step on a line of its own:
 *
 * <pre>
 * S ID      an event found at the start
 * R EPOCH   the start is complete
 * A ID      an event was added
 * F ID      an event is about to be acknowledged
 * G ID      an event was acknowledged
 * </pre>
 */
public final class OutboxKillProgram {
    private static final List<Topic> TOPICS =
            List.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.TELEMETRY, Topic.HEALTH);

    private final Outbox outbox;
    private final long epoch;
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
    private final Random random = new Random();
    private final int[] sequences = new int[Topic.values().length];

    private OutboxKillProgram(Path directory) {
        // The clock stands still, so only the epoch file makes each epoch greater than the last.
        this.epoch = EpochFile.next(directory, 1_000);
        this.outbox = open(directory, epoch, 8 << 20);
    }

    public static Outbox open(Path directory, long epoch, long bytes) {
        return new Outbox(OutboxDisk.REAL, directory.resolve("outbox"), "boot-1", bytes, epoch);
    }

    /** Runs until it is killed. */
    public static void main(String[] arguments) throws IOException {
        new OutboxKillProgram(Path.of(arguments[0])).run();
    }

    private static String id(OutboxEntry entry) {
        return entry.topic().suffix() + "/" + entry.epoch() + "/" + entry.sequence();
    }

    private void run() {
        for (var next = outbox.next(); next.isPresent(); next = outbox.next()) {
            out.println("S "
                    + next.flatMap(Outbox.OutgoingEvent::entry)
                            .map(OutboxKillProgram::id)
                            .orElse("unreadable"));
        }
        out.println("R " + epoch);
        outbox.rewind();
        var underWay = new ArrayDeque<Outbox.OutgoingEvent>();
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

    private void forget(Outbox.OutgoingEvent sent) {
        String id = sent.entry().map(OutboxKillProgram::id).orElse("unreadable");
        out.println("F " + id);
        outbox.acknowledge(sent.queue(), sent.after());
        out.println("G " + id);
    }
}
