/** Who owns which field: server-side apply and the bookkeeping of every other write. */
@NullMarked
package io.gpufleet.compose.kubeapi.apply;

import org.jspecify.annotations.NullMarked;
