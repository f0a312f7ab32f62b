/** Fake kubelets: they register plugins, allocate devices and run pods without containers. */
@NullMarked
package io.gpufleet.testbed.fakekubelet;

import org.jspecify.annotations.NullMarked;
