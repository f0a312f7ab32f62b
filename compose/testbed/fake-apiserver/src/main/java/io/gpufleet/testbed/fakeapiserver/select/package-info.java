/** Label and field selectors, parsed as strictly as by the real server. */
@NullMarked
package io.gpufleet.testbed.fakeapiserver.select;

import org.jspecify.annotations.NullMarked;
