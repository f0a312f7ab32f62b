package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.holders.Holdings;
import java.util.concurrent.CompletionStage;

/** Lists which container holds which device. */
public interface HolderSource {
    /**
     * Lists the holders; fails with a readable message when the kubelet does not respond, with {@link RateLimitedException} when
     * it refuses.
     */
    CompletionStage<Holdings> list();

    /** The kubelet's rate limit, which all clients share, is exceeded. */
    final class RateLimitedException extends Exception {
        @java.io.Serial
        private static final long serialVersionUID = 1;

        /** Makes the exception. */
        public RateLimitedException(String message) {
            super(message);
        }
    }
}
