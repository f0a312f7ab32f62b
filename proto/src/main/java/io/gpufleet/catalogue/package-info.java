/** What NVIDIA publishes of its XIDs, as data: facts that several programs must read alike; what follows is theirs. */
@NullMarked
package io.gpufleet.catalogue;

import org.jspecify.annotations.NullMarked;
