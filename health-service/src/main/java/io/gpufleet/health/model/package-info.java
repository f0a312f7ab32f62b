/** Signs, states, verdicts and marks, and what follows from what; JDK only, told the time. */
@NullMarked
package io.gpufleet.health.model;

import org.jspecify.annotations.NullMarked;
