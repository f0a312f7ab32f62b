/** HTTP routes of the service, and its metrics. */
@NullMarked
package io.gpufleet.allocation.http;

import org.jspecify.annotations.NullMarked;
