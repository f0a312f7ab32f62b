package io.gpufleet.health.kubernetes;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Status of the watch of Nodes; logs when it changes. */
final class WatchStatus {
    private static final Logger LOG = LoggerFactory.getLogger(WatchStatus.class);

    private final String url;
    private volatile String error = "";

    WatchStatus(String url) {
        this.url = url;
    }

    /** The error of the last attempt, one line; empty when it succeeded. */
    String error() {
        return error;
    }

    void succeeded() {
        if (!error.isEmpty()) {
            error = "";
            LOG.atInfo().log("Kubernetes API reachable");
        }
    }

    void failed(String reason) {
        if (!reason.equals(error)) {
            error = reason;
            LOG.atWarn()
                    .addKeyValue("url", url)
                    .addKeyValue("reason", reason)
                    .log("Nodes cannot be watched; verdicts continue, Nodes are patched once the API answers");
        }
    }
}
