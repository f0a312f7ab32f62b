/** Private keys in PEM form. */
@NullMarked
package io.gpufleet.kit.tls;

import org.jspecify.annotations.NullMarked;
