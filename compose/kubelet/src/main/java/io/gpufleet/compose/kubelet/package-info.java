/** Stand-in kubelets: they register plugins, allocate devices and run pods that do nothing. */
@NullMarked
package io.gpufleet.compose.kubelet;

import org.jspecify.annotations.NullMarked;
