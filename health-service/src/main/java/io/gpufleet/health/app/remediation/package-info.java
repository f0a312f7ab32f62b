/** Asks executors for what is recommended, at most once each, and follows what becomes of it. */
@NullMarked
package io.gpufleet.health.app.remediation;

import org.jspecify.annotations.NullMarked;
