/** Events and dead letters as text. */
@NullMarked
package io.gpufleet.cli.bus;

import org.jspecify.annotations.NullMarked;
