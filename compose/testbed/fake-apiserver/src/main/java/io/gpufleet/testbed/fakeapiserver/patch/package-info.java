/** JSON patch, JSON merge patch and strategic merge patch. */
@NullMarked
package io.gpufleet.testbed.fakeapiserver.patch;

import org.jspecify.annotations.NullMarked;
