/** JSON patch, JSON merge patch and strategic merge patch. */
@NullMarked
package io.gpufleet.compose.kubeapi.patch;

import org.jspecify.annotations.NullMarked;
