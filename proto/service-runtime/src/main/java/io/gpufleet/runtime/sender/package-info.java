/** Sends what a service observes and what operators command, outside of the projection's transactions. */
@NullMarked
package io.gpufleet.runtime.sender;

import org.jspecify.annotations.NullMarked;
