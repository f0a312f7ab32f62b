/**
 * MPS control daemons on this node, which run in a DaemonSet of their own: specs and readiness are exchanged through files.
 */
@NullMarked
package io.gpufleet.nodedaemon.mps;

import org.jspecify.annotations.NullMarked;
