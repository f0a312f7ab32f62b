package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Holdings;
import java.util.concurrent.CompletionStage;

/** Who can tell which container holds which device. */
public interface HolderSource {
    /** Asks; fails with a message for people where the kubelet does not answer, with {@link AskedTooOften} where it
     * will not. */
    CompletionStage<Holdings> list();

    /** The kubelet answers only so many calls a second, whoever makes them. */
    final class AskedTooOften extends Exception {
        @java.io.Serial
        private static final long serialVersionUID = 1;

        /** Says so. */
        public AskedTooOften(String message) {
            super(message);
        }
    }
}
