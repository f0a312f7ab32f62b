package io.gpufleet.testbed.testkit.release;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.testbed.testkit.EventProducer;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import org.apache.kafka.clients.producer.ProducerRecord;

/** A replica of a later release, whose states the present one does not read: the projection that finds one is over. */
public final class LaterRelease implements AutoCloseable {
    /** Exit code of a process whose projection is over. */
    public static final int EXIT_CODE = 3;

    /** Schema version of its states. */
    public static final int SCHEMA_VERSION = 99;

    private static final String KEY = "node-of-a-later-release";

    private final TestBed bed;
    private final Topic changelog;
    private final EventProducer producer;

    /** A replica of a service, named by its instance, with this changelog. */
    public LaterRelease(TestBed bed, String instance, Topic changelog) {
        this.bed = bed;
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

    /** Removes the state again. */
    @Override
    public void close() {
        producer.send(bed.codec().tombstone(changelog, KEY));
        producer.close();
    }
}
