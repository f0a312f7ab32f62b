/** A small Kubernetes API server in memory, for one machine; it reports and refuses what it does not support. */
@NullMarked
package io.gpufleet.testbed.fakeapiserver;

import org.jspecify.annotations.NullMarked;
