/** JSON trees, immutable once stored, and the errors of a Kubernetes API server. */
@NullMarked
package io.gpufleet.testbed.fakeapiserver.object;

import org.jspecify.annotations.NullMarked;
