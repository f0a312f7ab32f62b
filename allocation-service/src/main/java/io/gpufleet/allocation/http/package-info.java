/** What people and probes may ask over HTTP. */
@NullMarked
package io.gpufleet.allocation.http;

import org.jspecify.annotations.NullMarked;
