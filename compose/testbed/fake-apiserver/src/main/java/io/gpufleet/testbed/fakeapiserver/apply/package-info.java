/** Field ownership: server-side apply, and managedFields of every other write. */
@NullMarked
package io.gpufleet.testbed.fakeapiserver.apply;

import org.jspecify.annotations.NullMarked;
