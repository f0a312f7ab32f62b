package io.gpufleet.testbed.testkit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Lines that a class logs at WARN and above while this is open, each with its keys and values. */
public final class LogLines implements AutoCloseable {
    private final Logger logger;
    private final @Nullable Level before;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                lines.add(line(event));
            }
        }
    };

    private LogLines(Logger logger) {
        this.logger = logger;
        this.before = logger.getLevel();
        logger.setLevel(Level.WARN);
        appender.start();
        logger.addAppender(appender);
    }

    /** Lines of the logger of a class, by its name. */
    public static LogLines of(String className) {
        return new LogLines((Logger) LoggerFactory.getLogger(className));
    }

    private static String line(ILoggingEvent event) {
        Stream<String> values = event.getKeyValuePairs() == null
                ? Stream.empty()
                : event.getKeyValuePairs().stream().map(pair -> pair.key + "=" + pair.value);
        return Stream.concat(Stream.of(event.getMessage()), values).collect(Collectors.joining(" "));
    }

    /** All lines so far. */
    public List<String> all() {
        return List.copyOf(lines);
    }

    /** The first line so far; empty without one. */
    public String first() {
        return lines.isEmpty() ? "" : lines.getFirst();
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setLevel(before);
    }
}
