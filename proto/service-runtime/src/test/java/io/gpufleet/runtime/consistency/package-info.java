/** What every projection has to pass on a real broker: each event counts once, whatever becomes of its replicas. */
@NullMarked
package io.gpufleet.runtime.consistency;

import org.jspecify.annotations.NullMarked;
