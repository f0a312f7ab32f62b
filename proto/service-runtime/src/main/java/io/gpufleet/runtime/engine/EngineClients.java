package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.transaction.OpenTransactions;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;

/** Kafka clients of a term, and the monotonic time that its lease is counted by. */
interface EngineClients {
    /** A consumer that is assigned its partitions and sees committed records only; the caller closes it. */
    Consumer<byte[], byte[]> reader(String purpose);

    /** The service's one transactional writer; the caller closes it. */
    Producer<byte[], byte[]> writer();

    /** Open transactions of that writer as the broker knows them; the caller closes it. */
    OpenTransactions transactions();

    /** Begins some work beside the caller; what is returned waits for its result. */
    <T> Supplier<T> beside(Supplier<T> work);

    /** Monotonic time in nanoseconds. */
    long nanos();
}
