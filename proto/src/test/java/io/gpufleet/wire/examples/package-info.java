/** Runs the subscribers of {@code proto/examples}, each in its own language, against a broker. */
@NullMarked
package io.gpufleet.wire.examples;

import org.jspecify.annotations.NullMarked;
