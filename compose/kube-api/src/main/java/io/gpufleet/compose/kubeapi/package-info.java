/** A small Kubernetes API in memory, for one machine; it says what it lacks and refuses what it can not do honestly. */
@NullMarked
package io.gpufleet.compose.kubeapi;

import org.jspecify.annotations.NullMarked;
