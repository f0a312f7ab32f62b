package io.gpufleet.allocation.app;

/** Registers the webhook at the API server. */
@FunctionalInterface
public interface WebhookRegistrar {
    /** Creates or updates the registration where it differs; false when the API server refused. Blocks. */
    boolean ensure(String caPem);
}
