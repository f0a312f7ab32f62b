/** Tests of the ready-made executors of k8s/components/remediation. */
@NullMarked
package io.gpufleet.health.executor;

import org.jspecify.annotations.NullMarked;
