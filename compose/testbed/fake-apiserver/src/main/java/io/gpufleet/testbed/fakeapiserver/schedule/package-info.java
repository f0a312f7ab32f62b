/** Binds pending pods to nodes with the requested resources, or reports why none fits. */
@NullMarked
package io.gpufleet.testbed.fakeapiserver.schedule;

import org.jspecify.annotations.NullMarked;
