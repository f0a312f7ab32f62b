package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Holdings;
import java.util.concurrent.CompletionStage;

/** Who can tell which container holds which device. */
public interface HolderSource {
    /** Asks; fails with a message for people where the kubelet does not answer or is asked too often. */
    CompletionStage<Holdings> list();
}
