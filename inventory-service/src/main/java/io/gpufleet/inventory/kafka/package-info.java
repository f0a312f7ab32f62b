/** The bus: the projection, the mappers between messages and model, and the sender of Kubernetes facts. */
@NullMarked
package io.gpufleet.inventory.kafka;

import org.jspecify.annotations.NullMarked;
