/**
 * GPU quotas, the pods that count on them, and the decision on one more pod. Pure: {@link
 * io.gpufleet.allocation.model.quota.QuotaEvaluator} decides on a state, {@link
 * io.gpufleet.allocation.model.quota.QuotaStateReducer} applies events to it.
 */
@NullMarked
package io.gpufleet.allocation.model.quota;

import org.jspecify.annotations.NullMarked;
