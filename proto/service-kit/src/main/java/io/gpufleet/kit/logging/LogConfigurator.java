package io.gpufleet.kit.logging;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import ch.qos.logback.core.status.NopStatusListener;
import java.util.List;
import java.util.Map;

/**
 * One line for each record on standard error: key=value for people, JSON for machines ({@code GPUFLEET_LOG_FORMAT=json}), from
 * the level {@code GPUFLEET_LOG_LEVEL} on. Written in Java because the reader of {@code logback.xml} costs each process 170 ms
 * of processor time at its start and 10 MiB. A {@code logback-test.xml} and {@code -Dlogback.configurationFile} come first.
 */
public final class LogConfigurator extends ContextAwareBase implements Configurator {
    static final String TEXT =
            "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX, UTC} %-5level %logger{0} %msg%replace( %kvp{NONE}){' $', ''}%n%ex{12}";

    /** Libraries that log more than a reader needs. */
    private static final List<LibraryLevel> LIBRARIES = List.of(
            // Kafka's clients log their whole configuration at INFO.
            new LibraryLevel("org.apache.kafka", Level.WARN),
            // An unreachable broker is logged once by the component that needs it, not ten times a second by the
            // client.
            new LibraryLevel("org.apache.kafka.clients.NetworkClient", Level.ERROR),
            new LibraryLevel("org.apache.kafka.clients.producer.internals.Sender", Level.ERROR),
            new LibraryLevel("org.apache.kafka.clients.ClientUtils", Level.ERROR),
            // A right that is missing is named once by the component that reads, not at each of its attempts.
            new LibraryLevel("org.apache.kafka.clients.consumer.internals.FetchCollector", Level.ERROR),
            new LibraryLevel("io.fabric8", Level.WARN),
            // An unreachable API server is logged once by the watching component, not with a stack trace for each
            // retry.
            new LibraryLevel("io.fabric8.kubernetes.client.informers.impl.cache.Reflector", Level.ERROR),
            // v1alpha1 is the version of our own CRD.
            new LibraryLevel("io.fabric8.kubernetes.client.dsl.internal.VersionUsageUtils", Level.ERROR),
            new LibraryLevel("io.netty", Level.WARN),
            // A peer that disconnects during a write: the caller gets the failure and logs it with the name of the
            // peer.
            new LibraryLevel("io.vertx.core.net.impl.ConnectionBase", Level.OFF),
            // Vert.x 5.0.7 fails a missing promise when a stream closes before its headers are sent; Netty continues.
            new LibraryLevel("io.netty.handler.codec.http2.DefaultHttp2Connection", Level.OFF));

    private final Map<String, String> environment;
    private final boolean replaced;

    private record LibraryLevel(String logger, Level level) {}

    /** Called by Logback, with the environment of the process. */
    public LogConfigurator() {
        this(
                System.getenv(),
                System.getProperty("logback.configurationFile") != null
                        || LogConfigurator.class.getClassLoader().getResource("logback-test.xml") != null);
    }

    /**
     * Takes the environment from the caller; Logback's own constructor takes that of the process.
     *
     * @param replaced true when somebody brought a configuration for Logback's reader of XML
     */
    LogConfigurator(Map<String, String> environment, boolean replaced) {
        this.environment = environment;
        this.replaced = replaced;
    }

    @Override
    public ExecutionStatus configure(LoggerContext logging) {
        if (replaced) {
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
        logging.getStatusManager().add(new NopStatusListener());
        Logger root = logging.getLogger(Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.toLevel(setting("GPUFLEET_LOG_LEVEL", "INFO"), Level.INFO));
        root.addAppender(standardError(logging, encoder(logging)));
        LIBRARIES.forEach(library -> logging.getLogger(library.logger()).setLevel(library.level()));
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    private Encoder<ILoggingEvent> encoder(LoggerContext logging) {
        if (setting("GPUFLEET_LOG_FORMAT", "text").equals("json")) {
            var json = new JsonEncoder();
            json.setContext(logging);
            json.start();
            return json;
        }
        var text = new PatternLayoutEncoder();
        text.setContext(logging);
        text.setPattern(TEXT);
        text.start();
        return text;
    }

    private static ConsoleAppender<ILoggingEvent> standardError(LoggerContext logging, Encoder<ILoggingEvent> encoder) {
        var appender = new ConsoleAppender<ILoggingEvent>();
        appender.setContext(logging);
        appender.setTarget("System.err");
        appender.setEncoder(encoder);
        appender.start();
        return appender;
    }

    /** An empty variable counts as not set, as everywhere. */
    private String setting(String name, String otherwise) {
        String value = environment.getOrDefault(name, "");
        return value.isEmpty() ? otherwise : value;
    }
}
