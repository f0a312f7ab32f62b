package io.gpufleet.kit.lifecycle;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is to be closed at the end, last opened first; one that fails does not keep the others open. */
public final class Shutdown implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

    private record Step(String name, AutoCloseable close) {}

    private final Deque<Step> steps = new ArrayDeque<>();

    /** Closes this when the process ends; hands it back, so that it can be wrapped around a constructor. */
    public synchronized <T extends AutoCloseable> T add(String name, T closeable) {
        steps.push(new Step(name, closeable));
        return closeable;
    }

    @Override
    public synchronized void close() {
        while (!steps.isEmpty()) {
            Step step = steps.pop();
            try {
                step.close().close();
            } catch (Exception failed) {
                LOG.atWarn()
                        .addKeyValue("part", step.name())
                        .addKeyValue("error", failed)
                        .log("could not be closed");
            }
        }
    }
}
