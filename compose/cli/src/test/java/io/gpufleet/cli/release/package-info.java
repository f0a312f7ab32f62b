/** An installation while another release of it comes and goes, and what pods and bookkeeping notice of it. */
@NullMarked
package io.gpufleet.cli.release;

import org.jspecify.annotations.NullMarked;
