package io.gpufleet.kit.lifecycle;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Resources to close at the end, in reverse order of registration. A failure does not prevent closing the others. */
public final class Shutdown implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

    private record Step(String name, AutoCloseable close) {}

    private final Deque<Step> steps = new ArrayDeque<>();

    /** Registers a resource and returns it, so that the call can enclose a constructor. */
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
                        .log("close failed");
            }
        }
    }
}
