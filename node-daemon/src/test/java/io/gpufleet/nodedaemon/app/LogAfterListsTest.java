package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A log that blocks must not delay the kubelet's list. */
class LogAfterListsTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger(FaultTracker.class);
    private final List<String> lines = new ArrayList<>();

    private AppenderBase<ILoggingEvent> healthyAtEachLine(TestNode node) {
        var appender = new AppenderBase<ILoggingEvent>() {
            @Override
            protected void append(ILoggingEvent event) {
                lines.add(event.getMessage() + " with healthy " + node.healthy().size());
            }
        };
        appender.start();
        logger.addAppender(appender);
        return appender;
    }

    @AfterEach
    void detach() {
        logger.detachAndStopAllAppenders();
    }

    @Test
    void faultIsLoggedOnceTheKubeletHasTheList() {
        var node = new TestNode(TestGpus.scanOf(4));
        healthyAtEachLine(node);

        node.xid(2, 79);

        assertThat(lines).containsExactly("fault with healthy 3");
    }
}
