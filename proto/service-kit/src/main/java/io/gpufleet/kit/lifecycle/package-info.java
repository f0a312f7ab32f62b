/** How a process starts, says what is wrong in one line, and stops in the reverse order. */
@NullMarked
package io.gpufleet.kit.lifecycle;

import org.jspecify.annotations.NullMarked;
