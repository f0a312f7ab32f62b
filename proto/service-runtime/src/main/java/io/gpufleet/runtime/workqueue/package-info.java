/**
 * Work on keys, as client-go's workqueue orders it: a key is worked on by one worker at a time, once more where it is added
 * meanwhile, and again after a wait. {@link io.gpufleet.runtime.workqueue.PendingKeys} decides, without threads or time of
 * its own; {@link io.gpufleet.runtime.workqueue.WorkQueue} runs it. No Kafka or Kubernetes client enters.
 */
@NullMarked
package io.gpufleet.runtime.workqueue;

import org.jspecify.annotations.NullMarked;
