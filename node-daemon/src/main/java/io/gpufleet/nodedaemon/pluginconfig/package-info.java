/**
 * The operator's configuration of the node: NVIDIA's configuration file and environment variables, {@code select.yaml} and
 * the Node's label. Parsed and validated into the model's settings. Ignored settings are logged.
 */
@NullMarked
package io.gpufleet.nodedaemon.pluginconfig;

import org.jspecify.annotations.NullMarked;
