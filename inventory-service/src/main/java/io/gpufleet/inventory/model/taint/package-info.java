/** The taints of Nodes with GPUs. */
@NullMarked
package io.gpufleet.inventory.model.taint;

import org.jspecify.annotations.NullMarked;
