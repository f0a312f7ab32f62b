package io.gpufleet.kit.lifecycle;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CancellationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Resources to close at the end, in reverse order of registration. A failure does not prevent closing the others. */
public final class Shutdown implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

    private record Step(String name, AutoCloseable close) {}

    private final Deque<Step> steps = new ArrayDeque<>();
    private volatile String closing = "";
    private boolean ending;

    /**
     * Registers a resource and returns it, so that the call can enclose a constructor.
     *
     * @throws CancellationException when the program is to end: the resource is closed with the others, and the start is over
     */
    public synchronized <T extends AutoCloseable> T add(String name, T closeable) {
        steps.push(new Step(name, closeable));
        if (ending) {
            throw new CancellationException("the program is to end");
        }
        return closeable;
    }

    /** Ends a start at the next resource that it adds. */
    synchronized void cancelStart() {
        ending = true;
    }

    /** True after {@link #cancelStart()}. */
    synchronized boolean isStartCancelled() {
        return ending;
    }

    /** Name of the part that is being closed, or was last; empty before the end. */
    String closing() {
        return closing;
    }

    @Override
    public synchronized void close() {
        while (!steps.isEmpty()) {
            Step step = steps.pop();
            closing = step.name();
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
