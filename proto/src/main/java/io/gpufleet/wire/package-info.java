/**
 * The bus contract in Java: topics, event types, the envelope and its codec. What two programs must read alike
 * stands here; a business rule, a configuration reader or a string tool may not enter.
 */
@NullMarked
package io.gpufleet.wire;

import org.jspecify.annotations.NullMarked;
