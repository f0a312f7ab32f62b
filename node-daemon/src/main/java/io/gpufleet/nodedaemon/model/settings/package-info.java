/**
 * What an operator may choose about a node's resources, by NVIDIA's configuration file, its environment variables or
 * per-node settings: plain values, checked in their constructors. No file format, no device and no rule of the daemon
 * enters; who reads files into these values is an adapter.
 */
@NullMarked
package io.gpufleet.nodedaemon.model.settings;

import org.jspecify.annotations.NullMarked;
