package io.gpufleet.testbed.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The configuration of a broker on loopback, small and quick to start: of the only one of its cluster, which is its
 * controller, too, or of one that joins it.
 *
 * @param controllerPort of the first broker
 */
record ServerProperties(Path dir, int node, int port, int controllerPort, AdditionalListener listener) {
    /** Id of the broker that is the controller. */
    static final int FIRST = 1;

    /** Name of the broker's log directory in its directory. */
    static final String LOG = "log";

    /** Directory of the broker's logs. */
    Path logDir() {
        return dir.resolve(LOG);
    }

    /** Output of broker and StorageTool. */
    Path output() {
        return dir.resolve("broker.out");
    }

    /** Writes the configuration of StorageTool and broker, and that of its log library. */
    Path write() throws IOException {
        Path file = dir.resolve("server.properties");
        Files.writeString(file, escaped(text()));
        Files.writeString(log4j(), """
            rootLogger.level = WARN
            rootLogger.appenderRef.stdout.ref = stdout
            appender.stdout.type = Console
            appender.stdout.name = stdout
            appender.stdout.layout.type = PatternLayout
            appender.stdout.layout.pattern = %d{ISO8601} %p %c{1} %m%n
            """ + listener.logging());
        return file;
    }

    /** Configuration of the broker's own log library. */
    Path log4j() {
        return dir.resolve("log4j2.properties");
    }

    /** Java reads a file of properties as ISO 8859-1. */
    static String escaped(String text) {
        return text.chars()
                .mapToObj(character -> character < 128
                        ? Character.toString(character)
                        : String.format(Locale.ROOT, "\\u%04x", character))
                .collect(Collectors.joining());
    }

    private String text() {
        // Index and cleaner sizes: 600 partitions fit into a small heap. Short sessions: a restart is noticed at once.
        // A transaction begun 1 to 3 ms after the last one of its producer waits for so long, by default 20 ms.
        // Nobody reads the broker's MBeans, of which each partition has a dozen.
        return """
            process.roles=%5$s
            node.id=%6$d
            controller.quorum.voters=1@127.0.0.1:%2$d
            listeners=%1$s
            advertised.listeners=%4$s
            controller.listener.names=CONTROLLER
            inter.broker.listener.name=PLAINTEXT
            log.dirs=%3$s
            auto.create.topics.enable=false
            num.network.threads=2
            num.io.threads=4
            num.recovery.threads.per.data.dir=2
            offsets.topic.replication.factor=1
            offsets.topic.num.partitions=4
            transaction.state.log.replication.factor=1
            transaction.state.log.min.isr=1
            transaction.state.log.num.partitions=4
            transaction.state.log.segment.bytes=4194304
            add.partitions.to.txn.retry.backoff.ms=1
            transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
            share.coordinator.state.topic.replication.factor=1
            share.coordinator.state.topic.min.isr=1
            group.initial.rebalance.delay.ms=0
            group.min.session.timeout.ms=1000
            broker.session.timeout.ms=3000
            broker.heartbeat.interval.ms=500
            log.index.size.max.bytes=1048576
            log.cleaner.threads=1
            log.cleaner.dedupe.buffer.size=16777216
            log.cleaner.io.buffer.size=262144
            metrics.jmx.exclude=.*
            """.formatted(
                        listener.listeners(port) + (node == FIRST ? ",CONTROLLER://127.0.0.1:" + controllerPort : ""),
                        controllerPort,
                        logDir().toAbsolutePath(),
                        listener.advertisedListeners(port),
                        node == FIRST ? "broker,controller" : "broker",
                        node)
                + listener.properties();
    }
}
