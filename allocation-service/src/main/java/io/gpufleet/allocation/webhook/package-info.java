/** Admission webhook over HTTPS, and its certificates. */
@NullMarked
package io.gpufleet.allocation.webhook;

import org.jspecify.annotations.NullMarked;
