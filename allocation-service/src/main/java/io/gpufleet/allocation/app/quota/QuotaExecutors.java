package io.gpufleet.allocation.app.quota;

import java.util.concurrent.Executor;

/**
 * Where the parts of the quota leader run.
 *
 * @param decider runs tasks one after the other on the thread that owns the counters; never blocks
 * @param api runs the calls to the API server for which admissions wait, several at a time
 * @param background runs all other calls to the API server, so that none of them delays an admission
 */
public record QuotaExecutors(Executor decider, Executor api, Executor background) {}
