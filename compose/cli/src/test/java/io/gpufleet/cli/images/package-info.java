/** Tests of the images, of what they carry, and of the fleet that compose.yaml runs them as. */
@NullMarked
package io.gpufleet.cli.images;

import org.jspecify.annotations.NullMarked;
