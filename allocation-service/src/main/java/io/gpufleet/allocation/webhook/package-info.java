/** Answers AdmissionReviews over HTTPS and makes the certificates for it. */
@NullMarked
package io.gpufleet.allocation.webhook;

import org.jspecify.annotations.NullMarked;
