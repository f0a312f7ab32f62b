/** Liveness, readiness, metrics, why a node stands as it does, and operators' words. */
@NullMarked
package io.gpufleet.health.http;

import org.jspecify.annotations.NullMarked;
