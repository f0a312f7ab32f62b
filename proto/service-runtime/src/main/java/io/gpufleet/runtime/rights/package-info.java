/** Rights of a projection on a broker with ACLs. */
@NullMarked
package io.gpufleet.runtime.rights;

import org.jspecify.annotations.NullMarked;
