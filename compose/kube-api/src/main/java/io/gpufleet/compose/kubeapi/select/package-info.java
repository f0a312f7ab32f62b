/** Label and field selectors, read strictly as the real server reads them. */
@NullMarked
package io.gpufleet.compose.kubeapi.select;

import org.jspecify.annotations.NullMarked;
