/**
 * Signals, events and the state of a node; deciding and applying; verdicts and decisions. JDK only; time is a
 * parameter.
 */
@NullMarked
package io.gpufleet.health.model;

import org.jspecify.annotations.NullMarked;
