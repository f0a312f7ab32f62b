package io.gpufleet.runtime.simulation;

import java.util.Random;
import java.util.function.Supplier;

/** The way from one replica to a server. While it is cut, requests or their answers get lost. */
public final class Link {
    private final Random random;
    private boolean cut;

    /** A link that works. */
    public Link(Random random) {
        this.random = random;
    }

    /** Cuts it or heals it. */
    public void cut(boolean now) {
        cut = now;
    }

    /** True while nothing passes. */
    public boolean isCut() {
        return cut;
    }

    /** Makes a call; without an answer it fails, whether it arrived or not. */
    public <T> T call(Supplier<T> call, Supplier<? extends RuntimeException> lost) {
        if (!cut) {
            return call.get();
        }
        if (random.nextInt(3) == 0) {
            var _ = call.get();
        }
        throw lost.get();
    }
}
