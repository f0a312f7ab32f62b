/**
 * GPU quotas, the pods that count on them, and the decision on one more pod. Pure: {@link
 * io.gpufleet.allocation.model.quota.QuotaEvaluator} decides on a {@link
 * io.gpufleet.allocation.model.quota.QuotaState}, which applies events to itself.
 */
@NullMarked
package io.gpufleet.allocation.model.quota;

import org.jspecify.annotations.NullMarked;
