package io.gpufleet.runtime.engine;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.NullMarked;
import org.slf4j.LoggerFactory;

/** Messages that the loggers of a package and of those below it write while it is open. */
@NullMarked
final class CapturedLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final List<String> messages = new CopyOnWriteArrayList<>();
    private final Logger logger;

    CapturedLog(String name) {
        logger = (Logger) LoggerFactory.getLogger(name);
        start();
        logger.addAppender(this);
    }

    List<String> messages() {
        return messages;
    }

    @Override
    protected void append(ILoggingEvent event) {
        messages.add(event.getMessage());
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        stop();
    }
}
