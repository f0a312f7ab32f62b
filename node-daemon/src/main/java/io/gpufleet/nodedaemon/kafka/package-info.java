/** Facts out through the outbox, verdicts and settings in; the only room that knows the bus. */
@NullMarked
package io.gpufleet.nodedaemon.kafka;

import org.jspecify.annotations.NullMarked;
