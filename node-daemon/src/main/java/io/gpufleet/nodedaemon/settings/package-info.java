/**
 * What an operator wrote for the node: NVIDIA's configuration file and environment variables, {@code select.yaml}, the
 * word of the Node's label. Read, checked and turned into the model's values; no YAML and no file leaves the room. What
 * is read and not honoured is said.
 */
@NullMarked
package io.gpufleet.nodedaemon.settings;

import org.jspecify.annotations.NullMarked;
