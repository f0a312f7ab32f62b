/** How every program logs. Nothing that decides what is logged. */
@NullMarked
package io.gpufleet.kit.logging;

import org.jspecify.annotations.NullMarked;
