/**
 * Order of the inputs of a partition number while there is a backlog: by append time, within some seconds (decision 0014).
 */
@NullMarked
package io.gpufleet.runtime.order;

import org.jspecify.annotations.NullMarked;
