/** JSON trees that nobody changes once they are stored, and the errors that a Kubernetes API answers. */
@NullMarked
package io.gpufleet.compose.kubeapi.object;

import org.jspecify.annotations.NullMarked;
