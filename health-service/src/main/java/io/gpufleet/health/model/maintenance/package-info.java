/** Times in which people work on a node. */
@NullMarked
package io.gpufleet.health.model.maintenance;

import org.jspecify.annotations.NullMarked;
