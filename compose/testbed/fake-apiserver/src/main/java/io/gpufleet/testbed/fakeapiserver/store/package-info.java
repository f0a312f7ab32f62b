/** All objects in memory with one revision counter, and the changes that watches replay. */
@NullMarked
package io.gpufleet.testbed.fakeapiserver.store;

import org.jspecify.annotations.NullMarked;
