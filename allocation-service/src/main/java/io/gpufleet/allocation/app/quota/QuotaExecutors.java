package io.gpufleet.allocation.app.quota;

import java.util.concurrent.Executor;

/**
 * Where the parts of the quota leader run.
 *
 * @param decider runs tasks one after the other on the thread that owns the counters; never blocks
 * @param api runs calls to the API server, several at a time
 */
public record QuotaExecutors(Executor decider, Executor api) {}
