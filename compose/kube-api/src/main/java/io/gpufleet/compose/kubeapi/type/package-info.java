/** Which resources are served: the built-in ones and those of the definitions that were created. */
@NullMarked
package io.gpufleet.compose.kubeapi.type;

import org.jspecify.annotations.NullMarked;
