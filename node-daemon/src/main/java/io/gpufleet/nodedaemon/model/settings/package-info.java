/**
 * Settings of a node's resources, from NVIDIA's configuration file, its environment variables or a Node label: plain values,
 * checked in their constructors. Knows devices only to select settings by them; parsing files is the adapter's. JDK only.
 */
@NullMarked
package io.gpufleet.nodedaemon.model.settings;

import org.jspecify.annotations.NullMarked;
