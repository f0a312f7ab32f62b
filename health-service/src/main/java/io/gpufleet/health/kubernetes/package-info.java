/** Node objects watched and patched, Events, and who may do what; the only room that knows fabric8. */
@NullMarked
package io.gpufleet.health.kubernetes;

import org.jspecify.annotations.NullMarked;
