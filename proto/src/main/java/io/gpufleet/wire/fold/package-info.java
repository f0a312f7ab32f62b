/**
 * How a service folds topics into state: election, take-over, one transaction for each batch, applied marks,
 * positions, dead letters. A service hands in a {@link io.gpufleet.wire.fold.Folder}; nothing here knows a rule of one.
 */
@NullMarked
package io.gpufleet.wire.fold;

import org.jspecify.annotations.NullMarked;
