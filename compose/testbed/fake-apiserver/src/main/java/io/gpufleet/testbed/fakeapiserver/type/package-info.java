/** Which resources are served: the built-in ones and those of the definitions that were created. */
@NullMarked
package io.gpufleet.testbed.fakeapiserver.type;

import org.jspecify.annotations.NullMarked;
