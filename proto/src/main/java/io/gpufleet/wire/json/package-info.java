/** proto3 JSON by way of the binary encoding, for the messages of the catalogue. */
@NullMarked
package io.gpufleet.wire.json;

import org.jspecify.annotations.NullMarked;
