/** Habits of every HTTP face: liveness, readiness with reasons, metrics, problem+json, a clear word on a taken port. */
@NullMarked
package io.gpufleet.kit.web;

import org.jspecify.annotations.NullMarked;
