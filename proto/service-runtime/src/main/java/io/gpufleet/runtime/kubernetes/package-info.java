/** Opens clients of the Kubernetes API for the central services. What is asked of it belongs to each service. */
@NullMarked
package io.gpufleet.runtime.kubernetes;

import org.jspecify.annotations.NullMarked;
