/** Replays of recorded facts under other policies. */
@NullMarked
package io.gpufleet.health.model.replay;

import org.jspecify.annotations.NullMarked;
