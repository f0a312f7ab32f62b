/** Usage of windows of time: stretches of intervals, and their exact sums. Pure. */
@NullMarked
package io.gpufleet.allocation.model.usage;

import org.jspecify.annotations.NullMarked;
