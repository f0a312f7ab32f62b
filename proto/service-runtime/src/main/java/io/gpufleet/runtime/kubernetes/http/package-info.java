/** Sends writes to the API server on the threads that wait for their answers. */
@NullMarked
package io.gpufleet.runtime.kubernetes.http;

import org.jspecify.annotations.NullMarked;
