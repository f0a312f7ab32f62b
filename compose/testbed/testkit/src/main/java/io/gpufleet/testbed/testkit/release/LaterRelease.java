package io.gpufleet.testbed.testkit.release;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.testbed.testkit.EventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;

/** A replica of a later release, whose states the present one does not read: the projection that finds one is over. */
public final class LaterRelease implements AutoCloseable {
    private static final int EXIT_CODE = 3;
    private static final int SCHEMA_VERSION = 99;
    private static final String KEY = "node-of-a-later-release";

    private final TestBed bed;
    private final String program;
    private final Topic changelog;
    private final EventProducer producer;

    /** A replica of a service, named by its instance, {@code health-service-9}, with this changelog. */
    public LaterRelease(TestBed bed, String instance, Topic changelog) {
        this.bed = bed;
        this.program = instance.substring(0, instance.lastIndexOf('-'));
        this.changelog = changelog;
        this.producer = new EventProducer(
                bed.broker().bootstrap(), bed.codec(), new EventSource.Service(TestBed.CLUSTER, instance), 1);
    }

    /** Writes a state into the changelog. */
    public void write(EventType type, Message state) {
        ProducerRecord<String, byte[]> written = producer.record(changelog, type, KEY, state, Instant.now());
        written.headers().add("ce_stateversion", String.valueOf(SCHEMA_VERSION).getBytes(UTF_8));
        producer.send(written);
    }

    /** Waits until a replica of the present release has ended by the state; what is wrong with its end, one line each. */
    public List<String> mistakesOfEnd(ProgramProcess replica, Duration timeout) {
        int status = replica.awaitExit(timeout);
        List<String> reasons = replica.log()
                .lines()
                .filter(line -> line.startsWith(program + ": "))
                .toList();
        var mistakes = new ArrayList<String>();
        if (status != EXIT_CODE) {
            mistakes.add("exit status " + status);
        }
        String reason = String.join("\n", reasons);
        if (reasons.size() != 1
                || !reason.contains("own changelog " + bed.codec().topics().name(changelog))
                || !reason.contains("schema version " + SCHEMA_VERSION)) {
            mistakes.add("reasons: " + reasons);
        }
        if (replica.log().contains("\tat ")) {
            mistakes.add("a stack trace in its log");
        }
        return mistakes;
    }

    /** Removes the state again. */
    @Override
    public void close() {
        producer.send(bed.codec().tombstone(changelog, KEY));
        producer.close();
    }
}
