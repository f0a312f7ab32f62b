package io.gpufleet.allocation.app;

/** Registers the webhook at the API server. */
@FunctionalInterface
public interface WebhookRegistrar {
    /** Creates or updates the registration where it differs, if this replica is active; false when it could not. Blocks. */
    boolean ensure(String caPem);
}
