/** Node labels computed from the state of a node: GPU feature discovery, MIG and legacy labels. JDK only. */
@NullMarked
package io.gpufleet.inventory.model.label;

import org.jspecify.annotations.NullMarked;
