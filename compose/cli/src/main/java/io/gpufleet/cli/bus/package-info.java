/** Events and dead letters as text, and the replay of dead letters. */
@NullMarked
package io.gpufleet.cli.bus;

import org.jspecify.annotations.NullMarked;
