package io.gpufleet.testbed.testkit;

import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * One broker with the topics for all test classes of a JVM whose nodes have names of their own: starting it and creating
 * the topics is most of what it costs. It ends with the JVM.
 */
public final class SharedBroker {
    private static Optional<BrokerProcess> started = Optional.empty();

    private SharedBroker() {}

    /** The broker, which is started at the first call. A class that kills it starts it again. */
    public static synchronized BrokerProcess get() {
        if (started.isEmpty()) {
            BrokerProcess broker = BrokerProcess.start(directory());
            TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
            started = Optional.of(broker);
        }
        return started.orElseThrow();
    }

    private static Path directory() {
        try {
            return Files.createTempDirectory(Files.createDirectories(Path.of("target", "brokers")), "shared");
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
