/** Certificates and private keys: read, issued, and shown by a server. */
@NullMarked
package io.gpufleet.kit.tls;

import org.jspecify.annotations.NullMarked;
