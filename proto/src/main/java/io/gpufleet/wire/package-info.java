/**
 * The bus contract in Java: topics, event types, the envelope and its codec. Contains only what several programs must
 * read in the same way; no business rules, configuration or utilities.
 */
@NullMarked
package io.gpufleet.wire;

import org.jspecify.annotations.NullMarked;
