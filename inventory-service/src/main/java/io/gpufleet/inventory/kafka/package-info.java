/** The bus: how messages become the model and back, the fold, and facts of Kubernetes on their way to the log. */
@NullMarked
package io.gpufleet.inventory.kafka;

import org.jspecify.annotations.NullMarked;
