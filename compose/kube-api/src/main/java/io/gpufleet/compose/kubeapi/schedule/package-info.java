/** Binds pending pods to nodes that have what they ask for, or says why none has. */
@NullMarked
package io.gpufleet.compose.kubeapi.schedule;

import org.jspecify.annotations.NullMarked;
