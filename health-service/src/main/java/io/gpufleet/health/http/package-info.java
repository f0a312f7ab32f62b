/** HTTP API: liveness, readiness, metrics, the explanation of a node's state, and operator commands. */
@NullMarked
package io.gpufleet.health.http;

import org.jspecify.annotations.NullMarked;
