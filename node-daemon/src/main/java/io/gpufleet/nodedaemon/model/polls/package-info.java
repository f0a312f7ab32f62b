/** What polls of a GPU say over time: rules from readings to words; no fault is opened here and no device withdrawn. */
@NullMarked
package io.gpufleet.nodedaemon.model.polls;

import org.jspecify.annotations.NullMarked;
